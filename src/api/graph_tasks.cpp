// SPDX-License-Identifier: Apache-2.0
// Models in detail: names, streams, tasks and their parameters; changes of tasks; task groups.
#include <algorithm>
#include <cstring>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/launch_config.h"
#include "core/graph/capture/capture_groups.h"
#include "core/graph/graph_edit.h"
#include "core/graph/group_update.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/launch.h"
#include "core/memory/memory.h"
#include "core/stream/event.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

constexpr std::size_t max_arguments = 1 << 20;

template <class Body>
int with_model(aclmdlRI model, bool same_context, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(model, "modelRI"));
            Result<Pin<Graph>> graph = find_graph(model, same_context);
            if (!graph.ok()) return graph.status();
            return body(**graph);
        },
        function);
}

// The body of functions that read a task: required, pinned, with its graph locked.
template <class Body>
int with_task(aclmdlRITask task, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(task, "task"));
            return with_locked_task(task, body);
        },
        function);
}

// Returns the number of handles and, if there is an array with enough room, the handles.
Status hand_out(const std::vector<Handle>& handles, void** array, std::uint32_t* count) {
    const std::uint32_t room = *count;
    *count = static_cast<std::uint32_t>(handles.size());
    if (!array) return {};
    if (room < handles.size())
        return fail(code::array_too_short, "the array has room for {}; there are {}", room, handles.size());
    std::transform(handles.begin(), handles.end(), array, &opaque_of);
    return {};
}

// ---- attributes of a launch ----------------------------------------------------------------------------------------

std::uint64_t timeout_of(const LaunchWork& work) noexcept {  // 0: no limit
    if (work.timeout == UINT64_MAX) return 0;
    return work.timeout != 0 ? work.timeout : Runtime::instance().kernel_timeout.load(std::memory_order_relaxed);
}

aclrtTimeoutUs in_microseconds(std::uint64_t timeout) noexcept {
    const std::uint64_t value = timeout / microsecond;
    return {static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
}

Status read_attribute(const LaunchWork& work, aclrtLaunchKernelAttrId id, aclrtLaunchKernelAttrValue& value) {
    value = {};
    switch (id) {
        case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
            value.schemMode = work.batch || work.kernel->info->batch ? 1 : 0;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
            value.dynUBufSize = work.dynamic_size;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
            value.engineType =
                work.kernel->info->core == CoreType::vector ? ACL_RT_ENGINE_TYPE_AIV : ACL_RT_ENGINE_TYPE_AIC;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
            value.blockDimOffset = work.block_offset;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
            value.timeout = static_cast<std::uint16_t>(
                std::min<std::uint64_t>(timeout_of(work) / static_cast<std::uint64_t>(second), UINT16_MAX));
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US:
            value.timeoutUs = in_microseconds(timeout_of(work));
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
        case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
            return {};
        default:
            return fail(code::param_invalid, "launch attribute {} is not known", static_cast<int>(id));
    }
}

// The attributes that differ from the defaults, in memory of the task. Null if there are none.
aclrtLaunchKernelCfg* write_config(const LaunchWork& work, TaskMemory& memory) {
    struct Written {
        aclrtLaunchKernelCfg config;
        aclrtLaunchKernelAttr attributes[4];
    };
    static_assert(sizeof(Written) <= sizeof(memory.launch_attributes));
    auto* const written = reinterpret_cast<Written*>(memory.launch_attributes);
    written->config = {written->attributes, 0};
    const auto add = [&](aclrtLaunchKernelAttrId id) {
        aclrtLaunchKernelAttr& attribute = written->attributes[written->config.numAttrs++];
        attribute.id = id;
        read_attribute(work, id, attribute.value).ignore();
    };
    if (work.batch) add(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE);
    if (work.dynamic_size != 0) add(ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE);
    if (work.block_offset != 0) add(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET);
    if (work.timeout != 0) add(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US);
    return written->config.numAttrs != 0 ? &written->config : nullptr;
}

// ---- parameters of a task ------------------------------------------------------------------------------------------

void write_kernel(LockedTask& locked, aclmdlRIKernelTaskParams& params) CANOPY_REQUIRES(*locked.graph.mutex) {
    const LaunchWork& work = locked.task->command.launch;
    params.funcHandle = opaque_of(locked.task->function);
    params.cfg = write_config(work, memory_of(locked.graph, locked.place));
    params.args = opaque_pointer(work.arguments());
    params.isHostArgs = work.arguments_in_place() ? 0 : 1;
    params.argsSize = work.arguments_size;
    params.numBlocks = work.blocks;
}

// The flags of the event; 0 if it was destroyed.
std::uint32_t flags_of(Handle handle) {
    const Pin<Event> event = Runtime::instance().events.pin(handle);
    return event ? event->flags : 0;
}

void write_params(LockedTask& locked, aclmdlRITaskParams& params) CANOPY_REQUIRES(*locked.graph.mutex) {
    const GraphTask& task = *locked.task;
    std::memset(&params, 0, sizeof(params));
    params.type = static_cast<aclmdlRITaskType>(task.type);
    params.taskGrp = opaque_of(group_of(locked));
    params.opInfoPtr = const_cast<void*>(task.operator_info);
    params.opInfoSize = task.operator_info_size;
    void* const event = opaque_of(task.event);
    const ValueWork& value = task.command.value;
    switch (task.type) {
        case TaskType::kernel:
            return write_kernel(locked, params.kernelTaskParams);
        case TaskType::event_record:
            params.eventRecordTaskParams = {event, flags_of(task.event), task.event_flag};
            return;
        case TaskType::event_wait:
            params.eventWaitTaskParams = {event, flags_of(task.event), task.event_flag};
            return;
        case TaskType::event_reset:
            params.eventResetTaskParams = {event, flags_of(task.event), task.event_flag};
            return;
        case TaskType::value_write:
            params.valueWriteTaskParams = {opaque_pointer(value.address), value.value};
            return;
        case TaskType::value_wait:
            params.valueWaitTaskParams = {opaque_pointer(value.address), value.value,
                                          static_cast<std::uint32_t>(value.condition)};
            return;
        default:
            return;
    }
}

Status check_arguments(const aclmdlRIKernelTaskParams& params, const DeviceRecord& record) {
    CANOPY_TRY(required(params.args, "kernelTaskParams.args"));
    if (params.argsSize == 0 || params.argsSize > max_arguments)
        return fail(code::param_invalid, "argsSize {} is not between 1 and {}", params.argsSize, max_arguments);
    if (params.isHostArgs != 0) return {};
    Result<MemoryPlace> place = usable_place(device_address(params.args), params.argsSize, "args");
    if (!place.ok()) return place.status();
    if (!place->on_device() || (place->record && place->record != &record))
        return fail(code::param_invalid, "args {} must be memory of device {} when isHostArgs is 0",
                    as_address(params.args), record.index);
    return {};
}

// Loads the kernel without holding a graph's lock, and describes the launch.
Result<Command> read_kernel(const aclmdlRIKernelTaskParams& params, DeviceRecord& record) {
    CANOPY_TRY(required(params.funcHandle, "kernelTaskParams.funcHandle"));
    CANOPY_TRY(check_blocks(params.numBlocks));
    CANOPY_TRY(check_arguments(params, record));
    Result<Pin<Function>> function = find_function(params.funcHandle);
    if (!function.ok()) return function.status();
    Result<Kernel*> kernel = kernel_for(**function, record);
    if (!kernel.ok()) return kernel.status();
    if (params.argsSize < (*function)->info.arguments_size)
        return fail(code::param_invalid, "argsSize {} is less than the {} bytes of kernel {}'s parameters",
                    params.argsSize, (*function)->info.arguments_size, (*function)->info.name);
    LaunchRequest request(params.isHostArgs != 0 ? params.args : nullptr, params.argsSize, params.numBlocks);
    CANOPY_TRY(read_config(params.cfg, request.work()));
    if (params.isHostArgs == 0) request.work().set_arguments_in_place(device_address(params.args));
    CANOPY_TRY(complete(request.command, **kernel, record));
    return request.command;
}

Result<Command> read_value(Opcode opcode, void* address, std::uint64_t value, std::uint32_t condition) {
    CANOPY_TRY(required(address, "devAddr"));
    if (condition > static_cast<std::uint32_t>(ValueCondition::bits_nor))
        return fail(code::param_invalid, "flag {} is not between 0 and 3", condition);
    Result<MemoryPlace> place = usable_place(device_address(address), sizeof(std::uint64_t), "devAddr");
    if (!place.ok()) return place.status();
    if (place->pageable() || reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0)
        return fail(code::param_invalid, "devAddr {} is not a 64-bit word in device memory", as_address(address));
    Command command(opcode);
    command.value = {device_address(address), value, static_cast<ValueCondition>(condition)};
    return command;
}

// The type of a task and the device it runs on.
struct TaskFacts {
    TaskType type;
    DeviceRecord* record;
};

Result<TaskFacts> facts_of(const void* task) {
    return with_locked_task(task, [](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Result<TaskFacts> {
        return TaskFacts{locked.task->type, locked.graph.record};
    });
}

Result<Command> read_params(const aclmdlRITaskParams& params, const TaskFacts& facts) {
    switch (facts.type) {
        case TaskType::kernel:
            return read_kernel(params.kernelTaskParams, *facts.record);
        case TaskType::value_write:
            return read_value(Opcode::write_value, params.valueWriteTaskParams.devAddr,
                              params.valueWriteTaskParams.value, static_cast<std::uint32_t>(ValueCondition::equal));
        case TaskType::value_wait:
            return read_value(Opcode::wait_value, params.valueWaitTaskParams.devAddr, params.valueWaitTaskParams.value,
                              params.valueWaitTaskParams.flag);
        default:
            return fail(code::not_supported, "a task of type {} has no parameters", static_cast<int>(facts.type));
    }
}

Status set_params(aclmdlRITask task, const aclmdlRITaskParams& params) {
    Result<TaskFacts> facts = facts_of(task);
    if (!facts.ok()) return facts.status();
    if (static_cast<int>(params.type) != static_cast<int>(facts->type))
        return fail(code::param_invalid, "params->type {} is not {}, the type of the task",
                    static_cast<int>(params.type), static_cast<int>(facts->type));
    const auto change = [&](aclrtEvent event) -> Status {
        CANOPY_TRY(required(event, "event"));
        return change_event(task, event);
    };
    if (facts->type == TaskType::event_record) return change(params.eventRecordTaskParams.event);
    if (facts->type == TaskType::event_wait) return change(params.eventWaitTaskParams.event);
    if (facts->type == TaskType::event_reset) return change(params.eventResetTaskParams.event);
    Result<Command> command = read_params(params, *facts);
    if (!command.ok()) return command.status();
    return with_locked_task(
        task, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) { return change_task(locked, *command); });
}

}  // namespace

// ---- models --------------------------------------------------------------------------------------------------------

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
    return with_model(modelRI, true, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(name, "name"));
        return name_graph(graph, name);
    });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
    return with_model(modelRI, true, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(name, "name"));
        if (maxLen == 0) return fail(code::param_invalid, "maxLen must not be 0");
        MutexLock lock(*graph.mutex);
        if (graph.name.size() >= maxLen)
            return fail(code::param_invalid, "maxLen {} is too small for {} characters and the final zero", maxLen,
                        graph.name.size());
        std::memcpy(name, graph.name.c_str(), graph.name.size() + 1);
        return {};
    });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
    return with_model(modelRI, false, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(modelRIId, "modelRIId"));
        *modelRIId = graph.id;
        return {};
    });
}

aclError aclmdlRIGetStreams(aclmdlRI modelRI, aclrtStream* streams, uint32_t* numStreams) {
    return with_model(modelRI, true, [&](Graph& graph) -> Status {
        CANOPY_TRY(required(numStreams, "numStreams"));
        Result<std::vector<Handle>> handles = streams_of(graph);
        if (!handles.ok()) return handles.status();
        return hand_out(*handles, streams, numStreams);
    });
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks, uint32_t* numTasks) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(numTasks, "numTasks"));
        Result<std::vector<Handle>> handles = tasks_of(stream);
        if (!handles.ok()) return handles.status();
        return hand_out(*handles, tasks, numTasks);
    });
}

aclError aclmdlRIUpdate(aclmdlRI modelRI) {
    return with_model(modelRI, false, [](Graph& graph) { return update_graph(graph); });
}

// ---- tasks ---------------------------------------------------------------------------------------------------------

aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type) {
    return with_task(task, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        CANOPY_TRY(required(type, "type"));
        *type = static_cast<aclmdlRITaskType>(locked.task->type);
        return {};
    });
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* id) {
    return with_task(task, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        CANOPY_TRY(required(id, "id"));
        *id = locked.task->sequence;
        return {};
    });
}

aclError aclmdlRITaskGetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
    return with_task(task, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        CANOPY_TRY(required(params, "params"));
        write_params(locked, *params);
        return {};
    });
}

aclError aclmdlRITaskSetParams(aclmdlRITask task, aclmdlRITaskParams* params) {
    return api([&]() -> Status {
        CANOPY_TRY(required(task, "task"));
        CANOPY_TRY(required(params, "params"));
        return set_params(task, *params);
    });
}

aclError aclmdlRITaskDisable(aclmdlRITask task) {
    return with_task(task,
                     [](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) { return disable_task(locked); });
}

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId attrId,
                                        aclrtLaunchKernelAttrValue* attrValue) {
    return with_task(task, [&](LockedTask& locked) CANOPY_REQUIRES(*locked.graph.mutex) -> Status {
        CANOPY_TRY(required(attrValue, "attrValue"));
        if (type_of(locked.task->command) != TaskType::kernel)
            return fail(code::param_invalid, "task {} is not a kernel", locked.task->sequence);
        return read_attribute(locked.task->command.launch, attrId, *attrValue);
    });
}

aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(infoPtr, "infoPtr"));
        if (infoSize == 0) return fail(code::invalid_parameter, "infoSize must not be 0");
        return attach_operator_info(infoPtr, infoSize);
    });
}

namespace {

// The first `limit` bytes at most; does not cut through a character of UTF-8.
std::string_view cut_text(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text;
    constexpr std::size_t longest_character = 4;
    std::size_t end = limit;
    while (limit - end < longest_character && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, limit - end < longest_character ? end : limit);
}

}  // namespace

aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize) {
    return api([&]() -> Status {
        if (extendInfoPtr == nullptr) return fail(code::param_invalid, "extendInfoPtr must not be null");
        if (infoSize == 0) return fail(code::param_invalid, "infoSize must not be 0");
        return attach_extended_info(cut_text({extendInfoPtr, infoSize}, 4096));
    });
}

// ---- groups --------------------------------------------------------------------------------------------------------

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        return begin_task_group(stream);
    });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(handle, "handle"));
        Result<Handle> group = end_task_group(stream);
        if (!group.ok()) return group.status();
        *handle = opaque_of(*group);
        return {};
    });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(required(handle, "handle"));
        return begin_task_update(stream, handle);
    });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        return end_task_update(stream);
    });
}
