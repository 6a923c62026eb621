// SPDX-License-Identifier: Apache-2.0
// TPipe, TQue, TQueBind, TBuf, TBufPool and LocalMemAllocator: how a kernel divides the memories of its core.
//
// A core runs one operation after the other, so nothing ever waits for a buffer: allocating from an exhausted
// queue, or dequeuing from an empty one, is misuse and fails the task with the line of the call.
#ifndef CANOPY_KERNEL_PIPE_H
#define CANOPY_KERNEL_PIPE_H

#include "canopy_kernel/core/flags.h"
#include "canopy_kernel/core/tensor.h"

namespace canopy::kernel {

// Buffers of a position that may be allocated at the same time; each holds an event id.
inline constexpr uint32_t events_per_position = __NPU_ARCH__ == 1001 ? 4 : 8;
inline constexpr uint32_t max_queue_buffers = 64;

// Allocates the memories of a core from their start upwards.
inline unsigned char* take_memory(Hardware memory, uint64_t bytes, Where where) {
    const int index = static_cast<int>(memory);
    CoreState& state = core_state();
    const auto& whole = core().memory[index];
    const uint64_t rounded = round_up(bytes, AscendC::ONE_BLK_SIZE);
    uint32_t& used = state.pipe.used[index];
    if (rounded > whole.size - used)
        fail(where, "%llu bytes of %s requested: %u of its %u bytes are in use, %u are left",
             static_cast<unsigned long long>(rounded), name_of(memory), used, whole.size, whole.size - used);
    unsigned char* address = whole.base + used;
    used += static_cast<uint32_t>(rounded);
    return address;
}

inline void require_buffers(uint32_t count, Where where) {
    if (count == 0 || count > max_queue_buffers)
        fail(where, "InitBuffer: a queue has 1 to %u buffers, not %u", max_queue_buffers, count);
}

// The buffers of one queue: which are free, which the kernel holds, and which are queued, in order.
class BufferRing {
public:
    void init(unsigned char* base, uint32_t count, uint32_t bytes, TPosition position) {
        base_ = base;
        bytes_ = bytes;
        count_ = static_cast<uint8_t>(count);
        next_ = head_ = queued_ = taken_ = 0;
        position_ = position;
        live_ = &core_state().pipe.allocated[static_cast<int>(position)];
        for (uint32_t i = 0; i < count; ++i) state_[i] = Buffer::idle;
    }

    unsigned char* allocate(Where where) {
        require_init(where, "AllocTensor");
        if (taken_ + queued_ == count_)
            fail(where, "AllocTensor: all %u buffers of this %s queue are in use; call FreeTensor first", count_,
                 name_of(position_));
        if (*live_ >= events_per_position)
            fail(where,
                 "AllocTensor: %u tensors of position %s are already allocated; the chip has %u event ids for it",
                 *live_, name_of(position_), events_per_position);
        while (state_[next_] != Buffer::idle) next_ = after(next_);
        const uint8_t index = next_;
        next_ = after(next_);
        state_[index] = Buffer::taken;
        ++taken_;
        ++*live_;
        return base_ + static_cast<uint64_t>(index) * bytes_;
    }

    void release(const void* address, Where where) {
        const uint8_t index = index_of(address, "FreeTensor", where);
        if (state_[index] != Buffer::taken)
            fail(where, state_[index] == Buffer::idle ? "FreeTensor: the tensor was already freed"
                                                      : "FreeTensor: the tensor waits in the queue; call DeQue first");
        state_[index] = Buffer::idle;
        --taken_;
        --*live_;
    }

    void push(const void* address, Where where) {
        const uint8_t index = index_of(address, "EnQue", where);
        if (state_[index] != Buffer::taken) fail(where, "EnQue: the tensor was not returned by AllocTensor");
        state_[index] = Buffer::queued;
        --taken_;
        uint32_t at = head_ + queued_;
        order_[at < count_ ? at : at - count_] = index;
        ++queued_;
    }

    unsigned char* pop(Where where) {
        require_init(where, "DeQue");
        if (queued_ == 0) fail(where, "DeQue on an empty %s queue without a preceding EnQue", name_of(position_));
        const uint8_t index = order_[head_];
        head_ = after(head_);
        --queued_;
        state_[index] = Buffer::taken;
        ++taken_;
        return base_ + static_cast<uint64_t>(index) * bytes_;
    }

    // The buffers that allocate and pop would return; null if there is none.
    unsigned char* next_idle() const {
        if (taken_ + queued_ == count_) return nullptr;
        uint8_t index = next_;
        while (state_[index] != Buffer::idle) index = after(index);
        return base_ + static_cast<uint64_t>(index) * bytes_;
    }
    unsigned char* next_queued() const {
        return queued_ == 0 ? nullptr : base_ + static_cast<uint64_t>(order_[head_]) * bytes_;
    }

    unsigned char* base() const { return base_; }
    uint32_t bytes() const { return bytes_; }
    uint32_t queued() const { return queued_; }
    uint32_t idle() const { return static_cast<uint32_t>(count_ - queued_ - taken_); }
    uint32_t count() const { return count_; }

private:
    enum class Buffer : uint8_t { idle, taken, queued };

    uint8_t after(uint8_t index) const { return static_cast<uint8_t>(index + 1 == count_ ? 0 : index + 1); }

    void require_init(Where where, const char* what) const {
        if (count_ == 0) fail(where, "%s on a queue without buffers: call TPipe::InitBuffer first", what);
    }

    uint8_t index_of(const void* address, const char* what, Where where) const {
        require_init(where, what);
        const auto offset = static_cast<uint64_t>(static_cast<const unsigned char*>(address) - base_);
        if (offset >= static_cast<uint64_t>(bytes_) * count_)
            fail(where, "%s: the tensor does not belong to this queue", what);
        return static_cast<uint8_t>(offset / bytes_);
    }

    unsigned char* base_ = nullptr;
    uint32_t bytes_ = 0;
    uint8_t count_ = 0, next_ = 0, head_ = 0, queued_ = 0, taken_ = 0;
    TPosition position_ = TPosition::GM;
    uint8_t* live_ = nullptr;
    Buffer state_[max_queue_buffers];
    uint8_t order_[max_queue_buffers];
};

}  // namespace canopy::kernel

namespace AscendC {

// Queue configuration for cases where the depth alone is not enough; the fields are hints for a chip's pipes.
struct TQueConfig {
    bool nd2nz = false;
    bool nz2nd = false;
    bool scmBlockGroup = false;
    uint32_t bufferLen = 0;
    uint32_t bufferNumber = 0;
    uint32_t consumerSize = 0;
    TPosition consumer[8] = {};
    bool enableStaticEvtId = false;
    bool enableLoopQueue = false;
};

template <bool enableStatic = false, bool enableLoop = false>
constexpr TQueConfig GetTQueConfig() {
    TQueConfig config;
    config.enableStaticEvtId = enableStatic;
    config.enableLoopQueue = enableLoop;
    return config;
}

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
public:
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;
    static constexpr bool isTQue = true;
    using Where = canopy::kernel::Where;

    template <class T>
    LocalTensor<T> AllocTensor(Where where = canopy::kernel::here()) {
        if constexpr (canopy::kernel::is_checking_variant)
            tell(CANOPY_CHECK_BUFFER_ALLOCATE, "AllocTensor", ring_.next_idle(), where);
        return tensor<T>(ring_.allocate(where), src);
    }
    template <class T>
    void AllocTensor(LocalTensor<T>& result, Where where = canopy::kernel::here()) {
        result = AllocTensor<T>(where);
    }

    template <class T>
    void FreeTensor(const LocalTensor<T>& freed, Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_BUFFER_FREE, "FreeTensor", freed.GetPhyAddr(), where);
        ring_.release(freed.GetPhyAddr(), where);
    }

    template <class T>
    bool EnQue(const LocalTensor<T>& queued, Where where = canopy::kernel::here()) {
        return EnQue<src, dst>(queued, where);
    }
    template <TPosition sourcePosition, TPosition destinationPosition, class T>
    bool EnQue(const LocalTensor<T>& queued, Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_BUFFER_ENQUEUE, "EnQue", queued.GetPhyAddr(), where, sourcePosition, destinationPosition);
        ring_.push(queued.GetPhyAddr(), where);
        return true;
    }

    template <class T>
    LocalTensor<T> DeQue(Where where = canopy::kernel::here()) {
        return DeQue<src, dst, T>(where);
    }
    template <class T>
    void DeQue(LocalTensor<T>& result, Where where = canopy::kernel::here()) {
        result = DeQue<src, dst, T>(where);
    }
    template <TPosition sourcePosition, TPosition destinationPosition, class T>
    LocalTensor<T> DeQue(Where where = canopy::kernel::here()) {
        if constexpr (canopy::kernel::is_checking_variant)
            tell(CANOPY_CHECK_BUFFER_DEQUEUE, "DeQue", ring_.next_queued(), where, sourcePosition, destinationPosition);
        return tensor<T>(ring_.pop(where), dst);
    }

    bool VacantInQue() const { return ring_.queued() < ring_.count(); }
    bool HasTensorInQue() const { return ring_.queued() != 0; }
    int32_t GetTensorCountInQue() const { return static_cast<int32_t>(ring_.queued()); }
    bool HasIdleBuffer() const { return ring_.idle() != 0; }
    // Queue events are bookkeeping for a chip's pipes; here there are none to free.
    void FreeAllEvent(Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_BUFFER_FREE_EVENTS, "FreeAllEvent", nullptr, where);
    }

    // For pools of the program (EXTERN_IMPL_BUFPOOL): first the number and size of the buffers, then the place of each,
    // in bytes from the start of the memory.
    void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t len, Where where = canopy::kernel::here()) {
        canopy::kernel::require_buffers(num, where);
        pool_count_ = num;
        pool_bytes_ = len;
    }
    template <class T>
    void InitBufHandle(T*, uint32_t index, TBufHandle, uint32_t curPoolAddr, uint32_t len,
                       Where where = canopy::kernel::here()) {
        unsigned char* place = canopy::kernel::memory_base(canopy::kernel::memory_of(position)) + curPoolAddr;
        if (index >= pool_count_ || len != pool_bytes_)
            canopy::kernel::fail(where, "InitBufHandle: buffer %u of %u bytes; InitStartBufHandle named %u of %u",
                                 index, len, pool_count_, pool_bytes_);
        if (index == 0) init(place, pool_count_, pool_bytes_, where);
        if (place != ring_.base() + static_cast<uint64_t>(index) * len)
            canopy::kernel::fail(where, "InitBufHandle: buffer %u does not follow the one before it", index);
    }

    // For TPipe and TBufPool.
    static constexpr TPosition position = src == TPosition::GM ? dst : src;
    void init(unsigned char* base, uint32_t count, uint32_t bytes, Where where) {
        ring_.init(base, count, bytes, position);
        tell(CANOPY_CHECK_BUFFER_INIT, "InitBuffer", base, where);
    }

private:
    // Tells what becomes of the buffer at an address.
    void tell(CanopyCheckBufferEvent event, const char* name, const void* address, Where where, TPosition from = src,
              TPosition to = dst) const {
        if constexpr (canopy::kernel::is_checking_variant)
            canopy::kernel::tell_buffer({{},
                                         event,
                                         ring_.count(),
                                         this,
                                         address,
                                         ring_.bytes(),
                                         depth,
                                         static_cast<uint8_t>(from),
                                         static_cast<uint8_t>(to),
                                         static_cast<uint8_t>(canopy::kernel::memory_of(position)),
                                         src != dst},
                                        name, where);
    }
    template <class T>
    LocalTensor<T> tensor(unsigned char* address, TPosition where) const {
        LocalTensor<T> result;
        result.place(reinterpret_cast<T*>(address),
                     static_cast<uint32_t>(canopy::kernel::elements_in<T>(ring_.bytes())),
                     where == TPosition::GM ? position : where);
        return result;
    }

    canopy::kernel::BufferRing ring_;
    uint32_t pool_bytes_ = 0;
    uint8_t pool_count_ = 0;
};

template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos, pos, depth, mask> {};

template <TPosition pos, int32_t depth = 1, auto mask = 0>
using TSCM = TQueBind<pos, TPosition::TSCM, depth, mask>;

template <TPosition pos = TPosition::LCM>
class TBuf {
public:
    static constexpr TPosition srcPosition = pos;
    static constexpr TPosition dstPosition = pos;
    static constexpr bool isTQue = false;
    using Where = canopy::kernel::Where;

    template <class T>
    LocalTensor<T> Get(Where where = canopy::kernel::here()) const {
        return part<T>(0, static_cast<uint32_t>(canopy::kernel::elements_in<T>(bytes_)), where);
    }
    template <class T>
    LocalTensor<T> Get(uint32_t elements, Where where = canopy::kernel::here()) const {
        return part<T>(0, elements, where);
    }
    template <class T>
    LocalTensor<T> GetWithOffset(uint32_t elements, uint32_t byteOffset, Where where = canopy::kernel::here()) const {
        return part<T>(byteOffset, elements, where);
    }
    template <class T>
    LocalTensor<T> AllocTensor(Where where = canopy::kernel::here()) const {
        return Get<T>(where);
    }
    template <class T>
    void FreeTensor(const LocalTensor<T>&) const {}
    template <class T>
    bool EnQue(const LocalTensor<T>&) const {
        return true;
    }
    template <class T>
    LocalTensor<T> DeQue(Where where = canopy::kernel::here()) const {
        return Get<T>(where);
    }
    uint32_t GetBufLen() const { return bytes_; }

    // For pools of the program, as in TQueBind; there is one buffer.
    void InitStartBufHandle(TBufHandle, uint8_t num, uint32_t len, Where where = canopy::kernel::here()) {
        if (num != 1) canopy::kernel::fail(where, "InitStartBufHandle: a TBuf has one buffer, not %u", num);
        bytes_ = len;
    }
    template <class T>
    void InitBufHandle(T*, uint32_t, TBufHandle, uint32_t curPoolAddr, uint32_t len,
                       Where where = canopy::kernel::here()) {
        init(canopy::kernel::memory_base(canopy::kernel::memory_of(pos)) + curPoolAddr, len, where);
    }

    // For TPipe and TBufPool.
    void init(unsigned char* base, uint32_t bytes, Where where) {
        base_ = base;
        bytes_ = bytes;
        if constexpr (canopy::kernel::is_checking_variant)
            canopy::kernel::tell_buffer({{},
                                         CANOPY_CHECK_BUFFER_INIT,
                                         1,
                                         nullptr,
                                         base,
                                         bytes,
                                         0,
                                         static_cast<uint8_t>(pos),
                                         static_cast<uint8_t>(pos),
                                         static_cast<uint8_t>(canopy::kernel::memory_of(pos)),
                                         0},
                                        "InitBuffer", where);
    }

private:
    template <class T>
    LocalTensor<T> part(uint32_t offset, uint32_t elements, Where where) const {
        if (base_ == nullptr) canopy::kernel::fail(where, "TBuf without memory: call TPipe::InitBuffer first");
        const uint64_t end = offset + canopy::kernel::bytes_of<T>(elements);
        if (end > bytes_)
            canopy::kernel::fail(where, "TBuf: %u elements at byte %u end at byte %llu of a buffer of %u", elements,
                                 offset, static_cast<unsigned long long>(end), bytes_);
        LocalTensor<T> result;
        result.place(reinterpret_cast<T*>(base_ + offset), elements, pos);
        return result;
    }

    unsigned char* base_ = nullptr;
    uint32_t bytes_ = 0;
};

// A part of a memory that is divided separately and may be divided again.
template <TPosition pos, uint32_t bufIDSize = 4>
class TBufPool {
public:
    using Where = canopy::kernel::Where;

    template <class Queue>
    bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes, Where where = canopy::kernel::here()) {
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        queue.init(take(static_cast<uint64_t>(rounded) * count, where), count, rounded, where);
        return true;
    }
    template <TPosition position>
    bool InitBuffer(TBuf<position>& buffer, uint32_t bytes, Where where = canopy::kernel::here()) {
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        buffer.init(take(rounded, where), rounded, where);
        return true;
    }
    template <class Pool>
    bool InitBufPool(Pool& pool, uint32_t bytes, Where where = canopy::kernel::here()) {
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        pool.place(take(rounded, where), rounded);
        return true;
    }
    template <class Pool, class Shared>
    bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared, Where where = canopy::kernel::here()) {
        if (bytes > shared.bytes())
            canopy::kernel::fail(where, "InitBufPool: %u bytes do not fit into a shared pool of %u", bytes,
                                 shared.bytes());
        pool.place(shared.base(), bytes);
        return true;
    }
    void Reset() { used_ = 0; }

    // For TPipe.
    void place(unsigned char* base, uint32_t bytes) {
        base_ = base;
        bytes_ = bytes;
        used_ = 0;
    }
    unsigned char* base() const { return base_; }
    uint32_t bytes() const { return bytes_; }
    static constexpr TPosition position = pos;

private:
    unsigned char* take(uint64_t bytes, Where where) {
        if (bytes > bytes_ - used_)
            canopy::kernel::fail(where, "InitBuffer: %llu bytes requested, %u of the pool's %u are left",
                                 static_cast<unsigned long long>(bytes), bytes_ - used_, bytes_);
        unsigned char* address = base_ + used_;
        used_ += static_cast<uint32_t>(bytes);
        return address;
    }

    unsigned char* base_ = nullptr;
    uint32_t bytes_ = 0;
    uint32_t used_ = 0;
};

// The state of a pool that a program defines with EXTERN_IMPL_BUFPOOL. Addresses are bytes from the start of the
// memory.
template <TPosition pos, uint32_t bufIDSize>
struct TBufPoolImpl {
    uint32_t startAddr_ = 0;
    uint32_t maxLen_ = 0;
    uint32_t curAddr_ = 0;
    uint32_t curBufSize_ = 0;
    uint8_t handles_[bufIDSize] = {};
};

class TPipe {
public:
    using Where = canopy::kernel::Where;

    TPipe(Where where = canopy::kernel::here()) { Init(where); }
    ~TPipe() { Destroy({nullptr, 0}); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    void Init(Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_PIPE_INIT, "TPipe", where);
        clear();
        canopy::kernel::core_state().pipe.current = this;
    }
    void Reset(Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_PIPE_RESET, "Reset", where);
        clear();
    }
    void Destroy(Where where = canopy::kernel::here()) {
        auto& pipe = canopy::kernel::core_state().pipe;
        if (pipe.current != this) return;
        tell(CANOPY_CHECK_PIPE_DESTROY, "Destroy", where);
        clear();
        pipe.current = nullptr;
    }

    template <class Queue>
    bool InitBuffer(Queue& queue, uint8_t count, uint32_t bytes, Where where = canopy::kernel::here()) {
        canopy::kernel::require_buffers(count, where);
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        constexpr Hardware memory = canopy::kernel::memory_of(Queue::position);
        queue.init(canopy::kernel::take_memory(memory, static_cast<uint64_t>(rounded) * count, where), count, rounded,
                   where);
        return true;
    }
    template <TPosition position>
    bool InitBuffer(TBuf<position>& buffer, uint32_t bytes, Where where = canopy::kernel::here()) {
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        buffer.init(canopy::kernel::take_memory(canopy::kernel::memory_of(position), rounded, where), rounded, where);
        return true;
    }
    template <class Pool>
    bool InitBufPool(Pool& pool, uint32_t bytes, Where where = canopy::kernel::here()) {
        const auto rounded = static_cast<uint32_t>(canopy::kernel::round_up(bytes, ONE_BLK_SIZE));
        pool.place(canopy::kernel::take_memory(canopy::kernel::memory_of(Pool::position), rounded, where), rounded);
        return true;
    }
    template <class Pool, class Shared>
    bool InitBufPool(Pool& pool, uint32_t bytes, Shared& shared, Where where = canopy::kernel::here()) {
        if (bytes > shared.bytes())
            canopy::kernel::fail(where, "InitBufPool: %u bytes do not fit into a shared pool of %u", bytes,
                                 shared.bytes());
        pool.place(shared.base(), bytes);
        return true;
    }

    template <HardEvent event>
    TEventID AllocEventID(Where where = canopy::kernel::here()) {
        uint8_t& used = canopy::kernel::core_state().pipe.event_used[static_cast<int>(event)];
        for (int id = 0; id < static_cast<int>(canopy::kernel::events_per_position); ++id) {
            if (used & (1 << id)) continue;
            used = static_cast<uint8_t>(used | (1 << id));
            tell(CANOPY_CHECK_ID_ALLOCATE, "AllocEventID", event, id, where);
            return static_cast<TEventID>(id);
        }
        tell(CANOPY_CHECK_ID_ALLOCATE, "AllocEventID", event, -1, where);
        canopy::kernel::fail(where, "AllocEventID: all %u ids of this event are in use; call ReleaseEventID first",
                             canopy::kernel::events_per_position);
    }
    template <HardEvent event>
    void ReleaseEventID(TEventID id, Where where = canopy::kernel::here()) {
        tell(CANOPY_CHECK_ID_RELEASE, "ReleaseEventID", event, id, where);
        uint8_t& used = canopy::kernel::core_state().pipe.event_used[static_cast<int>(event)];
        used = static_cast<uint8_t>(used & ~(1 << id));
    }
    // Returns a free id without allocating it.
    template <HardEvent event>
    TEventID FetchEventID(Where where = canopy::kernel::here()) {
        return FetchEventID(event, where);
    }
    TEventID FetchEventID(HardEvent event, Where where = canopy::kernel::here()) {
        const uint8_t used = canopy::kernel::core_state().pipe.event_used[static_cast<int>(event)];
        const auto id = static_cast<TEventID>(used == 0xff ? 0 : __builtin_ctz(~static_cast<unsigned>(used)));
        tell(CANOPY_CHECK_ID_FETCH, "FetchEventID", event, used == 0xff ? -1 : id, where);
        return id;
    }

    // Bytes allocated so far in the memory of a position.
    template <TPosition position>
    uint64_t GetQueueEndAddress() {
        constexpr Hardware memory = canopy::kernel::memory_of(position);
        return canopy::kernel::core_state().pipe.used[static_cast<int>(memory)];
    }

private:
    static void clear() {
        auto& pipe = canopy::kernel::core_state().pipe;
        for (auto& used : pipe.used) used = 0;
        for (auto& count : pipe.allocated) count = 0;
        for (auto& events : pipe.event_used) events = 0;
    }
    static void tell(CanopyCheckBufferEvent event, const char* name, Where where) {
        CanopyCheckBuffer buffer{};
        buffer.event = event;
        canopy::kernel::tell_buffer(buffer, name, where);
    }
    static void tell(CanopyCheckIdEvent kind, const char* name, HardEvent event, int32_t id, Where where) {
        const canopy::kernel::PipePair pipes = canopy::kernel::pipes_of(event);
        canopy::kernel::tell_event_id(kind, name, pipes.source, pipes.destination, id, where);
    }
};

// In the body of a class: makes it a pool of `BUFID_SIZE` buffers. The class defines InitBuffer itself and keeps
// account of what it hands out.
#define EXTERN_IMPL_BUFPOOL(EXT_BUFPOOL, POSITION, BUFID_SIZE)                                                  \
public:                                                                                                         \
    static constexpr AscendC::TPosition poolPos = POSITION;                                                     \
    static constexpr AscendC::TPosition position = POSITION;                                                    \
    static constexpr uint32_t bufSize = BUFID_SIZE;                                                             \
    static constexpr bool isTbufPool = true;                                                                    \
    void Init() { tBufPoolImpl.curAddr_ = tBufPoolImpl.startAddr_, tBufPoolImpl.curBufSize_ = 0; }              \
    void Reset() { Init(); }                                                                                    \
    AscendC::TBufHandle GetBufHandle(uint8_t offset, canopy::kernel::Where where = canopy::kernel::here()) {    \
        if (offset >= bufSize)                                                                                  \
            canopy::kernel::fail(where, "GetBufHandle: buffer %u of a pool that has %u", offset, bufSize);      \
        return tBufPoolImpl.handles_ + offset;                                                                  \
    }                                                                                                           \
    void SetCurAddr(uint32_t curAddr, canopy::kernel::Where where = canopy::kernel::here()) {                   \
        if (curAddr > tBufPoolImpl.startAddr_ + tBufPoolImpl.maxLen_)                                           \
            canopy::kernel::fail(where, "SetCurAddr: %u bytes of a pool of %u are handed out",                  \
                                 curAddr - tBufPoolImpl.startAddr_, tBufPoolImpl.maxLen_);                      \
        tBufPoolImpl.curAddr_ = curAddr;                                                                        \
    }                                                                                                           \
    uint32_t GetCurAddr() const { return tBufPoolImpl.curAddr_; }                                               \
    void SetCurBufSize(uint8_t curBufSize) { tBufPoolImpl.curBufSize_ = curBufSize; }                           \
    uint8_t GetCurBufSize() const { return static_cast<uint8_t>(tBufPoolImpl.curBufSize_); }                    \
    /* For TPipe and TBufPool. */                                                                               \
    void place(unsigned char* base, uint32_t bytes) {                                                           \
        tBufPoolImpl.startAddr_ = static_cast<uint32_t>(base - memory());                                       \
        tBufPoolImpl.maxLen_ = bytes;                                                                           \
        Init();                                                                                                 \
    }                                                                                                           \
    unsigned char* base() const { return memory() + tBufPoolImpl.startAddr_; }                                  \
    uint32_t bytes() const { return tBufPoolImpl.maxLen_; }                                                     \
    static unsigned char* memory() { return canopy::kernel::memory_base(canopy::kernel::memory_of(POSITION)); } \
    AscendC::TBufPoolImpl<POSITION, BUFID_SIZE> tBufPoolImpl

inline TPipe* GetTPipePtr() {
    auto& pipe = canopy::kernel::core_state().pipe;
    return static_cast<TPipe*>(pipe.current);
}

// Allocates upwards from the start of one memory; nothing is freed.
template <Hardware memory>
class LocalMemAllocator {
public:
    using Where = canopy::kernel::Where;

    template <TPosition position, class T, uint32_t elements>
    LocalTensor<T> Alloc(Where where = canopy::kernel::here()) {
        return Alloc<position, T>(elements, where);
    }
    template <TPosition position, class T>
    LocalTensor<T> Alloc(uint32_t elements, Where where = canopy::kernel::here()) {
        static_assert(canopy::kernel::memory_of(position) == memory, "this position is not in the allocator's memory");
        const auto bytes = static_cast<uint32_t>(
            canopy::kernel::round_up(canopy::kernel::bytes_of<T>(elements), static_cast<uint64_t>(ONE_BLK_SIZE)));
        if (bytes > canopy::kernel::memory_size(memory) - used_)
            canopy::kernel::fail(where, "Alloc: %u bytes of %s requested, %u of its %u bytes are left", bytes,
                                 canopy::kernel::name_of(memory), canopy::kernel::memory_size(memory) - used_,
                                 canopy::kernel::memory_size(memory));
        LocalTensor<T> tensor(position, used_, elements, where);
        used_ += bytes;
        return tensor;
    }
    template <class T, uint32_t elements>
    LocalTensor<T> Alloc(Where where = canopy::kernel::here()) {
        return Alloc<usual_position, T>(elements, where);
    }
    template <class T>
    LocalTensor<T> Alloc(uint32_t elements, Where where = canopy::kernel::here()) {
        return Alloc<usual_position, T>(elements, where);
    }
    uint32_t GetCurAddr() const { return used_; }

private:
    static constexpr TPosition usual_position = memory == Hardware::UB     ? TPosition::VECIN
                                                : memory == Hardware::L1   ? TPosition::A1
                                                : memory == Hardware::L0A  ? TPosition::A2
                                                : memory == Hardware::L0B  ? TPosition::B2
                                                : memory == Hardware::L0C  ? TPosition::CO1
                                                : memory == Hardware::BIAS ? TPosition::C2
                                                                           : TPosition::C2PIPE2GM;
    uint32_t used_ = 0;
};

// The unallocated rest of the memory of a position, for operations that need scratch space.
template <class T, TPosition position>
inline bool PopStackBuffer(LocalTensor<T>& tensor) {
    constexpr Hardware memory = canopy::kernel::memory_of(position);
    const uint32_t used = canopy::kernel::core_state().pipe.used[static_cast<int>(memory)];
    const uint32_t size =
        memory == Hardware::UB ? static_cast<uint32_t>(TMP_UB_OFFSET) : canopy::kernel::memory_size(memory);
    tensor.place(reinterpret_cast<T*>(canopy::kernel::memory_base(memory) + used),
                 static_cast<uint32_t>(canopy::kernel::elements_in<T>(used < size ? size - used : 0)), position);
    return used < size;
}

}  // namespace AscendC

// Programs also call it without the namespace.
using AscendC::GetTPipePtr;

#endif
