// SPDX-License-Identifier: Apache-2.0
// SIMT kernels: one program for many threads of a block. threadIdx, blockIdx, blockDim and gridDim are objects, which a
// local variable of the same name may hide. The threads of a block run one at a time on one processor; where they
// synchronise (asc_syncthreads, warp operations), each lets the others run.
#ifndef CANOPY_KERNEL_SIMT_H
#define CANOPY_KERNEL_SIMT_H

#include "canopy_kernel/core/checking.h"
#include "canopy_kernel/target/dimensions.h"

namespace canopy::kernel {

inline const CoreState::Threads& thread_space() { return core_state().threads; }

// The coordinate of a thread or block along one axis of an extent; x counts first.
inline uint32_t place_in(const uint32_t (&extent)[3], uint32_t index, int axis) {
    if (axis == 0) return index % extent[0];
    if (axis == 1) return index / extent[0] % extent[1];
    return index / extent[0] / extent[1];
}

#define CANOPY_AXES(...)                                              \
    __declspec(property(get = get_x)) uint32_t x;                     \
    __declspec(property(get = get_y)) uint32_t y;                     \
    __declspec(property(get = get_z)) uint32_t z;                     \
    uint32_t get_x() const { return axis(0); }                        \
    uint32_t get_y() const { return axis(1); }                        \
    uint32_t get_z() const { return axis(2); }                        \
    operator dim3() const { return dim3(axis(0), axis(1), axis(2)); } \
    static uint32_t axis(int number) { return __VA_ARGS__; }

struct ThreadIndex {
    CANOPY_AXES(place_in(thread_space().block, current_thread(), number))
};
struct BlockPlace {
    CANOPY_AXES(place_in(thread_space().grid, current_block().index, number))
};
struct BlockExtent {
    CANOPY_AXES(thread_space().block[number])
};
struct GridExtent {
    CANOPY_AXES(thread_space().grid[number])
};
#undef CANOPY_AXES

inline constexpr uint32_t warp_threads = 32;

inline uint32_t block_threads() {
    const auto& space = thread_space();
    return space.block[0] * space.block[1] * space.block[2];
}

// The existing threads of the caller's warp: the last warp of a block may be short.
struct Warp {
    uint32_t first, count, lane;
};
inline Warp own_warp() {
    const uint32_t thread = current_thread(), first = thread / warp_threads * warp_threads;
    return {first, smaller(warp_threads, block_threads() - first), thread - first};
}

// Every thread of the warp contributes a value and gets all of them.
struct Exchange {
    uint64_t value[warp_threads];
    uint32_t count;
};
inline Exchange exchange_in_warp(uint64_t value) {
    const Warp warp = own_warp();
    uint64_t* slots = core_state().threads.exchange + warp.first;
    slots[warp.lane] = value;
    thread_barrier(warp.first, warp.count);
    Exchange all;
    all.count = warp.count;
    for (uint32_t lane = 0; lane < warp_threads; ++lane) all.value[lane] = lane < warp.count ? slots[lane] : 0;
    thread_barrier(warp.first, warp.count);
    return all;
}

template <class T>
inline uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "the operations of a warp move values of up to eight bytes");
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
inline T from_bits(uint64_t bits) {
    T value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

// While threads run, what they access through pointers belongs to the vector unit; a checker is told so.
struct BeginsThreads {
    BeginsThreads() { tell(true); }
    ~BeginsThreads() { tell(false); }
    static void tell(bool begin) {
        if (!is_part_of_instruction()) canopy_image_checker->region(CANOPY_CHECK_REGION_THREADS, begin, nullptr);
    }
};
struct ThreadRegion : InVariant<BeginsThreads> {
    ThreadRegion() {}
};

// An access of a thread by a function of the language.
template <class T>
inline void tell_thread([[maybe_unused]] const char* name, [[maybe_unused]] uint8_t kind,
                        [[maybe_unused]] const T* address, [[maybe_unused]] bool atomic, [[maybe_unused]] Where where) {
    if constexpr (is_checking_variant) {
        const Hardware memory = memory_holding(address);
        CanopyCheckAccess access{};
        access.address = access.tensor = address;
        access.bytes = access.element = sizeof(T);
        access.pieces = access.repeats = 1;
        access.kind = kind;
        access.memory = static_cast<uint8_t>(memory);
        // Atomic accesses of threads are in order with each other, whatever they do.
        access.atomic = atomic ? CANOPY_CHECK_ATOMIC_ADD : CANOPY_CHECK_PLAIN;
        CanopyCheckOperation operation{};
        operation.site = check_site(name, where);
        operation.pipe = CANOPY_CHECK_V;
        operation.flow = kind == CANOPY_CHECK_WRITE ? CANOPY_CHECK_FILL : CANOPY_CHECK_USE;
        operation.access_count = 1;
        operation.accesses = &access;
        canopy_image_checker->operation(&operation);
    }
}

// Calls a function once for every thread of the block.
inline void start_threads(const CanopyGrid& dimensions, void (*body)(void*), void* data) {
    uint64_t exchange[CANOPY_MAX_THREADS];
    auto& space = core_state().threads;
    space.exchange = exchange;
    for (int axis = 0; axis < 3; ++axis) {
        space.grid[axis] = dimensions.grid[axis];
        space.block[axis] = dimensions.block[axis];
    }
    const ThreadRegion region;
    run_threads(body, data, space.block[0] * space.block[1] * space.block[2]);
}
// Runs a SIMT kernel, which ends when its threads have ended.
inline void run_grid(const CanopyGrid& dimensions, void (*body)(void*), void* data) {
    start_threads(dimensions, body, data);
    tell_order("threads", PIPE_V, PIPE_ALL, {nullptr, 0});
}

}  // namespace canopy::kernel

namespace canopy::kernel {

// A function's variable that all threads of the block share: its place in local memory, allocated from the top
// downwards by the first thread that gets here. `key` identifies the variable.
__attribute__((noinline)) inline void* local_variable(const void* key, uint32_t bytes, uint32_t alignment) {
    CoreState& state = core_state();
    for (uint32_t i = 0; i < state.local_count; ++i)
        if (state.locals[i].key == key) return memory_base(Hardware::UB) + state.locals[i].offset;
    const uint32_t top = state.local_count == 0 ? AscendC::TMP_UB_OFFSET : state.locals[state.local_count - 1].offset;
    const uint32_t reserved = current_block().dynamic_size + state.pipe.used[static_cast<int>(Hardware::UB)];
    if (state.local_count == CoreState::most_locals || bytes > top || top - bytes < reserved)
        fail(here("a variable in local memory", 0), "%u bytes do not fit: %u of UB are left", bytes,
             top > reserved ? top - reserved : 0);
    const uint32_t step = alignment < 32 ? 32 : alignment;
    const uint32_t offset = (top - bytes) / step * step;
    state.locals[state.local_count++] = {key, offset};
    return memory_base(Hardware::UB) + offset;
}

template <int number, class T>
inline constexpr char local_key = 0;

// The initialiser that canopy-cc adds to a variable in local memory.
template <int number>
struct LocalVariable {
    template <class T>
    operator T&() const {
        return *static_cast<T*>(local_variable(&local_key<number, T>, sizeof(T), alignof(T)));
    }
};

// The dynamic memory of the launch.
struct DynamicMemory {
    template <class T>
    operator T*() const {
        return reinterpret_cast<T*>(memory_base(Hardware::UB));
    }
};

}  // namespace canopy::kernel

inline constexpr canopy::kernel::ThreadIndex threadIdx{};
inline constexpr canopy::kernel::BlockPlace blockIdx{};
inline constexpr canopy::kernel::BlockExtent blockDim{};
inline constexpr canopy::kernel::GridExtent gridDim{};
inline constexpr int32_t warpSize = 32;

inline uint32_t laneid() { return canopy::kernel::own_warp().lane; }
inline uint32_t lanemask_lt() { return (1u << laneid()) - 1; }
inline uint32_t lanemask_le() { return (2u << laneid()) - 1; }
inline uint32_t lanemask_eq() { return 1u << laneid(); }
inline uint32_t lanemask_ge() { return ~lanemask_lt(); }
inline uint32_t lanemask_gt() { return ~lanemask_le(); }

inline void asc_syncthreads() { canopy::kernel::thread_barrier(0, canopy::kernel::block_threads()); }
inline void asc_syncwarp(uint32_t = ~0u) {
    const canopy::kernel::Warp warp = canopy::kernel::own_warp();
    canopy::kernel::thread_barrier(warp.first, warp.count);
}
inline void asc_threadfence() { canopy::kernel::memory_fence(); }
inline void asc_threadfence_block() { canopy::kernel::memory_fence(); }

// Atomic operations on global or local memory. Each returns the old value.
namespace canopy::kernel {
template <class T, class Function>
inline T change_word(T* address, Function function) {
    T held;
    __atomic_load(address, &held, __ATOMIC_RELAXED);
    for (;;) {
        T wanted = function(held);
        if (__atomic_compare_exchange(address, &held, &wanted, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return held;
    }
}
}  // namespace canopy::kernel

template <class T>
inline T asc_atomic_add(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_add", CANOPY_CHECK_READ_WRITE, address, true, where);
    if constexpr (canopy::kernel::is_floating<T>)
        return canopy::kernel::change_word(address, [=](T held) { return static_cast<T>(held + value); });
    else
        return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T asc_atomic_sub(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_sub", CANOPY_CHECK_READ_WRITE, address, true, where);
    if constexpr (canopy::kernel::is_floating<T>)
        return canopy::kernel::change_word(address, [=](T held) { return static_cast<T>(held - value); });
    else
        return __atomic_fetch_sub(address, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T asc_atomic_exch(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_exch", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address, [=](T) { return value; });
}
template <class T>
inline T asc_atomic_max(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_max", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address, [=](T held) { return held < value ? value : held; });
}
template <class T>
inline T asc_atomic_min(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_min", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address, [=](T held) { return value < held ? value : held; });
}
// Increments up to the limit, then restarts at 0; decrements to 0, then restarts at the limit.
template <class T>
inline T asc_atomic_inc(T* address, T limit, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_inc", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address, [=](T held) { return held >= limit ? T(0) : T(held + 1); });
}
template <class T>
inline T asc_atomic_dec(T* address, T limit, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_dec", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address,
                                       [=](T held) { return held == 0 || held > limit ? limit : T(held - 1); });
}
template <class T>
inline T asc_atomic_cas(T* address, T compare, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_cas", CANOPY_CHECK_READ_WRITE, address, true, where);
    return canopy::kernel::change_word(address, [=](T held) { return held == compare ? value : held; });
}
template <class T>
inline T asc_atomic_and(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_and", CANOPY_CHECK_READ_WRITE, address, true, where);
    return __atomic_fetch_and(address, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T asc_atomic_or(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_or", CANOPY_CHECK_READ_WRITE, address, true, where);
    return __atomic_fetch_or(address, value, __ATOMIC_ACQ_REL);
}
template <class T>
inline T asc_atomic_xor(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_atomic_xor", CANOPY_CHECK_READ_WRITE, address, true, where);
    return __atomic_fetch_xor(address, value, __ATOMIC_ACQ_REL);
}

// Values from other lanes of the warp. `width` divides the warp into groups of that many lanes. asc_shfl wraps the lane
// number inside the group; up and down return the caller's own value for a lane outside it, xor for a lane after it.
template <class T>
inline T asc_shfl(T value, int32_t lane, int32_t width = warpSize) {
    const auto all = canopy::kernel::exchange_in_warp(canopy::kernel::to_bits(value));
    const int32_t own = static_cast<int32_t>(laneid()), first = own / width * width;
    return canopy::kernel::from_bits<T>(all.value[first + (lane & (width - 1))]);
}
template <class T>
inline T asc_shfl_up(T value, uint32_t delta, int32_t width = warpSize) {
    const auto all = canopy::kernel::exchange_in_warp(canopy::kernel::to_bits(value));
    const int32_t own = static_cast<int32_t>(laneid()), from = own - static_cast<int32_t>(delta);
    return from >= own / width * width ? canopy::kernel::from_bits<T>(all.value[from]) : value;
}
template <class T>
inline T asc_shfl_down(T value, uint32_t delta, int32_t width = warpSize) {
    const auto all = canopy::kernel::exchange_in_warp(canopy::kernel::to_bits(value));
    const int32_t own = static_cast<int32_t>(laneid()), from = own + static_cast<int32_t>(delta);
    return from < own / width * width + width && from < static_cast<int32_t>(all.count)
               ? canopy::kernel::from_bits<T>(all.value[from])
               : value;
}
template <class T>
inline T asc_shfl_xor(T value, int32_t mask, int32_t width = warpSize) {
    const auto all = canopy::kernel::exchange_in_warp(canopy::kernel::to_bits(value));
    const int32_t own = static_cast<int32_t>(laneid()), from = own ^ mask;
    return from < own / width * width + width && from < static_cast<int32_t>(all.count)
               ? canopy::kernel::from_bits<T>(all.value[from])
               : value;
}

// Votes of the warp.
inline uint32_t asc_ballot(int32_t predicate) {
    const auto all = canopy::kernel::exchange_in_warp(predicate != 0);
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < all.count; ++lane) bits |= static_cast<uint32_t>(all.value[lane]) << lane;
    return bits;
}
inline int32_t asc_any(int32_t predicate) { return asc_ballot(predicate) != 0; }
inline int32_t asc_all(int32_t predicate) {
    const uint32_t count = canopy::kernel::own_warp().count;
    return asc_ballot(predicate) == (count == 32 ? ~0u : (1u << count) - 1);
}
inline uint32_t asc_activemask() {
    const uint32_t count = canopy::kernel::own_warp().count;
    return count == 32 ? ~0u : (1u << count) - 1;
}

namespace canopy::kernel {
template <class T, class Function>
inline T reduce_warp(T value, Function function) {
    const auto all = exchange_in_warp(to_bits(value));
    T result = from_bits<T>(all.value[0]);
    for (uint32_t lane = 1; lane < all.count; ++lane) result = function(result, from_bits<T>(all.value[lane]));
    return result;
}
}  // namespace canopy::kernel

// The combined values of all lanes of the warp; every lane gets the result.
template <class T>
inline T asc_reduce_add(T value) {
    return canopy::kernel::reduce_warp(value, [](T a, T b) { return static_cast<T>(a + b); });
}
template <class T>
inline T asc_reduce_max(T value) {
    return canopy::kernel::reduce_warp(value, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
inline T asc_reduce_min(T value) {
    return canopy::kernel::reduce_warp(value, [](T a, T b) { return b < a ? b : a; });
}

// Loads and stores with cache hints; here the processor manages the caches.
template <class T>
inline T asc_ldcg(const T* address, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_ldcg", CANOPY_CHECK_READ, address, false, where);
    return *address;
}
template <class T>
inline T asc_ldca(const T* address, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_ldca", CANOPY_CHECK_READ, address, false, where);
    return *address;
}
template <class T>
inline void asc_stcg(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_stcg", CANOPY_CHECK_WRITE, address, false, where);
    *address = value;
}
template <class T>
inline void asc_stwt(T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_thread("asc_stwt", CANOPY_CHECK_WRITE, address, false, where);
    *address = value;
}

// Minimum and maximum of two numbers of one type. Not templates, so that those of the C++ library stay usable.
#define CANOPY_MIN_MAX(T)                               \
    constexpr T min(T a, T b) { return b < a ? b : a; } \
    constexpr T max(T a, T b) { return a < b ? b : a; }
CANOPY_MIN_MAX(int32_t)
CANOPY_MIN_MAX(uint32_t)
CANOPY_MIN_MAX(int64_t)
CANOPY_MIN_MAX(uint64_t)
CANOPY_MIN_MAX(float)
CANOPY_MIN_MAX(half)
#undef CANOPY_MIN_MAX

// Math functions of the C library, declared as the library declares them.
extern "C" {
float sinf(float) noexcept;
float cosf(float) noexcept;
float tanf(float) noexcept;
float tanhf(float) noexcept;
float expf(float) noexcept;
float exp2f(float) noexcept;
float logf(float) noexcept;
float log2f(float) noexcept;
float powf(float, float) noexcept;
float sqrtf(float) noexcept;
double sqrt(double) noexcept;
float fabsf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float roundf(float) noexcept;
float rintf(float) noexcept;
float truncf(float) noexcept;
float fmodf(float, float) noexcept;
float fmaxf(float, float) noexcept;
float fminf(float, float) noexcept;
float erff(float) noexcept;
void sincosf(float, float*, float*) noexcept;
}

inline int64_t bcnt1(uint64_t value) { return __builtin_popcountll(value); }
inline int64_t clz(uint64_t value) { return value == 0 ? 64 : __builtin_clzll(value); }

inline int32_t __popc(uint32_t value) { return __builtin_popcount(value); }
inline int32_t __popcll(uint64_t value) { return __builtin_popcountll(value); }
inline int32_t __clz(uint32_t value) { return value == 0 ? 32 : __builtin_clz(value); }
inline int32_t __ffs(uint32_t value) { return __builtin_ffs(static_cast<int>(value)); }
inline uint32_t __umulhi(uint32_t a, uint32_t b) { return static_cast<uint32_t>(static_cast<uint64_t>(a) * b >> 32); }

namespace AscendC::Simt {

using Dim3 = dim3;

template <int axis = 0>
inline int32_t GetThreadIdx() {
    return static_cast<int32_t>(canopy::kernel::ThreadIndex::axis(axis));
}
template <int axis = 0>
inline int32_t GetThreadNum() {
    return static_cast<int32_t>(canopy::kernel::BlockExtent::axis(axis));
}
inline void ThreadBarrier() { asc_syncthreads(); }

// Divides with the numbers returned by GetUintDivMagicAndShift.
inline uint32_t UintDiv(uint32_t value, uint32_t magic, uint32_t shift) {
    return static_cast<uint32_t>((static_cast<uint64_t>(__umulhi(value, magic)) + value) >> shift);
}

}  // namespace AscendC::Simt

namespace canopy::kernel {

inline void run_block_threads(const dim3& threads, void (*body)(void*), void* data) {
    CanopyGrid dimensions{};
    dimensions.grid[0] = current_block().count;
    dimensions.grid[1] = dimensions.grid[2] = 1;
    dimensions.block[0] = threads.x;
    dimensions.block[1] = threads.y;
    dimensions.block[2] = threads.z;
    start_threads(dimensions, body, data);
}

// Calls a function with its arguments, once for every thread.
template <auto function, class... Arguments>
inline void call_threads(const dim3& threads, Arguments... arguments) {
    auto body = [&] { function(arguments...); };
    using Body = decltype(body);
    run_block_threads(
        threads, [](void* data) { (*static_cast<Body*>(data))(); }, &body);
}

}  // namespace canopy::kernel

// Calls a SIMT function from a vector-core kernel.
template <auto function, class... Arguments>
inline void asc_vf_call(dim3 threads, Arguments... arguments) {
    canopy::kernel::call_threads<function>(threads, arguments...);
}

namespace AscendC::Simt {
template <auto function, class... Arguments>
inline void VF_CALL(dim3 threads, Arguments... arguments) {
    canopy::kernel::call_threads<function>(threads, arguments...);
}
}  // namespace AscendC::Simt

#endif
