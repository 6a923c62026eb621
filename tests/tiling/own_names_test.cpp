// SPDX-License-Identifier: Apache-2.0
// Host code whose own functions have the names of tiling functions.
#include <gtest/gtest.h>
#include <tiling/tiling_api.h>

using namespace AscendC;

// In the global namespace, where the using directive makes both visible.
static int GetSoftMaxMinTmpSize(long rows, int columns) { return static_cast<int>(rows) * columns; }

template <class T>
static T PadTilingFunc(T first, T second) {
    return first + second;
}

namespace {

TEST(OwnNames, AFunctionWhoseArgumentsConvertIsCalled) { EXPECT_EQ(GetSoftMaxMinTmpSize(3, 4), 12); }

TEST(OwnNames, ATemplateIsCalled) {
    EXPECT_EQ(PadTilingFunc(3, 4), 7);
    EXPECT_EQ(PadTilingFunc<long>(3, 4), 7);
}

}  // namespace
