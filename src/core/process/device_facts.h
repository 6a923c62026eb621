// SPDX-License-Identifier: Apache-2.0
// Device properties that follow from the chip and the device number: attributes, bus ids, and how two devices are
// connected. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

// By aclrtDevAttr value. 107000 for an unknown attribute, 207000 for one the chip does not have.
Result<std::int64_t> device_attribute(const DeviceRecord& record, std::int32_t attribute);

// "0000:c1:00.0" for the first device of the machine; made up, but the same in every run.
std::string pci_bus_id(std::uint32_t physical);
// The reverse, for devices visible to the program. 107000 if it is not a bus id, 107001 if no device has it.
Result<std::int32_t> device_with_pci_bus_id(std::string_view text);

// 16 bytes, different for every device of a machine and the same in every run.
void device_uuid(std::uint32_t physical, char* bytes) noexcept;

// Bits of ACL_RT_DEVS_TOPOLOGY_*.
std::uint64_t device_topology(const DeviceRecord& one, const DeviceRecord& other) noexcept;

// What aclplatformGetDeviceInfo returns, by aclplatformDevInfo value. 100000 for an unknown one.
Result<std::string> platform_fact(std::int32_t number);
// The element types a chip instruction supports, separated by commas. 100000 if the chip does not have it.
Result<std::string> instruction_types(std::int32_t core_type, std::string_view instruction);

}  // namespace canopy
