// SPDX-License-Identifier: Apache-2.0
// Arguments common to several memory functions: reading and checking.
#pragma once

#include <acl/acl_rt.h>

#include <cstdint>
#include <optional>

#include "base/error_text.h"
#include "base/result.h"
#include "core/base/error_codes.h"

namespace canopy {

struct MallocAttributes {
    std::optional<std::uint32_t> module;
    std::optional<std::int64_t> device;
    bool same_address = false;
};

// A null config means no attributes. 100000 for an unknown attribute.
inline Result<MallocAttributes> read_malloc_attributes(const aclrtMallocConfig* config) {
    MallocAttributes read;
    if (!config || config->numAttrs == 0) return read;
    if (!config->attrs) return fail_null("cfg->attrs");
    for (std::size_t index = 0; index < config->numAttrs; ++index) {
        const aclrtMallocAttribute& attribute = config->attrs[index];
        switch (static_cast<int>(attribute.attr)) {
            case ACL_RT_MEM_ATTR_RSV:
                break;
            case ACL_RT_MEM_ATTR_MODULE_ID:
                read.module = attribute.value.moduleId;
                break;
            case ACL_RT_MEM_ATTR_DEVICE_ID:
                read.device = attribute.value.deviceId;
                break;
            case ACL_RT_MEM_ATTR_VA_FLAG:
                if (attribute.value.vaFlag > 1)
                    return fail(code::invalid_parameter, "cfg->attrs[{}]: vaFlag {} is neither 0 nor 1", index,
                                attribute.value.vaFlag);
                read.same_address = attribute.value.vaFlag != 0;
                break;
            default:
                return fail(code::invalid_parameter, "cfg->attrs[{}]: attribute {} does not exist", index,
                            static_cast<int>(attribute.attr));
        }
    }
    return read;
}

}  // namespace canopy
