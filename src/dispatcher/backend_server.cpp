// SPDX-License-Identifier: Apache-2.0
// The dispatcher with the names and argument block of other projects (known_layouts.h): init loads the image named by
// the block and calls its init; later blocks with the same image run it. Extension kernels look up the three
// DynTileFwkBackend names; the DynPypto names belong to an outer object that is loaded by its own descriptor.
//
// Threads: any number of blocks at once.
#include <map>

#include "dispatcher/known_layouts.h"
#include "dispatcher/runtimes.h"

using canopy::content_key;
using canopy::ContentKey;
using canopy::ReaderLock;
using canopy::SharedMutex;
using canopy::WriterLock;
using namespace canopy::dispatcher;

#define CANOPY_ENTRY extern "C" __attribute__((visibility("default"))) std::uint32_t

namespace {

// A marker in this object's bytes by which it recognises itself in an argument block.
constexpr char own_mark[] = "libcanopy_dispatcher.so: keeps inner runtimes by id";
[[gnu::used]] const char* const volatile kept_mark = own_mark;

struct Place {
    std::uint64_t address = 0, length = 0;
    auto operator<=>(const Place&) const = default;
};

struct Places {
    struct Loaded {
        ContentKey key{};
        std::uint64_t runtime = 0;
    };
    SharedMutex mutex;
    std::map<Place, Loaded> all CANOPY_GUARDED_BY(mutex);
};
Places& places() {
    static Places instance;  // destroyed with this object, which outlives the blocks that run its code
    return instance;
}

bool is_dispatcher(std::uint64_t address, std::uint64_t length) noexcept {
    return memmem(reinterpret_cast<const void*>(address), length, own_mark, sizeof(own_mark)) != nullptr;
}

// Location of the runtime's image. The words after the device refer to it only if the first image is a dispatcher or
// missing.
bool inner_place(const void* arguments, Place& place) noexcept {
    KnownLayout layout;
    if (!KnownLayout::read(arguments, false, layout)) return false;
    place = {layout.image, layout.length};
    if (place.address == 0 || place.length == 0 || is_dispatcher(place.address, place.length)) {
        KnownLayout::read(arguments, true, layout);
        place = {layout.inner_image, layout.inner_length};
    }
    return place.address != 0 && place.length != 0;
}

Outcome no_image() {
    return {CANOPY_DISPATCHER_BAD_ARGUMENT,
            "the argument block names no image: neither at 96 of the device arguments that it points to at 40, nor at "
            "120"};
}

// Loads the image at this place, unless the same image was already loaded from there.
Outcome load_at(const Place& place) {
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(place.address), place.length);
    const ContentKey key = content_key(bytes);
    Places& known = places();
    std::uint64_t replaced = 0;
    {
        WriterLock guard(known.mutex);
        const auto present = known.all.find(place);
        if (present != known.all.end() && present->second.key == key) return {};
        std::uint64_t id = 0;
        if (Outcome wrong = Runtimes::get().load(bytes, id); !wrong.ok()) return wrong;
        if (present != known.all.end()) replaced = present->second.runtime;
        known.all[place] = {key, id};
    }
    return replaced != 0 ? Runtimes::get().unload(replaced) : Outcome{};
}

// The runtime that init loaded for a block, found without reading the images; 0 if there is none.
std::uint64_t runtime_of(const void* arguments) {
    KnownLayout layout;
    if (!KnownLayout::read(arguments, false, layout)) return 0;
    Places& known = places();
    ReaderLock guard(known.mutex);
    auto present = known.all.find({layout.image, layout.length});
    if (present == known.all.end() && KnownLayout::read(arguments, true, layout))
        present = known.all.find({layout.inner_image, layout.inner_length});
    return present != known.all.end() ? present->second.runtime : 0;
}

Outcome not_loaded() {
    return {CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "the image that the argument block names was not loaded by init"};
}

// Unloads a runtime whose place now holds a dispatcher.
void forget_at(const Place& place) {
    Places& known = places();
    std::uint64_t runtime = 0;
    {
        WriterLock guard(known.mutex);
        const auto present = known.all.find(place);
        if (present == known.all.end()) return;
        runtime = present->second.runtime;
        known.all.erase(present);
    }
    Runtimes::get().note(Runtimes::get().unload(runtime));
}

Outcome load_named(void* arguments) {
    KnownLayout layout;
    Place place;
    if (!inner_place(arguments, place) || !KnownLayout::read(arguments, false, layout)) return no_image();
    if (const Place first{layout.image, layout.length}; first != place) forget_at(first);
    return load_at(place);
}

Outcome init_named(void* arguments) {
    const Held runtime(Runtimes::get().hold(runtime_of(arguments)));
    if (!runtime) return not_loaded();
    // An init with another name expects another block: the program launches it itself.
    const Entry init = runtime->image.function({"DynTileFwkBackendKernelServerInit"});
    const std::uint32_t result = init ? init(arguments) : 0;
    if (result == 0) return {};
    return {result, "init of the image returned " + std::to_string(result)};
}

std::uint32_t run_named(void* arguments) {
    const Held runtime(Runtimes::get().hold(runtime_of(arguments)));
    if (!runtime) return Runtimes::get().note(not_loaded());
    return runtime->run(arguments);
}

}  // namespace

CANOPY_ENTRY DynTileFwkBackendKernelServerInit(void* arguments) {
    Outcome outcome = load_named(arguments);
    if (outcome.ok()) outcome = init_named(arguments);
    return Runtimes::get().note(std::move(outcome));
}

CANOPY_ENTRY DynTileFwkBackendKernelServer(void* arguments) { return run_named(arguments); }
CANOPY_ENTRY StaticTileFwkBackendKernelServer(void* arguments) { return run_named(arguments); }

CANOPY_ENTRY DynPyptoKernelServerNull(void* arguments) { return Runtimes::get().note(load_named(arguments)); }
CANOPY_ENTRY DynPyptoKernelServerInit(void* arguments) { return Runtimes::get().note(init_named(arguments)); }
CANOPY_ENTRY DynPyptoKernelServer(void* arguments) { return run_named(arguments); }
