// SPDX-License-Identifier: Apache-2.0
#include "rivals/zero_mq.h"

#include <fmt/core.h>
#include <unistd.h>
#include <zmq.h>

#include <stdexcept>

namespace bench {
namespace {

class ZeroMq final : public Connection {
public:
    ZeroMq(pid_t leader, Side side) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, ZMQ_PAIR)) {
        const std::string address = fmt::format("ipc://@canopy_bench.{}", leader);
        const int failed =
            side == Side::leader ? zmq_bind(socket_, address.c_str()) : zmq_connect(socket_, address.c_str());
        if (failed != 0) throw std::runtime_error(zmq_strerror(zmq_errno()));
    }
    ~ZeroMq() override {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    void send(const void* message, std::size_t size) override {
        if (zmq_send(socket_, message, size, 0) < 0) throw std::runtime_error(zmq_strerror(zmq_errno()));
    }
    void receive(void* message, std::size_t size) override {
        if (zmq_recv(socket_, message, size, 0) < 0) throw std::runtime_error(zmq_strerror(zmq_errno()));
    }

private:
    void* context_;
    void* socket_;
};

}  // namespace

std::unique_ptr<Connection> open_zero_mq(pid_t leader, Side side) { return std::make_unique<ZeroMq>(leader, side); }

}  // namespace bench
