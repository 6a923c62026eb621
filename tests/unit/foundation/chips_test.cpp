// SPDX-License-Identifier: Apache-2.0
// The table of chips: names find their row, and related rows agree.
#include <canopy/chips.h>
#include <gtest/gtest.h>

#include <set>

namespace canopy {
namespace {

TEST(Chips, AreFoundByName) {
    for (const Chip& chip : chip_table) EXPECT_EQ(find_chip(chip.name), &chip) << chip.name;
    EXPECT_EQ(find_chip("ascend310p1")->name, "Ascend310P1");
}

TEST(Chips, NamesWithoutARowAreTheFirstOfTheirFamily) {
    struct Case {
        const char* name;
        const char* row;
    };
    for (const Case& one :
         {Case{"Ascend910B", "Ascend910B1"}, Case{"Ascend910B2C", "Ascend910B1"},
          Case{"Ascend910_9372", "Ascend910_9391"}, Case{"Ascend910_93", "Ascend910_9391"},
          Case{"Ascend950", "Ascend950PR_9599"}, Case{"Ascend950DT_9595", "Ascend950PR_9599"},
          Case{"Ascend910_95", "Ascend910_9599"}, Case{"Ascend910", "Ascend910A"}, Case{"Ascend910ProA", "Ascend910A"},
          Case{"Ascend310P", "Ascend310P3"}, Case{"Ascend310P7", "Ascend310P3"}, Case{"Ascend310B", "Ascend310B1"}}) {
        ASSERT_NE(find_chip(one.name), nullptr) << one.name;
        EXPECT_EQ(find_chip(one.name)->name, one.row) << one.name;
    }
    for (const char* unknown : {"", "Ascend", "Ascend310", "Ascend9", "Kirin"}) EXPECT_EQ(find_chip(unknown), nullptr);
}

TEST(Chips, OfAnArchitectureHaveOneThatItsKernelsRunOn) {
    EXPECT_EQ(chip_of_architecture(2201), &default_chip());
    EXPECT_EQ(chip_of_architecture(3510)->name, "Ascend950PR_9599");
    EXPECT_EQ(chip_of_architecture(2002)->name, "Ascend310P3");
    EXPECT_EQ(chip_of_architecture(1001)->name, "Ascend910A");
    EXPECT_EQ(chip_of_architecture(3002)->name, "Ascend310B1");
    EXPECT_EQ(chip_of_architecture(5102), nullptr);
}

TEST(Chips, OfAFamilyHaveItsName) {
    std::set<std::string_view> names;
    for (const Chip& chip : chip_table) {
        EXPECT_TRUE(names.insert(chip.name).second) << chip.name;
        EXPECT_TRUE(chip.name.starts_with(chip.family)) << chip.name;
        EXPECT_EQ(find_chip(chip.family)->architecture, chip.architecture) << chip.name;
        // The cores of split chips form groups of one cube core and two vector cores.
        if (!is_coupled(chip.architecture)) EXPECT_EQ(chip.vector_cores, 2 * chip.cube_cores) << chip.name;
    }
}

}  // namespace
}  // namespace canopy
