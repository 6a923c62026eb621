// SPDX-License-Identifier: Apache-2.0
// Platform properties as text, and core groups, which only one older chip has.
#include "acl/acl_platform.h"

#include <cstring>
#include <string>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/process/device_facts.h"

using namespace canopy;

namespace {

Status copy_out(const Result<std::string>& text, char* value, uint32_t length) {
    if (!text.ok()) return text.status();
    if (text.value().size() >= length)
        return fail(code::invalid_parameter, "maxLen {} is too small for {} characters and the final zero", length,
                    text.value().size());
    std::memcpy(value, text.value().c_str(), text.value().size() + 1);
    return {};
}

Status no_groups() { return fail(code::not_supported, "this chip does not divide its cores into groups"); }

}  // namespace

extern "C" {

aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char* value, uint32_t maxLen) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        return copy_out(platform_fact(infoType), value, maxLen);
    });
}

aclError aclplatformGetInstructionInfo(aclplatformCoreType type, const char* instruction, char* value,
                                       uint32_t maxLen) {
    return api([&]() -> Status {
        CANOPY_TRY(required(instruction, "instruction"));
        CANOPY_TRY(required(value, "value"));
        return copy_out(instruction_types(type, instruction), value, maxLen);
    });
}

aclrtGroupInfo* aclrtCreateGroupInfo() {
    api([&]() -> Status { return no_groups(); });
    return nullptr;
}

aclError aclrtDestroyGroupInfo(aclrtGroupInfo* groupInfo) {
    return api([&]() -> Status {
        CANOPY_TRY(required(groupInfo, "groupInfo"));
        return no_groups();
    });
}

aclError aclrtSetGroup(int32_t) {
    return api([&]() -> Status { return no_groups(); });
}

aclError aclrtGetGroupCount(uint32_t* count) {
    return api([&]() -> Status {
        CANOPY_TRY(required(count, "count"));
        return no_groups();
    });
}

aclError aclrtGetAllGroupInfo(aclrtGroupInfo* groupInfo) {
    return api([&]() -> Status {
        CANOPY_TRY(required(groupInfo, "groupInfo"));
        return no_groups();
    });
}

aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* groupInfo, int32_t, aclrtGroupAttr, void* attrValue, size_t,
                                 size_t* paramRetSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(groupInfo, "groupInfo"));
        CANOPY_TRY(required(attrValue, "attrValue"));
        CANOPY_TRY(required(paramRetSize, "paramRetSize"));
        return no_groups();
    });
}

}  // extern "C"
