// SPDX-License-Identifier: Apache-2.0
#include "core/memory/device_variables.h"

#include <atomic>
#include <cstdint>
#include <map>

#include "base/process_state.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Entry {
    Handle binary;
    DeviceRecord* record;
    std::size_t size;
};

struct Table {
    std::atomic<std::size_t> count{0};  // read without the lock: most programs have no such variables
    SharedMutex mutex;
    std::map<DeviceAddress, Entry> entries CANOPY_GUARDED_BY(mutex);  // by first address
};

Table& table() { return process_state<Table>(); }

}  // namespace

void note_variable(Handle binary, DeviceRecord& record, DeviceAddress address, std::size_t size) {
    if (size == 0) return;
    Table& all = table();
    WriterLock guard(all.mutex);
    all.entries.insert_or_assign(address, Entry{binary, &record, size});
    all.count.store(all.entries.size(), std::memory_order_release);
}

void forget_variables(Handle binary) noexcept {
    Table& all = table();
    WriterLock guard(all.mutex);
    std::erase_if(all.entries, [&](const auto& entry) { return entry.second.binary == binary; });
    all.count.store(all.entries.size(), std::memory_order_release);
}

std::vector<DeviceVariable> all_device_variables() {
    Table& all = table();
    ReaderLock guard(all.mutex);
    std::vector<DeviceVariable> found;
    for (const auto& [address, entry] : all.entries)
        found.push_back({entry.record, {address, entry.size}, entry.binary});
    return found;
}

std::optional<DeviceVariable> find_device_variable(DeviceAddress address) noexcept {
    Table& all = table();
    if (all.count.load(std::memory_order_acquire) == 0) return std::nullopt;
    ReaderLock guard(all.mutex);
    auto entry = all.entries.upper_bound(address);
    if (entry == all.entries.begin()) return std::nullopt;
    --entry;
    const DeviceRange range{entry->first, entry->second.size};
    if (!range.contains(address)) return std::nullopt;
    return DeviceVariable{entry->second.record, range, entry->second.binary};
}

}  // namespace canopy
