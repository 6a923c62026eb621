// SPDX-License-Identifier: Apache-2.0
// Entry point: random numbers generated in stream order.
#include <acl/acl_rt.h>

#include <cstring>
#include <optional>

#include "api/api.h"
#include "api/random_task.h"
#include "core/memory/random_numbers.h"

using namespace canopy;

namespace {

RandomParameter read_parameter(const aclrtRandomParaInfo& given) {
    RandomParameter parameter;
    parameter.in_memory = given.isAddr != 0;
    parameter.size = given.size;
    std::memcpy(&parameter.value_or_address, given.valueOrAddr, sizeof(given.valueOrAddr));
    // Bytes after the value are not part of it.
    if (!parameter.in_memory && given.size < sizeof(std::uint64_t))
        parameter.value_or_address &= (std::uint64_t{1} << (given.size * 8)) - 1;
    return parameter;
}

std::optional<RandomType> random_type(aclDataType type) {
    switch (type) {
        case ACL_FLOAT:
            return RandomType::float32;
        case ACL_FLOAT16:
            return RandomType::float16;
        case ACL_BF16:
            return RandomType::bfloat16;
        case ACL_INT32:
            return RandomType::int32;
        case ACL_UINT32:
            return RandomType::uint32;
        case ACL_INT64:
            return RandomType::int64;
        case ACL_UINT64:
            return RandomType::uint64;
        default:
            return std::nullopt;
    }
}

}  // namespace

Result<RandomTask> canopy::read_random_task(const aclrtRandomNumTaskInfo& info) {
    RandomTask task;
    const aclrtRandomNumFuncParaInfo& function = info.randomNumFuncParaInfo;
    const std::optional<RandomType> type = random_type(info.dataType);
    const bool whole = type && *type > RandomType::bfloat16;
    if (!type || (whole && function.funcType != ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS))
        return fail(code::invalid_parameter, "taskInfo->dataType {} cannot be used with funcType {}",
                    static_cast<int>(info.dataType), static_cast<int>(function.funcType));
    task.type = *type;
    switch (function.funcType) {
        case ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK:
            task.function = RandomFunction::dropout_mask;
            task.first = read_parameter(function.paramInfo.dropoutBitmaskInfo.dropoutRation);
            break;
        case ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS:
            task.function = RandomFunction::uniform;
            task.first = read_parameter(function.paramInfo.uniformDisInfo.min);
            task.second = read_parameter(function.paramInfo.uniformDisInfo.max);
            break;
        case ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS:
        case ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS:
            task.function = function.funcType == ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS
                                ? RandomFunction::normal
                                : RandomFunction::truncated_normal;
            task.first = read_parameter(function.paramInfo.normalDisInfo.mean);
            task.second = read_parameter(function.paramInfo.normalDisInfo.stddev);
            break;
        default:
            return fail(code::invalid_parameter, "taskInfo->funcType {} does not exist",
                        static_cast<int>(function.funcType));
    }
    task.seed = read_parameter(info.randomSeed);
    task.count = read_parameter(info.randomNum);
    task.result = device_address(info.randomResultAddr).value();
    task.counter = device_address(info.randomCounterAddr).value();
    return task;
}

extern "C" {

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo, const aclrtStream stream, void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(required(taskInfo, "taskInfo"));
        if (reserve) return fail(code::invalid_parameter, "reserve must be null");
        CANOPY_TRY(required(taskInfo->randomResultAddr, "taskInfo->randomResultAddr"));
        CANOPY_TRY(required(taskInfo->randomCounterAddr, "taskInfo->randomCounterAddr"));
        Result<RandomTask> task = read_random_task(*taskInfo);
        if (!task.ok()) return task.status();
        return submit_random(*task, stream);
    });
}

}  // extern "C"
