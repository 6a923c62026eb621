// SPDX-License-Identifier: Apache-2.0
// The functions of libcanopy_dispatcher.so: CPU kernels, launched by canopy/dispatcher.h and by programs that know the
// names. Each may be called by any number of blocks at once.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

#include "canopy/dispatcher_abi.h"
#include "dispatcher/runtimes.h"

using namespace canopy::dispatcher;

#define CANOPY_ENTRY extern "C" __attribute__((visibility("default"))) std::uint32_t

namespace {

template <class T>
T* pointer(std::uint64_t address) noexcept {
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

std::span<const std::byte> bytes_at(std::uint64_t address, std::uint64_t length) noexcept {
    return {pointer<const std::byte>(address), static_cast<std::size_t>(length)};
}

Outcome bad_argument(const char* text) { return {CANOPY_DISPATCHER_BAD_ARGUMENT, text}; }

// What the standard library throws inside `work` becomes a result.
template <class Work>
Outcome guarded(Work&& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        return {CANOPY_DISPATCHER_INTERNAL, error.what()};
    }
}

Outcome load(CanopyDispatcherLoad* arguments) {
    if (!arguments) return bad_argument("load has no arguments");
    arguments->runtime = 0;
    if (arguments->image == 0 || arguments->length == 0)
        return bad_argument("load needs the address of an image and its length");
    return guarded(
        [&] { return Runtimes::get().load(bytes_at(arguments->image, arguments->length), arguments->runtime); });
}

Outcome swap(const CanopyDispatcherSwap* arguments) {
    if (!arguments || arguments->image == 0 || arguments->length == 0)
        return bad_argument("swap needs the address of an image and its length");
    return guarded([&] {
        return Runtimes::get().swap(arguments->runtime, bytes_at(arguments->image, arguments->length),
                                    pointer<void>(arguments->init));
    });
}

Outcome unload(const CanopyDispatcherUnload* arguments) {
    if (!arguments) return bad_argument("unload has no arguments");
    return guarded([&] { return Runtimes::get().unload(arguments->runtime); });
}

Outcome init(const CanopyDispatcherCall* arguments) {
    if (!arguments) return bad_argument("init has no arguments");
    const Held runtime(Runtimes::get().hold(arguments->runtime));
    if (!runtime) return unknown_runtime(arguments->runtime);
    if (!runtime->init) return {};
    const std::uint32_t result = runtime->init(pointer<void>(arguments->arguments));
    if (result == 0) return {};
    return {result, "init of runtime " + std::to_string(arguments->runtime) + " returned " + std::to_string(result)};
}

[[gnu::noinline, gnu::cold]] std::uint32_t run_refused(std::uint64_t id) {
    return Runtimes::get().note(unknown_runtime(id));
}

// Marks a gang whose runtime was not there when its first block came.
constexpr std::uint64_t refused = 1;

std::uint64_t choose(CanopyDispatcherGang& gang) noexcept {
    const std::atomic_ref chosen(gang.chosen);
    std::uint64_t present = chosen.load(std::memory_order_acquire);
    if (present != 0) return present;
    Instance* instance = Runtimes::get().hold(gang.runtime);
    const std::uint64_t own = instance ? reinterpret_cast<std::uintptr_t>(instance) : refused;
    if (chosen.compare_exchange_strong(present, own, std::memory_order_acq_rel)) return own;
    if (instance) instance->release();
    return present;
}

// Ends a block's part; the last one gives the gang's hold back.
class GangPart {
public:
    GangPart(CanopyDispatcherGang& gang, std::uint64_t chosen) noexcept : gang_(gang), chosen_(chosen) {}
    ~GangPart() {
        if (std::atomic_ref(gang_.remaining).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
        std::atomic_ref(gang_.remaining).store(gang_.blocks, std::memory_order_relaxed);
        std::atomic_ref(gang_.chosen).store(0, std::memory_order_release);
        if (chosen_ != refused) pointer<Instance>(chosen_)->release();
    }
    GangPart(const GangPart&) = delete;
    GangPart& operator=(const GangPart&) = delete;

private:
    CanopyDispatcherGang& gang_;
    const std::uint64_t chosen_;
};

}  // namespace

CANOPY_ENTRY DynTileFwkDispatcherLoad(void* arguments) {
    return Runtimes::get().note(load(static_cast<CanopyDispatcherLoad*>(arguments)));
}

CANOPY_ENTRY DynTileFwkDispatcherInit(void* arguments) {
    return Runtimes::get().note(init(static_cast<CanopyDispatcherCall*>(arguments)));
}

CANOPY_ENTRY DynTileFwkDispatcherSwap(void* arguments) {
    return Runtimes::get().note(swap(static_cast<CanopyDispatcherSwap*>(arguments)));
}

CANOPY_ENTRY DynTileFwkDispatcherUnload(void* arguments) {
    return Runtimes::get().note(unload(static_cast<CanopyDispatcherUnload*>(arguments)));
}

CANOPY_ENTRY DynTileFwkDispatcherRun(void* arguments) {
    const auto* call = static_cast<const CanopyDispatcherCall*>(arguments);
    if (!call) return Runtimes::get().note(bad_argument("run has no arguments"));
    const Held runtime(Runtimes::get().hold(call->runtime));
    if (!runtime) [[unlikely]]
        return run_refused(call->runtime);
    return runtime->run(pointer<void>(call->arguments));
}

CANOPY_ENTRY CanopyDispatcherRunBlocks(void* arguments) {
    auto* gang = static_cast<CanopyDispatcherGang*>(arguments);
    if (!gang || gang->blocks == 0) return Runtimes::get().note(bad_argument("a gang needs its number of blocks"));
    const std::uint64_t id = gang->runtime;
    const std::uint64_t chosen = choose(*gang);
    const GangPart part(*gang, chosen);
    if (chosen == refused) return run_refused(id);
    return pointer<Instance>(chosen)->run(pointer<void>(gang->arguments));
}

CANOPY_ENTRY CanopyDispatcherControl(void* arguments) {
    auto* block = static_cast<CanopyDispatcherRequest*>(arguments);
    if (!block) return CANOPY_DISPATCHER_BAD_ARGUMENT;
    Outcome outcome;
    switch (block->verb) {
        case CANOPY_DISPATCHER_LOAD:
            outcome = load(&block->arguments.load);
            break;
        case CANOPY_DISPATCHER_INIT:
            outcome = init(&block->arguments.call);
            break;
        case CANOPY_DISPATCHER_SWAP:
            outcome = swap(&block->arguments.swap);
            break;
        case CANOPY_DISPATCHER_UNLOAD:
            outcome = unload(&block->arguments.unload);
            break;
        case CANOPY_DISPATCHER_TEXT:
            outcome.text = Runtimes::get().newest_text();
            break;
        default:
            outcome = bad_argument("the verb is none of the dispatcher's");
    }
    block->result = outcome.result;
    const std::size_t length = std::min(outcome.text.size(), sizeof(block->text) - 1);
    std::memcpy(block->text, outcome.text.data(), length);
    block->text[length] = '\0';
    Runtimes::get().note(std::move(outcome));
    return 0;
}
