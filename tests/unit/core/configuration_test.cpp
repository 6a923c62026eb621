// SPDX-License-Identifier: Apache-2.0
// The parser of aclInit's JSON file.
#include "core/process/configuration.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error_text.h"

namespace canopy {
namespace {

int code_of(std::string_view text) { return parse_configuration(text).status().code(); }

std::string nested(int depth) {
    std::string text = "{\"a\":";
    for (int level = 1; level < depth; ++level) text += "[";
    text += "1";
    for (int level = 1; level < depth; ++level) text += "]";
    return text + "}";
}

TEST(Configuration, AnEmptyObjectMeansDefaults) {
    const auto parsed = parse_configuration("{}");
    ASSERT_TRUE(parsed.ok());
    EXPECT_FALSE(parsed.value().default_device);
    EXPECT_FALSE(parsed.value().process_wide_error_text);
    EXPECT_FALSE(parsed.value().dump.has_value());
    EXPECT_TRUE(parsed.value().settings.empty());
    EXPECT_EQ(parsed.value().normalised, "{}");
}

TEST(Configuration, EveryKeyIsRead) {
    const auto parsed = parse_configuration(R"({
        "defaultDevice": {"default_device": "2"}, "err_msg_mode": "1", "max_opqueue_num": "300",
        "StackSize": {"aicore_stack_size": 65536, "simt_stack_size": 256, "simt_divergence_stack_size": 512},
        "simt_printf_fifo_size": 2097152, "simd_printf_fifo_size_per_core": 1024,
        "dump": {"dump_path": "/tmp", "dump_mode": "all"}, "profiler": {"switch": "on"},
        "canopy": {"device_count": 2, "chip": "Ascend910B4", "device_memory": "1G", "workers": 3, "check": true},
        "unknown": [1, 2, 3]})");
    ASSERT_TRUE(parsed.ok());
    const Configuration& configuration = parsed.value();
    EXPECT_EQ(configuration.default_device, 2);
    EXPECT_TRUE(configuration.process_wide_error_text);
    EXPECT_EQ(configuration.operator_queue_limit, 300u);
    EXPECT_EQ(configuration.aicore_stack_size, 65536u);
    EXPECT_EQ(configuration.simt_stack_size, 256u);
    EXPECT_EQ(configuration.simt_divergence_stack_size, 512u);
    EXPECT_EQ(configuration.simt_printf_fifo_size, 2097152u);
    EXPECT_EQ(configuration.simd_printf_fifo_size_per_core, 1024u);
    ASSERT_TRUE(configuration.dump.has_value());
    EXPECT_EQ(configuration.dump->path, "/tmp");
    EXPECT_TRUE(configuration.dump->inputs && configuration.dump->outputs);
    EXPECT_TRUE(configuration.profiler);
    EXPECT_EQ(configuration.settings.device_count, 2u);
    EXPECT_EQ(configuration.settings.chip, "Ascend910B4");
    EXPECT_EQ(configuration.settings.memory, 1ull << 30);
    EXPECT_EQ(configuration.settings.workers, 3u);
    EXPECT_EQ(configuration.settings.checking, true);
}

TEST(Configuration, TextThatIsNoJsonObjectIsRefused) {
    for (const char* text : {"", " ", "{", "[]", "1", "null", "{\"a\":}", "{} {}", "\xff\xfe{}"})
        EXPECT_EQ(code_of(text), 100006) << text;
}

TEST(Configuration, TenLevelsAreAllowedElevenAreNot) {
    EXPECT_EQ(code_of(nested(10)), 0);
    EXPECT_EQ(code_of(nested(11)), 100006);
    EXPECT_EQ(code_of(nested(1'000'000)), 100006);
}

TEST(Configuration, BracketsInsideStringsDoNotNest) {
    EXPECT_EQ(code_of(R"({"a": "[[[[[[[[[[[[[[\"[[[[[[[[[{{{{{{{"})"), 0);
}

TEST(Configuration, IllegalValuesHaveTheirCodes) {
    struct Case {
        const char* text;
        int code;
        const char* word;
    };
    for (const Case& bad : {
             Case{R"({"err_msg_mode": "2"})", 100000, "err_msg_mode"},
             Case{R"({"err_msg_mode": true})", 100000, "err_msg_mode"},
             Case{R"({"defaultDevice": 0})", 100000, "defaultDevice"},
             Case{R"({"defaultDevice": {"default_device": "-1"}})", 100000, "default_device"},
             Case{R"({"defaultDevice": {"default_device": "one"}})", 100000, "default_device"},
             Case{R"({"max_opqueue_num": 0})", 148048, "max_opqueue_num"},
             Case{R"({"max_opqueue_num": "many"})", 148048, "max_opqueue_num"},
             Case{R"({"StackSize": []})", 100000, "StackSize"},
             Case{R"({"StackSize": {"aicore_stack_size": 0}})", 100000, "aicore_stack_size"},
             Case{R"({"StackSize": {"aicore_stack_size": 20000}})", 100000, "multiple"},
             Case{R"({"StackSize": {"aicore_stack_size": 1.5}})", 100000, "aicore_stack_size"},
             Case{R"({"simd_printf_fifo_size_per_core": 1023})", 100000, "simd_printf_fifo_size_per_core"},
             Case{R"({"simd_printf_fifo_size_per_core": 67108865})", 100000, "simd_printf_fifo_size_per_core"},
             Case{R"({"simt_printf_fifo_size": 0})", 100000, "simt_printf_fifo_size"},
             Case{R"({"dump": "on"})", 100009, "dump"},
             Case{R"({"dump": {"dump_mode": "some"}})", 100009, "dump_mode"},
             Case{R"({"dump": {"dump_path": 5}})", 100009, "dump_path"},
             Case{R"({"dump": {"dump_scene": "never"}})", 100009, "dump_scene"},
             Case{R"({"profiler": []})", 100000, "profiler"},
             Case{R"({"profiler": {"switch": "maybe"}})", 100000, "switch"},
             Case{R"({"canopy": {"device_count": 0}})", 100000, "device_count"},
             Case{R"({"canopy": {"device_count": 65}})", 100000, "device_count"},
             Case{R"({"canopy": {"chip": "Ascend1"}})", 100000, "chip"},
             Case{R"({"canopy": {"chip": 910}})", 100000, "chip"},
             Case{R"({"canopy": {"device_memory": "1M"}})", 100000, "device_memory"},
             Case{R"({"canopy": {"device_memory": -5}})", 100000, "device_memory"},
             Case{R"({"canopy": {"workers": 1025}})", 100000, "workers"},
             Case{R"({"canopy": {"check": 1}})", 100000, "check"},
         }) {
        take_error_text();
        EXPECT_EQ(code_of(bad.text), bad.code) << bad.text;
        const char* said = take_error_text();
        ASSERT_NE(said, nullptr) << bad.text;
        EXPECT_NE(std::string(said).find(bad.word), std::string::npos) << said;
    }
}

TEST(Configuration, OrderAndBlanksMakeNoDifference) {
    const auto one = parse_configuration(R"({"err_msg_mode": "0", "a": {"x": 1, "y": 2}})");
    const auto other = parse_configuration("{\"a\":{\"y\":2,\"x\":1},\n\"err_msg_mode\":\"0\"}");
    ASSERT_TRUE(one.ok() && other.ok());
    EXPECT_EQ(one.value().normalised, other.value().normalised);
}

TEST(Configuration, AnEmptyDumpSectionIsNoDump) {
    EXPECT_FALSE(parse_configuration(R"({"dump": {}})").value().dump.has_value());
    EXPECT_FALSE(parse_configuration(R"({"profiler": {"switch": "off"}})").value().profiler);
}

}  // namespace
}  // namespace canopy
