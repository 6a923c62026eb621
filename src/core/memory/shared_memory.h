// SPDX-License-Identifier: Apache-2.0
// Device memory between processes: blocks of aclrtMalloc by key, physical memory by shareable handle. An importer maps
// the same pages at addresses of its current device. A block that is freed while another process has it is kept until
// the last of them has closed it or ended; an importer keeps its pages when the exporter ends. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/device_address.h"
#include "base/result.h"
#include "core/base/handles.h"
#include "core/share/porter.h"

namespace canopy {

// Waits for work that is ready to run, so that importers see its results. 107000 unless `address` is the start of a
// block of the malloc family with at least `size` bytes.
Result<std::string> export_memory(DeviceAddress address, std::size_t size, Importers importers);
// For the key of a block that this process exported. Keys that anybody may import have no list: nothing happens.
Status allow_memory_import(std::string_view key, std::span<const std::int32_t> processes);
// The link that a later import of the key should use. 207000 on chips that have no choice.
Status choose_link(std::string_view key, std::uint64_t link);
Result<DeviceAddress> import_memory(std::string_view key, bool peer_access);
// Ends the oldest import of the key in this process; if there is none, the export.
Status close_memory(std::string_view key);

// A handle's number, or its 64 bytes, as `strength` says.
Result<SharedKey> share_physical(Handle handle, Importers importers, KeyStrength strength);
Result<Handle> import_physical(const SharedKey& key, std::int64_t device);

}  // namespace canopy
