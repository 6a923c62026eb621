// SPDX-License-Identifier: Apache-2.0
#include "foundation/json.h"

#include <gtest/gtest.h>

namespace canopy {
namespace {

std::string copied(std::string_view text) {
    const std::optional<Json> json = parse_json(text);
    return json ? json->dump() : "not JSON";
}

std::string problem_of(const Json& json, std::string (*read)(const Json&)) {
    try {
        return read(json);
    } catch (const JsonError& error) {
        return error.what();
    }
}

TEST(Json, WritesWhatItRead) {
    const char* text = R"({"b":[1,-2,0.5,true,null,"é\n"],"a":{},"c":[],"d":18446744073709551615})";
    EXPECT_EQ(copied(text), text);
    EXPECT_EQ((Json{{"a", 1}, {"b", {1, 2}}}.dump(2)), "{\n  \"a\": 1,\n  \"b\": [\n    1,\n    2\n  ]\n}");
    EXPECT_EQ((Json{"a", 1}.dump()), R"(["a",1])");
}

TEST(Json, KeepsTheFirstPlaceAndTheLastValueOfAName) {
    EXPECT_EQ(copied(R"({"a":1,"b":2,"a":3,"c":4,"b":[5]})"), R"({"a":3,"b":[5],"c":4})");
}

TEST(Json, SortsMembersAtAllLevels) {
    std::optional<Json> json = parse_json(R"({"b":[{"d":1,"c":2}],"a":0})");
    ASSERT_TRUE(json);
    json->sort();
    EXPECT_EQ(json->dump(), R"({"a":0,"b":[{"c":2,"d":1}]})");
}

TEST(Json, RefusesDeepNesting) {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    EXPECT_EQ(copied(nested(max_json_depth)), nested(max_json_depth));
    EXPECT_EQ(copied(nested(max_json_depth + 1)), "not JSON");
    EXPECT_EQ(copied(std::string(1'000'000, '[')), "not JSON");
}

TEST(Json, SaysWhereATextIsBroken) {
    std::size_t bad_byte = 0;
    EXPECT_FALSE(parse_json("{\"a\": x}", &bad_byte));
    EXPECT_EQ(bad_byte, 7u);
    EXPECT_FALSE(parse_json("", &bad_byte));
    EXPECT_FALSE(parse_json("\"\xff\""));
    EXPECT_FALSE(parse_json("1 2"));
}

TEST(Json, ReplacesBytesThatAreNotText) { EXPECT_EQ(Json("a\xff").dump(), "\"a\xef\xbf\xbd\""); }

TEST(Json, ChecksTypesAndMembers) {
    const Json json = {{"number", 5}, {"text", "x"}, {"list", {1}}};
    EXPECT_EQ(json.at("number").get<std::uint8_t>(), 5);
    EXPECT_EQ(json.at("number").get<double>(), 5.0);
    EXPECT_EQ(json.at("list").get<std::vector<int>>(), std::vector<int>{1});
    EXPECT_EQ(json.value("none", 7), 7);
    EXPECT_EQ(json.find("none"), nullptr);
    EXPECT_EQ(problem_of(json, [](const Json& value) { return value.at("none").dump(); }), "key 'none' not found");
    EXPECT_EQ(problem_of(json, [](const Json& value) { return value.at("list").at(1).dump(); }),
              "array index 1 is out of range");
    EXPECT_EQ(problem_of(json, [](const Json& value) { return value.at("number").text(); }),
              "type must be string, but is number");
    EXPECT_EQ(problem_of(json, [](const Json& value) { return std::to_string(value.at("text").get<int>()); }),
              "type must be number, but is string");
    EXPECT_THROW(static_cast<void>(Json(1e300).get<int>()), JsonError);
}

TEST(Json, ComparesNumbersByValue) {
    EXPECT_EQ(Json(1), Json(1u));
    EXPECT_EQ(Json(1.0), Json(1u));
    EXPECT_FALSE(Json(-1) == Json(UINT64_MAX));
    EXPECT_FALSE(Json(1) == Json("1"));
}

}  // namespace
}  // namespace canopy
