// SPDX-License-Identifier: Apache-2.0
// libaicpu_extend_kernels.so: the object that programs use to bootstrap their own dispatcher. Init opens the image
// named by the argument block (known_layouts.h), which has three functions with fixed names, and calls its init; the
// other functions call those of the same image. Images are independent: none is latched.
//
// Threads: any number of blocks at once. Images stay open until this object is closed.
#include <array>
#include <map>
#include <memory>

#include "canopy/dispatcher_abi.h"
#include "dispatcher/inner_image.h"
#include "dispatcher/known_layouts.h"
#include "foundation/mutex.h"

using canopy::content_key;
using canopy::ContentKey;
using canopy::ReaderLock;
using canopy::SharedMutex;
using canopy::WriterLock;
using namespace canopy::dispatcher;

#define CANOPY_ENTRY extern "C" __attribute__((visibility("default"))) std::uint32_t

namespace {

struct Backend {
    InnerImage image;
    Entry init = nullptr, run = nullptr, run_static = nullptr;
};

struct Backends {
    SharedMutex mutex;
    std::map<ContentKey, std::unique_ptr<Backend>> opened CANOPY_GUARDED_BY(mutex);
    // By address and length, from the latest init.
    std::map<std::array<std::uint64_t, 2>, Backend*> at CANOPY_GUARDED_BY(mutex);
};
Backends& backends() {
    static Backends instance;  // destroyed with this object, which outlives the blocks that run its code
    return instance;
}

bool read_block(const void* arguments, KnownLayout& layout) noexcept {
    return KnownLayout::read(arguments, false, layout) && layout.image != 0 && layout.length != 0;
}

std::uint32_t open_backend(const KnownLayout& layout, Backend*& backend) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(layout.image), layout.length);
    Backends& known = backends();
    WriterLock guard(known.mutex);
    std::unique_ptr<Backend>& place = known.opened[content_key(bytes)];
    if (!place) {
        auto opened = std::make_unique<Backend>();
        if (const Outcome wrong = opened->image.open(bytes); !wrong.ok()) return wrong.result;
        opened->init = opened->image.function({"DynTileFwkBackendKernelServerInit"});
        opened->run = opened->image.function({"DynTileFwkBackendKernelServer"});
        opened->run_static = opened->image.function({"StaticTileFwkBackendKernelServer"});
        if (!opened->init || !opened->run) return CANOPY_DISPATCHER_NO_ENTRY;
        place = std::move(opened);
    }
    backend = known.at[{layout.image, layout.length}] = place.get();
    return 0;
}

std::uint32_t call_backend(void* arguments, Entry Backend::*function) {
    KnownLayout layout;
    if (!read_block(arguments, layout)) return CANOPY_DISPATCHER_BAD_ARGUMENT;
    Entry entry = nullptr;
    {
        Backends& known = backends();
        ReaderLock guard(known.mutex);
        const auto found = known.at.find({layout.image, layout.length});
        if (found == known.at.end()) return CANOPY_DISPATCHER_UNKNOWN_RUNTIME;
        entry = found->second->*function;
    }
    return entry ? entry(arguments) : static_cast<std::uint32_t>(CANOPY_DISPATCHER_NO_ENTRY);
}

}  // namespace

CANOPY_ENTRY DynTileFwkKernelServerInit(void* arguments) {
    KnownLayout layout;
    if (!read_block(arguments, layout)) return CANOPY_DISPATCHER_BAD_ARGUMENT;
    Backend* backend = nullptr;
    if (const std::uint32_t wrong = open_backend(layout, backend)) return wrong;
    return backend->init(arguments);
}

CANOPY_ENTRY DynTileFwkKernelServer(void* arguments) { return call_backend(arguments, &Backend::run); }
CANOPY_ENTRY StaticTileFwkKernelServer(void* arguments) { return call_backend(arguments, &Backend::run_static); }
