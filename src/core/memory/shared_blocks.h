// SPDX-License-Identifier: Apache-2.0
// Which blocks of device memory other processes have, and which this process has of others. Frees ask here first; the
// calls that make the entries are in shared_memory.h. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/device_address.h"
#include "base/process_state.h"
#include "base/result.h"
#include "core/process/runtime.h"
#include "core/share/key.h"
#include "foundation/mutex.h"

namespace canopy {

struct SharedBlock {
    DeviceAddress address{};
    DeviceRecord* record = nullptr;
    std::size_t size = 0;
    std::size_t keys = 0;                          // exports that are not closed
    std::map<std::uint64_t, std::size_t> holders;  // connections of those that have it; how many exports they opened
    bool freed = false;                            // and kept for the holders
    std::vector<SharedKey> exports;
};

struct ImportedBlock {
    SharedKey key;
    DeviceAddress address{};
    DeviceRecord* record = nullptr;
    std::shared_ptr<void> import;  // tells the other process when it ends
    std::uint32_t forks = 0;
};

struct SharedMemory {
    Mutex mutex;
    std::map<DeviceAddress, std::shared_ptr<SharedBlock>> blocks CANOPY_GUARDED_BY(mutex);
    std::map<std::string, std::deque<ImportedBlock>, std::less<>> imports CANOPY_GUARDED_BY(mutex);
    std::map<std::string, std::uint64_t, std::less<>> links CANOPY_GUARDED_BY(mutex);

    static SharedMemory& instance() { return process_state<SharedMemory>(); }
};

// Forgets a block that nobody can have any more; frees it if the program has done so.
void settle(SharedMemory& memory, const std::shared_ptr<SharedBlock>& block) CANOPY_REQUIRES(memory.mutex);

// How many entries there are: while there are none, frees need not ask here.
inline std::atomic<std::uint32_t> shared_memory_parts{0};
// Frees a block that other processes have, or refuses to free memory of another process; nullopt: neither.
std::optional<Status> release_shared(DeviceAddress address);

}  // namespace canopy
