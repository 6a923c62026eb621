// SPDX-License-Identifier: Apache-2.0
// CPU kernels that use queues: stages of pipelines, and some that fail or wait for ever. The `seen` of their arguments
// is in device memory.
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"

namespace {

struct Arguments {
    std::uint32_t from, to;
    std::uint64_t count;
    std::uint32_t* seen;
};

constexpr int for_ever = -1;

const Arguments& given(void* arguments) { return *static_cast<const Arguments*>(arguments); }
void say(const Arguments& arguments, std::uint32_t value) { std::atomic_ref(*arguments.seen).store(value); }

std::uint32_t take(std::uint32_t queue, std::uint64_t& value, int timeout = for_ever) {
    std::size_t size = 0;
    return static_cast<std::uint32_t>(acltdtDequeueData(queue, &value, sizeof value, &size, nullptr, 0, timeout));
}
std::uint32_t put(std::uint32_t queue, std::uint64_t value, int timeout = for_ever) {
    return static_cast<std::uint32_t>(acltdtEnqueueData(queue, &value, sizeof value, nullptr, 0, timeout, 0));
}

}  // namespace

extern "C" {

// Takes `count` items and puts each of them plus 1.
std::uint32_t add_one(void* arguments) {
    const Arguments& work = given(arguments);
    for (std::uint64_t i = 0; i < work.count; ++i) {
        std::uint64_t value = 0;
        if (const std::uint32_t code = take(work.from, value)) return code;
        if (const std::uint32_t code = put(work.to, value + 1)) return code;
    }
    return 0;
}

// The same for one item; says the name of the thread it ran on.
std::uint32_t name_thread(void* arguments) {
    const Arguments& work = given(arguments);
    std::uint32_t name[4] = {};
    pthread_getname_np(pthread_self(), reinterpret_cast<char*>(name), sizeof name);
    for (int i = 0; i < 4; ++i) __atomic_store_n(&work.seen[i], name[i], __ATOMIC_RELAXED);  // several streams run it
    Arguments one = work;
    one.count = 1;
    return add_one(&one);
}

// Takes buffers and puts them on, their first word doubled, until one is empty.
std::uint32_t double_in_place(void* arguments) {
    const Arguments& work = given(arguments);
    for (;;) {
        acltdtBuf buffer = nullptr;
        std::size_t length = 0, capacity = 0;
        void* data = nullptr;
        if (const int code = acltdtDequeue(work.from, &buffer, for_ever)) return static_cast<std::uint32_t>(code);
        if (acltdtGetBufDataLen(buffer, &length) != 0 || acltdtGetBufData(buffer, &data, &capacity) != 0) return 1;
        if (length != 0) *static_cast<std::uint64_t*>(data) *= 2;
        if (const int code = acltdtEnqueue(work.to, buffer, for_ever)) return static_cast<std::uint32_t>(code);
        if (length == 0) return 0;
    }
}

// Says 1 and waits for an item; says 2 when it has one.
std::uint32_t wait_for_item(void* arguments) {
    const Arguments& work = given(arguments);
    std::uint64_t value = 0;
    say(work, 1);
    if (const std::uint32_t code = take(work.from, value)) return code;
    say(work, 2);
    return 0;
}

// Says 1 and fills the queue until there is no room, and then waits for some.
std::uint32_t wait_for_room(void* arguments) {
    const Arguments& work = given(arguments);
    say(work, 1);
    for (std::uint64_t i = 0; i < work.count; ++i)
        if (const std::uint32_t code = put(work.to, i)) return code;
    say(work, 2);
    return 0;
}

// Puts and takes without an end, small items and large ones.
std::uint32_t work_for_ever(void* arguments) {
    const Arguments& work = given(arguments);
    std::uint64_t large[512] = {7};  // an aborted kernel would not free memory
    std::size_t size = 0;
    for (std::uint64_t i = 0;; ++i) {
        put(work.to, i, 1);
        acltdtEnqueueData(work.to, large, sizeof large, nullptr, 0, 1, 0);
        if (i == 2) say(work, 1);
        acltdtDequeueData(work.from, large, sizeof large, &size, nullptr, 0, 1);
        acltdtBuf buffer = nullptr;
        if (acltdtDequeue(work.from, &buffer, 1) == 0) acltdtFreeBuf(buffer);
    }
}

// Puts one item, and then writes to address 8.
std::uint32_t fail_between(void* arguments) {
    const Arguments& work = given(arguments);
    if (const std::uint32_t code = put(work.to, 5)) return code;
    *reinterpret_cast<volatile std::uint64_t*>(8) = 1;
    return put(work.to, 6);
}

// Gives addresses to the runtime that it cannot use; `count` says in which call.
std::uint32_t fail_inside(void* arguments) {
    const Arguments& work = given(arguments);
    auto* nowhere = reinterpret_cast<std::uint64_t*>(8);
    std::size_t size = 0;
    acltdtBuf buffer = nullptr;
    acltdtAllocBuf(64, 0, &buffer);
    switch (work.count) {
        case 0:
            return static_cast<std::uint32_t>(acltdtDequeueData(work.from, nowhere, 8, &size, nullptr, 0, for_ever));
        case 1:
            return static_cast<std::uint32_t>(acltdtEnqueueData(work.to, nowhere, 4096, nullptr, 0, for_ever, 0));
        case 2:
            return static_cast<std::uint32_t>(
                acltdtDequeue(work.from, reinterpret_cast<acltdtBuf*>(nowhere), for_ever));
        default:
            return static_cast<std::uint32_t>(acltdtGetBufDataLen(buffer, nowhere));
    }
}

// Says what taking from an empty queue and from one that does not exist gives.
std::uint32_t say_codes(void* arguments) {
    const Arguments& work = given(arguments);
    std::uint64_t value = 0;
    work.seen[0] = take(work.from, value, 0);
    work.seen[1] = take(work.from, value, 1);
    work.seen[2] = take(1, value, 0);
    work.seen[3] = static_cast<std::uint32_t>(acltdtEnqueue(work.to, reinterpret_cast<acltdtBuf>(8), 0));
    return 0;
}

// Says the code of creating a queue, which it destroys.
std::uint32_t make_queue(void* arguments) {
    const Arguments& work = given(arguments);
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    std::uint32_t queue = 0;
    work.seen[0] = static_cast<std::uint32_t>(acltdtCreateQueue(attributes, &queue));
    if (work.seen[0] == 0) work.seen[1] = put(queue, 1, 0);
    if (work.seen[0] == 0) work.seen[2] = static_cast<std::uint32_t>(acltdtDestroyQueue(queue));
    return static_cast<std::uint32_t>(acltdtDestroyQueueAttr(attributes));
}

// Says 1 and waits for a message of the channel, whose handle is `count`.
std::uint32_t wait_for_message(void* arguments) {
    const Arguments& work = given(arguments);
    acltdtDataset* dataset = acltdtCreateDataset();
    say(work, 1);
    const int code = acltdtReceiveTensor(reinterpret_cast<const acltdtChannelHandle*>(work.count), dataset, for_ever);
    acltdtDestroyDataset(dataset);
    return static_cast<std::uint32_t>(code);
}

// {from, to}: copies data between a queue and device memory.
std::uint32_t to_device(void* arguments) {
    const Arguments& work = given(arguments);
    std::size_t size = 0;
    if (const int code = acltdtDequeueData(work.from, work.seen, 16, &size, nullptr, 0, for_ever))
        return static_cast<std::uint32_t>(code);
    return static_cast<std::uint32_t>(acltdtEnqueueData(work.to, work.seen, size, nullptr, 0, for_ever, 0));
}
}
