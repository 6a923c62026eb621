// SPDX-License-Identifier: Apache-2.0
// Allocators that programs register for a stream.
#include "acl/acl_rt_allocator.h"
#include "fixtures/fixture.h"

namespace conformance {
namespace {

void* allocate(aclrtAllocator, size_t) { return nullptr; }
void* allocate_other(aclrtAllocator, size_t) { return nullptr; }
void* allocate_near(aclrtAllocator, size_t, aclrtAllocatorAddr) { return nullptr; }
void release(aclrtAllocator, aclrtAllocatorBlock) {}
void* address_of(aclrtAllocatorBlock block) { return block; }

class MemoryAllocator : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        description_ = aclrtAllocatorCreateDesc();
        ASSERT_NE(description_, nullptr);
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtAllocatorUnregister(stream_));
        if (description_) {
            EXPECT_ACL_OK(aclrtAllocatorDestroyDesc(description_));
        }
        DeviceTest::TearDown();
    }
    void fill() {
        ASSERT_ACL_OK(aclrtAllocatorSetObjToDesc(description_, this));
        ASSERT_ACL_OK(aclrtAllocatorSetAllocFuncToDesc(description_, allocate));
        ASSERT_ACL_OK(aclrtAllocatorSetFreeFuncToDesc(description_, release));
        ASSERT_ACL_OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description_, address_of));
    }
    aclrtAllocatorDesc description_ = nullptr;
};

TEST_F(MemoryAllocator, TheLastRegistrationCounts) {
    fill();
    ASSERT_ACL_OK(aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorSetAllocFuncToDesc(description_, allocate_other));
    ASSERT_ACL_OK(aclrtAllocatorSetAllocAdviseFuncToDesc(description_, allocate_near));
    aclrtAllocatorDesc description = nullptr;
    aclrtAllocator object = nullptr;
    aclrtAllocatorAllocFunc allocator = nullptr;
    aclrtAllocatorFreeFunc releaser = nullptr;
    aclrtAllocatorAllocAdviseFunc adviser = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc finder = nullptr;
    ASSERT_ACL_OK(aclrtAllocatorGetByStream(stream_, &description, &object, &allocator, &releaser, &adviser, &finder));
    EXPECT_EQ(description, description_);
    EXPECT_EQ(object, this);
    EXPECT_EQ(allocator, allocate);  // as registered; later changes to the descriptor have no effect
    EXPECT_EQ(releaser, release);
    EXPECT_EQ(adviser, nullptr);
    EXPECT_EQ(finder, address_of);
    ASSERT_ACL_OK(aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorGetByStream(stream_, &description, nullptr, &allocator, nullptr, &adviser, nullptr));
    EXPECT_EQ(allocator, allocate_other);
    EXPECT_EQ(adviser, allocate_near);
}

TEST_F(MemoryAllocator, RegistrationOutlivesItsDescription) {
    fill();
    ASSERT_ACL_OK(aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorDestroyDesc(description_));
    aclrtAllocatorDesc description = nullptr;
    aclrtAllocator object = nullptr;
    ASSERT_ACL_OK(aclrtAllocatorGetByStream(stream_, &description, &object, nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(object, this);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "allocatorDesc", aclrtAllocatorDestroyDesc(description_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "allocatorDesc", aclrtAllocatorRegister(stream_, description_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "allocatorDesc", aclrtAllocatorSetObjToDesc(description_, this));
    description_ = nullptr;
}

TEST_F(MemoryAllocator, IncompleteDescriptionsAreRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "obj", aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorSetObjToDesc(description_, this));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocFunc", aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorSetAllocFuncToDesc(description_, allocate));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "freeFunc", aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorSetFreeFuncToDesc(description_, release));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "getAddrFromBlockFunc", aclrtAllocatorRegister(stream_, description_));
    ASSERT_ACL_OK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description_, address_of));
    EXPECT_ACL_OK(aclrtAllocatorRegister(stream_, description_));
}

TEST_F(MemoryAllocator, ArgumentsAreChecked) {
    fill();
    aclrtAllocatorDesc found = nullptr;
    aclrtStream destroyed = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&destroyed));
    ASSERT_ACL_OK(aclrtDestroyStream(destroyed));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtAllocatorRegister(nullptr, description_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc", aclrtAllocatorRegister(stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "stream", aclrtAllocatorRegister(destroyed, description_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "allocatorDesc", aclrtAllocatorRegister(stream_, this));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream", aclrtAllocatorUnregister(nullptr));
    EXPECT_ACL_OK(aclrtAllocatorUnregister(destroyed));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc", aclrtAllocatorDestroyDesc(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "stream",
                     aclrtAllocatorGetByStream(nullptr, &found, nullptr, nullptr, nullptr, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc",
                     aclrtAllocatorGetByStream(stream_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "no allocator",
                     aclrtAllocatorGetByStream(stream_, &found, nullptr, nullptr, nullptr, nullptr, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc", aclrtAllocatorSetObjToDesc(nullptr, this));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocator", aclrtAllocatorSetObjToDesc(description_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc", aclrtAllocatorSetAllocFuncToDesc(nullptr, allocate));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "func", aclrtAllocatorSetAllocFuncToDesc(description_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc", aclrtAllocatorSetFreeFuncToDesc(nullptr, release));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "func", aclrtAllocatorSetFreeFuncToDesc(description_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc",
                     aclrtAllocatorSetAllocAdviseFuncToDesc(nullptr, allocate_near));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "func", aclrtAllocatorSetAllocAdviseFuncToDesc(description_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "allocatorDesc",
                     aclrtAllocatorSetGetAddrFromBlockFuncToDesc(nullptr, address_of));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "func",
                     aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description_, nullptr));
}

}  // namespace
}  // namespace conformance
