// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "victim.h"

int main(int count, char** arguments) {
    if (count == 4 && std::strcmp(arguments[1], "--victim") == 0)
        return act_as_victim(std::atoi(arguments[2]), arguments[3]);
    testing::InitGoogleTest(&count, arguments);
    return RUN_ALL_TESTS();
}
