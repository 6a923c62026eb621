// SPDX-License-Identifier: Apache-2.0
#include "processes/wires.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "acl/acl_tdt_queue.h"
#include "harness/session.h"
#include "rivals/message_queue.h"
#include "rivals/zero_mq.h"

namespace bench {
namespace {

class LineConnection final : public Connection {
public:
    LineConnection(Control& control, Side side) : word_(control.line), next_(side == Side::leader ? 1 : 2) {}
    void send(const void*, std::size_t) override {
        word_.store(next_, std::memory_order_release);
        next_ += 2;
    }
    void receive(void*, std::size_t) override {
        while (word_.load(std::memory_order_acquire) != next_ - 1) {
        }
    }

private:
    std::atomic<std::uint64_t>& word_;
    std::uint64_t next_;
};

class MemoryConnection final : public Connection {
public:
    MemoryConnection(Control& control, Side side) : control_(control), next_(side == Side::leader ? 1 : 2) {}
    void send(const void* message, std::size_t size) override {
        std::memcpy(control_.room, message, size);
        control_.copied.store(next_, std::memory_order_release);
        next_ += 2;
    }
    void receive(void* message, std::size_t size) override {
        while (control_.copied.load(std::memory_order_acquire) != next_ - 1) {
        }
        std::memcpy(message, control_.room, size);
    }

private:
    Control& control_;
    std::uint64_t next_;
};

class QueueConnection final : public Connection {
public:
    QueueConnection(const Control& control, Side side)
        : to_(control.queues[static_cast<int>(side)]), from_(control.queues[1 - static_cast<int>(side)]) {}
    void send(const void* message, std::size_t size) override {
        BENCH_CHECK(acltdtEnqueueData(to_, message, size, nullptr, 0, -1, 0));
    }
    void receive(void* message, std::size_t size) override {
        std::size_t length = 0;
        BENCH_CHECK(acltdtDequeueData(from_, message, size, &length, nullptr, 0, -1));
        if (length != size) throw std::runtime_error("a message has another length");
    }

private:
    std::uint32_t to_, from_;
};

class BufferConnection final : public Connection {
public:
    BufferConnection(const Control& control, Side side)
        : to_(control.queues[static_cast<int>(side)]), from_(control.queues[1 - static_cast<int>(side)]) {}
    void send(const void* message, std::size_t size) override {
        acltdtBuf buffer = nullptr;
        void* data = nullptr;
        std::size_t capacity = 0;
        BENCH_CHECK(acltdtAllocBuf(size, ACL_TDT_NORMAL_MEM, &buffer));
        BENCH_CHECK(acltdtGetBufData(buffer, &data, &capacity));
        std::memcpy(data, message, sizeof(std::uint64_t));  // the sender makes its data in place
        BENCH_CHECK(acltdtSetBufDataLen(buffer, size));
        BENCH_CHECK(acltdtEnqueue(to_, buffer, -1));
    }
    void receive(void* message, std::size_t size) override {
        acltdtBuf buffer = nullptr;
        void* data = nullptr;
        std::size_t length = 0;
        BENCH_CHECK(acltdtDequeue(from_, &buffer, -1));
        BENCH_CHECK(acltdtGetBufDataLen(buffer, &length));
        BENCH_CHECK(acltdtGetBufData(buffer, &data, &length));
        if (length < size) throw std::runtime_error("a message has another length");
        std::memcpy(message, data, sizeof(std::uint64_t));  // the receiver uses it where it is
        BENCH_CHECK(acltdtFreeBuf(buffer));
    }

private:
    std::uint32_t to_, from_;
};

class DescriptorConnection final : public Connection {
public:
    DescriptorConnection(int from, int to) : from_(from), to_(to) {}
    // Opens the end to read from again, without blocking.
    static std::unique_ptr<DescriptorConnection> polled(int from, int to) {
        const int again = open(fmt::format("/proc/self/fd/{}", from).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (again < 0) throw std::runtime_error(std::strerror(errno));
        return std::make_unique<DescriptorConnection>(again, to);
    }
    void send(const void* message, std::size_t size) override {
        for (std::size_t done = 0; done < size;) {
            const ssize_t written = write(to_, static_cast<const char*>(message) + done, size - done);
            if (written < 0) throw std::runtime_error(std::strerror(errno));
            done += static_cast<std::size_t>(written);
        }
    }
    void receive(void* message, std::size_t size) override {
        for (std::size_t done = 0; done < size;) {
            const ssize_t got = read(from_, static_cast<char*>(message) + done, size - done);
            if (got < 0 && errno == EAGAIN) continue;
            if (got <= 0) throw std::runtime_error("the other end is closed");
            done += static_cast<std::size_t>(got);
        }
    }

private:
    int from_, to_;
};

}  // namespace

const char* name_of(Wire wire) {
    switch (wire) {
        case Wire::line:
            return "cache line";
        case Wire::memory:
            return "memcpy twice";
        case Wire::queue:
            return "Canopy";
        case Wire::buffer:
            return "Canopy by buffer";
        case Wire::pipe:
            return "pipe";
        case Wire::pipe_polled:
            return "pipe polled";
        case Wire::socket:
            return "Unix socket";
        case Wire::boost:
            return "Boost";
        case Wire::boost_polled:
            return "Boost polled";
        case Wire::zero_mq:
            return "ZeroMQ";
        default:
            return "";
    }
}

std::unique_ptr<Connection> open_wire(Wire wire, Side side, Control& control, const Descriptors& descriptors) {
    const bool leads = side == Side::leader;
    const pid_t leader = leads ? getpid() : getppid();
    const int from = leads ? descriptors.back[0] : descriptors.there[0];
    const int to = leads ? descriptors.there[1] : descriptors.back[1];
    switch (wire) {
        case Wire::line:
            return std::make_unique<LineConnection>(control, side);
        case Wire::memory:
            return std::make_unique<MemoryConnection>(control, side);
        case Wire::queue:
            return std::make_unique<QueueConnection>(control, side);
        case Wire::buffer:
            return std::make_unique<BufferConnection>(control, side);
        case Wire::pipe:
            return std::make_unique<DescriptorConnection>(from, to);
        case Wire::pipe_polled:
            return DescriptorConnection::polled(from, to);
        case Wire::socket:
            return std::make_unique<DescriptorConnection>(descriptors.sockets[leads ? 0 : 1],
                                                          descriptors.sockets[leads ? 0 : 1]);
        case Wire::boost:
        case Wire::boost_polled:
            return open_message_queues(leader, side, short_message, queue_depth, wire == Wire::boost_polled);
        case Wire::zero_mq:
            return open_zero_mq(leader, side);
        default:
            return nullptr;
    }
}

void create_queues(Control& control, pid_t partner) {
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    std::uint32_t depth = queue_depth;
    BENCH_CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof(depth), &depth));
    for (std::uint32_t& queue : control.queues) {
        BENCH_CHECK(acltdtCreateQueue(attributes, &queue));
        BENCH_CHECK(
            acltdtGrantQueue(queue, partner, ACL_TDT_QUEUE_PERMISSION_DEQUEUE | ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
    }
    acltdtDestroyQueueAttr(attributes);
}

void attach_queues(const Control& control) {
    for (const std::uint32_t queue : control.queues) {
        std::uint32_t permission = 0;
        BENCH_CHECK(acltdtAttachQueue(queue, 1'000, &permission));
    }
}

}  // namespace bench
