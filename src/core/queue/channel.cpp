// SPDX-License-Identifier: Apache-2.0
#include "core/queue/channel.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error_text.h"
#include "base/kernel_thread.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/queue/buffers.h"

namespace canopy {
namespace {

// How often a kernel that waits looks whether it is to be ended.
constexpr Nanoseconds kernel_look = 2 * millisecond;
constexpr std::string_view receiving_prefix = "TF_RECEIVE_";

struct Channels {
    HandleTable<Channel> table{HandleKind::channel};
    HandleTable<Dataset> datasets{HandleKind::dataset};
    HandleTable<DataItem> items{HandleKind::data_item};
    Mutex mutex;
    std::set<std::string> names CANOPY_GUARDED_BY(mutex);
};

Channels& channels() { return process_state<Channels>(); }

// A copy of an item that needs the original no more.
Status copy_item(const DataItem& from, DataItem& to) {
    to = from;
    to.received = true;
    if (from.size == 0) {
        to.data = nullptr;
        return {};
    }
    to.owned = std::shared_ptr<std::byte[]>(new std::byte[from.size]);
    to.data = to.owned.get();
    return copy_from_program(to.data, from.data, from.size);
}

}  // namespace

HandleTable<DataItem>& data_items() { return channels().items; }
HandleTable<Dataset>& datasets() { return channels().datasets; }

void Dataset::recycle() noexcept {
    if (received)
        for (const Handle item : items) data_items().close(item);
    items.clear();
    name.clear();
    received = false;
}

Status add_item(Dataset& dataset, Handle item) {
    if (dataset.received)
        return fail(code::feature_unsupported, "items cannot be added to a dataset that was received into");
    const Pin<DataItem> added = data_items().pin(item);
    if (!added) return fail(code::invalid_parameter, "dataItem {:#x} is not a data item, or was destroyed", item);
    for (const Handle each : dataset.items) {
        const Pin<DataItem> known = data_items().pin(each);
        if (!known || known->data == nullptr || added->data == nullptr) continue;
        if (on_a_device(known->data) != on_a_device(added->data))
            return fail(code::invalid_parameter, "host and device memory cannot be mixed in one dataset");
        break;
    }
    dataset.items.push_back(item);
    return {};
}

void Channel::open(std::string new_name, std::size_t capacity, bool old) {
    name = std::move(new_name);
    old_form = old;
    MutexLock guard(mutex_);
    capacity_ = capacity;
    stops_ = 0;
}

void Channel::recycle() noexcept {
    MutexLock guard(mutex_);
    messages_.clear();
    name.clear();
}

Status Channel::check(std::int32_t timeout, bool sending) const {
    if (timeout < -1 || (old_form && timeout != -1))
        return fail(code::invalid_parameter, "timeout {} is not possible for channel {}", timeout, name);
    if (old_form && name.starts_with(receiving_prefix) == sending)
        return fail(code::invalid_parameter, "channel {} is for {} only", name, sending ? "receiving" : "sending");
    return {};
}

template <class Ready>
Status Channel::wait(std::int32_t timeout, int late, Condition& condition, Ready&& ready) {
    const Deadline deadline = timeout == -1 ? Deadline::never() : Deadline::after(timeout * millisecond);
    const std::uint32_t stops = stops_;
    KernelThread* const kernel = KernelThread::current();
    if (kernel && timeout != 0) kernel->set_may_wait();
    while (!ready()) {
        if (stops_ != stops) return fail(code::wait_timeout, "channel {} was stopped", name);
        if (timeout == 0 || deadline.passed())
            return fail(late, "channel {} is {}", name, late == code::queue_full ? "full" : "empty");
        Deadline until = deadline;
        if (kernel) {
            if (!kernel->fall_asleep(nullptr)) return fail(code::wait_timeout, "the kernel was ended");
            until.at = std::min(until.at, Deadline::after(kernel_look).at);
        }
        condition.wait(mutex_, until);
        if (kernel) kernel->wake_up();
    }
    return {};
}

Status Channel::send(const Dataset& dataset, std::int32_t timeout) {
    CANOPY_TRY(check(timeout, true));
    Message message(dataset.items.size());
    for (std::size_t i = 0; i < message.size(); ++i) {
        const Pin<DataItem> item = data_items().pin(dataset.items[i]);
        if (!item) return fail(code::invalid_parameter, "item {} of the dataset was destroyed", i);
        if (item->type < 0 || item->type > static_cast<std::int32_t>(TensorType::abnormal))
            return fail(code::invalid_parameter, "item {} of the dataset has type {}, which cannot be sent", i,
                        item->type);
        CANOPY_TRY(copy_item(*item, message[i]));
    }
    MutexLock guard(mutex_);
    CANOPY_TRY(wait(timeout, code::queue_full, room_changed_,
                    [&]() CANOPY_REQUIRES(mutex_) { return messages_.size() < capacity_; }));
    messages_.push_back(std::move(message));
    items_changed_.notify_one();
    return {};
}

Status Channel::receive(Dataset& dataset, std::int32_t timeout) {
    CANOPY_TRY(check(timeout, false));
    if (!dataset.received && !dataset.items.empty())
        return fail(code::invalid_parameter, "a dataset that is received into must be empty");
    Message message;
    {
        MutexLock guard(mutex_);
        CANOPY_TRY(wait(timeout, code::queue_empty, items_changed_,
                        [&]() CANOPY_REQUIRES(mutex_) { return !messages_.empty(); }));
        message = std::move(messages_.front());
        messages_.pop_front();
        room_changed_.notify_one();
    }
    dataset.recycle();
    dataset.received = true;
    dataset.name = name;
    for (DataItem& item : message)
        dataset.items.push_back(data_items().open([&](DataItem& to, Handle) { to = std::move(item); }));
    return {};
}

Status Channel::clean() {
    if (old_form) return fail(code::feature_unsupported, "channel {} was created without a capacity", name);
    MutexLock guard(mutex_);
    messages_.clear();
    room_changed_.notify_all();
    return {};
}

Status Channel::size(std::size_t& items) {
    if (old_form) return fail(code::feature_unsupported, "channel {} was created without a capacity", name);
    MutexLock guard(mutex_);
    items = messages_.size();
    return {};
}

void Channel::stop() {
    MutexLock guard(mutex_);
    ++stops_;
    items_changed_.notify_all();
    room_changed_.notify_all();
}

Handle create_channel(const std::string& name, std::size_t capacity, bool old_form) {
    Channels& all = channels();
    if (capacity < Ring::min_depth || capacity > Ring::max_depth) {
        fail(code::invalid_parameter, "capacity {} is not from {} to {}", capacity, Ring::min_depth, Ring::max_depth)
            .ignore();
        return 0;
    }
    MutexLock guard(all.mutex);
    if (!all.names.insert(name).second) {
        fail(code::invalid_parameter, "a channel with the name {} exists", name).ignore();
        return 0;
    }
    const Handle handle = all.table.open([&](Channel& channel, Handle) { channel.open(name, capacity, old_form); });
    if (handle == 0) all.names.erase(name);
    return handle;
}

Result<Pin<Channel>> find_channel(const void* opaque) {
    Pin<Channel> channel = channels().table.pin(handle_of(opaque));
    if (!channel) return fail(code::invalid_handle, "handle {} is not a channel, or was destroyed", as_address(opaque));
    return channel;
}

Status destroy_channel(const void* opaque) {
    Channels& all = channels();
    Result<Pin<Channel>> channel = find_channel(opaque);
    if (!channel.ok()) return channel.status();
    const std::string name = (*channel)->name;
    MutexLock guard(all.mutex);
    if (!all.table.close(handle_of(opaque)))
        return fail(code::invalid_handle, "handle {} is not a channel, or was destroyed", as_address(opaque));
    all.names.erase(name);
    guard.unlock();
    (*channel)->stop();
    return {};
}

}  // namespace canopy
