// SPDX-License-Identifier: Apache-2.0
// Profiling sessions: what the calls refuse, in which order they come, and that results are left.
#include "profile/profile_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "canopy/canopy.h"

namespace conformance {
namespace {

using ProfileSessionTest = ProfileTest;

aclError set(int type, const std::string& value) {
    return aclprofSetConfig(static_cast<aclprofConfigType>(type), value.c_str(), value.size());
}

TEST_F(ProfileSessionTest, InitRefusesBadPaths) {
    const std::string& path = folder_.path();
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profilerResultPath", aclprofInit(nullptr, 4));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofInit(path.c_str(), 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofInit(path.c_str(), 4096));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofInit(path.c_str(), path.size() - 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofInit(path.c_str(), path.size() + 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_FILE, "/proc/none", aclprofInit("/proc/none", 10));
    EXPECT_ACL_OK(init());
    EXPECT_ACL_FAILS(ACL_ERROR_REPEAT_INITIALIZE, "aclprofInit", init());
}

TEST_F(ProfileSessionTest, InitMakesItsFolder) {
    const std::string path = folder_.path() + "/a/b";
    EXPECT_ACL_OK(aclprofInit(path.c_str(), path.size()));
    EXPECT_TRUE(std::filesystem::is_directory(path));
}

void init_before_acl_init() {
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_ACL_FAILS(ACL_ERROR_UNINITIALIZE, "aclInit", aclprofInit("/tmp", 4));
}

TEST_F(ProfileSessionTest, InitComesAfterAclInit) { EXPECT_IN_OWN_PROCESS(init_before_acl_init); }

TEST_F(ProfileSessionTest, SettingsHaveValues) {
    struct Case {
        int type;
        std::vector<const char*> right, wrong;
    };
    const Case cases[] = {
        {ACL_PROF_STORAGE_LIMIT, {"200MB", "4294967295MB"}, {"199MB", "4294967296MB", "200", "MB", "200mb", "-1MB"}},
        {ACL_PROF_SYS_HARDWARE_MEM_FREQ, {"1", "15", "100"}, {"0", "101", "1.5", "ten", "+5", " 5"}},
        {ACL_PROF_LLC_MODE, {"read", "write"}, {"both", "READ"}},
        {ACL_PROF_SYS_IO_FREQ, {"1", "100"}, {"0", "101"}},
        {ACL_PROF_SYS_INTERCONNECTION_FREQ, {"1", "50"}, {"0", "51"}},
        {ACL_PROF_DVPP_FREQ, {"1", "100"}, {"0", "101"}},
        {ACL_PROF_HOST_SYS, {"cpu", "cpu,mem,disk,network,osrt,numa"}, {"gpu", "cpu,", "cpu mem"}},
        {ACL_PROF_HOST_SYS_USAGE, {"mem", "cpu,mem"}, {"disk", ","}},
        {ACL_PROF_HOST_SYS_USAGE_FREQ, {"1", "50"}, {"0", "51"}},
        {ACL_PROF_LOW_POWER_FREQ, {"1", "100"}, {"0", "101"}},
        {ACL_PROF_SYS_CPU_FREQ, {"1", "50"}, {"0", "51"}},
        {ACL_PROF_OPTYPE, {"Add", "Add,MatMul"}, {",", "Add,,Mul"}},
        {ACL_PROF_PATH, {"."}, {}},
    };
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "aclprofInit", set(ACL_PROF_SYS_IO_FREQ, "1"));
    EXPECT_ACL_OK(init());
    for (const Case& each : cases) {
        for (const char* value : each.right) EXPECT_ACL_OK(set(each.type, value));
        for (const char* value : each.wrong)
            EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PROFILING_CONFIG, value, set(each.type, value));
    }
    EXPECT_ACL_OK(set(ACL_PROF_PATH, folder_.path()));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "NTS_METRICS", set(ACL_PROF_NTS_METRICS, ","));
    for (const int type : {-1, 0, 17, 100}) EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "configType", set(type, "1"));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "config", aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "10", 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "10", 3));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "length", set(ACL_PROF_OPTYPE, std::string(257, 'a')));
    EXPECT_ACL_OK(set(ACL_PROF_OPTYPE, std::string(256, 'a')));
    EXPECT_ACL_OK(aclprofStart(config(ACL_PROF_ACL_API)));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_API_CONFLICT, "aclprofStart", set(ACL_PROF_SYS_IO_FREQ, "1"));
}

TEST_F(ProfileSessionTest, DescriptionsAreChecked) {
    uint32_t count = 0;
    EXPECT_ACL_OK(aclrtGetDeviceCount(&count));
    std::vector<uint32_t> devices(count + 1);
    for (uint32_t device = 0; device <= count; ++device) devices[device] = device;
    const auto create = [](std::vector<uint32_t> ids, uint64_t mask, int metrics = ACL_AICORE_NONE,
                           const void* events = nullptr) {
        aclprofConfig* const made = aclprofCreateConfig(ids.data(), static_cast<uint32_t>(ids.size()),
                                                        static_cast<aclprofAicoreMetrics>(metrics),
                                                        static_cast<const aclprofAicoreEvents*>(events), mask);
        if (made) EXPECT_ACL_OK(aclprofDestroyConfig(made));
        return made != nullptr;
    };
    EXPECT_TRUE(create({0}, ACL_PROF_ACL_API));
    EXPECT_TRUE(create({0}, 0)) << "the mask is checked when profiling starts";
    EXPECT_TRUE(create({}, ACL_PROF_MSPROFTX));
    EXPECT_FALSE(create({}, ACL_PROF_ACL_API));
    EXPECT_FALSE(create(devices, ACL_PROF_ACL_API));
    EXPECT_FALSE(create({count}, ACL_PROF_ACL_API));
    EXPECT_FALSE(create({0, 0}, ACL_PROF_ACL_API));
    EXPECT_FALSE(create({0}, ACL_PROF_ACL_API, 9));
    EXPECT_FALSE(create({0}, ACL_PROF_ACL_API, ACL_AICORE_NONE, &count));
    EXPECT_EQ(aclprofCreateConfig(nullptr, 1, ACL_AICORE_NONE, nullptr, ACL_PROF_ACL_API), nullptr);
    devices.pop_back();
    EXPECT_TRUE(create(devices, ACL_PROF_TASK_TIME, ACL_AICORE_MEMORY_ACCESS));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profilerConfig", aclprofDestroyConfig(nullptr));
    aclprofConfig* const made = aclprofCreateConfig(devices.data(), 1, ACL_AICORE_NONE, nullptr, ACL_PROF_ACL_API);
    EXPECT_ACL_OK(aclprofDestroyConfig(made));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profilerConfig", aclprofDestroyConfig(made));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profilerConfig", aclprofStart(made));
}

TEST_F(ProfileSessionTest, StartAndStopInTheirOrder) {
    EXPECT_ACL_OK(aclprofStop(nullptr));
    EXPECT_ACL_OK(aclprofFinalize());
    EXPECT_ACL_OK(init());
    aclprofConfig* const first = config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
    aclprofConfig* const same = config(ACL_PROF_ACL_API | ACL_PROF_TASK_TIME);
    aclprofConfig* const other = config(ACL_PROF_ACL_API);
    EXPECT_ACL_OK(aclprofStop(first));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "dataTypeConfig", aclprofStart(config(0)));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_MODULES_UNSUPPORTED, "0x400", aclprofStart(config(ACL_PROF_ACL_API | 0x400)));
    EXPECT_ACL_OK(aclprofStart(first));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_ALREADY_RUN, "runs already", aclprofStart(same));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PROFILING_CONFIG, "profilerConfig", aclprofStart(other));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PROFILING_CONFIG, "profilerConfig", aclprofStop(other));
    EXPECT_ACL_OK(launch("nothing", 1, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofStop(same));
    EXPECT_ACL_OK(aclprofStop(same));
    EXPECT_ACL_OK(aclprofStart(other));
    EXPECT_ACL_OK(aclprofFinalize());
    EXPECT_EQ(results().size(), 2u);
    EXPECT_ACL_OK(init());
}

TEST_F(ProfileSessionTest, ResultsBelongToTheirOwnerAlone) {
    start(ACL_PROF_ACL_API);
    EXPECT_ACL_OK(aclprofFinalize());
    ASSERT_EQ(results().size(), 1u);
    struct stat facts {};
    ASSERT_EQ(stat((folder_.path() + "/" + results()[0]).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 077, 0u);
}

TEST_F(ProfileSessionTest, StartsByItselfInTheUsualFolder) {
    ASSERT_EQ(setenv("ACL_PROF_PATH", folder_.path().c_str(), 1), 0);
    EXPECT_ACL_OK(aclprofStart(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_REPEAT_INITIALIZE, "aclprofInit", init());
    EXPECT_ACL_OK(aclprofStop(nullptr));
    EXPECT_ACL_OK(aclprofFinalize());
    EXPECT_EQ(results().size(), 1u);
    ASSERT_EQ(unsetenv("ACL_PROF_PATH"), 0);
}

TEST_F(ProfileSessionTest, FunctionsThatAreLookedUpByName) {
    auto* const warm_up = looked_up<aclError(const aclprofConfig*)>("aclprofWarmup");
    ASSERT_NE(warm_up, nullptr);
    aclprofConfig* const made = config(ACL_PROF_ACL_API);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profilerConfig", warm_up(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_NOT_RUN, "aclprofInit", warm_up(made));
    EXPECT_ACL_OK(init());
    EXPECT_ACL_OK(warm_up(made));
    EXPECT_ACL_OK(aclprofStart(made));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_API_CONFLICT, "runs already", warm_up(made));
    for (const char* name : {"aclprofGetSupportedFeatures", "aclprofGetSupportedFeaturesV2"}) {
        auto* const features = looked_up<int32_t(size_t*, void**)>(name);
        ASSERT_NE(features, nullptr);
        size_t size = 7;
        void* data = &size;
        EXPECT_EQ(features(&size, &data), 0);
        EXPECT_EQ(size, 0u);
        EXPECT_EQ(data, nullptr);
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "featuresSize", features(nullptr, &data));
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "featuresData", features(&size, nullptr));
    }
    auto* const devices = looked_up<int()>("aclprofRegisterDeviceCallback");
    ASSERT_NE(devices, nullptr);
    EXPECT_EQ(devices(), 0);
    auto* const set_device = looked_up<int32_t(uint32_t, uint32_t)>("MsprofSetDeviceIdByGeModelIdx");
    ASSERT_NE(set_device, nullptr);
    EXPECT_EQ(set_device(1, 0), 0);
}

TEST_F(ProfileSessionTest, TextsHaveNumbers) {
    EXPECT_EQ(aclprofStr2Id(nullptr), UINT64_MAX);
    const uint64_t one = aclprofStr2Id("one"), two = aclprofStr2Id("two");
    EXPECT_NE(one, two);
    EXPECT_EQ(one, aclprofStr2Id("one"));
    auto* const hash = looked_up<uint64_t(const char*, size_t)>("MsprofGetHashId");
    auto* const text = looked_up<char*(uint64_t)>("MsprofId2Str");
    ASSERT_TRUE(hash != nullptr && text != nullptr);
    EXPECT_EQ(hash("one and more", 3), one);
    EXPECT_STREQ(text(two), "two");
    EXPECT_EQ(text(one ^ two ^ 1), nullptr);
}

// ---- the file of aclInit --------------------------------------------------------------------------------------------

aclError init_with(const TemporaryDirectory& folder, const std::string& section) {
    return aclInit(folder.write("acl.json", R"({"profiler": )" + section + "}").c_str());
}

void switch_on() {
    const TemporaryDirectory folder;
    const std::string output = folder.path() + "/output";
    ASSERT_ACL_OK(init_with(folder, R"({"switch": "on", "output": ")" + output + R"(", "msproftx": "on"})"));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_ALREADY_RUN, "file", aclprofInit("/tmp", 4));
    EXPECT_ACL_FAILS(ACL_ERROR_PROF_ALREADY_RUN, "file", aclprofStart(nullptr));
    void* const stamp = aclprofCreateStamp();
    EXPECT_NE(stamp, nullptr);
    EXPECT_ACL_OK(aclprofMark(stamp));
    aclprofDestroyStamp(stamp);
    EXPECT_ACL_OK(aclFinalize());
    EXPECT_FALSE(std::filesystem::is_empty(output));
    EXPECT_EQ(aclprofCreateStamp(), nullptr);
}

TEST(ProfileConfigurationTest, SectionSwitchesProfilingOn) { EXPECT_IN_OWN_PROCESS(switch_on); }

void give_wrong_sections() {
    const TemporaryDirectory folder;
    for (const char* section : {"[]",
                                "\"on\"",
                                R"({"switch": true})",
                                R"({"switch": "maybe"})",
                                R"({"output": 1})",
                                R"({"aic_metrics": "Everything"})",
                                R"({"aicpu": 1})",
                                R"({"l2": "yes"})",
                                R"({"task_time": "l4"})",
                                R"({"ge_api": "l2"})",
                                R"({"storage_limit": "1MB"})",
                                R"({"storage_limit": 300})",
                                R"({"sys_hardware_mem_freq": "10"})",
                                R"({"sys_hardware_mem_freq": 0})",
                                R"({"sys_interconnection_freq": 51})",
                                R"({"llc_profiling": "both"})",
                                R"({"host_sys": "gpu"})",
                                R"({"host_sys_usage": ""})",
                                R"({"instr_profiling_freq": 0})",
                                R"({"task_block": "some"})"})
        EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "profiler", init_with(folder, section));
    // Off: nothing runs.
    EXPECT_ACL_OK(init_with(folder, R"({"switch": "off", "aic_metrics": "PipeUtilization", "task_time": "l1",
        "storage_limit": "200MB", "sys_cpu_freq": 50, "host_sys": "cpu,mem"})"));
    EXPECT_ACL_OK(aclprofInit(folder.path().c_str(), folder.path().size()));
    EXPECT_ACL_OK(aclprofFinalize());
    EXPECT_ACL_OK(aclFinalize());
}

TEST(ProfileConfigurationTest, SectionIsStrict) { EXPECT_IN_OWN_PROCESS(give_wrong_sections); }

void name_bad_folder() {
    const TemporaryDirectory folder;
    EXPECT_ACL_OK(init_with(folder, R"({"switch": "on", "output": "/proc/none"})"));
    EXPECT_ACL_OK(aclFinalize());
}

TEST(ProfileConfigurationTest, FolderThatCannotBeMadeLetsTheProgramGoOn) { EXPECT_IN_OWN_PROCESS(name_bad_folder); }

}  // namespace
}  // namespace conformance
