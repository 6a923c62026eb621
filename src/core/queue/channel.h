// SPDX-License-Identifier: Apache-2.0
// Channels carry datasets, lists of tensors, within a process. A dataset is copied once, when it is sent; the receiver
// gets that copy. Any thread; one dataset or item by one thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "foundation/clock.h"
#include "foundation/mutex.h"

namespace canopy {

// Values of acltdtTensorType.
enum class TensorType : std::int32_t { undefined = -1, tensor = 0, end_of_sequence = 1, abnormal = 2 };

struct DataItem {
    std::int32_t type = -1;
    std::vector<std::int64_t> dims;
    std::int32_t data_type = -1;  // aclDataType
    void* data = nullptr;
    std::size_t size = 0;
    std::size_t slices = 0, slice = 0;
    std::shared_ptr<std::byte[]> owned;  // of a received item
    bool received = false;               // belongs to its dataset

    void recycle() noexcept { *this = {}; }
};

struct Dataset {
    std::vector<Handle> items;
    std::string name;
    bool received = false;

    void recycle() noexcept;
};

HandleTable<DataItem>& data_items();
HandleTable<Dataset>& datasets();

// 100000: host and device memory in one dataset. 200006: the dataset was received.
Status add_item(Dataset& dataset, Handle item);

class Channel {
public:
    std::string name;
    bool old_form = false;  // made without a capacity: has fewer uses

    Status send(const Dataset& dataset, std::int32_t timeout);
    Status receive(Dataset& dataset, std::int32_t timeout);
    Status clean();
    Status size(std::size_t& items);
    // Wakes those who wait in send and receive.
    void stop();
    void open(std::string name, std::size_t capacity, bool old_form);
    void recycle() noexcept;

private:
    using Message = std::vector<DataItem>;
    Status check(std::int32_t timeout, bool sending) const;
    template <class Ready>
    Status wait(std::int32_t timeout, int late, Condition& condition, Ready&& ready) CANOPY_REQUIRES(mutex_);

    Mutex mutex_;
    Condition items_changed_, room_changed_;
    std::deque<Message> messages_ CANOPY_GUARDED_BY(mutex_);
    std::size_t capacity_ CANOPY_GUARDED_BY(mutex_) = 0;
    std::uint32_t stops_ CANOPY_GUARDED_BY(mutex_) = 0;
};

inline constexpr std::size_t default_channel_capacity = 8;
// 0: bad capacity, or a channel with this name exists.
Handle create_channel(const std::string& name, std::size_t capacity, bool old_form);
Result<Pin<Channel>> find_channel(const void* opaque);
Status destroy_channel(const void* opaque);

}  // namespace canopy
