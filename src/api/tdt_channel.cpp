// SPDX-License-Identifier: Apache-2.0
// Channels, datasets and data items.
#include <algorithm>
#include <cstring>

#include "acl/acl_tdt.h"
#include "api/api.h"
#include "core/process/runtime.h"
#include "core/queue/channel.h"

using namespace canopy;

namespace {

constexpr std::size_t max_channel_name = 127, max_dims = 128;

acltdtChannelHandle* open_channel(std::uint32_t device, const char* name, std::size_t capacity, bool old_form,
                                  const char* function = __builtin_FUNCTION()) {
    Handle handle = 0;
    api_for_kernels(
        {},
        [&]() -> Status {
            CANOPY_TRY(required(name, "name"));
            if (::strnlen(name, max_channel_name + 1) > max_channel_name)
                return fail(code::invalid_parameter, "a channel's name has at most {} characters", max_channel_name);
            CANOPY_TRY(Runtime::instance().device(device).status());
            handle = create_channel(name, capacity, old_form);
            return {};
        },
        function);
    return static_cast<acltdtChannelHandle*>(opaque_of(handle));
}

// The body gets a Channel.
template <class Body>
int with_channel(const acltdtChannelHandle* handle, Body&& body, const char* function = __builtin_FUNCTION()) noexcept {
    return api_for_kernels(
        {},
        [&]() -> Status {
            CANOPY_TRY(required(handle, "handle"));
            Result<Pin<Channel>> channel = find_channel(handle);
            if (!channel.ok()) return channel.status();
            return body(**channel);
        },
        function);
}

Result<Pin<Dataset>> find_dataset(const acltdtDataset* dataset) {
    CANOPY_TRY(required(dataset, "dataset"));
    Pin<Dataset> found = datasets().pin(handle_of(dataset));
    if (!found)
        return fail(code::invalid_parameter, "dataset {} is not a dataset, or was destroyed", as_address(dataset));
    return found;
}

Pin<DataItem> pin_item(const acltdtDataItem* item) { return data_items().pin(handle_of(item)); }

Result<Pin<DataItem>> find_item(const acltdtDataItem* item) {
    CANOPY_TRY(required(item, "dataItem"));
    Pin<DataItem> found = pin_item(item);
    if (!found)
        return fail(code::invalid_parameter, "dataItem {} is not a data item, or was destroyed", as_address(item));
    return found;
}

}  // namespace

acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name) {
    return open_channel(deviceId, name, default_channel_capacity, true);
}

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name, size_t capacity) {
    return open_channel(deviceId, name, capacity, false);
}

aclError acltdtStopChannel(acltdtChannelHandle* handle) {
    return with_channel(handle, [](Channel& channel) -> Status {
        channel.stop();
        return {};
    });
}

aclError acltdtDestroyChannel(acltdtChannelHandle* handle) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        return destroy_channel(handle);
    });
}

aclError acltdtCleanChannel(acltdtChannelHandle* handle) {
    return with_channel(handle, [](Channel& channel) { return channel.clean(); });
}

aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size) {
    return with_channel(handle, [&](Channel& channel) -> Status {
        CANOPY_TRY(required(size, "size"));
        return channel.size(*size);
    });
}

aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset, int32_t timeout) {
    return with_channel(handle, [&](Channel& channel) -> Status {
        Result<Pin<Dataset>> sent = find_dataset(dataset);
        if (!sent.ok()) return sent.status();
        return channel.send(**sent, timeout);
    });
}

aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset, int32_t timeout) {
    return with_channel(handle, [&](Channel& channel) -> Status {
        Result<Pin<Dataset>> into = find_dataset(dataset);
        if (!into.ok()) return into.status();
        return channel.receive(**into, timeout);
    });
}

acltdtDataset* acltdtCreateDataset(void) {
    Handle handle = 0;
    api_for_kernels({}, [&]() -> Status {
        handle = datasets().open([](Dataset&, Handle) {});
        return handle ? Status() : fail(code::bad_alloc, "too many datasets are alive");
    });
    return static_cast<acltdtDataset*>(opaque_of(handle));
}

aclError acltdtDestroyDataset(acltdtDataset* dataset) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<Dataset>> found = find_dataset(dataset);
        if (!found.ok()) return found.status();
        datasets().close(handle_of(dataset));
        return {};
    });
}

aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(dataset, "dataset"));
        CANOPY_TRY(required(dataItem, "dataItem"));
        Result<Pin<Dataset>> found = find_dataset(dataset);
        if (!found.ok()) return found.status();
        return add_item(**found, handle_of(dataItem));
    });
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index) {
    const Pin<Dataset> found = datasets().pin(handle_of(dataset));
    if (!found || index >= found->items.size()) return nullptr;
    return static_cast<acltdtDataItem*>(opaque_of(found->items[index]));
}

size_t acltdtGetDatasetSize(const acltdtDataset* dataset) {
    const Pin<Dataset> found = datasets().pin(handle_of(dataset));
    return found ? found->items.size() : 0;
}

const char* acltdtGetDatasetName(const acltdtDataset* dataset) {
    const Pin<Dataset> found = datasets().pin(handle_of(dataset));
    return found ? found->name.c_str() : nullptr;
}

acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum, aclDataType dataType,
                                     void* data, size_t size) {
    Handle handle = 0;
    api_for_kernels({}, [&]() -> Status {
        const bool tensor = tdtType == ACL_TENSOR_DATA_TENSOR;
        if ((dims == nullptr) != (dimNum == 0) || dimNum > max_dims || (!tensor && dims != nullptr))
            return fail(code::invalid_parameter, "dims and dimNum {} do not describe an item of type {}", dimNum,
                        static_cast<int>(tdtType));
        if (tensor && data == nullptr && size != 0)
            return fail(code::invalid_parameter, "data is null but size is {}", size);
        handle = data_items().open([&](DataItem& item, Handle) {
            item.type = tdtType;
            if (!tensor) return;
            item.dims.assign(dims, dims + dimNum);
            item.data_type = dataType;
            item.data = data;
            item.size = size;
        });
        return handle ? Status() : fail(code::bad_alloc, "too many data items are alive");
    });
    return static_cast<acltdtDataItem*>(opaque_of(handle));
}

aclError acltdtDestroyDataItem(acltdtDataItem* dataItem) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<DataItem>> found = find_item(dataItem);
        if (!found.ok()) return found.status();
        if ((*found)->received)
            return fail(code::invalid_parameter, "a received item belongs to its dataset and goes with it");
        data_items().close(handle_of(dataItem));
        return {};
    });
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem) {
    const Pin<DataItem> item = pin_item(dataItem);
    return item ? static_cast<acltdtTensorType>(item->type) : ACL_TENSOR_DATA_UNDEFINED;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem) {
    const Pin<DataItem> item = pin_item(dataItem);
    return item ? static_cast<aclDataType>(item->data_type) : ACL_DT_UNDEFINED;
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem) {
    const Pin<DataItem> item = pin_item(dataItem);
    return item ? item->data : nullptr;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem) {
    const Pin<DataItem> item = pin_item(dataItem);
    return item ? item->size : 0;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem) {
    const Pin<DataItem> item = pin_item(dataItem);
    return item ? item->dims.size() : 0;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum) {
    return api_for_kernels({}, [&]() -> Status {
        Result<Pin<DataItem>> item = find_item(dataItem);
        if (!item.ok()) return item.status();
        if ((dims == nullptr) != (dimNum == 0))
            return fail(code::invalid_parameter, "dims and dimNum {} do not go together", dimNum);
        if (dimNum < (*item)->dims.size())
            return fail(code::invalid_parameter, "dimNum {} is less than the {} dimensions of the item", dimNum,
                        (*item)->dims.size());
        std::copy((*item)->dims.begin(), (*item)->dims.end(), dims);
        return {};
    });
}

aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum, size_t* sliceId) {
    return api_for_kernels({}, [&]() -> Status {
        CANOPY_TRY(required(dataItem, "dataItem"));
        CANOPY_TRY(required(sliceNum, "sliceNum"));
        CANOPY_TRY(required(sliceId, "sliceId"));
        Result<Pin<DataItem>> item = find_item(dataItem);
        if (!item.ok()) return item.status();
        *sliceNum = (*item)->slices;
        *sliceId = (*item)->slice;
        return {};
    });
}
