// SPDX-License-Identifier: Apache-2.0
// The functions of libcanopy_dispatcher.so: CPU kernels, launched by canopy/dispatcher.h and by programs that know
// their names. Any number of blocks may call them at once.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

#include "canopy/dispatcher_abi.h"
#include "dispatcher/runtimes.h"

using canopy::Mutex;
using canopy::MutexLock;
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

// Turns standard library exceptions into a result.
template <class Work>
Outcome guarded(Work&& work) {
    try {
        return work();
    } catch (const std::exception& error) {
        return {CANOPY_DISPATCHER_INTERNAL, error.what()};
    }
}

Outcome load(CanopyDispatcherLoad* arguments, const Runtimes::Slots& taken = {}) {
    if (!arguments) return bad_argument("load has no arguments");
    arguments->runtime = 0;
    if (arguments->image == 0 || arguments->length == 0)
        return bad_argument("load needs the address of an image and its length");
    return guarded(
        [&] { return Runtimes::get().load(bytes_at(arguments->image, arguments->length), arguments->runtime, taken); });
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

// ---- records -------------------------------------------------------------------------------------------------------

// Guards the records and ensures that a runtime is restored only once. Inner code runs under it only while a runtime is
// restored: this is then a separate process, which ends if that code crashes.
Mutex records_mutex;

// nullptr if the program keeps none.
CanopyDispatcherKept* record_of(std::uint64_t kept, std::uint64_t runtime) noexcept {
    return kept == 0 ? nullptr : pointer<CanopyDispatcherKept>(kept) + runtime % CANOPY_DISPATCHER_MAX_RUNTIMES;
}

// Loads a runtime that is missing but was never unloaded: it was lost with its process.
Outcome restore(std::uint64_t kept, std::uint64_t runtime) {
    MutexLock guard(records_mutex);
    const CanopyDispatcherKept* record = record_of(kept, runtime);
    if (!record || record->runtime != runtime || runtime == 0) return {};
    return guarded([&] { return Runtimes::get().restore(*record); });
}

[[gnu::noinline, gnu::cold]] Instance* hold_restored(std::uint64_t kept, std::uint64_t runtime) {
    Runtimes::get().note(restore(kept, runtime));
    return Runtimes::get().hold(runtime);
}

Instance* hold(std::uint64_t kept, std::uint64_t runtime) {
    Instance* instance = Runtimes::get().hold(runtime);
    return instance || kept == 0 ? instance : hold_restored(kept, runtime);
}

// ---- requests ------------------------------------------------------------------------------------------------------

bool same_bytes(const CanopyDispatcherKept& record, const CanopyDispatcherLoad& arguments) noexcept {
    return record.runtime != 0 && record.length == arguments.length && arguments.image != 0 &&
           std::memcmp(pointer<void>(record.image), pointer<void>(arguments.image), record.length) == 0;
}

// Before a load: restores a lost runtime with the same bytes under its old id, and marks the slots of other lost
// runtimes as `taken`.
Outcome prepare_load(const CanopyDispatcherLoad& arguments, std::uint64_t kept, Runtimes::Slots& taken) {
    if (kept == 0) return {};
    const std::span records(pointer<const CanopyDispatcherKept>(kept), CANOPY_DISPATCHER_MAX_RUNTIMES);
    MutexLock guard(records_mutex);
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
        taken[slot] = records[slot].runtime != 0;
        if (!same_bytes(records[slot], arguments)) continue;
        if (Outcome wrong = guarded([&] { return Runtimes::get().restore(records[slot]); }); !wrong.ok()) return wrong;
    }
    return {};
}

Outcome load_kept(CanopyDispatcherLoad& arguments, std::uint64_t kept) {
    Runtimes::Slots taken;
    if (Outcome wrong = prepare_load(arguments, kept, taken); !wrong.ok()) return wrong;
    Outcome outcome = load(&arguments, taken);
    CanopyDispatcherKept* record = record_of(kept, arguments.runtime);
    if (!record || !outcome.ok()) return outcome;
    MutexLock guard(records_mutex);
    if (record->runtime == arguments.runtime)
        ++record->loads;
    else
        *record = {arguments.runtime, arguments.image, arguments.length, 0, 1};
    return outcome;
}

Outcome init_kept(const CanopyDispatcherCall& arguments, std::uint64_t kept) {
    if (Outcome wrong = restore(kept, arguments.runtime); !wrong.ok()) return wrong;
    Outcome outcome = init(&arguments);
    CanopyDispatcherKept* record = record_of(kept, arguments.runtime);
    MutexLock guard(records_mutex);
    if (record && record->runtime == arguments.runtime && outcome.ok()) record->init = arguments.arguments;
    return outcome;
}

Outcome swap_kept(const CanopyDispatcherSwap& arguments, std::uint64_t kept) {
    if (Outcome wrong = restore(kept, arguments.runtime); !wrong.ok()) return wrong;
    Outcome outcome = swap(&arguments);
    const bool switched = outcome.ok() || outcome.result == CANOPY_DISPATCHER_BUSY;
    CanopyDispatcherKept* record = record_of(kept, arguments.runtime);
    MutexLock guard(records_mutex);
    if (record && record->runtime == arguments.runtime && switched)
        *record = {arguments.runtime, arguments.image, arguments.length, arguments.init, record->loads};
    return outcome;
}

Outcome unload_kept(const CanopyDispatcherUnload& arguments, std::uint64_t kept) {
    CanopyDispatcherKept* record = record_of(kept, arguments.runtime);
    if (!record || record->runtime != arguments.runtime) return unload(&arguments);
    {
        MutexLock guard(records_mutex);
        if (--record->loads == 0) *record = {};
    }
    Outcome outcome = unload(&arguments);
    // It may have been lost with its process.
    return outcome.result == CANOPY_DISPATCHER_UNKNOWN_RUNTIME ? Outcome{} : outcome;
}

Outcome answer(CanopyDispatcherRequest& request) {
    switch (request.verb) {
        case CANOPY_DISPATCHER_LOAD:
            return load_kept(request.arguments.load, request.kept);
        case CANOPY_DISPATCHER_INIT:
            return init_kept(request.arguments.call, request.kept);
        case CANOPY_DISPATCHER_SWAP:
            return swap_kept(request.arguments.swap, request.kept);
        case CANOPY_DISPATCHER_UNLOAD:
            return unload_kept(request.arguments.unload, request.kept);
        case CANOPY_DISPATCHER_TEXT:
            return {0, Runtimes::get().newest_text()};
        default:
            return bad_argument("the dispatcher does not have this verb");
    }
}

// ---- gangs ---------------------------------------------------------------------------------------------------------

// Marks a gang whose runtime was missing when its first block arrived.
constexpr std::uint64_t refused = 1;

// At the end of the launch: releases the gang's hold and resets the structure.
void end_gang(void* data) {
    auto& gang = *static_cast<CanopyDispatcherGang*>(data);
    const std::uint64_t chosen = std::atomic_ref(gang.chosen).exchange(0, std::memory_order_acq_rel);
    if (chosen != 0 && chosen != refused) pointer<Instance>(chosen)->release();
}

std::uint64_t choose(CanopyDispatcherGang& gang) noexcept {
    const std::atomic_ref chosen(gang.chosen);
    std::uint64_t present = chosen.load(std::memory_order_acquire);
    if (present != 0) return present;
    if (!at_launch_end(&end_gang, &gang)) return refused;
    Instance* instance = hold(gang.kept, gang.runtime);
    const std::uint64_t own = instance ? reinterpret_cast<std::uintptr_t>(instance) : refused;
    if (chosen.compare_exchange_strong(present, own, std::memory_order_acq_rel)) return own;
    if (instance) instance->release();
    return present;
}

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

CANOPY_ENTRY CanopyDispatcherRun(void* arguments) {
    const auto* call = static_cast<const CanopyDispatcherKeptCall*>(arguments);
    if (!call) return Runtimes::get().note(bad_argument("run has no arguments"));
    const Held runtime(hold(call->kept, call->runtime));
    if (!runtime) [[unlikely]]
        return run_refused(call->runtime);
    return runtime->run(pointer<void>(call->arguments));
}

CANOPY_ENTRY CanopyDispatcherRunBlocks(void* arguments) {
    auto* gang = static_cast<CanopyDispatcherGang*>(arguments);
    if (!gang) return Runtimes::get().note(bad_argument("run has no arguments"));
    const std::uint64_t id = gang->runtime;
    const std::uint64_t chosen = choose(*gang);
    if (chosen == refused) return run_refused(id);
    return pointer<Instance>(chosen)->run(pointer<void>(gang->arguments));
}

CANOPY_ENTRY CanopyDispatcherControl(void* arguments) {
    auto* request = static_cast<CanopyDispatcherRequest*>(arguments);
    if (!request) return CANOPY_DISPATCHER_BAD_ARGUMENT;
    Outcome outcome = answer(*request);
    request->result = outcome.result;
    const std::size_t length = std::min(outcome.text.size(), sizeof(request->text) - 1);
    std::memcpy(request->text, outcome.text.data(), length);
    request->text[length] = '\0';
    Runtimes::get().note(std::move(outcome));
    return 0;
}
