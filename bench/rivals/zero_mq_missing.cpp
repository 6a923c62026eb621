// SPDX-License-Identifier: Apache-2.0
#include "rivals/zero_mq.h"

namespace bench {

std::unique_ptr<Connection> open_zero_mq(pid_t, Side) { return nullptr; }

}  // namespace bench
