// SPDX-License-Identifier: Apache-2.0
// Calls a kernel with the parameters from an argument block, and defines the record by which canopy-cc finds the
// kernels of an object. canopy-cc puts this header before every source it compiles; users never include it.
// canopy/kernel_image.h defines the slot layout.
#ifndef CANOPY_KERNEL_ENTRY_H
#define CANOPY_KERNEL_ENTRY_H

#include <canopy/kernel_abi.h>
#include <canopy/kernel_image.h>
#include <stddef.h>
#include <stdint.h>

extern "C" __attribute__((visibility("protected"))) const CanopyServices* canopy_image_services;

namespace canopy::kernel {

template <class... Parameters>
using Function = void (*)(Parameters...);

template <size_t... index>
struct Indexes {};

template <class T, T... index>
using IndexesOf = Indexes<index...>;

template <class... Parameters>
struct Slots {
    static_assert((... && __is_trivially_copyable(Parameters)), "a kernel parameter must be trivially copyable");
    static constexpr size_t count = sizeof...(Parameters);
    size_t offset[count + 1] = {};
    size_t length[count + 1] = {sizeof(Parameters)..., 0};
    size_t alignment[count + 1] = {alignof(Parameters)..., 1};
    size_t largest = CANOPY_ARGUMENT_ALIGNMENT;
    size_t size = 0;

    constexpr Slots() {
        size_t at = 0;
        for (size_t index = 0; index < count; ++index) {
            if (alignment[index] < CANOPY_ARGUMENT_ALIGNMENT) alignment[index] = CANOPY_ARGUMENT_ALIGNMENT;
            if (alignment[index] > largest) largest = alignment[index];
            at = (at + alignment[index] - 1) / alignment[index] * alignment[index];
            offset[index] = at;
            at += length[index];
        }
        size = (at + CANOPY_ARGUMENT_ALIGNMENT - 1) / CANOPY_ARGUMENT_ALIGNMENT * CANOPY_ARGUMENT_ALIGNMENT;
    }
};

template <class... Parameters>
inline constexpr Slots<Parameters...> slots_of{};

// A copy of a parameter's bytes: an argument block may be at any address.
template <class T>
struct Argument {
    alignas(T) unsigned char bytes[sizeof(T)];

    __attribute__((nodebug, always_inline)) explicit Argument(const unsigned char* source) {
        __builtin_memcpy(bytes, source, sizeof(T));
    }
    __attribute__((nodebug, always_inline)) T& value() { return *reinterpret_cast<T*>(bytes); }
};

// If the core was opened, the first word of its registers may be a function to call after the kernel's function has
// returned (canopy_kernel/core/core.h).
__attribute__((nodebug, always_inline)) inline void end_kernel() {
    const CanopyCore* core = canopy_image_services->current_block()->core;
    if (core == nullptr) return;
    void (*at_end)() = nullptr;
    __builtin_memcpy(&at_end, core->registers, sizeof at_end);
    if (at_end != nullptr) at_end();
}

// Runs a SIMT kernel: canopy_kernel/simt/simt.h sets up its threads.
inline void run_grid(const CanopyGrid& dimensions, void (*body)(void*), void* data);

template <auto function, class Signature, bool threads>
struct EntryOf;

template <auto function, class... Parameters>
struct EntryOf<function, void (*)(Parameters...), false> {
    static constexpr const Slots<Parameters...>& slots = slots_of<Parameters...>;

    template <size_t... index>
    __attribute__((nodebug, always_inline)) static void call([[maybe_unused]] const unsigned char* block,
                                                             Indexes<index...>) {
        call_kernel(Argument<Parameters>(block + slots.offset[index]).value()...);
    }
    // The kernel stays a separate function, so that debuggers and profilers show its name. The attribute applies to
    // every call in its statement, so the statement must contain no other call.
    __attribute__((nodebug, always_inline)) static void call_kernel(Parameters... parameters) {
        [[clang::noinline]] function(parameters...);
    }
    __attribute__((nodebug)) static void run(const void* block) {
        run_thread(block);
        end_kernel();
    }
    __attribute__((nodebug, always_inline)) static void run_thread(const void* block) {
        call(static_cast<const unsigned char*>(block), __make_integer_seq<IndexesOf, size_t, sizeof...(Parameters)>{});
    }
};

template <auto function, class... Parameters>
struct EntryOf<function, void (*)(Parameters...), true> {
    static constexpr const Slots<Parameters..., CanopyGrid>& slots = slots_of<Parameters..., CanopyGrid>;

    __attribute__((nodebug)) static void body(void* block) {
        EntryOf<function, void (*)(Parameters...), false>::run_thread(block);
    }
    __attribute__((nodebug)) static void run(const void* block) {
        const auto* bytes = static_cast<const unsigned char*>(block);
        CanopyGrid grid;
        __builtin_memcpy(&grid, bytes + slots.offset[sizeof...(Parameters)], sizeof grid);
        run_grid(grid, &body, const_cast<void*>(block));
        end_kernel();
    }
};

struct RecordParameter {
    uint32_t offset, size, alignment;
};

// One per kernel and per instantiation of a kernel template, in the section "canopy_kernels" of a compiled object.
// canopy-cc writes the kernel's note from it; driver/compile/records.cpp knows the layout.
template <class... Parameters>
struct RecordData {
    static constexpr size_t count = sizeof...(Parameters);
    uint32_t size = sizeof(RecordData);
    uint32_t line;
    const char* key;
    const char* source;
    void (*entry)(const void*);
    Function<Parameters...> function;
    uint32_t core_type, cube_ratio, vector_ratio, schedule_mode, flags, arguments_size, parameter_count;
    RecordParameter parameters[count + 1];
};

template <auto function, bool threads, class Signature = decltype(function)>
struct Record;

template <auto function, bool threads, class... Parameters>
struct Record<function, threads, void (*)(Parameters...)> {
    using Entry = EntryOf<function, void (*)(Parameters...), threads>;
    static_assert(Entry::slots.size <= CANOPY_IMAGE_MAX_ARGUMENTS && Entry::slots.largest <= CANOPY_IMAGE_MAX_ALIGNMENT,
                  "the parameters of a kernel need more than 65536 bytes, or more than 4096 bytes of alignment");
    static_assert(sizeof...(Parameters) <= CANOPY_IMAGE_MAX_PARAMETERS, "a kernel has more than 128 parameters");

    static constexpr RecordData<Parameters...> make(const char* key, const char* source, uint32_t line,
                                                    uint32_t core_type, uint32_t cube, uint32_t vector,
                                                    uint32_t schedule_mode) {
        RecordData<Parameters...> data{sizeof data,
                                       line,
                                       key,
                                       source,
                                       &Entry::run,
                                       function,
                                       core_type,
                                       cube,
                                       vector,
                                       schedule_mode,
                                       threads ? 1u : 0u,
                                       static_cast<uint32_t>(Entry::slots.size),
                                       sizeof...(Parameters),
                                       {}};
        for (size_t index = 0; index < sizeof...(Parameters); ++index)
            data.parameters[index] = {static_cast<uint32_t>(Entry::slots.offset[index]),
                                      static_cast<uint32_t>(Entry::slots.length[index]),
                                      static_cast<uint32_t>(Entry::slots.alignment[index])};
        return data;
    }
};

template <auto function, bool threads, class... Parameters>
struct Record<function, threads, void (*)(Parameters...) noexcept>
    : Record<function, threads, void (*)(Parameters...)> {};

}  // namespace canopy::kernel

#endif
