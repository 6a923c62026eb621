// SPDX-License-Identifier: Apache-2.0
// A way for messages between two processes.
#pragma once

#include <cstddef>

namespace bench {

enum class Side : int { leader = 0, partner = 1 };

class Connection {
public:
    virtual ~Connection() = default;
    virtual void send(const void* message, std::size_t size) = 0;
    virtual void receive(void* message, std::size_t size) = 0;
};

}  // namespace bench
