// SPDX-License-Identifier: Apache-2.0
// A test suite with the runtime initialised and device 0 set; at the end nothing may be left.
#pragma once

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "live_objects.h"

namespace graphs {

class Session : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    void TearDown() override {
        EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
        expect_nothing_alive();
    }
};

}  // namespace graphs
