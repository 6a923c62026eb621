// SPDX-License-Identifier: Apache-2.0
// Pointers of AscendC::Te, which carry the memory they point into as a type. The qualifiers of kernel sources (__gm__,
// __cbuf__ ...) make no different types here, so a pointer that the program does not tag has the location
// FoundByAddress and is accepted by every copy; in checked builds its address is looked up (docs/decisions/0030).
#ifndef CANOPY_KERNEL_TENSOR_POINTER_H
#define CANOPY_KERNEL_TENSOR_POINTER_H

#include "canopy_kernel/core/tensor.h"
#include "canopy_kernel/cube/scale_memory.h"
#include "canopy_kernel/tensor_interface/pattern.h"

namespace AscendC::Te {

namespace Location {
struct INVALID {};
struct GM {};
struct L1 {};
struct L0A {};
struct L0B {};
struct L0C {};
struct UB {};
struct BIAS {};
struct FIXBUF {};
struct L0ScaleA {};
struct L0ScaleB {};
struct SSBUF {};
}  // namespace Location

}  // namespace AscendC::Te

namespace canopy::kernel::te {

struct FoundByAddress {};

template <class T>
inline constexpr bool is_location =
    is_any_of<T, Location::INVALID, Location::GM, Location::L1, Location::L0A, Location::L0B, Location::L0C,
              Location::UB, Location::BIAS, Location::FIXBUF, Location::L0ScaleA, Location::L0ScaleB, Location::SSBUF,
              FoundByAddress>;

// The memory of a location; MAX: none.
template <class L>
inline constexpr Hardware hardware_of = is_same<L, Location::GM>       ? Hardware::GM
                                        : is_same<L, Location::L1>     ? Hardware::L1
                                        : is_same<L, Location::L0A>    ? Hardware::L0A
                                        : is_same<L, Location::L0B>    ? Hardware::L0B
                                        : is_same<L, Location::L0C>    ? Hardware::L0C
                                        : is_same<L, Location::UB>     ? Hardware::UB
                                        : is_same<L, Location::BIAS>   ? Hardware::BIAS
                                        : is_same<L, Location::FIXBUF> ? Hardware::FIXBUF
                                                                       : Hardware::MAX;

struct MemoryRange {
    unsigned char* base;
    uint32_t size;
    const char* name;
};

template <class L>
inline MemoryRange range_of() {
    static_assert(
        !is_any_of<L, Location::INVALID, Location::SSBUF, Location::GM>,
        "MakeMemPtr: this location has no memory with offsets; there are L1, L0A, L0B, L0C, UB, BIAS, FIXBUF, "
        "L0ScaleA and L0ScaleB");
    if constexpr (is_same<L, Location::L0ScaleA>)
        return {scale_memory(Hardware::L0A), scale_memory_size, "L0ScaleA"};
    else if constexpr (is_same<L, Location::L0ScaleB>)
        return {scale_memory(Hardware::L0B), scale_memory_size, "L0ScaleB"};
    else
        return {memory_base(hardware_of<L>), memory_size(hardware_of<L>), name_of(hardware_of<L>)};
}

template <class T>
struct PointedTo {
    using type = void;
};
template <class T>
struct PointedTo<T*> {
    using type = T;
};

}  // namespace canopy::kernel::te

namespace AscendC::Te {

// A pointer into the memory LocationType. Offsets count elements, in packed types of four bits too.
template <class LocationType, class Pointer>
struct HardwareMemPtr {
    using iterator = Pointer;
    using location = LocationType;
    using elementType = typename canopy::kernel::te::PointedTo<Pointer>::type;
    using valueType = Std::remove_cvref_t<elementType>;
    using reference = elementType&;

    constexpr HardwareMemPtr() = default;
    constexpr explicit HardwareMemPtr(Pointer address) : pointer(address) {}

    constexpr Pointer Get() const { return pointer; }
    constexpr reference operator*() const { return *pointer; }
    template <class Index>
    constexpr reference operator[](const Index& index) const {
        return *(*this + index).pointer;
    }
    template <class Index>
    constexpr HardwareMemPtr operator+(const Index& index) const {
        return HardwareMemPtr(pointer + static_cast<int64_t>(index) / int64_t{canopy::kernel::packing<valueType>});
    }
    template <class Index>
    HardwareMemPtr operator&(const Index& mask) const {
        return HardwareMemPtr(
            reinterpret_cast<Pointer>(reinterpret_cast<uintptr_t>(pointer) & static_cast<uintptr_t>(mask)));
    }
    template <class Index>
    HardwareMemPtr operator|(const Index& mask) const {
        return HardwareMemPtr(
            reinterpret_cast<Pointer>(reinterpret_cast<uintptr_t>(pointer) | static_cast<uintptr_t>(mask)));
    }
    constexpr bool operator==(const HardwareMemPtr& other) const { return pointer == other.pointer; }
    constexpr bool operator!=(const HardwareMemPtr& other) const { return pointer != other.pointer; }
    constexpr bool operator<(const HardwareMemPtr& other) const { return pointer < other.pointer; }
    constexpr bool operator<=(const HardwareMemPtr& other) const { return pointer <= other.pointer; }
    constexpr bool operator>(const HardwareMemPtr& other) const { return pointer > other.pointer; }
    constexpr bool operator>=(const HardwareMemPtr& other) const { return pointer >= other.pointer; }

    Pointer pointer = nullptr;
};

}  // namespace AscendC::Te

namespace canopy::kernel::te {

template <class T>
inline constexpr bool is_memory_pointer = false;
template <class L, class P>
inline constexpr bool is_memory_pointer<HardwareMemPtr<L, P>> = true;

template <class L, class T>
inline HardwareMemPtr<L, T*> pointer_at(uint64_t offset, Where where) {
    const MemoryRange range = range_of<L>();
    if (offset >= range.size)
        fail(where, "MakeMemPtr: offset %llu is past the end of %s, which has %u bytes",
             static_cast<unsigned long long>(offset), range.name, range.size);
    return HardwareMemPtr<L, T*>(reinterpret_cast<T*>(range.base + offset));
}

}  // namespace canopy::kernel::te

namespace AscendC::Te {

// At a byte offset of a memory of this core; an address of global memory is a number too.
template <class PtrPattern, class DataType, class Addr,
          Std::enable_if_t<canopy::kernel::te::is_location<PtrPattern> && !canopy::kernel::te::is_memory_pointer<Addr>,
                           int> = 0>
inline auto MakeMemPtr(Addr arg, canopy::kernel::Where where = canopy::kernel::here()) {
    if constexpr (Std::is_pointer_v<Addr>)
        return HardwareMemPtr<PtrPattern, DataType*>(reinterpret_cast<DataType*>(arg));
    else if constexpr (canopy::kernel::is_same<PtrPattern, Location::GM>)
        return HardwareMemPtr<PtrPattern, DataType*>(reinterpret_cast<DataType*>(static_cast<uintptr_t>(arg)));
    else
        return canopy::kernel::te::pointer_at<PtrPattern, DataType>(static_cast<uint64_t>(arg), where);
}
// A pointer of the program, or the pointer of a tensor, that points into the given memory.
template <class PtrPattern, class Iterator,
          Std::enable_if_t<canopy::kernel::te::is_location<PtrPattern> &&
                               (Std::is_pointer_v<Iterator> || canopy::kernel::te::is_memory_pointer<Iterator>),
                           int> = 0>
constexpr auto MakeMemPtr(Iterator iterator) {
    if constexpr (Std::is_pointer_v<Iterator>)
        return HardwareMemPtr<PtrPattern, Iterator>(iterator);
    else
        return HardwareMemPtr<PtrPattern, typename Iterator::iterator>(iterator.Get());
}
template <class Iterator,
          Std::enable_if_t<Std::is_pointer_v<Iterator> || canopy::kernel::te::is_memory_pointer<Iterator>, int> = 0>
constexpr auto MakeMemPtr(Iterator iterator) {
    if constexpr (Std::is_pointer_v<Iterator>)
        return HardwareMemPtr<canopy::kernel::te::FoundByAddress, Iterator>(iterator);
    else
        return iterator;
}

}  // namespace AscendC::Te

#endif
