// SPDX-License-Identifier: Apache-2.0
// What a kernel says while it runs, and how it gives up: printf, PRINTF, Trap. -DASCENDC_DUMP=0 turns printing off.
#ifndef CANOPY_KERNEL_DEBUG_H
#define CANOPY_KERNEL_DEBUG_H

#include "canopy_kernel/block.h"
#include "canopy_kernel/target.h"

#ifndef ASCENDC_DUMP
#define ASCENDC_DUMP 1
#endif

namespace canopy::kernel {

// Arguments as C passes them: the block objects become numbers, everything else stays.
template <class T>
inline T printable(T value) {
    return value;
}
inline int64_t printable(BlockIndex index) { return index; }
inline int64_t printable(BlockCount count) { return count; }

// Short texts are formatted on the block's stack, longer ones on the heap.
inline void print_formatted(const char* format, ...) {
    char text[512];
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    const int length = __builtin_vsnprintf(text, sizeof text, format, arguments);
    __builtin_va_end(arguments);
    if (length < 0) return;
    const size_t size = static_cast<size_t>(length);
    if (size < sizeof text) return print(text, size);
    char* longer = static_cast<char*>(__builtin_malloc(size + 1));
    if (longer == nullptr) return print(text, sizeof text - 1);
    __builtin_va_start(arguments, format);
    __builtin_vsnprintf(longer, size + 1, format, arguments);
    __builtin_va_end(arguments);
    print(longer, size);
    __builtin_free(longer);
}

}  // namespace canopy::kernel

namespace AscendC {

template <class... Arguments>
inline void printf([[maybe_unused]] const char* format, [[maybe_unused]] Arguments... arguments) {
#if ASCENDC_DUMP
    canopy::kernel::print_formatted(format, canopy::kernel::printable(arguments)...);
#endif
}

template <class... Arguments>
inline void PRINTF(const char* format, Arguments... arguments) {
    AscendC::printf(format, arguments...);
}

[[noreturn]] inline void Trap() { canopy::kernel::trap(); }

}  // namespace AscendC

#endif
