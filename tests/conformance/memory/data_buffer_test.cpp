// SPDX-License-Identifier: Apache-2.0
// Data buffers: an address and a size behind a handle.
#include <thread>
#include <vector>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

using DataBuffer = RuntimeTest;

TEST_F(DataBuffer, HoldsAnAddressAndASize) {
    int data = 0, other = 0;
    aclDataBuffer* buffer = aclCreateDataBuffer(&data, sizeof(data));
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(aclGetDataBufferAddr(buffer), &data);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof(data));
    EXPECT_ACL_OK(aclUpdateDataBuffer(buffer, &other, size_t{5} << 32 | 7));
    EXPECT_EQ(aclGetDataBufferAddr(buffer), &other);
    EXPECT_EQ(aclGetDataBufferSizeV2(buffer), size_t{5} << 32 | 7);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    EXPECT_EQ(aclGetDataBufferSize(buffer), 7u);
#pragma GCC diagnostic pop
    EXPECT_ACL_OK(aclDestroyDataBuffer(buffer));
    aclDataBuffer* empty = aclCreateDataBuffer(nullptr, 0);
    ASSERT_NE(empty, nullptr);
    EXPECT_EQ(aclGetDataBufferAddr(empty), nullptr);
    EXPECT_ACL_OK(aclDestroyDataBuffer(empty));
}

TEST_F(DataBuffer, InvalidOnesAreRefused) {
    int data = 0;
    aclDataBuffer* gone = aclCreateDataBuffer(&data, 4);
    EXPECT_ACL_OK(aclDestroyDataBuffer(gone));
    for (aclDataBuffer* bad : {gone, reinterpret_cast<aclDataBuffer*>(&data), reinterpret_cast<aclDataBuffer*>(1)}) {
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclDestroyDataBuffer(bad));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclUpdateDataBuffer(bad, &data, 4));
        EXPECT_EQ(aclGetDataBufferAddr(bad), nullptr);
        EXPECT_EQ(aclGetDataBufferSizeV2(bad), 0u);
    }
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclDestroyDataBuffer(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataBuffer", aclUpdateDataBuffer(nullptr, &data, 4));
    EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
    EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0u);
}

TEST_F(DataBuffer, MadeByManyThreads) {
    std::vector<std::thread> threads;
    for (int index = 0; index < 4; ++index) {
        threads.emplace_back([] {
            std::vector<aclDataBuffer*> buffers;
            for (size_t size = 0; size < 500; ++size) buffers.push_back(aclCreateDataBuffer(&buffers, size));
            for (size_t size = 0; size < 500; ++size) {
                EXPECT_EQ(aclGetDataBufferSizeV2(buffers[size]), size);
                EXPECT_ACL_OK(aclDestroyDataBuffer(buffers[size]));
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace conformance
