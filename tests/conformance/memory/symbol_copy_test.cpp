// SPDX-License-Identifier: Apache-2.0
// Variables of embedded images, identified by the address of the corresponding host variable.
#include <memory>
#include <thread>

#include "acl/acl_rt_api.h"
#include "fixtures/embedded.h"

namespace conformance {
namespace {

class Symbol : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "a device without code has no variables";
        embedded_ = std::make_unique<Embedded>();
        canopyRegisterImage(&embedded_->image);
    }
    void TearDown() override {
        embedded_.reset();
        DeviceTest::TearDown();
    }
    // The value that a kernel reads from the variable.
    uint32_t seen_by_kernel() {
        auto* out = device_array<uint32_t>({0});
        EXPECT_ACL_OK(embedded_->launch("read_global", 1, stream_, out));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(out, 1)[0];
    }
    const void* word() { return &embedded_->host_word; }
    std::unique_ptr<Embedded> embedded_;
};

TEST_F(Symbol, HasAddressAndSizeOnTheDevice) {
    void* address = nullptr;
    size_t size = 0;
    ASSERT_ACL_OK(aclrtGetSymbolAddress(word(), &address));
    ASSERT_ACL_OK(aclrtGetSymbolSize(word(), &size));
    EXPECT_EQ(size, sizeof(uint32_t));
    EXPECT_NE(address, word());
    uint32_t value = 0;
    ASSERT_ACL_OK(aclrtMemcpy(&value, 4, address, 4, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(value, 41u);
    EXPECT_EQ(embedded_->host_word, 0u);
}

TEST_F(Symbol, IsMemoryOfTheDevice) {
    void* address = nullptr;
    ASSERT_ACL_OK(aclrtGetSymbolAddress(word(), &address));
    aclrtPtrAttributes attributes = {};
    ASSERT_ACL_OK(aclrtPointerGetAttributes(address, &attributes));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(attributes.location.id, 0u);
    uint64_t too_much = 0;
    EXPECT_EQ(aclrtMemcpy(&too_much, 8, address, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_NE(aclrtFree(address), ACL_SUCCESS);
    recent_error();
}

TEST_F(Symbol, CopiesReachTheKernel) {
    const uint32_t value = 1234;
    ASSERT_ACL_OK(aclrtMemcpyToSymbol(word(), &value, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(seen_by_kernel(), 1234u);
    uint32_t back = 0;
    ASSERT_ACL_OK(aclrtMemcpyFromSymbol(&back, 4, word(), 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(back, 1234u);
}

TEST_F(Symbol, CopiesInAStreamKeepItsOrder) {
    auto* out = device_array<uint32_t>({0, 0});
    const uint32_t first = 5, second = 6;
    uint32_t back = 0;
    ASSERT_ACL_OK(aclrtMemcpyToSymbolAsync(word(), &first, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    ASSERT_ACL_OK(embedded_->launch("read_global", 1, stream_, out));
    ASSERT_ACL_OK(aclrtMemcpyToSymbolAsync(word(), &second, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    ASSERT_ACL_OK(embedded_->launch("read_global", 1, stream_, out + 1));
    ASSERT_ACL_OK(aclrtMemcpyFromSymbolAsync(&back, 4, word(), 4, 0, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(out, 2), (std::vector<uint32_t>{5, 6}));
    EXPECT_EQ(back, 6u);
}

TEST_F(Symbol, CopiesFromAndToOtherMemoryOfTheDevice) {
    auto* memory = device_array<uint32_t>({99, 0});
    ASSERT_ACL_OK(aclrtMemcpyToSymbol(word(), memory, 4, 0, ACL_MEMCPY_DEVICE_TO_DEVICE));
    ASSERT_ACL_OK(aclrtMemcpyFromSymbolAsync(memory + 1, 4, word(), 4, 0, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(memory, 2), (std::vector<uint32_t>{99, 99}));
}

TEST_F(Symbol, OffsetsCountInside) {
    const uint8_t byte = 1;
    ASSERT_ACL_OK(aclrtMemcpyToSymbol(word(), &byte, 1, 3, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(seen_by_kernel(), 41u + (1u << 24));
    uint32_t value = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "past",
                     aclrtMemcpyToSymbol(word(), &value, 2, 3, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "past",
                     aclrtMemcpyFromSymbol(&value, 4, word(), 1, 5, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "past",
                     aclrtMemcpyToSymbolAsync(word(), &value, SIZE_MAX, 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_EQ(aclrtMemcpyFromSymbol(&value, 2, word(), 4, 0, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
    recent_error();
}

TEST_F(Symbol, EveryDeviceHasItsOwn) {
    const uint32_t value = 7;
    ASSERT_ACL_OK(aclrtMemcpyToSymbol(word(), &value, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(aclrtSetDevice(1));
    uint32_t other = 0;
    EXPECT_ACL_OK(aclrtMemcpyFromSymbol(&other, 4, word(), 4, 0, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT_EQ(other, 41u);
    EXPECT_ACL_OK(aclrtResetDeviceForce(1));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    EXPECT_EQ(seen_by_kernel(), 7u);
}

TEST_F(Symbol, StartsAnewWhenItsImageIsLoadedAnew) {
    const uint32_t value = 7;
    ASSERT_ACL_OK(aclrtMemcpyToSymbol(word(), &value, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE));
    void* before = nullptr;
    ASSERT_ACL_OK(aclrtGetSymbolAddress(word(), &before));
    canopyUnregisterImage(&embedded_->image);
    EXPECT_EQ(aclrtGetSymbolAddress(word(), &before), ACL_ERROR_RT_INVALID_SYMBOL);
    canopyRegisterImage(&embedded_->image);
    EXPECT_EQ(seen_by_kernel(), 41u);
    recent_error();
}

TEST_F(Symbol, MissingInTheImageIsNamed) {
    void* address = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_SYMBOL_NOT_FOUND, "no_such_word",
                     aclrtGetSymbolAddress(embedded_->host_missing, &address));
}

TEST_F(Symbol, NeedsAContext) {
    std::thread([&] {
        void* address = nullptr;
        EXPECT_ACL_FAILS(ACL_ERROR_RT_CONTEXT_NULL, "aclrtSetDevice", aclrtGetSymbolAddress(word(), &address));
    }).join();
}

TEST_F(Symbol, WorksThroughTheOverloadsForVariables) {
    size_t size = 0;
    ASSERT_ACL_OK(aclrtGetSymbolSize(embedded_->host_word, &size));
    EXPECT_EQ(size, 4u);
}

}  // namespace
}  // namespace conformance
