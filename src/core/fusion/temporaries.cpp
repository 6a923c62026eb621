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
    std::map<std::uintptr_t, std::uint64_t> ranges CANOPY_GUARDED_BY(mutex);  // start -> size
};
Temporaries& temporaries() { return process_state<Temporaries>(); }

}  // namespace

Status declare_temporary(const void* address, std::size_t size) {
    if (!address || size == 0) return fail(code::param_invalid, "a temporary needs an address and a size");
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (size > UINTPTR_MAX - begin) return fail(code::param_invalid, "{} bytes at {:#x} are not memory", size, begin);
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    all.ranges[begin] = size;
    temporary_changes.fetch_add(1, std::memory_order_relaxed);
    return {};
}

Status undeclare_temporary(const void* address) {
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    if (all.ranges.erase(reinterpret_cast<std::uintptr_t>(address)) == 0)
        return fail(code::param_invalid, "{} is not the start of a declared temporary", as_address(address));
    temporary_changes.fetch_add(1, std::memory_order_relaxed);
    return {};
}

std::uint64_t temporary_bytes(const void* address) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    Temporaries& all = temporaries();
    MutexLock lock(all.mutex);
    auto next = all.ranges.upper_bound(begin);
    if (next == all.ranges.begin()) return 0;
    --next;
    return begin - next->first < next->second ? next->second - (begin - next->first) : 0;
}

}  // namespace canopy
