// SPDX-License-Identifier: Apache-2.0
// The list of device kinds. Add new ones here.
#include "base/error_text.h"
#include "device/driver.h"

namespace canopy {

DeviceKind& apart_kind() noexcept;
DeviceKind& null_kind() noexcept;
DeviceKind& soft_kind() noexcept;

DeviceKind* find_kind(std::string_view name) noexcept {
    for (DeviceKind* kind : {&soft_kind(), &null_kind(), &apart_kind()})
        if (kind->name() == name) return kind;
    return nullptr;
}

Result<VirtualMemory::Physical> VirtualMemory::import(const FilePart&) {
    return fail(207000, "this kind of device cannot use memory of another process");
}

Status Driver::transfer(DeviceAddress, DeviceAddress, std::size_t) noexcept {
    return fail(507899, "a device of kind {} cannot transfer memory", info().kind);
}

Status Driver::fill(DeviceAddress, std::uint32_t, std::uint32_t, std::size_t) noexcept {
    return fail(507899, "a device of kind {} cannot fill memory", info().kind);
}

}  // namespace canopy
