// SPDX-License-Identifier: Apache-2.0
// Changes to tasks of built models, from values in device memory.
#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/random_task.h"
#include "core/graph/graph_patch.h"
#include "core/memory/memory.h"
#include "core/process/context.h"

using namespace canopy;

namespace {

Status check_memory(const void* address, std::size_t size, const char* name) {
    CANOPY_TRY(required(address, name));
    Result<MemoryPlace> place = usable_place(device_address(address), size, name);
    if (!place.ok()) return place.status();
    if (place->pageable()) return fail(code::param_invalid, "{} {} is not device memory", name, as_address(address));
    return {};
}

Status update_random(aclrtStream task_stream, std::uint32_t task, const aclrtRandomTaskUpdateAttr& attribute,
                     aclrtStream stream) {
    if (attribute.size != sizeof(aclrtRandomNumTaskInfo))
        return fail(code::param_invalid, "size {} is not {}, the size of an aclrtRandomNumTaskInfo", attribute.size,
                    sizeof(aclrtRandomNumTaskInfo));
    CANOPY_TRY(check_memory(attribute.srcAddr, attribute.size, "srcAddr"));
    const auto read = [](const void* bytes) {
        aclrtRandomNumTaskInfo info;
        std::memcpy(&info, bytes, sizeof(info));
        return read_random_task(info);
    };
    return patch_random(task_stream, task, {device_address(attribute.srcAddr), attribute.size, read}, stream);
}

Status update_kernel(aclrtStream task_stream, std::uint32_t task, const aclrtAicAivTaskUpdateAttr& attribute,
                     aclrtStream stream) {
    CANOPY_TRY(required(attribute.binHandle, "binHandle"));
    CANOPY_TRY(check_memory(attribute.funcEntryAddr, sizeof(std::uint64_t), "funcEntryAddr"));
    CANOPY_TRY(check_memory(attribute.blockDimAddr, sizeof(std::uint32_t), "blockDimAddr"));
    const KernelPatch patch{handle_of(attribute.binHandle), device_address(attribute.funcEntryAddr),
                            device_address(attribute.blockDimAddr)};
    return patch_kernel(task_stream, task, patch, stream);
}

}  // namespace

aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t taskId, aclrtTaskUpdateInfo* info,
                              aclrtStream execStream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(info, "info"));
        CANOPY_TRY(require_context());
        switch (info->id) {
            case ACL_RT_UPDATE_RANDOM_TASK:
                return update_random(taskStream, taskId, info->val.randomTaskAttr, execStream);
            case ACL_RT_UPDATE_AIC_AIV_TASK:
                return update_kernel(taskStream, taskId, info->val.aicAivTaskAttr, execStream);
            default:
                return fail(code::not_supported, "info->id {} is not a kind of task that can be updated",
                            static_cast<int>(info->id));
        }
    });
}
