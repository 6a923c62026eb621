// SPDX-License-Identifier: Apache-2.0
#include "rivals/message_queue.h"

#include <fmt/core.h>

#include <boost/interprocess/ipc/message_queue.hpp>

namespace bench {
namespace {

namespace ipc = boost::interprocess;

class MessageQueues final : public Connection {
public:
    MessageQueues(pid_t leader, Side side, std::size_t size, std::uint32_t depth, bool polled) : polled_(polled) {
        for (int way = 0; way < 2; ++way) {
            const std::string name = fmt::format("canopy_bench.{}.{}.{}", leader, polled, way);
            if (side == Side::leader) {
                ipc::message_queue::remove(name.c_str());
                ways_[way] = std::make_unique<ipc::message_queue>(ipc::create_only, name.c_str(), depth, size);
            } else {
                ways_[way] = std::make_unique<ipc::message_queue>(ipc::open_only, name.c_str());
                ipc::message_queue::remove(name.c_str());  // both have it now
            }
        }
        if (side == Side::partner) std::swap(ways_[0], ways_[1]);
    }
    void send(const void* message, std::size_t size) override { ways_[0]->send(message, size, 0); }
    void receive(void* message, std::size_t size) override {
        ipc::message_queue::size_type length = 0;
        unsigned priority = 0;
        if (!polled_) return ways_[1]->receive(message, size, length, priority);
        while (!ways_[1]->try_receive(message, size, length, priority)) {
        }
    }

private:
    std::unique_ptr<ipc::message_queue> ways_[2];  // to the other side, from it
    bool polled_;
};

}  // namespace

std::unique_ptr<Connection> open_message_queues(pid_t leader, Side side, std::size_t size, std::uint32_t depth,
                                                bool polled) {
    return std::make_unique<MessageQueues>(leader, side, size, depth, polled);
}

}  // namespace bench
