// SPDX-License-Identifier: Apache-2.0
// The lower interface: memory and copies, with that interface's own constants.
#include <cstdlib>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "runtime/rt.h"

namespace conformance {
namespace {

constexpr size_t size = 256;

class LowerMemory : public DeviceTest {
protected:
    void* allocate(rtMemType_t type) {
        void* memory = nullptr;
        EXPECT_ACL_OK(rtMalloc(&memory, size, type, 3));
        return memory;
    }
    static aclrtPtrAttributes attributes(void* memory) {
        aclrtPtrAttributes found = {};
        EXPECT_ACL_OK(aclrtPointerGetAttributes(memory, &found));
        return found;
    }
};

TEST_F(LowerMemory, EveryKindOfDeviceMemoryWithEveryPolicyIsDeviceMemory) {
    for (const rtMemType_t kind : {RT_MEMORY_DEFAULT, RT_MEMORY_HBM, RT_MEMORY_RDMA_HBM, RT_MEMORY_DDR,
                                   RT_MEMORY_P2P_HBM, RT_MEMORY_P2P_DDR, RT_MEMORY_DDR_NC, RT_MEMORY_TS}) {
        for (const rtMemType_t policy :
             {RT_MEMORY_POLICY_NONE, RT_MEMORY_POLICY_HUGE_PAGE_FIRST, RT_MEMORY_POLICY_HUGE_PAGE_ONLY,
              RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY, RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P,
              RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P, RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P}) {
            void* memory = allocate(kind | policy);
            ASSERT_NE(memory, nullptr) << kind << " " << policy;
            EXPECT_EQ(attributes(memory).location.type, ACL_MEM_LOCATION_TYPE_DEVICE) << kind << " " << policy;
            EXPECT_ACL_OK(rtFree(memory));
        }
    }
}

TEST_F(LowerMemory, ManagedMemoryIsAKindToo) {
    void* memory = allocate(RT_MEMORY_SVM);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(attributes(memory).location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
    std::memset(memory, 1, size);
    EXPECT_ACL_OK(rtFree(memory));
}

TEST_F(LowerMemory, WrongRequestsAreRefused) {
    void* memory = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", rtMalloc(nullptr, size, RT_MEMORY_HBM, 0));
    EXPECT_EQ(rtMalloc(&memory, 0, RT_MEMORY_HBM, 0), ACL_ERROR_RT_PARAM_INVALID);
    for (const rtMemType_t type : {RT_MEMORY_HOST, RT_MEMORY_SPM, RT_MEMORY_RESERVED, 0x7Fu})
        EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_MEMORY_TYPE, "type", rtMalloc(&memory, size, type, 0));
    EXPECT_EQ(rtMalloc(&memory, uint64_t{1} << 50, RT_MEMORY_HBM, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", rtFree(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hostPtr", rtMallocHost(nullptr, size, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "hostPtr", rtFreeHost(nullptr));
    EXPECT_EQ(rtMallocHost(&memory, 0, 0), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(LowerMemory, HostMemoryIsPinned) {
    void* memory = nullptr;
    ASSERT_ACL_OK(rtMallocHost(&memory, size, 3));
    EXPECT_EQ(attributes(memory).location.type, ACL_MEM_LOCATION_TYPE_HOST);
    std::memset(memory, 1, size);
    EXPECT_ACL_OK(rtFreeHost(memory));
}

TEST_F(LowerMemory, SetsTheLowByteOfAValue) {
    if (!device_computes()) GTEST_SKIP();
    auto* memory = static_cast<uint8_t*>(device_memory(size));
    EXPECT_ACL_OK(rtMemset(memory, size, 0x1234u, size));
    EXPECT_EQ(read_back(memory, size), std::vector<uint8_t>(size, 0x34));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "", rtMemset(memory, size, 0, size + 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "devPtr", rtMemset(nullptr, size, 0, size));
}

TEST_F(LowerMemory, CopiesByTheNumbersOfItsOwnKinds) {
    if (!device_computes()) GTEST_SKIP();
    std::vector<uint8_t> source(size), target(size);
    auto* device = static_cast<uint8_t*>(device_memory(size));
    auto* other = static_cast<uint8_t*>(device_memory(size));
    uint8_t seed = 0;
    for (const rtMemcpyKind_t there :
         {RT_MEMCPY_HOST_TO_DEVICE, RT_MEMCPY_HOST_TO_DEVICE_EX, RT_MEMCPY_DEFAULT, RT_MEMCPY_MANAGED}) {
        for (const rtMemcpyKind_t back : {RT_MEMCPY_DEVICE_TO_HOST, RT_MEMCPY_DEVICE_TO_HOST_EX, RT_MEMCPY_DEFAULT}) {
            source.assign(size, ++seed);
            EXPECT_ACL_OK(rtMemcpy(device, size, source.data(), size, there));
            EXPECT_ACL_OK(rtMemcpy(other, size, device, size, RT_MEMCPY_DEVICE_TO_DEVICE));
            EXPECT_ACL_OK(rtMemcpy(target.data(), size, other, size, back));
            EXPECT_EQ(target, source) << there << " " << back;
        }
    }
    source.assign(size, 99);
    EXPECT_ACL_OK(rtMemcpy(target.data(), size, source.data(), size, RT_MEMCPY_HOST_TO_HOST));
    EXPECT_EQ(target, source);
}

TEST_F(LowerMemory, CopiesThatCannotBeAreRefused) {
    void* device = device_memory(size);
    std::vector<uint8_t> host(size);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst",
                     rtMemcpy(nullptr, size, host.data(), size, RT_MEMCPY_HOST_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "src",
                     rtMemcpy(device, size, nullptr, size, RT_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(rtMemcpy(device, size - 1, host.data(), size, RT_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);
    for (const int kind : {9, 10, 4711, -1}) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kind",
                         rtMemcpy(device, size, host.data(), size, static_cast<rtMemcpyKind_t>(kind)));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kind",
                         rtMemcpyAsync(device, size, host.data(), size, static_cast<rtMemcpyKind_t>(kind), stream_));
    }
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "kind",
                     rtMemcpy(device, size, device, size, RT_MEMCPY_ADDR_DEVICE_TO_DEVICE));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "dst",
                     rtMemcpyAsync(nullptr, size, host.data(), size, RT_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "src",
                     rtMemcpyAsync(device, size, nullptr, size, RT_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_EQ(rtMemcpyAsync(device, size, host.data(), size, RT_MEMCPY_HOST_TO_DEVICE, &host),
              ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(rtMemcpyAsync(host.data(), size, host.data(), size, RT_MEMCPY_HOST_TO_HOST, stream_),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

TEST_F(LowerMemory, QueuedCopiesTakeTheirTurn) {
    if (!device_computes()) GTEST_SKIP();
    auto* device = static_cast<uint8_t*>(device_memory(size));
    void* host = nullptr;
    ASSERT_ACL_OK(rtMallocHost(&host, size, 0));
    std::memset(host, 7, size);
    EXPECT_ACL_OK(rtMemset(device, size, 0, size));
    Gate gate;
    gate.hold(stream_);
    EXPECT_ACL_OK(rtMemcpyAsync(device, size, host, size, RT_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_ACL_OK(rtMemcpyAsync(device, 1, host, 1, RT_MEMCPY_HOST_TO_DEVICE_EX, stream_));  // reads the source at once
    std::memset(host, 8, size);
    EXPECT_EQ(read_back(device, size), std::vector<uint8_t>(size, 0));
    gate.open();
    EXPECT_ACL_OK(rtStreamSynchronize(stream_));
    std::vector<uint8_t> expected(size, 8);
    expected[0] = 7;
    EXPECT_EQ(read_back(device, size), expected);
    EXPECT_ACL_OK(rtFreeHost(host));
}

}  // namespace
}  // namespace conformance
