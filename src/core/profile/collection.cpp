// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collection.h"

#include <algorithm>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/process/runtime.h"
#include "record/recorder.h"

namespace canopy {
namespace {

struct Collections {
    HandleTable<Collection> table{HandleKind::profile_collection};
};

HandleTable<Collection>& collections() { return process_state<Collections>().table; }

}  // namespace

Result<Handle> create_collection(std::span<const std::uint32_t> devices, std::uint32_t metrics, std::uint64_t mask) {
    const std::uint32_t count = Runtime::instance().device_count();
    if (!known_core_metrics(metrics)) return fail(code::invalid_parameter, "aicoreMetrics {} is not known", metrics);
    if (devices.empty() && (mask & collects::marks) == 0)
        return fail(code::invalid_parameter, "deviceNums is 0; only a session with ACL_PROF_MSPROFTX needs no device");
    if (devices.size() > count)
        return fail(code::invalid_parameter, "deviceNums {} is more than the {} devices", devices.size(), count);
    std::vector<std::uint32_t> sorted(devices.begin(), devices.end());
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return fail(code::invalid_parameter, "deviceIdList names a device twice");
    if (!sorted.empty() && sorted.back() >= count)
        return fail(code::invalid_parameter, "deviceIdList names device {}; there are {}", sorted.back(), count);
    const Handle handle = collections().open([&](Collection& collection, Handle) {
        collection.devices = std::move(sorted);
        collection.metrics = metrics;
        collection.mask = mask;
    });
    if (handle == 0) return fail(code::bad_alloc, "too many descriptions of profiling sessions");
    return handle;
}

Status destroy_collection(const void* handle) {
    if (handle == nullptr) return fail_null("profilerConfig");
    if (collections().close(handle_of(handle))) return {};
    return fail(code::invalid_parameter, "profilerConfig {} is not a description of a profiling session", handle);
}

Result<Collection> find_collection(const void* handle) {
    const Pin<Collection> found = collections().pin(handle_of(handle));
    if (!found)
        return fail(code::invalid_parameter, "profilerConfig {} is not a description of a profiling session", handle);
    return *found;
}

std::uint32_t wanted_by(std::uint64_t mask) noexcept {
    using namespace collects;
    if ((mask & call_sums) != 0) return record::calls;
    std::uint32_t wanted = 0;
    if ((mask & (calls | runtime_calls | graph_calls_l0 | graph_calls_l1)) != 0) wanted |= record::calls;
    constexpr std::uint64_t of_tasks = task_time | task_time_l0 | task_time_l2 | task_time_l3 | core_metrics |
                                       cpu_kernels | cache | collectives | operator_attributes | kernel_shapes;
    if ((mask & of_tasks) != 0) wanted |= record::tasks | record::nodes;
    if ((mask & (task_time | task_time_l2 | task_time_l3 | core_metrics)) != 0) wanted |= record::blocks | record::idle;
    if ((mask & (task_time | training_trace)) != 0) wanted |= record::steps;
    if ((mask & marks) != 0) wanted |= record::marks;
    if ((mask & task_memory) != 0) wanted |= record::memory;
    return wanted;
}

}  // namespace canopy
