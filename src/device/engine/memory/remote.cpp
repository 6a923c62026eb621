// SPDX-License-Identifier: Apache-2.0
#include "device/engine/memory/remote.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "base/error_text.h"
#include "device/device.h"
#include "device/opaque_pointer.h"

namespace canopy {
namespace {

constexpr std::size_t most_remote = 64;
constexpr std::size_t staging_bytes = std::size_t{1} << 20;

std::array<std::atomic<Driver*>, most_remote>& drivers() noexcept {
    static std::array<std::atomic<Driver*>, most_remote> all{};
    return all;
}

// Between two devices that cannot reach each other: through memory of this process.
Status transfer_between(Driver& to_driver, DeviceAddress to, Driver& from_driver, DeviceAddress from,
                        std::size_t bytes) {
    const std::size_t size = std::min(bytes, staging_bytes);
    const std::unique_ptr<char[]> staging(new (std::nothrow) char[size]);
    if (!staging) return fail(207001, "out of host memory for a copy between devices");
    for (std::size_t done = 0; done < bytes; done += size) {
        const std::size_t part = std::min(size, bytes - done);
        CANOPY_TRY(from_driver.transfer(device_address(staging.get()), from + done, part));
        CANOPY_TRY(to_driver.transfer(to + done, device_address(staging.get()), part));
    }
    return {};
}

// A word that streams may be waiting for is written atomically.
void copy_here(DeviceAddress target, DeviceAddress source, std::size_t bytes) noexcept {
    void* const to = opaque_pointer(target);
    const void* const from = opaque_pointer(source);
    const std::uintptr_t bits = target.value() | source.value();
    if (bytes != sizeof(std::uint64_t) || bits % sizeof(std::uint64_t) != 0) {
        std::memmove(to, from, bytes);
        return;
    }
    std::uint64_t word = 0;
    __atomic_load(static_cast<const std::uint64_t*>(from), &word, __ATOMIC_ACQUIRE);
    __atomic_store(static_cast<std::uint64_t*>(to), &word, __ATOMIC_RELEASE);
}

}  // namespace

void add_remote(Driver& driver) noexcept {
    for (std::uint32_t index = 0; index < most_remote; ++index) {
        Driver* none = nullptr;
        if (!drivers()[index].compare_exchange_strong(none, &driver, std::memory_order_acq_rel)) continue;
        std::uint32_t count = remote::count.load(std::memory_order_relaxed);
        while (count <= index && !remote::count.compare_exchange_weak(count, index + 1, std::memory_order_acq_rel)) {
        }
        return;
    }
}

void remove_remote(Driver& driver) noexcept {
    for (std::atomic<Driver*>& place : drivers()) {
        Driver* own = &driver;
        if (place.compare_exchange_strong(own, nullptr, std::memory_order_acq_rel)) return;
    }
}

Driver* remote_owner(DeviceAddress address) noexcept {
    const std::uint32_t count = remote::count.load(std::memory_order_acquire);
    for (std::uint32_t index = 0; index < count; ++index) {
        Driver* driver = drivers()[index].load(std::memory_order_acquire);
        if (driver && driver->owns(address)) return driver;
    }
    return nullptr;
}

std::uint64_t load_word(DeviceAddress address) noexcept {
    if (!any_remote() || !remote_owner(address))
        return __atomic_load_n(static_cast<const std::uint64_t*>(opaque_pointer(address)), __ATOMIC_ACQUIRE);
    std::uint64_t word = 0;
    return read_device(&word, address, sizeof word).ok() ? word : 0;
}

void store_word(DeviceAddress address, std::uint64_t value) noexcept {
    if (!any_remote() || !remote_owner(address))
        __atomic_store_n(static_cast<std::uint64_t*>(opaque_pointer(address)), value, __ATOMIC_RELEASE);
    else
        write_device(address, &value, sizeof value).ignore();
}

Status transfer(DeviceAddress to, DeviceAddress from, std::size_t bytes) noexcept {
    if (!any_remote()) [[likely]] {
        copy_here(to, from, bytes);
        return {};
    }
    Driver* const target = remote_owner(to);
    Driver* const source = remote_owner(from);
    if (target && source && target != source) return transfer_between(*target, to, *source, from, bytes);
    if (target || source) return (target ? target : source)->transfer(to, from, bytes);
    copy_here(to, from, bytes);
    return {};
}

Status fill(DeviceAddress to, std::uint32_t value, std::uint32_t element_size, std::size_t count) noexcept {
    if (Driver* target = any_remote() ? remote_owner(to) : nullptr) return target->fill(to, value, element_size, count);
    if (element_size == 1) {
        std::memset(opaque_pointer(to), static_cast<int>(value & 0xFF), count);
        return {};
    }
    // Whole words through memcpy: the address need not be aligned.
    auto* bytes = static_cast<std::byte*>(opaque_pointer(to));
    for (std::size_t index = 0; index < count; ++index) std::memcpy(bytes + index * sizeof value, &value, sizeof value);
    return {};
}

}  // namespace canopy
