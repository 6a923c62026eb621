// SPDX-License-Identifier: Apache-2.0
// Many copies in one call.
#include <functional>

#include "fixtures/fixture.h"

namespace conformance {
namespace {

constexpr size_t items = 5;

// A batch of `items` copies from host to device; each test changes one detail.
class MemoryBatch : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        for (size_t item = 0; item < items; ++item) {
            hosts_[item].assign(100, static_cast<char>(item + 1));
            dsts_[item] = device_memory(100);
            srcs_[item] = hosts_[item].data();
            maxima_[item] = sizes_[item] = 100;
        }
        attributes_[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
        attributes_[0].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
        attributes_[1] = attributes_[0];
    }
    aclError run(size_t count = items, size_t attribute_count = 1) {
        failed_ = 12345;
        return aclrtMemcpyBatch(dsts_, maxima_, srcs_, sizes_, count, attributes_, starts_, attribute_count, &failed_);
    }
    void swap_direction() {
        std::swap(attributes_[0].dstLoc, attributes_[0].srcLoc);
        for (size_t item = 0; item < items; ++item) std::swap(dsts_[item], srcs_[item]);
    }

    std::vector<char> hosts_[items];
    void *dsts_[items], *srcs_[items];
    size_t maxima_[items], sizes_[items];
    aclrtMemcpyBatchAttr attributes_[2] = {};
    size_t starts_[2] = {0, 2};
    size_t failed_ = 0;
};

TEST_F(MemoryBatch, CopiesBothWays) {
    ASSERT_ACL_OK(run(items, 2));
    for (auto& host : hosts_) std::fill(host.begin(), host.end(), 0);
    swap_direction();
    sizes_[3] = 0;  // an empty copy is allowed
    ASSERT_ACL_OK(run());
    for (size_t item = 0; item < items; ++item)
        EXPECT_EQ(hosts_[item], std::vector<char>(100, item == 3 ? 0 : static_cast<char>(item + 1)));
}

TEST_F(MemoryBatch, CopiesInAStream) {
    if (!device_computes()) GTEST_SKIP();
    size_t failed = 0;
    ASSERT_ACL_OK(
        aclrtMemcpyBatchAsync(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, &failed, stream_));
    for (auto& host : hosts_) std::fill(host.begin(), host.end(), 0);  // pageable memory has been copied already
    swap_direction();
    ASSERT_ACL_OK(aclrtMemcpyBatchAsyncV2(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    for (size_t item = 0; item < items; ++item)
        EXPECT_EQ(hosts_[item], std::vector<char>(100, static_cast<char>(item + 1)));
}

TEST_F(MemoryBatch, SecondVersionHasNoFailureIndex) {
    ASSERT_ACL_OK(aclrtMemcpyBatchV2(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1));
    EXPECT_EQ(read_back(static_cast<char*>(dsts_[4]), 100), hosts_[4]);
    maxima_[1] = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax",
                     aclrtMemcpyBatchV2(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax",
                     aclrtMemcpyBatchAsyncV2(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, stream_));
}

TEST_F(MemoryBatch, NullArgumentsAreRefused) {
    size_t failed = 0;
    const auto run = [&](void** dsts, size_t* maxima, void** srcs, size_t* sizes, aclrtMemcpyBatchAttr* attributes,
                         size_t* starts) {
        return aclrtMemcpyBatch(dsts, maxima, srcs, sizes, items, attributes, starts, 1, &failed);
    };
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dsts", run(nullptr, maxima_, srcs_, sizes_, attributes_, starts_));
    EXPECT_EQ(failed, SIZE_MAX);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "destMaxs", run(dsts_, nullptr, srcs_, sizes_, attributes_, starts_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "srcs", run(dsts_, maxima_, nullptr, sizes_, attributes_, starts_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "sizes", run(dsts_, maxima_, srcs_, nullptr, attributes_, starts_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrs", run(dsts_, maxima_, srcs_, sizes_, nullptr, starts_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrsIndexes", run(dsts_, maxima_, srcs_, sizes_, attributes_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "failIndex",
                     aclrtMemcpyBatch(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, nullptr));
    EXPECT_ACL_FAILS(
        ACL_ERROR_INVALID_PARAM, "failIndex",
        aclrtMemcpyBatchAsync(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, nullptr, stream_));
}

TEST_F(MemoryBatch, ShapeOfTheAttributesIsChecked) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numBatches", run(0, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numAttrs", run(items, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "numAttrs", run(1, 2));
    starts_[1] = 0;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrsIndexes[1]", run(items, 2));
    starts_[1] = items;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrsIndexes[1]", run(items, 2));
    starts_[0] = 1;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "attrsIndexes[0]", run());
    EXPECT_EQ(failed_, SIZE_MAX);
}

TEST_F(MemoryBatch, OneDirectionPerBatch) {
    std::swap(attributes_[1].dstLoc, attributes_[1].srcLoc);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "direction", run(items, 2));
    EXPECT_EQ(failed_, SIZE_MAX);
    attributes_[0].srcLoc = attributes_[0].dstLoc;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "attrs[0]", run());
    attributes_[0].srcLoc.type = static_cast<aclrtMemLocationType>(55);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "location", run());
    attributes_[0].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    attributes_[0].dstLoc.id = 1000;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_DEVICEID, "device", run());
}

TEST_F(MemoryBatch, FailureIndexNamesTheItem) {
    dsts_[2] = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dsts", run());
    EXPECT_EQ(failed_, 2u);
    dsts_[2] = dsts_[1];
    srcs_[3] = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "srcs", run());
    EXPECT_EQ(failed_, 3u);
    srcs_[3] = srcs_[2];
    maxima_[4] = 99;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "destMax", run());
    EXPECT_EQ(failed_, 4u);
    maxima_[4] = 100;
    dsts_[1] = hosts_[1].data();
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "device memory", run());
    EXPECT_EQ(failed_, 1u);
    dsts_[1] = dsts_[0];
    srcs_[0] = dsts_[4];
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "host", run());
    EXPECT_EQ(failed_, 0u);
}

TEST_F(MemoryBatch, NothingIsCopiedWhenAnItemIsWrong) {
    ASSERT_ACL_OK(aclrtMemset(dsts_[0], 100, 77, 100));
    maxima_[4] = 1;
    EXPECT_NE(run(), ACL_SUCCESS);
    EXPECT_EQ(read_back(static_cast<char*>(dsts_[0]), 100), std::vector<char>(100, 77));
}

TEST_F(MemoryBatch, StaleStreamIsRefused) {
    aclrtStream destroyed = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&destroyed));
    ASSERT_ACL_OK(aclrtDestroyStream(destroyed));
    size_t failed = 0;
    EXPECT_ACL_FAILS(
        ACL_ERROR_RT_INVALID_HANDLE, "stream",
        aclrtMemcpyBatchAsync(dsts_, maxima_, srcs_, sizes_, items, attributes_, starts_, 1, &failed, destroyed));
    EXPECT_EQ(failed, SIZE_MAX);
}

}  // namespace
}  // namespace conformance
