// SPDX-License-Identifier: Apache-2.0
// The core a block runs on, as the kernel language sees it: its memories, the registers that persist between
// operations, and the reporting of misuse. The registers are in CanopyCore::registers and belong to one block; nothing
// here is shared between blocks.
#ifndef CANOPY_KERNEL_CORE_H
#define CANOPY_KERNEL_CORE_H

#include "canopy_kernel/core/positions.h"
#include "canopy_kernel/target/checking.h"
#include "canopy_kernel/target/qualifiers.h"
#include "canopy_kernel/target/target.h"
#include "canopy_kernel/target/types.h"

namespace canopy::kernel {

// A line of the user's source. Functions that can be misused take one as their last, defaulted parameter.
struct Where {
    const char* file;
    unsigned line;
};

constexpr Where here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }

// Ends the block; the error message of the task says where and why.
[[noreturn]] __attribute__((cold, noinline, format(printf, 2, 3))) inline void fail(Where where, const char* format,
                                                                                    ...) {
    char text[512];
    int length = __builtin_snprintf(text, sizeof text, "%s:%u: ", where.file, where.line);
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    if (length > 0 && length < static_cast<int>(sizeof text))
        length += __builtin_vsnprintf(text + length, sizeof text - static_cast<size_t>(length), format, arguments);
    __builtin_va_end(arguments);
    const size_t size = length < 0 ? 0 : smaller<size_t>(static_cast<size_t>(length), sizeof text - 1);
    fail(text, size);
}

enum class AtomicKind : uint8_t { none, add, maximum, minimum };
enum class ElementKind : uint8_t { as_copied, int8, int16, half, bfloat16, int32, float32 };

struct CoreState {
    void (*at_end)();  // called after the kernel's function has returned; the first word (canopy_kernel/target/entry.h)

    // Vector mask: bits in normal mode; in counter mode `mask[0]` counts elements.
    bool counter_mode;
    uint64_t mask[2];          // low, high
    uint64_t compare_mask[2];  // written by Compare without a destination, read by Select

    // How copies out of the core combine with the values in memory.
    AtomicKind atomic;
    ElementKind atomic_type;
    // Does it; set together with the mode, so that only kernels that set one contain the code.
    void (*combine)(AtomicKind kind, ElementKind element, void* memory, const void* local, uint64_t bytes);

    uint64_t control;           // the control register of SetCtrlSpr; 0 means the defaults
    uint64_t dequantisation;    // SetDeqScale: bits of the scale
    uint64_t pad_value;         // SetPadValue: bits of the element
    int64_t reduced_sum;        // GetReduceRepeatSumSpr: bits
    uint32_t reduced_value[2];  // of the last ReduceMax/Min: bits of value and index
    uint64_t gathered;          // elements the last GatherMask kept
    uint16_t merged[4];         // elements the last MrgSort took from each queue

    // The special register AR: bytes that Squeeze has kept since ClearSpr, and those of its last call.
    struct Squeezed {
        uint32_t total, last;
    } squeezed;

    struct Cube {
        uint64_t matrix_left, matrix_right;  // SetFmatrix
        uint64_t padding;                    // SetLoadDataPaddingValue
        uint64_t quantisation;               // SetFixpipePreQuantFlag: the scalar parameter
        uint64_t nz_to_nd;                   // SetFixpipeNz2ndFlag
        const void* quantisation_vector;     // SetFixPipeConfig
        const void* relu_vector;
        bool hf32, hf32_round_to_zero, layout_transform;
        bool multiplies;  // a Matmul object computes on this vector core
        bool image_set;   // SetLoadDataRepeatWithStride
        uint8_t image_repeats;
        uint16_t image_stride;
    } cube;

    struct Pipe {
        void* current;           // the TPipe in use
        uint32_t used[8];        // bytes handed out, by memory
        uint8_t allocated[17];   // buffers allocated and not freed, by position
        uint8_t event_used[35];  // ids in use, one bit each
        uint8_t flag[7][7][8];   // by source pipe, destination pipe and id: set minus waited
        const char* flag_file;
        int32_t flags_up;
        uint32_t mutexes;
    } pipe;

    // SIMT: the extents of the launch, and values exchanged by the lanes of each warp.
    struct Threads {
        uint32_t grid[3], block[3];
        uint64_t* exchange;
    } threads;

    // Variables that functions declare in local memory.
    uint32_t local_count;

    // The walks of copies into the core through global memory (canopy_kernel/copy/inlet.h).
    struct Inlets {
        static constexpr uint32_t most = 8;
        struct Walk {
            const unsigned char* next;            // where its last copy ended
            const unsigned char *asked, *wanted;  // the range still to be prefetched by operations
        } walk[most];
        uint32_t turn;     // the walk to replace next
        uint32_t wanting;  // walks with something to prefetch, one bit each
        uint64_t budget;   // bytes operations could have prefetched since a copy last had to do it
    } inlets;

    unsigned char* workspace;  // SetSysWorkspace
    uint64_t tiling_key;
    uint64_t loop_mode[12];  // SetLoopModePara: six numbers for copies in, six for copies out

    // Registers that only functions of the C interface set.
    struct CInterface {
        uint64_t store_atomic;
        uint64_t l1_loops[6];              // as loop_mode, for copies into L1
        uint64_t fractals;                 // layout of matrices in L1 (asc_set_gm2l1_nz_para)
        uint64_t channel;                  // asc_set_l0c2gm_channel_para
        uint64_t dimension_strides[5][2];  // of copies in five dimensions: destination, source
        uint64_t dimension_padding;        // elements left and right of the dimensions 1 to 4
        uint64_t dimension_value;
        uint32_t address_sites;  // used entries of `address_site`
    } c_interface;

    uint64_t stored;  // bytes this block has copied to global memory
    bool streamed;    // some of them bypassed the caches, with no fence since

    // The members below are not cleared when a block starts; the members above say which of them are valid.
    struct Local {
        const void* key;
        uint32_t offset;
    };
    static constexpr uint32_t most_locals = 64;
    Local locals[most_locals];
    uint32_t flag_line[7][7][8];  // line that last set each flag; valid for flags that are up
    struct AddressSite {
        const char* file;
        uint32_t line, column, calls;
    };
    static constexpr uint32_t most_address_sites = 32;
    AddressSite address_site[most_address_sites];  // places in the source that make address registers
};

static_assert(sizeof(CoreState) <= CANOPY_CORE_REGISTERS, "the state of a core has outgrown its registers");

// In the checking variant: the open instruction (canopy_kernel/core/checking.h).
inline void begin_checking(CanopyCore& core);

// Reports flags that the kernel left set (canopy_kernel/core/flags.h).
inline void end_of_kernel();

// Stays the same from the start of a block to its end, even if the block continues on another thread.
inline CoreState& core_state() {
    auto& state = *reinterpret_cast<CoreState*>(core().registers);
    if (__builtin_expect(state.at_end == nullptr, 0)) {
        __builtin_memset(&state, 0, __builtin_offsetof(CoreState, locals));
        state.mask[0] = state.mask[1] = ~0ull;
        state.at_end = &end_of_kernel;
        if constexpr (is_checking_variant) begin_checking(core());
    }
    return state;
}

// Required before other threads may read data that bypassed the caches.
inline void finish_stores(CoreState& state) {
    if (!state.streamed) return;
    state.streamed = false;
#if defined(__x86_64__)
    __asm__ volatile("sfence" ::: "memory");
#else
    memory_fence();
#endif
}

// Some block of this image has bypassed the caches; until then there is nothing to finish.
inline __attribute__((visibility("hidden"))) bool any_streamed = false;

inline void note_streamed(CoreState& state) {
    state.streamed = true;
    // Written once: a store for every copy would move the cache line between all cores.
    if (__builtin_expect(!__atomic_load_n(&any_streamed, __ATOMIC_RELAXED), 0))
        __atomic_store_n(&any_streamed, true, __ATOMIC_RELAXED);
}

// `finish_stores` for a block that may have no core yet.
inline void finish_stores_of_block() {
    if (__builtin_expect(!__atomic_load_n(&any_streamed, __ATOMIC_RELAXED), 1)) return;
    CanopyCore* core = current_block().core;
    if (core == nullptr) return;
    auto& state = *reinterpret_cast<CoreState*>(core->registers);
    if (state.at_end != nullptr) finish_stores(state);
}

// The first byte of a memory.
inline unsigned char* memory_base(Hardware memory) { return core().memory[static_cast<int>(memory)].base; }

}  // namespace canopy::kernel

#endif
