// SPDX-License-Identifier: Apache-2.0
// Names of kernels as people write them.
#include "foundation/readable_name.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

TEST(ReadableName, IsThatOfTheSource) {
    EXPECT_EQ(readable_name("add"), "add");
    EXPECT_EQ(readable_name("_Z3addPf"), "add(float*)");
    EXPECT_EQ(readable_name("_Znot"), "_Znot");
}

TEST(ReadableName, ShortNamesHaveNoParameters) {
    EXPECT_EQ(short_name("add"), "add");
    EXPECT_EQ(short_name("_Z3addPf"), "add");
    EXPECT_EQ(short_name("_ZN7kernels4axpyIfLj2048EEEvPT_S2_S1_j"), "kernels::axpy<float, 2048u>");
    EXPECT_EQ(short_name("_ZN12_GLOBAL__N_14copyEPhS0_"), "(anonymous namespace)::copy");
    EXPECT_EQ(short_name("_ZN12_GLOBAL__N_14copyIfEEvPT_"), "(anonymous namespace)::copy<float>");
    EXPECT_EQ(short_name("_Znot"), "_Znot");
}

}  // namespace
}  // namespace canopy
