// SPDX-License-Identifier: Apache-2.0
// A queue between two processes, by copy and by buffer. The name of a queue is free again after its program was killed.
#include "acl/acl_tdt_queue.h"
#include "partner.h"

namespace {

constexpr std::int32_t limit = 20000;  // milliseconds

std::uint32_t new_queue(const char* name, std::uint32_t depth) {
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
    CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    const char* kept = nullptr;
    std::uint32_t kept_depth = 0;
    std::size_t size = 0;
    CHECK(acltdtGetQueueAttr(attributes, ACL_TDT_QUEUE_NAME_PTR, sizeof kept, &size, &kept));
    REQUIRE(std::string(kept) == name);
    CHECK(acltdtGetQueueAttr(attributes, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof kept_depth, &size, &kept_depth));
    REQUIRE(kept_depth == depth);
    std::uint32_t queue = 0;
    CHECK(acltdtCreateQueue(attributes, &queue));
    std::uint32_t second = 0;
    CHECK_CODE(ACL_ERROR_INVALID_PARAM, acltdtCreateQueue(attributes, &second));  // the name is in use
    CHECK(acltdtDestroyQueueAttr(attributes));
    return queue;
}

int send() {
    programs::Device device;
    const programs::Line other = programs::starter();
    const auto queue = other.get<std::uint32_t>();
    std::uint32_t rights = 0;
    CHECK(acltdtAttachQueue(queue, limit, &rights));
    REQUIRE(rights == ACL_TDT_QUEUE_PERMISSION_ENQUEUE);
    // By copy, with bytes of the program's own beside the data.
    const std::uint64_t number = 7;
    CHECK(acltdtEnqueueData(queue, &number, sizeof number, "seven", 6, limit, 0));
    // By buffer: no copy; from now on it belongs to the queue.
    acltdtBuf buffer = nullptr;
    void* data = nullptr;
    std::size_t capacity = 0;
    CHECK(acltdtAllocBuf(1 << 20, ACL_TDT_NORMAL_MEM, &buffer));
    CHECK(acltdtGetBufData(buffer, &data, &capacity));
    std::memset(data, 'x', capacity);
    CHECK(acltdtSetBufDataLen(buffer, capacity));
    CHECK(acltdtEnqueue(queue, buffer, limit));
    std::uint64_t mine = 0;
    std::size_t size = 0;
    CHECK_CODE(207006, acltdtDequeueData(queue, &mine, sizeof mine, &size, nullptr, 0, 0));
    return 0;  // items outlive the process that sent them
}

int hold_name() {
    programs::Device device;
    new_queue("left", 4);
    programs::starter().tell();
    ::pause();
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) return std::string(arguments[1]) == "send" ? send() : hold_name();
    programs::Device device;
    const std::uint32_t queue = new_queue("numbers", 4);
    {
        programs::Partner sender("send");
        CHECK(acltdtGrantQueue(queue, sender.process(), ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
        sender.give(queue);
    }
    std::uint64_t number = 0;
    std::size_t size = 0;
    char word[6] = {};
    CHECK(acltdtDequeueData(queue, &number, sizeof number, &size, word, sizeof word, limit));
    REQUIRE(number == 7 && size == sizeof number && std::string(word) == "seven");
    acltdtBuf buffer = nullptr;
    void* data = nullptr;
    CHECK(acltdtDequeue(queue, &buffer, limit));
    CHECK(acltdtGetBufDataLen(buffer, &size));
    CHECK(acltdtGetBufData(buffer, &data, &size));
    REQUIRE(size == 1 << 20 && static_cast<char*>(data)[size - 1] == 'x');
    CHECK(acltdtFreeBuf(buffer));
    CHECK(acltdtDestroyQueue(queue));
    {
        programs::Partner holder("hold");
        holder.wait();
        holder.kill();
    }
    CHECK(acltdtDestroyQueue(new_queue("left", 4)));
    std::printf("queues: by copy and by buffer between two processes\n");
}
