// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "peer.h"
#include "wire.h"

int main(int count, char** arguments) {
    if (count == 3 && std::strcmp(arguments[1], "--peer") == 0) return serve_peer(std::atoi(arguments[2]));
    if (count == 5 && std::strcmp(arguments[1], "--forger") == 0)
        return wire::serve_forger(std::atoi(arguments[2]), static_cast<wire::Answers>(std::atoi(arguments[3])),
                                  std::strtoull(arguments[4], nullptr, 10));
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
