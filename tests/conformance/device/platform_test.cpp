// SPDX-License-Identifier: Apache-2.0
// Platform information: attributes, values given as strings, instructions.
#include <cstring>
#include <string>

#include "acl/acl_platform.h"
#include "fixtures/fixture.h"

namespace conformance {
namespace {

using Platform = RuntimeTest;

TEST_F(Platform, AttributesAreListedAndAnswer) {
    const aclCannAttr* list = nullptr;
    size_t count = 0;
    EXPECT_ACL_OK(aclGetCannAttributeList(&list, &count));
    ASSERT_EQ(count, 3u);
    for (size_t index = 0; index < count; ++index) {
        int32_t value = -1;
        EXPECT_ACL_OK(aclGetCannAttribute(list[index], &value));
        EXPECT_TRUE(value == 0 || value == 1);
    }
    int32_t value = -1;
    EXPECT_ACL_OK(aclGetCannAttribute(ACL_CANN_ATTR_INF_NAN, &value));
    EXPECT_EQ(value, 1);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cannAttr", aclGetCannAttribute(ACL_CANN_ATTR_UNDEFINED, &value));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclGetCannAttribute(ACL_CANN_ATTR_BF16, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cannAttrList", aclGetCannAttributeList(nullptr, &count));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "num", aclGetCannAttributeList(&list, nullptr));
}

TEST_F(Platform, AnswersInText) {
    char text[64] = {};
    for (int info = ACL_PLATFORM_AICORE_CNT; info <= ACL_PLATFORM_MEMORY_TYPE; ++info) {
        text[0] = '\0';
        EXPECT_ACL_OK(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(info), text, sizeof(text)));
        EXPECT_NE(text[0], '\0') << info;
    }
    EXPECT_ACL_OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, sizeof(text)));
    EXPECT_STREQ(text, aclrtGetSocName());
    const auto exact = static_cast<uint32_t>(std::strlen(text) + 1);
    EXPECT_ACL_OK(aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, exact));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "maxLen",
                     aclplatformGetDeviceInfo(ACL_PLATFORM_SOC_VERSION, text, exact - 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "infoType",
                     aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(17), text, sizeof(text)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value", aclplatformGetDeviceInfo(ACL_PLATFORM_L2_SIZE, nullptr, 9));
}

TEST_F(Platform, InstructionsNameTheirTypes) {
    char text[128] = {};
    const auto core = ACL_PLATFORM_CORE_TYPE_AI_CORE;
    EXPECT_ACL_OK(aclplatformGetInstructionInfo(core, "Intrinsic_vadd", text, sizeof(text)));
    EXPECT_NE(std::string(text).find("float16"), std::string::npos);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction",
                     aclplatformGetInstructionInfo(core, "Intrinsic_dance", text, sizeof(text)));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction",
                     aclplatformGetInstructionInfo(ACL_PLATFORM_CORE_TYPE_VECTOR_CORE, "Intrinsic_mmad", text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "type",
                     aclplatformGetInstructionInfo(static_cast<aclplatformCoreType>(2), "Intrinsic_vadd", text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "instruction", aclplatformGetInstructionInfo(core, nullptr, text, 128));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "value",
                     aclplatformGetInstructionInfo(core, "Intrinsic_vadd", nullptr, 128));
}

}  // namespace
}  // namespace conformance
