// SPDX-License-Identifier: Apache-2.0
// Settings from the environment: which values are accepted, and which are ignored with a warning.
#include "core/process/settings.h"
#include "foundation/byte_size.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/process/variables.h"

namespace canopy {
namespace {

// Sets variables for one test and restores their previous values.
class SettingsTest : public testing::Test {
protected:
    void SetUp() override {
        for (const char* name :
             {"CANOPY_DEVICE", "CANOPY_DEVICE_COUNT", "CANOPY_CHIP", "CANOPY_DEVICE_MEMORY", "CANOPY_WORKERS",
              "CANOPY_CHECK", "CANOPY_CHECK_OPTIONS", "CANOPY_CPU_CORES", "CANOPY_CPU_PINNING", "CANOPY_BLACKBOX",
              "CANOPY_CPU_KERNELS", "CANOPY_QUIET", "CANOPY_CACHE_SIZE", "CANOPY_CACHE_DIR", "CANOPY_CC",
              "CANOPY_CLANG", "CANOPY_CHEK", "ASCEND_RT_VISIBLE_DEVICES"}) {
            const char* value = std::getenv(name);
            before_[name] = value ? std::optional<std::string>(value) : std::nullopt;
            unsetenv(name);
        }
    }
    void TearDown() override {
        for (const auto& [name, value] : before_) {
            if (value)
                setenv(name.c_str(), value->c_str(), 1);
            else
                unsetenv(name.c_str());
        }
    }
    static Settings read_with(const char* name, const char* value) {
        setenv(name, value, 1);
        return read_settings();
    }

private:
    std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(SettingsTest, DefaultsAreFourSoftwareDevicesOfTheDefaultChip) {
    const Settings settings = read_settings();
    EXPECT_EQ(settings.kinds, std::vector<std::string>{"soft"});
    EXPECT_EQ(settings.device_count, 4u);
    EXPECT_EQ(settings.chip, &default_chip());
    EXPECT_EQ(settings.workers, 0u);
    EXPECT_FALSE(settings.checking);
    EXPECT_EQ(settings.visible, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_TRUE(settings.problems.empty());
    EXPECT_TRUE(settings.origins.empty());
}

TEST_F(SettingsTest, DefaultMemoryIsWholeGibibytesWithinTheChips) {
    const Settings settings = read_settings();
    EXPECT_GE(settings.memory, 1ull << 30);
    EXPECT_LE(settings.memory, settings.chip->memory);
    EXPECT_EQ(settings.memory % (1ull << 30), 0u);
}

TEST_F(SettingsTest, SizesTakeUnits) {
    EXPECT_EQ(parse_size("4096"), 4096u);
    EXPECT_EQ(parse_size("3K"), 3072u);
    EXPECT_EQ(parse_size("512m"), 512ull << 20);
    EXPECT_EQ(parse_size("2GiB"), 2ull << 30);
    EXPECT_EQ(parse_size("1TB"), 1ull << 40);
    EXPECT_FALSE(parse_size(""));
    EXPECT_FALSE(parse_size("G"));
    EXPECT_FALSE(parse_size("-1G"));
    EXPECT_FALSE(parse_size("1Gx"));
    EXPECT_FALSE(parse_size("1X"));
    EXPECT_FALSE(parse_size("99999999999999T"));
}

TEST_F(SettingsTest, VariablesAreTakenAndNoted) {
    setenv("CANOPY_DEVICE", "null", 1);
    setenv("CANOPY_DEVICE_COUNT", "64", 1);
    setenv("CANOPY_CHIP", "Ascend910_93", 1);
    setenv("CANOPY_DEVICE_MEMORY", "130M", 1);
    setenv("CANOPY_WORKERS", "8", 1);
    setenv("CANOPY_CHECK", "1", 1);
    setenv("CANOPY_CPU_CORES", "5", 1);
    setenv("CANOPY_CPU_PINNING", "on", 1);
    setenv("CANOPY_CPU_KERNELS", "process", 1);
    const Settings settings = read_settings();
    EXPECT_EQ(settings.kinds, std::vector<std::string>{"null"});
    EXPECT_EQ(settings.device_count, 64u);
    EXPECT_EQ(settings.visible.size(), 64u);
    EXPECT_EQ(settings.chip->name, "Ascend910_9391");
    EXPECT_EQ(settings.memory, 130ull << 20);
    EXPECT_EQ(settings.workers, 8u);
    EXPECT_TRUE(settings.checking);
    EXPECT_EQ(settings.cpu_cores, 5u);
    EXPECT_TRUE(settings.cpu_pinned);
    EXPECT_TRUE(settings.cpu_isolated);
    EXPECT_EQ(settings.origins.at("chip"), "CANOPY_CHIP");
    EXPECT_TRUE(settings.problems.empty());
}

TEST_F(SettingsTest, WhatIsNotUnderstoodIsNamedAndTheDefaultStays) {
    struct Case {
        const char* name;
        const char* value;
    };
    for (const Case& bad :
         {Case{"CANOPY_DEVICE_COUNT", "0"}, Case{"CANOPY_DEVICE_COUNT", "65"}, Case{"CANOPY_DEVICE_COUNT", "four"},
          Case{"CANOPY_CHIP", "Ascend1"}, Case{"CANOPY_DEVICE_MEMORY", "1M"}, Case{"CANOPY_DEVICE_MEMORY", "lots"},
          Case{"CANOPY_WORKERS", "-1"}, Case{"CANOPY_WORKERS", "1025"}, Case{"CANOPY_CHECK", "maybe"},
          Case{"CANOPY_CPU_CORES", "257"}, Case{"CANOPY_CPU_PINNING", "2"}, Case{"CANOPY_CPU_KERNELS", "cloud"}}) {
        const Settings settings = read_with(bad.name, bad.value);
        ASSERT_EQ(settings.problems.size(), 1u) << bad.name << "=" << bad.value;
        EXPECT_NE(settings.problems[0].find(bad.name), std::string::npos);
        EXPECT_NE(settings.problems[0].find(bad.value), std::string::npos);
        EXPECT_TRUE(settings.origins.empty());
        EXPECT_EQ(settings.device_count, 4u);
        EXPECT_EQ(settings.chip, &default_chip());
        unsetenv(bad.name);
    }
}

TEST_F(SettingsTest, CheckIsASwitchOrAListOfClasses) {
    for (const char* off : {"0", "off", "no"}) {
        EXPECT_FALSE(read_with("CANOPY_CHECK", off).checking);
        EXPECT_EQ(read_settings().checked, "");
    }
    for (const char* list : {"race", "all,-cache", "memory,init,sync,host", "-race"}) {
        const Settings settings = read_with("CANOPY_CHECK", list);
        EXPECT_FALSE(settings.checking) << list;
        EXPECT_EQ(settings.checked, list);
        EXPECT_EQ(settings.origins.at("check"), "CANOPY_CHECK");
        EXPECT_TRUE(settings.problems.empty()) << list;
    }
    EXPECT_EQ(read_with("CANOPY_CHECK_OPTIONS", "--strict").check_options, "--strict");
}

TEST_F(SettingsTest, OptionsOfChecksNeedAList) {
    setenv("CANOPY_CHECK_OPTIONS", "--strict", 1);
    for (const char* check : {"", "0", "1"}) {
        const Settings settings = read_with("CANOPY_CHECK", check);
        EXPECT_EQ(settings.check_options, "");
        ASSERT_EQ(settings.problems.size(), 1u);
        EXPECT_EQ(settings.problems[0], "CANOPY_CHECK_OPTIONS has no effect without a list in CANOPY_CHECK, like all");
    }
}

TEST_F(SettingsTest, WhatIsUsedInsteadIsNamed) {
    const auto problem = [&](const char* name, const char* value) {
        std::string text = read_with(name, value).problems.at(0);
        unsetenv(name);
        return text;
    };
    EXPECT_EQ(
        problem("CANOPY_CHIP", "Ascend1"),
        "CANOPY_CHIP=\"Ascend1\" is not the name of a chip; using the chip of the program's kernels, else Ascend910B1");
    EXPECT_EQ(problem("CANOPY_WORKERS", "abc"), "CANOPY_WORKERS=\"abc\" is not a number from 0 to 1024; using " +
                                                    std::to_string(std::max(1u, std::thread::hardware_concurrency())));
    EXPECT_EQ(
        problem("CANOPY_CHECK", "race,colour"),
        "CANOPY_CHECK=\"race,colour\" is not 0 or 1, and 'colour' is no class of findings: race, cache, memory, init, "
        "sync, host or all; using 0");
    EXPECT_EQ(problem("CANOPY_QUIET", "perhaps"), "CANOPY_QUIET=\"perhaps\" is not 0 or 1; using 0");
    EXPECT_EQ(problem("CANOPY_BLACKBOX", "perhaps"), "CANOPY_BLACKBOX=\"perhaps\" is not 0 or 1; using 0");
    EXPECT_TRUE(problem("CANOPY_DEVICE_MEMORY", "lots").ends_with("G"));
    EXPECT_EQ(problem("CANOPY_CACHE_SIZE", "lots"),
              "CANOPY_CACHE_SIZE=\"lots\" is not a size like 512M or 2G; using 512M");
}

TEST_F(SettingsTest, VariablesThatNobodyReadsAreNamed) {
    const Settings settings = read_with("CANOPY_CHEK", "1");
    ASSERT_EQ(settings.problems.size(), 1u);
    EXPECT_EQ(settings.problems[0], "CANOPY_CHEK is not a variable that Canopy reads; did you mean CANOPY_CHECK?");
    const char* environment[] = {"CANOPY_CC=x",      "CANOPY_TEST_IMAGE=x",   "CANOPYCHIP=x",
                                 "MY_CANOPY_CHIP=x", "CANOPY_FUSION_LEVEL=2", nullptr};
    const std::vector<std::string> unknown = unknown_variables(environment);
    ASSERT_EQ(unknown.size(), 1u);
    EXPECT_TRUE(unknown[0].starts_with("CANOPY_FUSION_LEVEL "));
    for (const std::string_view name : known_variables()) {
        const std::string entry = std::string(name) + "=1";
        const char* one[] = {entry.c_str(), nullptr};
        EXPECT_TRUE(unknown_variables(one).empty()) << name;
    }
    EXPECT_TRUE(unknown_variables(nullptr).empty());
}

TEST_F(SettingsTest, KernelsChooseTheChipUnlessAPersonDid) {
    const Chip* older = find_chip("Ascend310P3");
    Settings chosen = choose_chip(read_settings(), older);
    EXPECT_EQ(chosen.chip, older);
    EXPECT_EQ(chosen.origins["chip"], chosen_by_kernels);
    EXPECT_LE(chosen.memory, older->memory);
    Settings back = choose_chip(chosen, nullptr);
    EXPECT_EQ(back.chip, &default_chip());
    EXPECT_EQ(back.origins.count("chip"), 0u);
    const Settings person = read_with("CANOPY_CHIP", "Ascend910B3");
    EXPECT_EQ(choose_chip(person, older).chip, find_chip("Ascend910B3"));
    SettingsChange file;
    file.chip = "Ascend910B2";
    EXPECT_EQ(choose_chip(change_settings(chosen, file), older).chip, find_chip("Ascend910B2"));
}

TEST_F(SettingsTest, AnUnknownKindOfDeviceIsKeptAndNamed) {
    const Settings settings = read_with("CANOPY_DEVICE", "abacus");
    EXPECT_EQ(settings.kinds, std::vector<std::string>{"abacus"});
    ASSERT_EQ(settings.problems.size(), 1u);
    EXPECT_NE(settings.problems[0].find("abacus"), std::string::npos);
}

TEST_F(SettingsTest, VisibleDevicesKeepTheirPhysicalNumbers) {
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", "1,3").visible, (std::vector<std::uint32_t>{1, 3}));
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", " 0 , 2 ").visible, (std::vector<std::uint32_t>{0, 2}));
}

TEST_F(SettingsTest, VisibleDevicesStopAtTheFirstBadEntry) {
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", "2,1").visible, (std::vector<std::uint32_t>{2}));
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", "0,0,1").visible, (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", "0,4,1").visible, (std::vector<std::uint32_t>{0}));
    const Settings none = read_with("ASCEND_RT_VISIBLE_DEVICES", "x,1");
    EXPECT_TRUE(none.visible.empty());
    EXPECT_EQ(none.problems.size(), 1u);
}

TEST_F(SettingsTest, AnEmptyVisibleListRestrictsNothing) {
    EXPECT_EQ(read_with("ASCEND_RT_VISIBLE_DEVICES", "").visible.size(), 4u);
}

TEST_F(SettingsTest, AChangeOverridesVariablesAndAppliesTheVisibleListAgain) {
    setenv("ASCEND_RT_VISIBLE_DEVICES", "0,5", 1);
    setenv("CANOPY_WORKERS", "3", 1);
    const Settings before = read_settings();
    EXPECT_EQ(before.visible, (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(before.problems.size(), 1u);

    SettingsChange change;
    change.device_count = 8;
    change.workers = 2;
    change.chip = "Ascend950";
    change.checking = true;
    const Settings after = change_settings(before, change);
    EXPECT_EQ(after.visible, (std::vector<std::uint32_t>{0, 5}));
    EXPECT_TRUE(after.problems.empty());
    EXPECT_EQ(after.workers, 2u);
    EXPECT_TRUE(after.chip->simt);
    EXPECT_TRUE(after.checking);
    EXPECT_EQ(after.origins.at("workers"), "aclInit");
}

TEST_F(SettingsTest, TheDescriptionIsJsonWithEveryDeviceAndVariable) {
    setenv("CANOPY_DEVICE_COUNT", "2", 1);
    const auto document = nlohmann::json::parse(describe_settings(read_settings()));
    ASSERT_EQ(document["devices"].size(), 2u);
    EXPECT_EQ(document["devices"][1]["id"], 1);
    EXPECT_EQ(document["devices"][1]["chip"], default_chip().name);
    EXPECT_GE(document["devices"][0]["workers"], 1);
    ASSERT_EQ(document["settings"].size(), 19u);
    for (const auto& entry : document["settings"]) {
        const bool counted = entry["variable"] == "CANOPY_DEVICE_COUNT";
        EXPECT_EQ(entry["set_by"], counted ? "CANOPY_DEVICE_COUNT" : "default");
    }
}

TEST_F(SettingsTest, TheDescriptionNamesTheFolderOfTheCache) {
    setenv("CANOPY_CACHE_DIR", "/somewhere", 1);
    const auto document = nlohmann::json::parse(describe_settings(read_settings()));
    const auto& entry = document["settings"].back();
    EXPECT_EQ(entry["variable"], "CANOPY_CACHE_DIR");
    EXPECT_EQ(entry["value"], "/somewhere");
    EXPECT_EQ(entry["set_by"], "CANOPY_CACHE_DIR");
}

}  // namespace
}  // namespace canopy
