// SPDX-License-Identifier: Apache-2.0
// Channels, datasets and data items.
#include "queue_fixture.h"

namespace {

acltdtDataset* dataset_with(acltdtTensorType type, std::vector<int64_t> dims, void* data, size_t size,
                            std::vector<acltdtDataItem*>& items) {
    acltdtDataset* dataset = acltdtCreateDataset();
    items.push_back(
        acltdtCreateDataItem(type, dims.empty() ? nullptr : dims.data(), dims.size(), ACL_INT32, data, size));
    EXPECT_EQ(acltdtAddDataItem(dataset, items.back()), 0);
    return dataset;
}

TEST_F(QueueTest, ChannelsMoveDatasets) {
    acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "channel", 2);
    ASSERT_NE(channel, nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "channel", 2), nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(0, nullptr, 2), nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "x", 1), nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "x", 8193), nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(999, "x", 2), nullptr);
    EXPECT_EQ(acltdtCreateChannelWithCapacity(0, std::string(128, 'x').c_str(), 2), nullptr);
    std::vector<int32_t> numbers{1, 2, 3, 4, 5, 6};
    std::vector<acltdtDataItem*> items;
    acltdtDataset* sent = dataset_with(ACL_TENSOR_DATA_TENSOR, {2, 3}, numbers.data(), 24, items);
    EXPECT_STREQ(acltdtGetDatasetName(sent), "");
    acltdtDataset* got = acltdtCreateDataset();
    EXPECT_EQ(acltdtReceiveTensor(channel, got, 0), 207013);
    EXPECT_EQ(acltdtSendTensor(channel, sent, 0), 0);
    EXPECT_EQ(acltdtSendTensor(channel, sent, 0), 0);
    EXPECT_EQ(acltdtSendTensor(channel, sent, 0), 207014);
    EXPECT_EQ(acltdtSendTensor(channel, sent, -2), 100000);
    size_t size = 0;
    EXPECT_EQ(acltdtQueryChannelSize(channel, &size), 0);
    EXPECT_EQ(size, 2u);
    EXPECT_EQ(acltdtQueryChannelSize(channel, nullptr), 100000);
    numbers.assign(6, 0);
    EXPECT_EQ(acltdtReceiveTensor(channel, got, 0), 0);
    ASSERT_EQ(acltdtGetDatasetSize(got), 1u);
    acltdtDataItem* item = acltdtGetDataItem(got, 0);
    EXPECT_EQ(acltdtGetDataItem(got, 1), nullptr);
    EXPECT_EQ(static_cast<int32_t*>(acltdtGetDataAddrFromItem(item))[5], 6);
    EXPECT_EQ(acltdtGetDataSizeFromItem(item), 24u);
    EXPECT_EQ(acltdtGetDataTypeFromItem(item), ACL_INT32);
    EXPECT_EQ(acltdtGetTensorTypeFromItem(item), ACL_TENSOR_DATA_TENSOR);
    int64_t dims[2] = {};
    EXPECT_EQ(acltdtGetDimNumFromItem(item), 2u);
    EXPECT_EQ(acltdtGetDimsFromItem(item, dims, 1), 100000);
    EXPECT_EQ(acltdtGetDimsFromItem(item, dims, 2), 0);
    EXPECT_EQ(dims[1], 3);
    size_t slices = 9, slice = 9;
    EXPECT_EQ(acltdtGetSliceInfoFromItem(item, &slices, &slice), 0);
    EXPECT_EQ(slices + slice, 0u);
    EXPECT_EQ(acltdtGetSliceInfoFromItem(item, nullptr, &slice), 100000);
    EXPECT_STREQ(acltdtGetDatasetName(got), "channel");
    EXPECT_EQ(acltdtAddDataItem(got, items[0]), 200006);
    EXPECT_EQ(acltdtDestroyDataItem(item), 100000);
    EXPECT_EQ(acltdtReceiveTensor(channel, sent, 0), 100000);  // holds items of the program
    EXPECT_EQ(acltdtCleanChannel(channel), 0);
    EXPECT_EQ(acltdtReceiveTensor(channel, got, 1), 207013);
    std::atomic<bool> ended{false};
    std::thread waiting([&] {
        EXPECT_EQ(acltdtReceiveTensor(channel, got, -1), 107019);
        ended = true;
    });
    EXPECT_TRUE(eventually([&] { return acltdtStopChannel(channel) == 0 && ended.load(); }));
    waiting.join();
    EXPECT_EQ(acltdtSendTensor(channel, sent, 0), 0);  // stopping has no lasting effect
    EXPECT_EQ(acltdtDestroyChannel(channel), 0);
    EXPECT_EQ(acltdtDestroyChannel(channel), 107017);
    EXPECT_EQ(acltdtDestroyChannel(nullptr), 100000);
    EXPECT_EQ(acltdtDestroyDataset(got), 0);
    EXPECT_EQ(acltdtDestroyDataset(sent), 0);
    EXPECT_EQ(acltdtDestroyDataItem(items[0]), 0);
    EXPECT_EQ(acltdtDestroyDataItem(items[0]), 100000);
    EXPECT_EQ(acltdtGetDatasetName(nullptr), nullptr);
    EXPECT_EQ(acltdtGetDatasetSize(nullptr), 0u);
    EXPECT_EQ(acltdtGetDataItem(nullptr, 0), nullptr);
    EXPECT_EQ(acltdtGetTensorTypeFromItem(nullptr), ACL_TENSOR_DATA_UNDEFINED);
    EXPECT_EQ(acltdtGetDataTypeFromItem(nullptr), ACL_DT_UNDEFINED);
    EXPECT_EQ(acltdtGetDataAddrFromItem(nullptr), nullptr);
}

TEST_F(QueueTest, DataItemsCheckTheirShape) {
    int64_t dims[129] = {};
    int value = 0;
    EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, nullptr, 1, ACL_INT32, &value, 4), nullptr);
    EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 129, ACL_INT32, &value, 4), nullptr);
    EXPECT_EQ(acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, dims, 1, ACL_INT32, &value, 4), nullptr);
    acltdtDataItem* end = acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, nullptr, 0, ACL_INT32, &value, 4);
    EXPECT_EQ(acltdtGetDataTypeFromItem(end), ACL_DT_UNDEFINED);
    EXPECT_EQ(acltdtGetDataAddrFromItem(end), nullptr);
    EXPECT_EQ(acltdtGetDataSizeFromItem(end), 0u);
    acltdtDataItem* slice = acltdtCreateDataItem(ACL_TENSOR_DATA_SLICE_TENSOR, nullptr, 0, ACL_INT32, nullptr, 0);
    void* device = nullptr;
    ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_NORMAL_ONLY), 0);
    acltdtDataItem* on_host = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT32, &value, 4);
    acltdtDataItem* on_device = acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 1, ACL_INT32, device, 4);
    acltdtDataset* dataset = acltdtCreateDataset();
    EXPECT_EQ(acltdtAddDataItem(dataset, on_host), 0);
    EXPECT_EQ(acltdtAddDataItem(dataset, on_device), 100000);
    EXPECT_EQ(acltdtAddDataItem(dataset, slice), 0);
    acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "slices", 2);
    EXPECT_EQ(acltdtSendTensor(channel, dataset, 0), 100000);
    acltdtDestroyChannel(channel);
    acltdtDestroyDataset(dataset);
    for (acltdtDataItem* item : {end, slice, on_host, on_device}) EXPECT_EQ(acltdtDestroyDataItem(item), 0);
    aclrtFree(device);
}

TEST_F(QueueTest, ChannelsOfTheOldFormHaveFewerUses) {
    acltdtChannelHandle* sending = acltdtCreateChannel(0, "out");
    acltdtChannelHandle* receiving = acltdtCreateChannel(0, "TF_RECEIVE_in");
    ASSERT_NE(sending, nullptr);
    ASSERT_NE(receiving, nullptr);
    acltdtDataset* dataset = acltdtCreateDataset();
    size_t size = 0;
    EXPECT_EQ(acltdtSendTensor(sending, dataset, 0), 100000);
    EXPECT_EQ(acltdtSendTensor(sending, dataset, -1), 0);
    EXPECT_EQ(acltdtReceiveTensor(sending, dataset, -1), 100000);
    EXPECT_EQ(acltdtSendTensor(receiving, dataset, -1), 100000);
    EXPECT_EQ(acltdtQueryChannelSize(sending, &size), 200006);
    EXPECT_EQ(acltdtCleanChannel(sending), 200006);
    EXPECT_EQ(acltdtStopChannel(sending), 0);
    EXPECT_EQ(acltdtDestroyChannel(sending), 0);
    EXPECT_EQ(acltdtDestroyChannel(receiving), 0);
    acltdtDestroyDataset(dataset);
}

}  // namespace
