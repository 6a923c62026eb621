// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "peer.h"

int main(int count, char** arguments) {
    if (count == 3 && std::strcmp(arguments[1], "--peer") == 0) return serve_peer(std::atoi(arguments[2]));
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
