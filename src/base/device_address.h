// SPDX-License-Identifier: Apache-2.0
// DeviceAddress: a place in memory that this process may be unable to touch: of a device, or an operand that may be in
// a device or in the program. It counts like an address and leads to no memory: what lies there is read and written
// with `transfer` and `fill` (device/device.h). Drivers and the C interface get the pointer from
// device/opaque_pointer.h.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>

namespace canopy {

class DeviceAddress {
public:
    constexpr DeviceAddress() noexcept = default;  // DeviceAddress{} is null; without braces it is not initialised
    constexpr explicit DeviceAddress(std::uintptr_t value) noexcept : value_(value) {}

    // The number, for messages, results and kernel arguments.
    [[nodiscard]] constexpr std::uintptr_t value() const noexcept { return value_; }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }

    friend constexpr auto operator<=>(DeviceAddress, DeviceAddress) noexcept = default;
    friend constexpr DeviceAddress operator+(DeviceAddress address, std::uintptr_t bytes) noexcept {
        return DeviceAddress(address.value_ + bytes);
    }
    friend constexpr DeviceAddress operator-(DeviceAddress address, std::uintptr_t bytes) noexcept {
        return DeviceAddress(address.value_ - bytes);
    }
    // Bytes from one to the other; huge if `to` is the lower one.
    friend constexpr std::uintptr_t operator-(DeviceAddress to, DeviceAddress from) noexcept {
        return to.value_ - from.value_;
    }

private:
    std::uintptr_t value_;
};

static_assert(std::is_trivially_copyable_v<DeviceAddress> && std::is_trivially_default_constructible_v<DeviceAddress>);
static_assert(sizeof(DeviceAddress) == sizeof(void*));

inline DeviceAddress device_address(const void* pointer) noexcept {
    return DeviceAddress(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace canopy

template <>
struct std::hash<canopy::DeviceAddress> {
    std::size_t operator()(canopy::DeviceAddress address) const noexcept {
        return std::hash<std::uintptr_t>()(address.value());
    }
};
