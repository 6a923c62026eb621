// SPDX-License-Identifier: Apache-2.0
// An inner runtime, compiled once per variant; all variants export the same names.
#include <sched.h>

#include <atomic>

#include "inner_work.h"

// The compiler makes such a variable unique in the process.
template <class T>
struct Counter {
    static inline std::atomic<T> value{0};
};

namespace {

constexpr std::uint64_t variant = INNER_VARIANT;
std::uint64_t settings = 0;

void wait_until(std::uint64_t& word, std::uint64_t least) {
    while (std::atomic_ref(word).load(std::memory_order_acquire) < least) sched_yield();
}

}  // namespace

// The argument block holds the setting; 999 is refused. In the other projects' layout it is InnerWork::kind.
extern "C" std::uint32_t DynTileFwkBackendKernelServerInit(void* arguments) {
    constexpr std::uint64_t refused = 999;
    const std::uint64_t given = arguments ? *static_cast<std::uint64_t*>(arguments) : 0;
    if (given == refused) return 77;
    settings = 100 * given + variant;
    return 0;
}

extern "C" std::uint32_t DynTileFwkBackendKernelServer(void* arguments) {
    const InnerWork& work = *static_cast<InnerWork*>(arguments);
    switch (work.kind) {
        case InnerWork::add:
            std::atomic_ref(*work.to).fetch_add(10 * work.value + variant, std::memory_order_relaxed);
            return 0;
        case InnerWork::fail:
            return static_cast<std::uint32_t>(work.value);
        case InnerWork::hold:
            std::atomic_ref(work.to[0]).store(variant, std::memory_order_release);
            wait_until(*work.gate, 1);
            std::atomic_ref(work.to[1]).store(variant, std::memory_order_release);
            return 0;
        case InnerWork::meet:
            std::atomic_ref(work.to[variant]).fetch_add(1, std::memory_order_acq_rel);
            wait_until(work.to[variant], work.value);
            return 0;
        case InnerWork::count:
            *work.to = ++Counter<std::uint64_t>::value;
            return 0;
        case InnerWork::settings:
            *work.to = settings;
            return 0;
        case InnerWork::crash:
            if (std::atomic_ref(*work.to).fetch_add(1, std::memory_order_acq_rel) == 0) __builtin_trap();
            [[fallthrough]];
        case InnerWork::stay:
            for (;;) __asm__ volatile("" ::: "memory");
        default:
            return 1;
    }
}

extern "C" std::uint32_t StaticTileFwkBackendKernelServer(void* arguments) {
    return DynTileFwkBackendKernelServer(arguments);
}
