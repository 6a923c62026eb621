// SPDX-License-Identifier: Apache-2.0
// Checks the public headers against the tables beside this file: every constant, layout, prototype and type name, in C
// and in C++. The checks are generated; this file counts and evaluates them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "table_check.h"

namespace {

struct Check {
    std::string item;
    long long expected;
    long long actual;
};

using Checks = std::map<TableCheckKind, std::vector<Check>>;

void collect(void* context, TableCheckKind kind, const char* item, long long expected, long long actual) {
    (*static_cast<Checks*>(context))[kind].push_back({item, expected, actual});
}

Checks checks_in_c() {
    Checks checks;
#define CANOPY_RUN_CHECK(name) check_##name##_c(collect, &checks);
    CANOPY_FOR_EACH_HEADER(CANOPY_RUN_CHECK)
#undef CANOPY_RUN_CHECK
    return checks;
}

Checks checks_in_cpp() {
    Checks checks;
#define CANOPY_RUN_CHECK(name) check_##name##_cpp(collect, &checks);
    CANOPY_FOR_EACH_HEADER(CANOPY_RUN_CHECK)
#undef CANOPY_RUN_CHECK
    return checks;
}

class InterfaceTables : public testing::TestWithParam<bool> {
protected:
    // Checks the header against every row of a kind, and that the table has the required number of rows.
    void expect_all(TableCheckKind kind, std::size_t count) {
        const std::vector<Check>& rows = checks_[kind];
        EXPECT_EQ(rows.size(), count);
        for (const Check& row : rows) EXPECT_EQ(row.actual, row.expected) << row.item;
    }

    Checks checks_ = GetParam() ? checks_in_cpp() : checks_in_c();
};

TEST_P(InterfaceTables, EveryConstantHasItsValue) { expect_all(CONSTANT, 1188); }

TEST_P(InterfaceTables, EveryStructureHasItsSizeAndAlignment) {
    expect_all(LAYOUT, 93);
    expect_all(ALIGNMENT_OF_TYPE, 93);
    expect_all(OPAQUE, 16);
}

TEST_P(InterfaceTables, EveryFieldHasItsOffsetAndSize) {
    expect_all(FIELD_OFFSET, 375);
    expect_all(FIELD_SIZE, 375);
}

TEST_P(InterfaceTables, EveryFunctionHasItsPrototype) { expect_all(FUNCTION, 594); }

TEST_P(InterfaceTables, EveryTypeNameMeansItsType) { expect_all(TYPE, 167); }

INSTANTIATE_TEST_SUITE_P(Languages, InterfaceTables, testing::Values(false, true),
                         [](const testing::TestParamInfo<bool>& language) { return language.param ? "Cpp" : "C"; });

}  // namespace
