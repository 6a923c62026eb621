// SPDX-License-Identifier: Apache-2.0
// What programs ask about a device that follows from its chip and its number: attributes, names on the bus, how two
// devices are connected. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/runtime.h"

namespace canopy {

// By the numbers of aclrtDevAttr. 107000 for an unknown one, 207000 for one the chip does not have.
Result<std::int64_t> device_attribute(const DeviceRecord& record, std::int32_t attribute);

// "0000:c1:00.0" for the first device of the machine; made up, and the same in every run.
std::string pci_bus_id(std::uint32_t physical);
// The reverse, for devices the program sees. 107000 for text that is no bus id, 107001 when no device has it.
Result<std::int32_t> device_with_pci_bus_id(std::string_view text);

// 16 bytes, different for every device of a machine and the same in every run.
void device_uuid(std::uint32_t physical, char* bytes) noexcept;

// The bits of ACL_RT_DEVS_TOPOLOGY_*.
std::uint64_t device_topology(const DeviceRecord& one, const DeviceRecord& other) noexcept;

// What aclplatformGetDeviceInfo answers, by the numbers of aclplatformDevInfo. 100000 for an unknown one.
Result<std::string> platform_fact(std::int32_t number);
// The element types an instruction of the chip takes, separated by commas. 100000 for one it does not have.
Result<std::string> instruction_types(std::int32_t core_type, std::string_view instruction);

}  // namespace canopy
