// SPDX-License-Identifier: Apache-2.0
// A refused <<<>>> launch: the next synchronisation returns its code, and one line reports it.
#include <atomic>
#include <thread>

#include "fixtures/capture_fixture.h"
#include "fixtures/embedded.h"
#include "fixtures/own_process.h"
#include "fixtures/said.h"

namespace conformance {
namespace {

class RefusedLaunch : public CaptureTest {
protected:
    int refuse(aclrtStream stream) { return embedded_.launch("nothing", 0, stream); }
    // Expects `call` to report the refusal once, and the stream to work afterwards.
    template <class Call>
    void expect_reported_once(Call&& call) {
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernel nothing was not launched: numBlocks 0", call());
        EXPECT_ACL_OK(call());
        expect_usable(stream_);
    }

    Embedded embedded_;
};

// ---- where the code comes back -------------------------------------------------------------------------------------

TEST_F(RefusedLaunch, IsReturnedByTheNextSynchronisationOfItsStream) {
    EXPECT_EQ(refuse(stream_), ACL_ERROR_RT_PARAM_INVALID);
    expect_reported_once([&] { return aclrtSynchronizeStream(stream_); });
    EXPECT_EQ(refuse(stream_), ACL_ERROR_RT_PARAM_INVALID);
    expect_reported_once([&] { return aclrtSynchronizeStreamWithTimeout(stream_, 1000); });
}

TEST_F(RefusedLaunch, IsReturnedByTheNextSynchronisationOfItsDevice) {
    refuse(stream_);
    expect_reported_once([] { return aclrtSynchronizeDevice(); });
    refuse(stream_);
    expect_reported_once([] { return aclrtSynchronizeDeviceWithTimeout(1000); });
}

TEST_F(RefusedLaunch, WorkAroundItRuns) {
    auto* counter = device_array<uint32_t>({0});
    ASSERT_ACL_OK(embedded_.launch("increment", 1, stream_, counter));
    refuse(stream_);
    ASSERT_ACL_OK(embedded_.launch("increment", 1, stream_, counter));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 2u);
}

TEST_F(RefusedLaunch, TheFirstOfSeveralIsReturned) {
    const CanopyConfiguration configuration = {{1, 1, 1}, {0, 0, 0}, 0, stream_};
    EXPECT_EQ(canopyLaunch(&embedded_.site("increment"), &configuration, nullptr, 8), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(refuse(stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "kernel increment was not launched", aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

TEST_F(RefusedLaunch, ConcernsNoOtherStream) {
    refuse(other_);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RefusedLaunch, QueriesAndCopiesLeaveItToTheSynchronisation) {
    refuse(stream_);
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    EXPECT_ACL_OK(aclrtStreamQuery(stream_, &status));
    EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
    aclrtEvent recorded = event();
    EXPECT_ACL_OK(aclrtRecordEvent(recorded, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeEvent(recorded));
    count();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RefusedLaunch, OnTheDefaultStream) {
    refuse(nullptr);
    expect_reported_once([] { return aclrtSynchronizeStream(nullptr); });
}

TEST_F(RefusedLaunch, OnAStreamThatHasEndedIsTheDevices) {
    aclrtStream ended = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&ended));
    ASSERT_ACL_OK(aclrtDestroyStream(ended));
    EXPECT_EQ(embedded_.launch("nothing", 1, ended), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_INVALID_HANDLE, "was not launched", aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

TEST_F(RefusedLaunch, OfAnotherContextIsTheStreams) {
    aclrtContext context = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
    EXPECT_EQ(embedded_.launch("nothing", 1, stream_), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
    EXPECT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(context));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(RefusedLaunch, OfAKernelThatWasCalledLikeAFunctionIsTheDefaultStreams) {
    EXPECT_EQ(canopyLaunch(&embedded_.site("nothing"), nullptr, nullptr, 0), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "called like a function", aclrtSynchronizeDevice());
}

TEST_F(RefusedLaunch, StopsNoContext) {
    ASSERT_ACL_OK(aclrtSetStreamFailureMode(stream_, 1));
    refuse(stream_);
    expect_reported_once([&] { return aclrtSynchronizeStream(stream_); });
}

TEST_F(RefusedLaunch, ExplicitLaunchesReturnTheirCodeAndNothingElse) {
    uint64_t slot = 0;
    EXPECT_EQ(aclrtLaunchKernelWithHostArgs(function("nothing"), 0, stream_, nullptr, &slot, 8, nullptr, 0),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
}

// ---- while a stream is recorded ------------------------------------------------------------------------------------

TEST_F(RefusedLaunch, SpoilsACapture) {
    begin();
    ASSERT_ACL_OK(increment(stream_));
    EXPECT_EQ(refuse(stream_), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(status(stream_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
    expect_end_fails(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, "kernel nothing was not launched: numBlocks 0");
}

TEST_F(RefusedLaunch, FailsTheUpdateOfATaskGroup) {
    aclrtTaskGrp group = nullptr;
    begin();
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpBegin(stream_));
    ASSERT_ACL_OK(append(stream_, 1));
    ASSERT_ACL_OK(aclmdlRICaptureTaskGrpEnd(stream_, &group));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    refuse(other_);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernel nothing was not launched",
                     aclmdlRICaptureTaskUpdateEnd(other_));
    expect_usable(other_);
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(take_log(), std::vector<uint32_t>{1});
    // The next update starts from scratch.
    ASSERT_ACL_OK(aclmdlRICaptureTaskUpdateBegin(other_, group));
    ASSERT_ACL_OK(append(other_, 2));
    EXPECT_ACL_OK(aclmdlRICaptureTaskUpdateEnd(other_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(RefusedLaunch, KeepsABuildingFromEnding) {
    for (const bool bound_first : {true, false}) {
        aclmdlRI model = nullptr;
        aclrtStream persistent = nullptr;
        ASSERT_ACL_OK(aclmdlRIBuildBegin(&model, 0));
        ASSERT_ACL_OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
        if (bound_first) ASSERT_ACL_OK(aclmdlRIBindStream(model, persistent, 0));
        refuse(persistent);
        if (!bound_first) ASSERT_ACL_OK(aclmdlRIBindStream(model, persistent, 0));
        ASSERT_ACL_OK(append(persistent, 1));
        ASSERT_ACL_OK(aclmdlRIEndTask(model, persistent));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "kernel nothing was not launched",
                         aclmdlRIBuildEnd(model, nullptr));
        // After the stream's recorded tasks are cleared, the build can complete.
        ASSERT_ACL_OK(aclrtPersistentTaskClean(persistent));
        ASSERT_ACL_OK(append(persistent, 1));
        ASSERT_ACL_OK(aclmdlRIEndTask(model, persistent));
        EXPECT_ACL_OK(aclmdlRIBuildEnd(model, nullptr));
        EXPECT_ACL_OK(aclmdlRIDestroy(model));
        EXPECT_ACL_OK(aclrtDestroyStream(persistent));
    }
    EXPECT_ACL_OK(aclrtSynchronizeDevice());
}

// ---- many threads --------------------------------------------------------------------------------------------------

TEST_F(RefusedLaunch, ThreadsRefuseAndSynchroniseAtOnce) {
    constexpr int rounds = 200, threads = 4;
    std::atomic<int> reported{0}, running{threads};
    std::vector<std::thread> refusing;
    for (int i = 0; i < threads; ++i)
        refusing.emplace_back([&] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            for (int round = 0; round < rounds; ++round) EXPECT_EQ(refuse(stream_), ACL_ERROR_RT_PARAM_INVALID);
            EXPECT_ACL_OK(aclrtResetDevice(0));
            running.fetch_sub(1);
        });
    const auto synchronise = [&] {
        const int code = aclrtSynchronizeStream(stream_);
        EXPECT_TRUE(code == 0 || code == ACL_ERROR_RT_PARAM_INVALID) << code;
        if (code != 0) reported.fetch_add(1);
    };
    while (running.load() != 0) synchronise();
    for (std::thread& thread : refusing) thread.join();
    synchronise();
    EXPECT_GE(reported.load(), 1);
    EXPECT_LE(reported.load(), rounds * threads);
    expect_usable(stream_);
}

// ---- the line ------------------------------------------------------------------------------------------------------

void start_device() {
    EXPECT_ACL_OK(aclInit(nullptr));
    EXPECT_ACL_OK(aclrtSetDevice(0));
}

void every_cause_is_said_once() {
    start_device();
    Embedded embedded;
    const CanopyConfiguration dynamic = {{1, 1, 1}, {0, 0, 0}, 1u << 24, nullptr};
    const CanopyConfiguration threads = {{1, 1, 1}, {32, 1, 1}, 0, nullptr};
    const auto said = lines_said([&] {
        for (int turn = 0; turn < 3; ++turn) {
            embedded.launch("nothing", 0, nullptr);
            embedded.launch("identify", 0, nullptr, nullptr);
            embedded.launch("no_such_kernel", 1, nullptr);
            canopyLaunch(&embedded.site("increment"), &dynamic, &turn, 8);
            canopyLaunch(&embedded.site("set_word"), &threads, &turn, 8);
        }
    });
    ASSERT_EQ(said.size(), 5u);
    EXPECT_EQ(said[0], "canopy: kernel nothing was not launched: numBlocks 0 is not between 1 and 65535 (code 107000)");
    EXPECT_NE(said[1].find("kernel identify was not launched"), std::string::npos);
    EXPECT_NE(said[2].find("the binary has no kernel named no_such_kernel"), std::string::npos);
    EXPECT_NE(said[3].find("16777216 bytes of dynamic memory; a core of Ascend910B1 has 196608"), std::string::npos);
    EXPECT_NE(said[4].find("is not a SIMT kernel"), std::string::npos);
    // The same kernel refused for another reason is reported again.
    const CanopyConfiguration one = {{1, 1, 1}, {0, 0, 0}, 0, nullptr};
    EXPECT_EQ(lines_said([&] { canopyLaunch(&embedded.site("nothing"), &one, nullptr, 8); }).size(), 1u);
}

TEST(RefusedLaunchDeathTest, EveryCauseIsSaidOnce) { EXPECT_IN_OWN_PROCESS(every_cause_is_said_once); }

void an_image_that_cannot_be_used_is_said() {
    start_device();
    Embedded site_without_image, damaged, other_chip(CANOPY_TEST_COUPLED_KERNELS);
    site_without_image.site("nothing").image = nullptr;
    damaged.image.size /= 2;
    EXPECT_EQ(lines_said([&] { site_without_image.launch("nothing", 1, nullptr); }).size(), 1u);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_INVALID_DEVICE_FUNCTION);
    EXPECT_EQ(lines_said([&] { damaged.launch("nothing", 1, nullptr); }).size(), 1u);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_PARAM_INVALID);
    if (!device_computes()) return;  // the null device accepts every image
    const auto said = lines_said([&] { other_chip.launch("increment", 1, nullptr, nullptr); });
    ASSERT_EQ(said.size(), 1u);
    EXPECT_NE(said[0].find("kernel increment was not launched: a kernel image for chip architecture 2002"),
              std::string::npos);
    EXPECT_NE(said[0].find("Set CANOPY_CHIP=Ascend310P3"), std::string::npos);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(RefusedLaunchDeathTest, AnImageThatCannotBeUsedIsSaid) {
    EXPECT_IN_OWN_PROCESS(an_image_that_cannot_be_used_is_said);
}

void quiet_programs_get_the_code_only() {
    setenv("CANOPY_QUIET", "1", 1);
    setenv("CANOPY_WORKERS", "many", 1);
    Embedded embedded;
    const auto said = lines_said([&] {
        start_device();
        embedded.launch("nothing", 0, nullptr);
    });
    EXPECT_TRUE(said.empty());
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(RefusedLaunchDeathTest, QuietProgramsGetTheCodeOnly) { EXPECT_IN_OWN_PROCESS(quiet_programs_get_the_code_only); }

// ---- settings that could not be understood -------------------------------------------------------------------------

void wrong_settings_are_said_by_every_program() {
    setenv("CANOPY_DEVICE_COUNT", "many", 1);
    setenv("CANOPY_WORKER", "3", 1);
    // Describing the settings, as `canopy info` does, reports nothing.
    EXPECT_TRUE(lines_said([] { canopyDescribe(); }).empty());
    const auto said = lines_said(start_device);
    ASSERT_EQ(said.size(), 2u);
    EXPECT_EQ(said[0], "canopy: CANOPY_DEVICE_COUNT=\"many\" is not a number from 1 to 64; using 4");
    EXPECT_EQ(said[1], "canopy: CANOPY_WORKER is not a variable that Canopy reads; did you mean CANOPY_WORKERS?");
    EXPECT_TRUE(lines_said([] {
                    EXPECT_ACL_OK(aclFinalize());
                    start_device();
                }).empty());
}

TEST(SettingsDeathTest, WrongOnesAreSaidByEveryProgram) {
    EXPECT_IN_OWN_PROCESS(wrong_settings_are_said_by_every_program);
}

void wrong_settings_are_said_without_init_too() {
    setenv("CANOPY_CPU_CORES", "-1", 1);
    EXPECT_EQ(lines_said([] { EXPECT_ACL_OK(aclrtSetDevice(0)); }).size(), 1u);
}

TEST(SettingsDeathTest, WrongOnesAreSaidWithoutInitToo) {
    EXPECT_IN_OWN_PROCESS(wrong_settings_are_said_without_init_too);
}

}  // namespace
}  // namespace conformance
