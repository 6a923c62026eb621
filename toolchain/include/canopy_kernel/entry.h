// SPDX-License-Identifier: Apache-2.0
// From an argument block to a call: included by the text canopy-cc puts behind a kernel source, never by users.
// The slot rule is that of canopy/kernel_image.h; Entry<k>::size lets the generated text check that the compiler
// agrees with the metadata.
#ifndef CANOPY_KERNEL_ENTRY_H
#define CANOPY_KERNEL_ENTRY_H

#include <canopy/kernel_image.h>
#include <stddef.h>

namespace canopy::kernel {

template <size_t... index>
struct Indexes {};

template <class T, T... index>
using IndexesOf = Indexes<index...>;

template <class... Parameters>
struct Slots {
    static constexpr size_t count = sizeof...(Parameters);
    size_t offset[count + 1] = {};
    size_t size = 0;

    constexpr Slots() {
        const size_t sizes[] = {sizeof(Parameters)..., 0};
        const size_t alignments[] = {alignof(Parameters)..., 1};
        size_t at = 0;
        for (size_t index = 0; index < count; ++index) {
            const size_t alignment =
                alignments[index] > CANOPY_ARGUMENT_ALIGNMENT ? alignments[index] : CANOPY_ARGUMENT_ALIGNMENT;
            at = (at + alignment - 1) / alignment * alignment;
            offset[index] = at;
            at += sizes[index];
        }
        size = (at + CANOPY_ARGUMENT_ALIGNMENT - 1) / CANOPY_ARGUMENT_ALIGNMENT * CANOPY_ARGUMENT_ALIGNMENT;
    }
};

// A parameter's bytes, copied out: an argument block may lie at any address.
template <class T>
struct Argument {
    static_assert(__is_trivially_copyable(T), "a kernel parameter must be trivially copyable");
    alignas(T) unsigned char bytes[sizeof(T)];

    __attribute__((nodebug, always_inline)) explicit Argument(const unsigned char* source) {
        __builtin_memcpy(bytes, source, sizeof(T));
    }
    __attribute__((nodebug, always_inline)) T& value() { return *reinterpret_cast<T*>(bytes); }
};

template <class Function>
struct Signature;

template <class... Parameters>
struct Signature<void (*)(Parameters...)> {
    static constexpr Slots<Parameters...> slots{};

    template <class Function, size_t... index>
    __attribute__((nodebug, always_inline)) static void call(Function function, const unsigned char* block,
                                                             Indexes<index...>) {
        (void)block;
        // The kernel stays a function of its own: debuggers and profilers show it under its name.
        [[clang::noinline]] function(Argument<Parameters>(block + slots.offset[index]).value()...);
    }
    template <class Function>
    __attribute__((nodebug, always_inline)) static void call(Function function, const void* block) {
        call(function, static_cast<const unsigned char*>(block),
             __make_integer_seq<IndexesOf, size_t, sizeof...(Parameters)>{});
    }
};

template <class... Parameters>
struct Signature<void (*)(Parameters...) noexcept> : Signature<void (*)(Parameters...)> {};

template <auto function>
struct Entry {
    using Kernel = Signature<decltype(function)>;
    static constexpr size_t size = Kernel::slots.size;

    __attribute__((nodebug, always_inline)) static void run(const void* block) { Kernel::call(function, block); }
};

}  // namespace canopy::kernel

#endif
