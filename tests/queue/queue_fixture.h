// SPDX-License-Identifier: Apache-2.0
// For the tests of queues through the interface: short forms of calls, and partners, which are this program again in
// another process.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "until.h"

inline constexpr uint32_t all_rights =
    ACL_TDT_QUEUE_PERMISSION_MANAGE | ACL_TDT_QUEUE_PERMISSION_DEQUEUE | ACL_TDT_QUEUE_PERMISSION_ENQUEUE;

inline uint32_t make_queue(uint32_t depth, const char* name = nullptr) {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    if (name) EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 0);
    EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth), 0);
    uint32_t queue = 0;
    EXPECT_EQ(acltdtCreateQueue(attr, &queue), 0);
    EXPECT_EQ(acltdtDestroyQueueAttr(attr), 0);
    return queue;
}

inline int put(uint32_t queue, uint64_t value, int32_t timeout = 0) {
    return acltdtEnqueueData(queue, &value, sizeof value, nullptr, 0, timeout, 0);
}
inline int take(uint32_t queue, uint64_t& value, int32_t timeout = 0) {
    size_t size = 0;
    return acltdtDequeueData(queue, &value, sizeof value, &size, nullptr, 0, timeout);
}

inline acltdtBuf filled_buffer(size_t size, uint64_t value) {
    acltdtBuf buffer = nullptr;
    EXPECT_EQ(acltdtAllocBuf(size, ACL_TDT_NORMAL_MEM, &buffer), 0);
    void* data = nullptr;
    size_t capacity = 0;
    EXPECT_EQ(acltdtGetBufData(buffer, &data, &capacity), 0);
    EXPECT_EQ(capacity, size);
    std::memcpy(data, &value, sizeof value);
    EXPECT_EQ(acltdtSetBufDataLen(buffer, size), 0);
    return buffer;
}
inline uint64_t first_word(acltdtBuf buffer) {
    void* data = nullptr;
    size_t capacity = 0;
    EXPECT_EQ(acltdtGetBufData(buffer, &data, &capacity), 0);
    uint64_t value = 0;
    if (data) std::memcpy(&value, data, sizeof value);
    return value;
}

// This program again, in a role; lines go both ways through pipes.
class Partner {
public:
    Partner(const std::string& role, const std::string& argument) {
        int in[2], out[2];
        EXPECT_EQ(::pipe2(in, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            ::execl("/proc/self/exe", "queue_tests", role.c_str(), argument.c_str(), nullptr);
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    ~Partner() {
        ::close(to_);
        if (process_ > 0) {
            ::kill(process_, SIGKILL);
            ::waitpid(process_, nullptr, 0);
        }
        ::close(from_);
    }
    [[nodiscard]] pid_t process() const { return process_; }
    void say(const std::string& line) {
        EXPECT_EQ(::write(to_, (line + "\n").data(), line.size() + 1), ssize_t(line.size() + 1));
    }
    std::string hear() {
        std::string line;
        char letter = 0;
        pollfd ready{from_, POLLIN, 0};
        while (::poll(&ready, 1, 60000) > 0 && ::read(from_, &letter, 1) == 1 && letter != '\n') line += letter;
        return line;
    }
    void kill() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    int finish() {
        int status = 0;
        ::close(to_);
        to_ = -1;
        ::waitpid(process_, &status, 0);
        process_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    pid_t process_ = -1;
    int to_ = -1, from_ = -1;
};

class QueueTest : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(aclInit(nullptr), 0);
        ASSERT_EQ(aclrtSetDevice(0), 0);
    }
    void TearDown() override {
        EXPECT_EQ(aclrtResetDevice(0), 0);
        EXPECT_EQ(aclFinalize(), 0);
    }
};

inline acltdtQueueRouteList* list_of(std::vector<std::pair<uint32_t, uint32_t>> routes) {
    acltdtQueueRouteList* list = acltdtCreateQueueRouteList();
    for (const auto& [from, to] : routes) {
        acltdtQueueRoute* route = acltdtCreateQueueRoute(from, to);
        EXPECT_EQ(acltdtAddQueueRoute(list, route), 0);
        EXPECT_EQ(acltdtDestroyQueueRoute(route), 0);
    }
    return list;
}
inline int32_t status_at(acltdtQueueRouteList* list, size_t index) {
    acltdtQueueRoute* route = acltdtCreateQueueRoute(0, 0);
    int32_t status = -1;
    size_t size = 0;
    EXPECT_EQ(acltdtGetQueueRoute(list, index, route), 0);
    EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, sizeof status, &size, &status), 0);
    acltdtDestroyQueueRoute(route);
    return status;
}
