// SPDX-License-Identifier: Apache-2.0
// GlobalTensor and LocalTensor: typed views of memory. A tensor owns nothing; a local tensor knows its position, which
// decides what operations may use it.
#ifndef CANOPY_KERNEL_TENSOR_H
#define CANOPY_KERNEL_TENSOR_H

#include <kernel_tiling/data_format.h>

#include "canopy_kernel/core/checking.h"

namespace canopy::kernel {

template <class Operation, class Source>
struct TensorExpression;

}  // namespace canopy::kernel

namespace AscendC {

enum class CacheMode { CACHE_MODE_DISABLE = 0, CACHE_MODE_NORMAL = 1, CACHE_MODE_LAST = 2, CACHE_MODE_PERSISTENT = 4 };
enum class CacheRwMode { READ = 1, WRITE = 2, RW = 3 };

constexpr int32_t K_MAX_DIM = 8;
constexpr int32_t K_MAX_SHAPE_DIM = K_MAX_DIM;

// The shape of a tensor, set by the program; used by copies with slices.
struct ShapeInfo {
    ShapeInfo() = default;
    ShapeInfo(const uint8_t dim, const uint32_t sizes[], DataFormat format = DataFormat::ND)
        : shapeDim(dim), originalShapeDim(dim), dataFormat(format) {
        for (uint8_t i = 0; i < dim && i < K_MAX_DIM; ++i) shape[i] = originalShape[i] = sizes[i];
    }
    ShapeInfo(const uint8_t dim, const uint32_t sizes[], const uint8_t original_dim, const uint32_t original_sizes[],
              DataFormat format = DataFormat::ND)
        : shapeDim(dim), originalShapeDim(original_dim), dataFormat(format) {
        for (uint8_t i = 0; i < dim && i < K_MAX_DIM; ++i) shape[i] = sizes[i];
        for (uint8_t i = 0; i < original_dim && i < K_MAX_DIM; ++i) originalShape[i] = original_sizes[i];
    }

    uint8_t shapeDim = 0;
    uint8_t originalShapeDim = 0;
    uint32_t shape[K_MAX_DIM] = {};
    uint32_t originalShape[K_MAX_DIM] = {};
    DataFormat dataFormat = DataFormat::ND;
};

inline int GetShapeSize(const ShapeInfo& info) {
    int size = 1;
    for (uint8_t i = 0; i < info.shapeDim; ++i) size *= static_cast<int>(info.shape[i]);
    return size;
}

template <class T>
class GlobalTensor {
public:
    using PrimType = T;

    void SetGlobalBuffer(__gm__ T* buffer, uint64_t bufferSize) {
        address_ = buffer;
        size_ = bufferSize;
        origin_.set(buffer, canopy::kernel::bytes_of<T>(bufferSize));
    }
    void SetGlobalBuffer(__gm__ T* buffer) { SetGlobalBuffer(buffer, 0); }

    const __gm__ T* GetPhyAddr() const { return address_; }
    __gm__ T* GetPhyAddr(uint64_t offset) const { return canopy::kernel::advance(address_, offset); }

    T GetValue(uint64_t offset, canopy::kernel::Where where = canopy::kernel::here()) const {
        canopy::kernel::tell_element("GetValue", CANOPY_CHECK_READ, *this, offset, CANOPY_CHECK_AUTO_ORDERED, where);
        if constexpr (canopy::kernel::packing<T> == 2)
            return T{static_cast<uint8_t>((address_[offset / 2].storage >> (offset % 2 * 4)) & 15)};
        else
            return address_[offset];
    }
    void SetValue(uint64_t offset, T value, canopy::kernel::Where where = canopy::kernel::here()) {
        canopy::kernel::tell_element("SetValue", CANOPY_CHECK_WRITE, *this, offset, 0, where);
        if constexpr (canopy::kernel::packing<T> == 2) {
            const unsigned shift = offset % 2 * 4;
            auto& byte = address_[offset / 2].storage;
            byte = static_cast<uint8_t>((byte & ~(15 << shift)) | ((value.storage & 15) << shift));
        } else {
            address_[offset] = value;
        }
    }
    __gm__ T& operator()(uint64_t offset, canopy::kernel::Where where = canopy::kernel::here()) const {
        canopy::kernel::tell_reference(*this, offset, where);
        return *canopy::kernel::advance(address_, offset);
    }

    GlobalTensor operator[](uint64_t offset) const {
        GlobalTensor tensor = *this;
        tensor.address_ = canopy::kernel::advance(address_, offset);
        tensor.size_ = size_ > offset ? size_ - offset : 0;
        tensor.origin_.move(address_, tensor.address_);
        return tensor;
    }

    uint64_t GetSize() const { return size_; }
    void SetAddr(uint64_t offset) {
        const void* before = address_;
        address_ = canopy::kernel::advance(address_, offset);
        origin_.move(before, address_);
    }

    template <class Other>
    GlobalTensor<Other> ReinterpretCast() const {
        GlobalTensor<Other> tensor;
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ Other*>(address_),
                               canopy::kernel::elements_in<Other>(canopy::kernel::bytes_of<T>(size_)));
        tensor.origin_ = origin_;
        return tensor;
    }

    void SetShapeInfo(const ShapeInfo& info) { shape_ = info; }
    ShapeInfo GetShapeInfo() const { return shape_; }

    // For the checking variant.
    void tell_origin(canopy::kernel::OperandPlace& place) const { origin_.tell(address_, place); }

    // Cache hints; here the processor manages the cache.
    template <CacheRwMode rwMode = CacheRwMode::RW>
    void SetL2CacheHint(CacheMode) {}
    void SetL2Cache(bool) {}

    // Public because programs access it directly.
    __gm__ T* address_ = nullptr;

private:
    template <class Other>
    friend class GlobalTensor;

    uint64_t size_ = 0;
    ShapeInfo shape_;
    [[no_unique_address]] canopy::kernel::GlobalOrigin<canopy::kernel::is_checking_variant> origin_;
};

using TBufHandle = uint8_t*;

// The place of a local tensor. Programs that place tensors by hand may write the fields in any order: bufferAddr counts
// bytes from the start of the memory of logicPos, and stays the same when logicPos changes.
struct TBuffAddr {
    uint8_t* absAddr = nullptr;  // the first byte
    TBufHandle bufferHandle = nullptr;
    uint32_t dataLen = 0;  // bytes
    TPosition position = TPosition::VECCALC;

    __declspec(property(get = offset, put = set_offset)) uint32_t bufferAddr;
    __declspec(property(get = position_number, put = set_position)) uint8_t logicPos;

    uint32_t offset() const { return absAddr == nullptr ? 0 : static_cast<uint32_t>(absAddr - base()); }
    void set_offset(uint32_t bytes) { absAddr = base() + bytes; }
    uint8_t position_number() const { return static_cast<uint8_t>(position); }
    void set_position(uint8_t number) {
        const uint32_t bytes = offset();
        position = static_cast<TPosition>(number);
        set_offset(bytes);
    }

private:
    uint8_t* base() const { return canopy::kernel::memory_base(canopy::kernel::memory_of(position)); }
};

template <class T>
class LocalTensor {
public:
    using PrimType = T;

    LocalTensor() = default;
    // `tensor = left + right` and similar expressions compute the whole tensor
    // (canopy_kernel/vector/tensor_operators.h).
    template <class Operation, class Source>
    void operator=(const canopy::kernel::TensorExpression<Operation, Source>& expression) {
        expression.compute(*this);
    }
    // `byteAddress` counts from the first byte of the memory of the position.
    LocalTensor(TPosition position, uint32_t byteAddress, uint32_t elements,
                canopy::kernel::Where where = canopy::kernel::here()) {
        const Hardware memory = canopy::kernel::memory_of(position);
        const uint64_t end = byteAddress + canopy::kernel::bytes_of<T>(elements);
        if (end > canopy::kernel::memory_size(memory))
            canopy::kernel::fail(where, "a tensor at %u with %u elements ends at byte %llu of %s, which has %u",
                                 byteAddress, elements, static_cast<unsigned long long>(end),
                                 canopy::kernel::name_of(memory), canopy::kernel::memory_size(memory));
        if (byteAddress % ONE_BLK_SIZE != 0)
            canopy::kernel::fail(where, "a tensor at %u of %s: local tensors start at multiples of 32 bytes",
                                 byteAddress, canopy::kernel::name_of(memory));
        place(reinterpret_cast<T*>(canopy::kernel::memory_base(memory) + byteAddress), elements, position);
        canopy::kernel::tell_placed(*this, where);
    }
    explicit LocalTensor(const TBuffAddr& address, canopy::kernel::Where where = canopy::kernel::here())
        : address_(address) {
        canopy::kernel::tell_placed(*this, where);
    }

    T* GetPhyAddr() const { return reinterpret_cast<T*>(address_.absAddr); }
    T* GetPhyAddr(uint32_t offset) const { return canopy::kernel::advance(GetPhyAddr(), offset); }

    T GetValue(uint32_t offset, canopy::kernel::Where where = canopy::kernel::here()) const {
        canopy::kernel::tell_element("GetValue", CANOPY_CHECK_READ, *this, offset, CANOPY_CHECK_AUTO_ORDERED, where);
        if constexpr (canopy::kernel::packing<T> == 2)
            return T{static_cast<uint8_t>((GetPhyAddr()[offset / 2].storage >> (offset % 2 * 4)) & 15)};
        else
            return GetPhyAddr()[offset];
    }
    template <class Value>
    void SetValue(uint32_t offset, Value value, canopy::kernel::Where where = canopy::kernel::here()) const {
        canopy::kernel::tell_element("SetValue", CANOPY_CHECK_WRITE, *this, offset, CANOPY_CHECK_AUTO_ORDERED, where);
        if constexpr (canopy::kernel::packing<T> == 2) {
            const unsigned shift = offset % 2 * 4;
            auto& byte = GetPhyAddr()[offset / 2].storage;
            byte = static_cast<uint8_t>((byte & ~(15 << shift)) | ((value.storage & 15) << shift));
        } else {
            GetPhyAddr()[offset] = static_cast<T>(value);
        }
    }
    T& operator()(uint32_t offset, canopy::kernel::Where where = canopy::kernel::here()) const {
        canopy::kernel::tell_reference(*this, offset, where);
        return *GetPhyAddr(offset);
    }

    LocalTensor operator[](uint32_t offset) const {
        LocalTensor tensor = *this;
        const auto bytes = static_cast<uint32_t>(canopy::kernel::bytes_of<T>(offset));
        tensor.SetAddr(offset);
        tensor.address_.dataLen = address_.dataLen > bytes ? address_.dataLen - bytes : 0;
        return tensor;
    }

    uint32_t GetSize() const { return static_cast<uint32_t>(canopy::kernel::elements_in<T>(address_.dataLen)); }
    void SetSize(uint32_t elements) { address_.dataLen = static_cast<uint32_t>(canopy::kernel::bytes_of<T>(elements)); }
    uint32_t GetLength() const { return address_.dataLen; }
    void SetBufferLen(uint32_t bytes) { address_.dataLen = bytes; }
    int32_t GetPosition() const { return static_cast<int32_t>(address_.position); }

    void SetAddr(const TBuffAddr& address, canopy::kernel::Where where = canopy::kernel::here()) {
        address_ = address;
        canopy::kernel::tell_placed(*this, where);
    }
    void SetAddr(uint32_t offset) { address_.absAddr = reinterpret_cast<uint8_t*>(GetPhyAddr(offset)); }
    void SetAddrWithOffset(const LocalTensor& source, uint32_t offset) {
        *this = source;
        SetAddr(offset);
    }

    template <class Other>
    LocalTensor<Other> ReinterpretCast() const {
        LocalTensor<Other> tensor;
        tensor.address_ = address_;
        return tensor;
    }

    void SetShapeInfo(const ShapeInfo& info) { shape_ = info; }
    ShapeInfo GetShapeInfo() const { return shape_; }
    void SetUserTag(int32_t tag) { tag_ = tag; }
    int32_t GetUserTag() const { return tag_; }

    // For the headers of the language: a view of memory at an address.
    void place(T* address, uint32_t elements, TPosition position) {
        address_.absAddr = reinterpret_cast<uint8_t*>(address);
        address_.position = position;
        SetSize(elements);
    }
    TPosition position() const { return address_.position; }

    TBuffAddr address_;

private:
    int32_t tag_ = 0;
    ShapeInfo shape_;
};

}  // namespace AscendC

namespace canopy::kernel {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;

// Fails if the operation does not support the position of the tensor.
template <class T>
inline void require_memory(const LocalTensor<T>& tensor, Hardware memory, const char* what, Where where) {
    if (memory_of(tensor.position()) != memory)
        fail(where, "%s is at position %s; it must be in %s", what, name_of(tensor.position()), name_of(memory));
}

}  // namespace canopy::kernel

#endif
