// SPDX-License-Identifier: Apache-2.0
#include "api/launch_config.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "foundation/clock.h"

namespace canopy {
namespace {

Status read_attribute(const aclrtLaunchKernelAttr& attribute, LaunchWork& work, bool& seconds, bool& microseconds) {
    const aclrtLaunchKernelAttrValue& value = attribute.value;
    switch (attribute.id) {
        case ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE:
            if (value.schemMode > 1)
                return fail(code::param_invalid, "schemMode {} is neither 0 nor 1", value.schemMode);
            work.batch = value.schemMode == 1;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE:
            work.dynamic_size = value.dynUBufSize;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE:
            if (value.engineType != ACL_RT_ENGINE_TYPE_AIC && value.engineType != ACL_RT_ENGINE_TYPE_AIV)
                return fail(code::param_invalid, "engineType {} is neither 0 nor 1",
                            static_cast<int>(value.engineType));
            return {};  // a hint only: the kernel's kind decides
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET:
            work.block_offset = value.blockDimOffset;
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT:
            seconds = true;
            work.timeout = value.timeout == 0 ? UINT64_MAX : value.timeout * static_cast<std::uint64_t>(second);
            return {};
        case ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US: {
            microseconds = true;
            const std::uint64_t time =
                static_cast<std::uint64_t>(value.timeoutUs.timeoutHigh) << 32 | value.timeoutUs.timeoutLow;
            work.timeout = time == 0 || time > INT64_MAX / microsecond ? UINT64_MAX : time * microsecond;
            return {};
        }
        case ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH:
        case ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP:
        case ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING:
            return {};
        default:
            break;
    }
    return fail(code::param_invalid, "launch attribute {} is not known", static_cast<int>(attribute.id));
}

}  // namespace

Status read_config(const aclrtLaunchKernelCfg* config, LaunchWork& work) {
    if (!config) [[likely]]
        return {};
    if (config->numAttrs != 0 && !config->attrs) return fail_null("cfg->attrs");
    bool seconds = false, microseconds = false;
    for (std::size_t i = 0; i < config->numAttrs; ++i)
        CANOPY_TRY(read_attribute(config->attrs[i], work, seconds, microseconds));
    if (seconds && microseconds)
        return fail(code::param_invalid, "a launch has one timeout: in seconds or in microseconds, not both");
    return {};
}

}  // namespace canopy
