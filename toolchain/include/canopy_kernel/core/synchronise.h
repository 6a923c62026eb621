// SPDX-License-Identifier: Apache-2.0
// Synchronisation with other blocks: barriers, waits for words in memory, and memory visibility. Within a block every
// operation is complete when the next one starts, so barriers between the pipes of one core only order memory.
#ifndef CANOPY_KERNEL_SYNCHRONISE_H
#define CANOPY_KERNEL_SYNCHRONISE_H

#include "canopy_kernel/core/block.h"
#include "canopy_kernel/core/tensor.h"

enum class cache_line_t : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum class dcci_dst_t : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };

// The caches of this device are coherent, so cleaning a line is only a fence. Kernels that poll memory clean in their
// loop, so this also lets other blocks run.
template <class Line, class Destination>
inline void dcci(const volatile void* address, Line line, Destination destination,
                 canopy::kernel::Where where = canopy::kernel::here()) {
    // The unified buffer is not behind this cache.
    if (static_cast<uint64_t>(destination) != static_cast<uint64_t>(dcci_dst_t::CACHELINE_UB))
        canopy::kernel::tell_cache(static_cast<uint64_t>(line) == static_cast<uint64_t>(cache_line_t::ENTIRE_DATA_CACHE)
                                       ? CANOPY_CHECK_CACHE_CLEAN_ALL
                                       : CANOPY_CHECK_CACHE_CLEAN_LINE,
                                   "dcci", const_cast<const void*>(address), where);
    canopy::kernel::memory_fence();
    canopy::kernel::yield();
}
template <class Line>
inline void dcci(const volatile void* address, Line line, canopy::kernel::Where where = canopy::kernel::here()) {
    dcci(address, line, dcci_dst_t::CACHELINE_ALL, where);
}

namespace canopy::kernel {

// A pipe finishes an operation before the program continues, so only the compiler has to be kept from moving accesses
// across a barrier. A barrier for copies out of the core also covers what bypassed the caches: the program may tell
// other blocks about it next.
inline void order_pipe(pipe_t pipe, const char* name, Where where) {
    tell_barrier(name, pipe, where);
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
    if (pipe == PIPE_MTE3 || pipe == PIPE_FIX || pipe == PIPE_ALL) finish_stores_of_block();
}

}  // namespace canopy::kernel

inline void pipe_barrier(pipe_t pipe, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::order_pipe(pipe, "pipe_barrier", where);
}

namespace AscendC {

enum class CacheLine : uint64_t { SINGLE_CACHE_LINE = 0, ENTIRE_DATA_CACHE = 1 };
enum class DcciDst : uint64_t { CACHELINE_ALL = 0, CACHELINE_UB = 1, CACHELINE_OUT = 2, CACHELINE_ATOMIC = 3 };
enum class MemDsbT : uint8_t { ALL = 0, DDR = 1, UB = 2, SEQ = 3 };
enum class PipeMode : uint8_t { MTE3_MODE = 0, SCALAR_MODE = 1 };

template <pipe_t pipe>
inline void PipeBarrier(canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::order_pipe(pipe, "PipeBarrier", where);
}

template <MemDsbT kind = MemDsbT::ALL>
inline void DataSyncBarrier(canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_data_barrier("DataSyncBarrier", static_cast<uint32_t>(kind), where);
    canopy::kernel::memory_fence();
}

template <class T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const GlobalTensor<T>& tensor,
                                     canopy::kernel::Where where = canopy::kernel::here()) {
    dcci(tensor.GetPhyAddr(), line, destination, where);
}
template <class T, CacheLine line, DcciDst destination = DcciDst::CACHELINE_ALL>
inline void DataCacheCleanAndInvalid(const LocalTensor<T>& tensor,
                                     canopy::kernel::Where where = canopy::kernel::here()) {
    dcci(tensor.GetPhyAddr(), line, DcciDst::CACHELINE_UB, where);
}

// Reads and writes that bypass the caches of the core: other blocks see them at once.
template <class T>
inline T ReadGmByPassDCache(__gm__ T* address, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_bypass("ReadGmByPassDCache", CANOPY_CHECK_READ, address, where);
    canopy::kernel::yield();
    T value;
    __atomic_load(address, &value, __ATOMIC_ACQUIRE);
    return value;
}
template <class T>
inline void WriteGmByPassDCache(__gm__ T* address, T value, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::tell_bypass("WriteGmByPassDCache", CANOPY_CHECK_WRITE, address, where);
    canopy::kernel::finish_stores(canopy::kernel::core_state());
    __atomic_store(address, &value, __ATOMIC_RELEASE);
}

// Resets the registers to their values at the start of a kernel.
inline void InitSocState() {
    auto& state = canopy::kernel::core_state();
    state.mask[0] = state.mask[1] = ~0ull;
    state.counter_mode = false;
    state.atomic = canopy::kernel::AtomicKind::none;
}

struct SyncAllConfig {
    pipe_t triggerPipe = PIPE_ALL;
    pipe_t waitPipe = PIPE_ALL;
};
inline constexpr SyncAllConfig DEFAULT_SYNC_ALL_CONFIG{};

// Returns when every vector core of the launch (with `false`, every core) has called it.
template <bool isAIVOnly = true, const SyncAllConfig& config = DEFAULT_SYNC_ALL_CONFIG>
inline void SyncAll(canopy::kernel::Where where = canopy::kernel::here()) {
    if constexpr (canopy::kernel::coupled)
        canopy::kernel::fail(where,
                             "SyncAll: the cores of this chip meet in memory only; call SyncAll(gmWorkspace, "
                             "ubWorkspace)");
    constexpr auto scope = isAIVOnly ? CANOPY_SYNC_VECTOR : CANOPY_SYNC_ALL;
    if (config.triggerPipe == PIPE_ALL) canopy::kernel::tell_order("SyncAll", PIPE_ALL, PIPE_ALL, where);
    canopy::kernel::tell_meeting(CANOPY_CHECK_MEET_HARDWARE, "SyncAll", scope, true, config.triggerPipe,
                                 config.waitPipe, where);
    canopy::kernel::finish_stores(canopy::kernel::core_state());
    canopy::kernel::sync(scope);
    canopy::kernel::tell_meeting(CANOPY_CHECK_MEET_HARDWARE, "SyncAll", scope, false, config.triggerPipe,
                                 config.waitPipe, where);
}

}  // namespace AscendC

namespace canopy::kernel {

// Polls a word that other blocks write until it has reached a value.
template <class T>
inline void wait_until_reached(__gm__ T* word, T value) {
    T seen;
    for (;;) {
        __atomic_load(word, &seen, __ATOMIC_ACQUIRE);
        if (seen >= value) return;
        yield();
    }
}

inline constexpr uint64_t words_per_slot = 8;  // a slot has 32 bytes

// What a checker hears of a meeting in memory: of all cores, or of the first ones through their words.
template <CanopySyncScope scope>
class SoftwareMeeting {
public:
    SoftwareMeeting(const int32_t* slots, int64_t cores, Where where) : slots_(slots), cores_(cores), where_(where) {
        if constexpr (is_checking_variant) {
            tell_order("SyncAll", PIPE_ALL, PIPE_ALL, where_);
            if (of_all())
                tell_meeting(CANOPY_CHECK_MEET_SOFTWARE, "SyncAll", scope, true, PIPE_ALL, PIPE_ALL, where_);
            else
                tell_word(CANOPY_CHECK_WORD_PUBLISH, "SyncAll", slot(AscendC::GetBlockIdx()), where_);
        }
    }
    void end() const {
        if constexpr (is_checking_variant) {
            if (of_all())
                tell_meeting(CANOPY_CHECK_MEET_SOFTWARE, "SyncAll", scope, false, PIPE_ALL, PIPE_ALL, where_);
            else
                for (int64_t core = 0; core < cores_; ++core)
                    tell_word(CANOPY_CHECK_WORD_TAKE, "SyncAll", slot(core), where_);
            tell_order("SyncAll", PIPE_ALL, PIPE_ALL, where_);
        }
    }

private:
    bool of_all() const { return cores_ == AscendC::GetBlockNum() * AscendC::GetSubBlockNum(); }
    const int32_t* slot(int64_t core) const { return slots_ + core * static_cast<int64_t>(words_per_slot); }

    const int32_t* slots_;
    int64_t cores_;
    Where where_;
};

}  // namespace canopy::kernel

namespace AscendC {

// The software form: needs a slot of 32 bytes of zeroed memory for each core.
template <bool isAIVOnly = true>
inline void SyncAll(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&, const int32_t usedCores = 0,
                    canopy::kernel::Where where = canopy::kernel::here()) {
    constexpr auto scope = isAIVOnly ? CANOPY_SYNC_VECTOR : CANOPY_SYNC_ALL;
    const int64_t cores = usedCores != 0 ? usedCores : GetBlockNum() * GetSubBlockNum();
    __gm__ int32_t* slots = gmWorkspace.GetPhyAddr(0);
    canopy::kernel::SoftwareMeeting<scope> meeting(slots, cores, where);
    const int32_t round =
        __atomic_add_fetch(slots + GetBlockIdx() * canopy::kernel::words_per_slot, 1, __ATOMIC_ACQ_REL);
    for (int64_t core = 0; core < cores; ++core)
        canopy::kernel::wait_until_reached(slots + core * canopy::kernel::words_per_slot, round);
    meeting.end();
}

}  // namespace AscendC

namespace canopy::kernel {

inline void require_split_cores(const char* operation, Where where) {
    if constexpr (coupled)
        fail(where, "%s: a core of this chip holds the cube and the vector unit; there is no other core to signal",
             operation);
}

}  // namespace canopy::kernel

namespace AscendC {

// Flags between cores; canopy/kernel_abi.h describes the modes.
template <uint8_t modeId, pipe_t pipe>
inline void CrossCoreSetFlag(uint16_t flagId, canopy::kernel::Where where = canopy::kernel::here()) {
    static_assert(modeId == 0 || modeId == 1 || modeId == 2 || modeId == 4,
                  "CrossCoreSetFlag has the modes 0, 1, 2 and 4");
    canopy::kernel::require_split_cores("CrossCoreSetFlag", where);
    if (flagId > (modeId == 4 ? 31 : 15)) canopy::kernel::fail(where, "CrossCoreSetFlag: no flag %u", flagId);
    canopy::kernel::tell_core_flag(true, "CrossCoreSetFlag", modeId, pipe, flagId, where);
    canopy::kernel::finish_stores(canopy::kernel::core_state());
    canopy::kernel::set_flag(modeId, flagId);
}
template <uint8_t modeId = 0, pipe_t pipe = PIPE_S>
inline void CrossCoreWaitFlag(uint16_t flagId, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::require_split_cores("CrossCoreWaitFlag", where);
    if (flagId > (modeId == 4 ? 31 : 15)) canopy::kernel::fail(where, "CrossCoreWaitFlag: no flag %u", flagId);
    canopy::kernel::wait_flag(modeId, flagId);
    canopy::kernel::tell_core_flag(false, "CrossCoreWaitFlag", modeId, pipe, flagId, where);
}
// On a chip, sets the address of the flags (aclrtGetHardwareSyncAddr); here flags need no memory.
inline void SetSyncBaseAddr(uint64_t) {}

// Signals from block to block through words of zeroed memory; eventID selects one of several rows of slots.
template <bool isAIVOnly = true>
inline void IBSet(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&, int32_t blockIdx,
                  int32_t eventID, canopy::kernel::Where where = canopy::kernel::here()) {
    const int64_t slot = GetBlockNum() * GetSubBlockNum() * eventID + blockIdx;
    __gm__ int32_t* word = gmWorkspace.GetPhyAddr(static_cast<uint64_t>(slot) * canopy::kernel::words_per_slot);
    canopy::kernel::finish_stores(canopy::kernel::core_state());
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0) canopy::kernel::yield();
    canopy::kernel::tell_order("IBSet", PIPE_ALL, PIPE_ALL, where);
    canopy::kernel::tell_word(CANOPY_CHECK_WORD_PUBLISH, "IBSet", word, where);
    __atomic_store_n(word, 1, __ATOMIC_RELEASE);
}
template <bool isAIVOnly = true>
inline void IBWait(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&, int32_t blockIdx,
                   int32_t eventID, canopy::kernel::Where where = canopy::kernel::here()) {
    const int64_t slot = GetBlockNum() * GetSubBlockNum() * eventID + blockIdx;
    __gm__ int32_t* word = gmWorkspace.GetPhyAddr(static_cast<uint64_t>(slot) * canopy::kernel::words_per_slot);
    int32_t expected = 1;
    while (!__atomic_compare_exchange_n(word, &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        expected = 1;
        canopy::kernel::yield();
    }
    canopy::kernel::tell_word(CANOPY_CHECK_WORD_TAKE, "IBWait", word, where);
    canopy::kernel::tell_order("IBWait", PIPE_ALL, PIPE_ALL, where);
}

// Makes blocks take turns in the order of their index.
inline void InitDetermineComputeWorkspace(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&,
                                          canopy::kernel::Where where = canopy::kernel::here()) {
    constexpr const char* name = "InitDetermineComputeWorkspace";
    __gm__ int32_t* words = gmWorkspace.GetPhyAddr(0);
    __atomic_store_n(words + GetBlockIdx() * canopy::kernel::words_per_slot, 0, __ATOMIC_RELEASE);
    canopy::kernel::tell_order(name, PIPE_ALL, PIPE_ALL, where);
    canopy::kernel::tell_meeting(CANOPY_CHECK_MEET_SOFTWARE, name, CANOPY_SYNC_VECTOR, true, PIPE_ALL, PIPE_ALL, where);
    canopy::kernel::sync(CANOPY_SYNC_VECTOR);
    canopy::kernel::tell_meeting(CANOPY_CHECK_MEET_SOFTWARE, name, CANOPY_SYNC_VECTOR, false, PIPE_ALL, PIPE_ALL,
                                 where);
}
inline void WaitPreBlock(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&,
                         canopy::kernel::Where where = canopy::kernel::here()) {
    const int64_t index = GetBlockIdx(), blocks = GetBlockNum() * GetSubBlockNum();
    __gm__ int32_t* words = gmWorkspace.GetPhyAddr(0);
    // The first block waits for the last block of the previous round.
    const int32_t own = __atomic_load_n(words + index * canopy::kernel::words_per_slot, __ATOMIC_ACQUIRE);
    if (index != 0)
        canopy::kernel::wait_until_reached(words + (index - 1) * canopy::kernel::words_per_slot, own + 1);
    else if (own != 0)
        canopy::kernel::wait_until_reached(words + (blocks - 1) * canopy::kernel::words_per_slot, own);
    if constexpr (canopy::kernel::is_checking_variant)
        canopy::kernel::tell_word(CANOPY_CHECK_WORD_TAKE, "WaitPreBlock",
                                  words + (index != 0 ? index - 1 : blocks - 1) * canopy::kernel::words_per_slot,
                                  where);
    canopy::kernel::tell_order("WaitPreBlock", PIPE_ALL, PIPE_ALL, where);
}
inline void NotifyNextBlock(const GlobalTensor<int32_t>& gmWorkspace, const LocalTensor<int32_t>&,
                            canopy::kernel::Where where = canopy::kernel::here()) {
    __gm__ int32_t* own = gmWorkspace.GetPhyAddr(static_cast<uint64_t>(GetBlockIdx()) * canopy::kernel::words_per_slot);
    canopy::kernel::tell_order("NotifyNextBlock", PIPE_ALL, PIPE_ALL, where);
    canopy::kernel::tell_word(CANOPY_CHECK_WORD_PUBLISH, "NotifyNextBlock", own, where);
    __atomic_add_fetch(own, 1, __ATOMIC_ACQ_REL);
}

// Some cores arrive, others wait until all of them have arrived, through one zeroed word of memory.
struct BarrierInfo {
    int32_t arrived;
    int32_t reserved[15];
};
template <PipeMode mode>
class GroupBarrier {
public:
    GroupBarrier(GM_ADDR workspace, uint32_t arriveSizeIn, uint32_t waitSizeIn)
        : words_(reinterpret_cast<__gm__ int32_t*>(workspace)), arrivals_(arriveSizeIn), waiters_(waitSizeIn) {}
    void Arrive(uint32_t, canopy::kernel::Where where = canopy::kernel::here()) {
        canopy::kernel::tell_order("GroupBarrier", PIPE_ALL, PIPE_ALL, where);
        canopy::kernel::tell_word(CANOPY_CHECK_WORD_PUBLISH, "GroupBarrier", words_, where);
        __atomic_add_fetch(words_, 1, __ATOMIC_ACQ_REL);
    }
    void Wait(uint32_t, canopy::kernel::Where where = canopy::kernel::here()) {
        ++rounds_;
        canopy::kernel::wait_until_reached(words_, static_cast<int32_t>(arrivals_ * rounds_));
        canopy::kernel::tell_word(CANOPY_CHECK_WORD_TAKE, "GroupBarrier", words_, where);
        canopy::kernel::tell_order("GroupBarrier", PIPE_ALL, PIPE_ALL, where);
    }
    uint64_t GetWorkspaceLen() const { return (static_cast<uint64_t>(arrivals_) + waiters_) * 512; }

private:
    __gm__ int32_t* words_;
    uint32_t arrivals_, waiters_, rounds_ = 0;
};

// A stream starts a kernel only when the previous one has ended, so there is nothing to wait for.
inline void SetNextTaskStart() {}
inline void WaitPreTaskEnd() {}

using MutexID = uint8_t;
inline MutexID AllocMutexID(canopy::kernel::Where where = canopy::kernel::here()) {
    uint32_t& used = canopy::kernel::core_state().pipe.mutexes;
    if (used == ~0u) canopy::kernel::fail(where, "AllocMutexID: all 32 ids are in use");
    const auto id = static_cast<MutexID>(__builtin_ctz(~used));
    used |= 1u << id;
    return id;
}
inline void ReleaseMutexID(MutexID id) { canopy::kernel::core_state().pipe.mutexes &= ~(1u << id); }

// Waits for nothing: the pipes of a core never run at the same time.
class Mutex {
public:
    template <pipe_t pipe>
    static void Lock(MutexID id, canopy::kernel::Where where = canopy::kernel::here()) {
        canopy::kernel::tell_mutex(true, "Mutex::Lock", pipe, id, where);
    }
    template <pipe_t pipe>
    static void Unlock(MutexID id, canopy::kernel::Where where = canopy::kernel::here()) {
        canopy::kernel::tell_mutex(false, "Mutex::Unlock", pipe, id, where);
    }
};

inline void ICachePreLoad(int64_t) {}
template <int32_t count = 1>
inline void Nop() {}

// Ticks of the chip's counter: 50 MHz before architecture 3510, 1 GHz from there on.
inline int64_t GetSystemCycle() {
#if __NPU_ARCH__ >= 3510
    return canopy::kernel::nanoseconds();
#else
    return canopy::kernel::nanoseconds() / 20;
#endif
}

}  // namespace AscendC

#endif
