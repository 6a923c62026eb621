// SPDX-License-Identifier: Apache-2.0
// What the kernel language needs from the machine its code runs on, for processors: who the block is and what the
// device offers comes through the image's service table. A further kind of target supplies the same functions.
#ifndef CANOPY_KERNEL_TARGET_H
#define CANOPY_KERNEL_TARGET_H

#include <canopy/kernel_abi.h>
#include <time.h>

// Defined once in every image; the device fills it in while it loads the image.
extern "C" __attribute__((visibility("protected"))) const CanopyServices* canopy_image_services;

// asm("trap") of a kernel: an instruction no processor executes.
#if defined(__x86_64__)
__asm__(".macro trap\n\tud2\n.endm");
#elif defined(__aarch64__)
__asm__(".macro trap\n\tudf #0\n.endm");
#endif

namespace canopy::kernel {

// Asked anew at every use: a block may go on elsewhere after it has waited.
inline const CanopyBlock& current_block() { return *canopy_image_services->current_block(); }

inline void wait_for_all_blocks() { canopy_image_services->sync_all(); }

inline void memory_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

inline void print(const char* text, size_t length) { canopy_image_services->print(text, length); }

[[noreturn]] inline void trap() {
    canopy_image_services->trap();
    __builtin_trap();
}

inline int64_t nanoseconds() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<int64_t>(time.tv_sec) * 1000000000 + time.tv_nsec;
}

}  // namespace canopy::kernel

#endif
