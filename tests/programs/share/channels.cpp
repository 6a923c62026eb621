// SPDX-License-Identifier: Apache-2.0
// A channel within one process: a tensor goes through and comes back whole, the channel is full with as many messages
// as its capacity, and cleaning it makes room.
#include "acl/acl_tdt.h"
#include "check.h"

namespace {

// A dataset of one tensor; it keeps the address of the data until it is sent.
class OneTensor {
public:
    explicit OneTensor(std::vector<float>& data) {
        const std::int64_t dims[] = {2, static_cast<std::int64_t>(data.size() / 2)};
        item_ =
            acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, data.data(), data.size() * sizeof(float));
        CHECK(acltdtAddDataItem(dataset, item_));
    }
    ~OneTensor() {
        CHECK(acltdtDestroyDataset(dataset));
        CHECK(acltdtDestroyDataItem(item_));
    }
    acltdtDataset* const dataset = acltdtCreateDataset();

private:
    acltdtDataItem* item_ = nullptr;
};

std::size_t size_of(const acltdtChannelHandle* channel) {
    std::size_t size = 99;
    CHECK(acltdtQueryChannelSize(channel, &size));
    return size;
}

void there_and_back(acltdtChannelHandle* channel) {
    std::vector<float> data = {1, 2, 3, 4, 5, 6};
    {
        OneTensor tensor(data);
        CHECK(acltdtSendTensor(channel, tensor.dataset, 1000));
    }
    data.assign(6, 0);  // the channel has a copy
    REQUIRE(size_of(channel) == 1);
    acltdtDataset* received = acltdtCreateDataset();
    CHECK(acltdtReceiveTensor(channel, received, 1000));
    REQUIRE(size_of(channel) == 0 && acltdtGetDatasetSize(received) == 1);
    const acltdtDataItem* item = acltdtGetDataItem(received, 0);
    REQUIRE(acltdtGetTensorTypeFromItem(item) == ACL_TENSOR_DATA_TENSOR);
    REQUIRE(acltdtGetDataTypeFromItem(item) == ACL_FLOAT);
    REQUIRE(acltdtGetDimNumFromItem(item) == 2);
    std::int64_t dims[2] = {};
    CHECK(acltdtGetDimsFromItem(item, dims, 2));
    REQUIRE(dims[0] == 2 && dims[1] == 3);
    REQUIRE(acltdtGetDataSizeFromItem(item) == 6 * sizeof(float));
    const auto* values = static_cast<const float*>(acltdtGetDataAddrFromItem(item));
    for (int i = 0; i < 6; ++i) REQUIRE(values[i] == static_cast<float>(i + 1));
    CHECK(acltdtDestroyDataset(received));  // with its items
    acltdtDataset* none = acltdtCreateDataset();
    CHECK_CODE(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(channel, none, 0));
    CHECK(acltdtDestroyDataset(none));
}

void fill(acltdtChannelHandle* channel) {
    std::vector<float> data = {1, 2};
    OneTensor tensor(data);
    for (std::size_t sent = 1; sent <= 2; ++sent) {
        CHECK(acltdtSendTensor(channel, tensor.dataset, 0));
        REQUIRE(size_of(channel) == sent);
    }
    CHECK_CODE(ACL_ERROR_RT_QUEUE_FULL, acltdtSendTensor(channel, tensor.dataset, 0));
    std::size_t slices = 9, slice = 9;
    CHECK(acltdtGetSliceInfoFromItem(acltdtGetDataItem(tensor.dataset, 0), &slices, &slice));
    REQUIRE(slices == 0 && slice == 0);
    CHECK(acltdtCleanChannel(channel));
    REQUIRE(size_of(channel) == 0);
    CHECK(acltdtSendTensor(channel, tensor.dataset, 0));
}

}  // namespace

int main() {
    programs::Device device;
    REQUIRE(acltdtCreateChannelWithCapacity(0, "tensors", 1) == nullptr);  // 2 is the least
    acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "tensors", 2);
    REQUIRE(channel != nullptr);
    there_and_back(channel);
    fill(channel);
    CHECK(acltdtStopChannel(channel));
    CHECK(acltdtDestroyChannel(channel));
    std::printf("channels: a tensor there and back, two until it is full\n");
}
