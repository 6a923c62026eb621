// SPDX-License-Identifier: Apache-2.0
// The target layer of the kernel language, for CPUs: block identity and device services come through the image's
// service table. Another kind of target provides the same functions.
#ifndef CANOPY_KERNEL_TARGET_H
#define CANOPY_KERNEL_TARGET_H

#include <canopy/kernel_abi.h>
#include <time.h>

#include "canopy_kernel/target/architecture.h"

// Defined once in every image; the device fills it in while it loads the image.
extern "C" __attribute__((visibility("protected"))) const CanopyServices* canopy_image_services;

// asm("trap") in a kernel: an illegal instruction.
#if defined(__x86_64__)
__asm__(".macro trap\n\tud2\n.endm");
#elif defined(__aarch64__)
__asm__(".macro trap\n\tudf #0\n.endm");
#endif

namespace canopy::kernel {

// Queried at every use: a block may continue on another thread after a wait.
inline const CanopyBlock& current_block() { return *canopy_image_services->current_block(); }

// The core of the running block, opened on first use. The reference stays valid while the block runs, even across
// waits.
inline CanopyCore& core() {
    CanopyCore* opened = canopy_image_services->current_block()->core;
    return __builtin_expect(opened != nullptr, 1) ? *opened : *canopy_image_services->open_core(__NPU_ARCH__);
}

// Ends the block and fails the task; the text becomes part of the error message.
[[noreturn]] inline void fail(const char* text, size_t length) {
    canopy_image_services->fail(text, length);
    __builtin_trap();
}

// Lets other blocks run. Call it in every loop that waits for another block.
inline void yield() { canopy_image_services->yield(); }

inline void sync(CanopySyncScope scope) { canopy_image_services->sync(scope); }

inline void set_flag(uint32_t mode, uint32_t id) { canopy_image_services->set_flag(mode, id); }
inline void wait_flag(uint32_t mode, uint32_t id) { canopy_image_services->wait_flag(mode, id); }

// SIMT threads of the running block.
inline void run_threads(void (*body)(void*), void* data, uint32_t count) {
    canopy_image_services->run_threads(body, data, count);
}
inline uint32_t current_thread() { return canopy_image_services->current_thread(); }
inline void thread_barrier(uint32_t first, uint32_t count) { canopy_image_services->thread_barrier(first, count); }

// Fails if the library has no service at that offset of its table.
inline void require_service(size_t offset) {
    if (__builtin_expect(canopy_image_services->size > offset, 1)) return;
    static constexpr char text[] = "the library that runs this kernel is older than the compiler that made it";
    fail(text, sizeof text - 1);
}

// Memory of the running block that belongs to `key`, for operations that need some; the next call with the key may
// move it.
inline void* block_memory(const void* key, size_t bytes) {
    require_service(__builtin_offsetof(CanopyServices, block_memory));
    return canopy_image_services->block_memory(key, bytes, alignof(max_align_t), nullptr);
}

// A core of the running block's group; null if it has no such core.
inline const CanopyCore* find_partner(CanopyCoreType type, uint32_t index) {
    require_service(__builtin_offsetof(CanopyServices, partner));
    return canopy_image_services->partner(type, index);
}

inline void multiply(const CanopyProduct& product) { canopy_image_services->multiply(&product); }

inline void wait_for_all_blocks() { canopy_image_services->sync_all(); }

inline void memory_fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// Host code may call the kernel language's printf, for example after `using namespace AscendC`; it prints normally.
inline void print(const char* text, size_t length) {
    if (canopy_image_services == nullptr)
        __builtin_printf("%.*s", static_cast<int>(length), text);
    else
        canopy_image_services->print(text, length);
}

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
