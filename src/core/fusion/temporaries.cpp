// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/temporaries.h"

#include <map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {

namespace {

struct Temporaries {
    Mutex mutex;
    std::map<DeviceAddress, std::uint64_t> ranges CANOPY_GUARDED_BY(mutex);  // start -> size
};
Temporaries& temporaries() { return process_state<Temporaries>(); }

}  // namespace

Status declare_temporary(DeviceAddress address, std::size_t size) {
    if (!address || size == 0) return fail(code::param_invalid, "a temporary needs an address and a size");
    if (size > UINTPTR_MAX - address.value())
        return fail(code::param_invalid, "{} bytes at {} are not memory", size, address);
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    all.ranges[address] = size;
    temporary_changes.fetch_add(1, std::memory_order_relaxed);
    return {};
}

Status undeclare_temporary(DeviceAddress address) {
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    if (all.ranges.erase(address) == 0)
        return fail(code::param_invalid, "{} is not the start of a declared temporary", address);
    temporary_changes.fetch_add(1, std::memory_order_relaxed);
    return {};
}

std::uint64_t temporary_bytes(DeviceAddress address) {
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    auto next = all.ranges.upper_bound(address);
    if (next == all.ranges.begin()) return 0;
    --next;
    const DeviceRange range{next->first, next->second};
    return range.contains(address) ? range.bytes_from(address) : 0;
}

}  // namespace canopy
