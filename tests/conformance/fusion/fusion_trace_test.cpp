// SPDX-License-Identifier: Apache-2.0
// Fused kernels whose steps can be traced: chains without barriers, compiled loops, temporaries. At every level the
// results equal those of the steps, bit for bit.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "acl/super_kernel.h"
#include "fifo.h"
#include "fixtures/fusion_fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

// Sanitizer instrumentation makes kernels touch memory that a trace does not record.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool watched = true;
#else
constexpr bool watched = false;
#endif

class FusionTrace : public FusionTest {
protected:
    static constexpr uint32_t floats = 16 * 1024;
    static constexpr std::size_t bytes = floats * sizeof(float);

    void SetUp() override {
        FusionTest::SetUp();
        if (!device_fuses()) GTEST_SKIP() << "nothing is fused";
        setenv("CANOPY_CACHE_DIR", cache_.path().c_str(), 1);
        setenv("CANOPY_CC", CANOPY_TEST_CC, 1);
        ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_FUSION_KERNELS, nullptr, &traced_));
        std::mt19937 random(1);
        std::vector<float> values(floats);
        for (float& value : values) value = static_cast<float>(random() % 4096) / 64 - 32;
        buffers_.push_back(device_array(values));
        for (int index = 1; index < 9; ++index) buffers_.push_back(device_array(std::vector<float>(floats, 0)));
    }
    void TearDown() override {
        if (traced_) EXPECT_ACL_OK(aclrtBinaryUnLoad(traced_));
        unsetenv("CANOPY_CACHE_DIR");
        unsetenv("CANOPY_CC");
        FusionTest::TearDown();
    }
    // Steps that each pass one buffer on to the next.
    std::vector<Step> chain(std::size_t count, uint32_t blocks) {
        std::vector<Step> steps;
        for (std::size_t index = 0; index < count; ++index) {
            const float factor = 1 + static_cast<float>(index) / 8;
            uint64_t packed = 0;
            std::memcpy(&packed, &factor, sizeof(factor));
            Step step{"scale", blocks, {word(buffers_[index]), word(buffers_[index + 1]), floats, packed}, ""};
            if (index % 3 == 2) step = {"bend", blocks, {step.values[0], step.values[1], floats}, ""};
            steps.push_back(step);
        }
        return steps;
    }
    aclrtFuncHandle fused_of(const std::vector<Step>& steps, const std::string& more = "") {
        FusedImage image = image_of(steps, more);
        image.parts = {file_text(CANOPY_TEST_FUSION_KERNELS)};
        aclrtFuncHandle handle = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(load(image.write()), "fused", &handle));
        return handle;
    }
    aclError launch_steps(const std::vector<Step>& steps) {
        for (Step step : steps) {
            aclrtFuncHandle handle = nullptr;
            EXPECT_ACL_OK(aclrtBinaryGetFunction(traced_, step.kernel.c_str(), &handle));
            if (const aclError code = aclrtLaunchKernelWithHostArgs(
                    handle, step.blocks, stream_, nullptr, step.values.data(), step.values.size() * 8, nullptr, 0))
                return code;
        }
        return ACL_SUCCESS;
    }
    void clear() {
        for (std::size_t index = 1; index < buffers_.size(); ++index)
            EXPECT_ACL_OK(aclrtMemset(buffers_[index], bytes, 0, bytes));
    }
    std::vector<std::vector<float>> contents() {
        std::vector<std::vector<float>> all;
        for (float* buffer : buffers_) all.push_back(read_back(buffer, floats));
        return all;
    }
    std::vector<std::vector<float>> expected_of(const std::vector<Step>& steps) {
        EXPECT_ACL_OK(launch_steps(steps));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        std::vector<std::vector<float>> all = contents();
        clear();
        return all;
    }
    void run(aclrtFuncHandle function, const std::vector<Step>& steps) {
        EXPECT_ACL_OK(launch_fused(function, steps, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    static bool at_level(const std::string& level) {
        const char* chosen = std::getenv("CANOPY_FUSION");
        return (chosen ? chosen : "loops") == level;
    }

    TemporaryDirectory cache_;
    aclrtBinHandle traced_ = nullptr;
    std::vector<float*> buffers_;
};

TEST_F(FusionTrace, AChainOfTracedStepsHasNoBarrierAndTheSameBits) {
    const std::vector<Step> steps = chain(8, 4);
    const auto expected = expected_of(steps);
    aclrtFuncHandle function = fused_of(steps);
    run(function, steps);
    EXPECT_EQ(contents(), expected) << "before anything was traced";
    ASSERT_ACL_OK(canopyFusionWait(function, -1));
    clear();
    run(function, steps);
    EXPECT_EQ(contents(), expected) << report(function);
    if (watched) return;
    const nlohmann::json variant = report(function)["fused"][0]["variants"][0];
    EXPECT_EQ(variant["traced"], 8) << variant;
    if (at_level("steps")) return;
    EXPECT_EQ(variant["barriers_after"], 0) << variant;
    EXPECT_EQ(variant["chained"], 7) << variant;
    if (!at_level("loops")) return;
    EXPECT_EQ(variant["level"], "loops") << variant;
    EXPECT_EQ(variant["looped"], 8) << variant;
}

TEST_F(FusionTrace, StoresToTemporariesDisappearAndComeBack) {
    if (watched || !at_level("loops") || std::getenv("CANOPY_FUSION_CHECK"))
        GTEST_SKIP() << "needs compiled loops alone";
    const std::vector<Step> steps = chain(8, 4);
    const auto expected = expected_of(steps);
    aclrtFuncHandle function = fused_of(steps);
    for (int index = 1; index < 8; ++index) ASSERT_ACL_OK(canopyFusionDeclareTemporary(buffers_[index], bytes));
    run(function, steps);
    ASSERT_ACL_OK(canopyFusionWait(function, -1));
    EXPECT_GT(report(function)["fused"][0]["variants"][0]["stores_dropped"], 0) << report(function);
    clear();
    run(function, steps);
    EXPECT_EQ(contents().back(), expected.back());
    EXPECT_NE(contents()[3], expected[3]) << "a temporary was stored";
    for (int index = 1; index < 8; ++index) ASSERT_ACL_OK(canopyFusionUndeclareTemporary(buffers_[index]));
    run(function, steps);
    EXPECT_EQ(contents(), expected) << "what is no temporary any more is stored again";
    EXPECT_ACL_FAILS(107000, "not the start", canopyFusionUndeclareTemporary(buffers_[1]));
}

TEST_F(FusionTrace, TheSameStepsOnceMoreNeedNeitherTraceNorCompiler) {
    if (watched || !at_level("loops")) GTEST_SKIP() << "needs compiled loops";
    const std::vector<Step> steps = chain(8, 4);
    const auto expected = expected_of(steps);
    const auto fuse = [&](const std::vector<Step>& fused) {
        aclrtFuncHandle function = fused_of(fused);
        run(function, fused);
        EXPECT_ACL_OK(canopyFusionWait(function, -1));
        clear();
        run(function, fused);
        const nlohmann::json variant = report(function)["fused"][0]["variants"][0];
        EXPECT_EQ(variant["level"], "loops") << variant;
        EXPECT_EQ(variant["looped"], 8) << variant;
        EXPECT_EQ(variant["traced"], 8) << variant;
        EXPECT_EQ(variant["parts"].size(), 1) << variant;
        return variant;
    };
    const auto files = [&](const char* kind) {
        return std::filesystem::directory_iterator(cache_.path() + "/" + kind);
    };

    const nlohmann::json first = fuse(steps);
    EXPECT_EQ(contents(), expected);
    EXPECT_FALSE(first["from_cache"]);
    EXPECT_GT(first["trace_ms"], 0);
    EXPECT_GT(first["compile_ms"], 0);

    const nlohmann::json again = fuse(steps);
    EXPECT_EQ(contents(), expected);
    EXPECT_TRUE(again["from_cache"]);
    EXPECT_EQ(again["trace_ms"], 0);
    EXPECT_EQ(again["compile_ms"], 0);
    EXPECT_EQ(again["stores_dropped"], first["stores_dropped"]);
    EXPECT_EQ(again["parts"], first["parts"]);

    std::vector<Step> other = steps;
    other[0].values[3] ^= 1u << 23;  // a different factor
    const auto expected_of_other = expected_of(other);
    ASSERT_NE(expected_of_other, expected);
    EXPECT_GT(fuse(other)["trace_ms"], 0) << "arguments decide what a kernel does";
    EXPECT_EQ(contents(), expected_of_other);

    for (const auto& file : files("recipes")) std::filesystem::resize_file(file, file.file_size() - 1);
    const nlohmann::json damaged = fuse(steps);
    EXPECT_EQ(contents(), expected);
    EXPECT_GT(damaged["trace_ms"], 0);
    EXPECT_EQ(damaged["compile_ms"], 0) << "the loops themselves were not damaged";

    for (const auto& file : files("loops")) std::filesystem::remove(file);
    const nlohmann::json gone = fuse(steps);
    EXPECT_EQ(contents(), expected);
    EXPECT_FALSE(gone["from_cache"]);
    EXPECT_GT(gone["compile_ms"], 0);
}

TEST_F(FusionTrace, WhatACompilerThatFailedLeftUndoneIsDoneTheNextTime) {
    if (watched || !at_level("loops")) GTEST_SKIP() << "needs compiled loops";
    std::vector<Step> steps = chain(5, 4);
    steps[2] = {"carry", 4, {steps[2].values[0], steps[2].values[1], floats}, ""};  // two chains, two compilations
    const auto expected = expected_of(steps);
    const std::string compiler = cache_.path() + "/compiler", broken = cache_.path() + "/broken";
    std::ofstream(compiler) << "#!/bin/sh\n[ -e " << broken << " ] && exit 1\ntouch " << broken << "\nexec "
                            << CANOPY_TEST_CC << " \"$@\"\n";
    std::filesystem::permissions(compiler, std::filesystem::perms::owner_all);
    setenv("CANOPY_CC", compiler.c_str(), 1);
    for (const int looped : {2, 4}) {
        aclrtFuncHandle function = fused_of(steps);
        run(function, steps);
        ASSERT_ACL_OK(canopyFusionWait(function, -1));
        clear();
        run(function, steps);
        EXPECT_EQ(contents(), expected);
        EXPECT_EQ(report(function)["fused"][0]["variants"][0]["looped"], looped) << report(function);
        std::filesystem::remove(broken);
    }
}

// Three steps over arrays too large for any cache; each block reads only the parts of the temporaries it has written.
class FusionScratch : public FusionTrace {
protected:
    static constexpr uint32_t many = 512 * 1024;
    static constexpr float untouched = 77;

    void SetUp() override {
        FusionTrace::SetUp();
        if (IsSkipped()) return;
        if (watched || at_level("steps")) GTEST_SKIP() << "needs chains";
        setenv("CANOPY_CC", "/nowhere", 1);  // no compiler, hence no loops
        std::vector<float> values(many);
        for (uint32_t i = 0; i < many; ++i) values[i] = static_cast<float>(i % 1000) / 8;
        input_ = device_array(values);
        output_ = device_array(std::vector<float>(many, 0));
        for (float*& each : temporaries_) {
            each = device_array(std::vector<float>(many, untouched));
            ASSERT_ACL_OK(canopyFusionDeclareTemporary(each, many * sizeof(float)));
        }
    }
    void TearDown() override {
        for (float* each : temporaries_)
            if (each) EXPECT_ACL_OK(canopyFusionUndeclareTemporary(each));
        FusionTrace::TearDown();
    }
    static Step scale(const float* from, const float* to, float factor, uint32_t blocks = 64) {
        uint64_t packed = 0;
        std::memcpy(&packed, &factor, sizeof(factor));
        return {"scale", blocks, {word(from), word(to), many, packed}, ""};
    }
    // The output of the steps run one by one. Restores the temporaries and clears the output afterwards.
    std::vector<float> output_of(const std::vector<Step>& steps) {
        std::vector<std::vector<float>> before;
        for (float* each : temporaries_) before.push_back(read_back(each, many));
        EXPECT_ACL_OK(launch_steps(steps));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        const std::vector<float> found = read_back(output_, many);
        for (std::size_t i = 0; i < std::size(temporaries_); ++i)
            EXPECT_ACL_OK(aclrtMemcpy(temporaries_[i], many * sizeof(float), before[i].data(), many * sizeof(float),
                                      ACL_MEMCPY_HOST_TO_DEVICE));
        EXPECT_ACL_OK(aclrtMemset(output_, many * sizeof(float), 0, many * sizeof(float)));
        return found;
    }
    nlohmann::json fuse_and_run(const std::vector<Step>& steps) {
        aclrtFuncHandle function = fused_of(steps);
        run(function, steps);
        EXPECT_ACL_OK(canopyFusionWait(function, -1));
        const std::vector<float> before(many, untouched);
        for (float* each : temporaries_)
            EXPECT_ACL_OK(aclrtMemcpy(each, many * sizeof(float), before.data(), many * sizeof(float),
                                      ACL_MEMCPY_HOST_TO_DEVICE));
        EXPECT_ACL_OK(aclrtMemset(output_, many * sizeof(float), 0, many * sizeof(float)));
        run(function, steps);
        return report(function)["fused"][0]["variants"][0];
    }
    bool is_untouched(const float* array) {
        const std::vector<float> found = read_back(array, many);
        return std::all_of(found.begin(), found.end(), [](float each) { return each == untouched; });
    }
    // Checking also runs the steps one by one, and these store everything.
    static bool checked() { return std::getenv("CANOPY_FUSION_CHECK") || std::getenv("CANOPY_CHECK"); }

    float* input_ = nullptr;
    float* output_ = nullptr;
    float* temporaries_[2] = {};
};

TEST_F(FusionScratch, WhatBlocksHandOnNeverReachesTheTemporaries) {
    const std::vector<Step> steps = {
        scale(input_, temporaries_[0], 0.5f), scale(temporaries_[0], temporaries_[1], 1.25f),
        scale(temporaries_[1], temporaries_[0], 2.0f), scale(temporaries_[0], output_, 0.75f)};
    const std::vector<float> expected = output_of(steps);
    const nlohmann::json variant = fuse_and_run(steps);
    EXPECT_EQ(read_back(output_, many), expected);
    if (checked()) return;
    EXPECT_EQ(variant["parts"][0]["scratches"], 2) << variant;
    EXPECT_TRUE(is_untouched(temporaries_[0]));
    EXPECT_TRUE(is_untouched(temporaries_[1]));
}

TEST_F(FusionScratch, WhatAStepFindsThereIsReadWhereItIs) {
    const std::vector<Step> steps = {scale(temporaries_[0], temporaries_[1], 0.5f),
                                     scale(temporaries_[1], output_, 1.25f), scale(output_, temporaries_[0], 2.0f)};
    const std::vector<float> expected = output_of(steps);
    const nlohmann::json variant = fuse_and_run(steps);
    EXPECT_EQ(read_back(output_, many), expected);
    if (checked()) return;
    EXPECT_EQ(variant["parts"][0]["scratches"], 1) << variant;
    EXPECT_TRUE(is_untouched(temporaries_[1]));
}

TEST_F(FusionScratch, ATemporaryThatAnotherPartReadsIsStored) {
    const std::vector<Step> steps = {scale(input_, temporaries_[0], 0.5f),
                                     scale(temporaries_[0], temporaries_[1], 1.25f),
                                     scale(temporaries_[1], output_, 2.0f, 128)};
    const std::vector<float> expected = output_of(steps);
    const nlohmann::json variant = fuse_and_run(steps);
    EXPECT_EQ(read_back(output_, many), expected);
    if (checked()) return;
    EXPECT_EQ(variant["parts"].size(), 2) << variant;
    EXPECT_EQ(variant["parts"][0]["scratches"], 1) << variant;
    EXPECT_TRUE(is_untouched(temporaries_[0]));
    EXPECT_FALSE(is_untouched(temporaries_[1]));
}

TEST_F(FusionTrace, AResultBesideATemporaryOfTheListIsStored) {
    float* const pool = device_array(std::vector<float>(2 * floats, 0));
    std::vector<Step> steps = chain(2, 4);
    steps[0].values[1] = steps[1].values[0] = word(pool);
    steps[1].values[1] = word(pool + floats);
    EXPECT_ACL_OK(launch_steps(steps));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    const std::vector<float> expected = read_back(pool, 2 * floats);
    aclrtFuncHandle function = fused_of(steps, R"(,"temporaries":[2,5])");
    run(function, steps);
    ASSERT_ACL_OK(canopyFusionWait(function, -1));
    EXPECT_ACL_OK(aclrtMemset(pool, 2 * bytes, 0, 2 * bytes));
    run(function, steps);
    const std::vector<float> found = read_back(pool, 2 * floats);
    EXPECT_TRUE(std::equal(found.begin() + floats, found.end(), expected.begin() + floats)) << report(function);
}

TEST_F(FusionTrace, OtherSharesOfBlocksKeepABarrier) {
    std::vector<Step> steps = chain(4, 4);
    steps[2].blocks = 8;
    const auto expected = expected_of(steps);
    aclrtFuncHandle function = fused_of(steps);
    run(function, steps);
    ASSERT_ACL_OK(canopyFusionWait(function, -1));
    clear();
    run(function, steps);
    EXPECT_EQ(contents(), expected);
    if (at_level("chains") && !watched)
        EXPECT_EQ(report(function)["fused"][0]["variants"][0]["barriers_after"], 2) << report(function);
}

TEST_F(FusionTrace, ACapturedGraphOfTracedKernelsIsFusedAsFar) {
    const std::vector<Step> steps = chain(8, 4);
    const auto expected = expected_of(steps);
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    ASSERT_ACL_OK(launch_steps(steps));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(canopyFusionWait(graph, -1));
    for (int round = 0; round < 2; ++round) {
        clear();
        ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(contents(), expected);
    }
    if (!watched) EXPECT_EQ(report(graph)["fused"][0]["variants"][0]["traced"], 8) << report(graph);
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
}

// What the process checks at exit, after everything else has been destroyed.
struct AtTheEnd {
    pid_t orphan = 0;  // the compiler's child; 0: nothing to check
    TemporaryDirectory folder;
};
AtTheEnd* at_the_end = nullptr;

void look_at_the_end() {
    if (at_the_end->orphan != 0) {
        int how = 0;
        const bool ended = waitpid(at_the_end->orphan, &how, 0) == at_the_end->orphan && WIFSIGNALED(how);
        const bool waited = waitpid(-1, nullptr, WNOHANG) == -1;
        if (!ended || !waited || !std::filesystem::is_empty(at_the_end->folder.path() + "/temporary")) _exit(3);
    }
    delete at_the_end;
}

// Uses a compiler that never ends and reports through a pipe that it and its child have started.
void end_while_compiling(bool finalize) {
    at_the_end = new AtTheEnd;
    std::atexit(look_at_the_end);
    const TemporaryDirectory& folder = at_the_end->folder;
    const std::string started = folder.path() + "/started", temporary = folder.path() + "/temporary";
    ASSERT_EQ(mkfifo(started.c_str(), S_IRUSR | S_IWUSR), 0);
    ASSERT_EQ(mkdir(temporary.c_str(), S_IRWXU), 0);
    const std::string compiler =
        folder.write("compiler", "#!/bin/sh\nsleep 1000 &\necho $$ $! > " + started + "\nwait\n");
    ASSERT_EQ(chmod(compiler.c_str(), S_IRWXU), 0);
    setenv("CANOPY_CC", compiler.c_str(), 1);
    setenv("CANOPY_CACHE_DIR", (folder.path() + "/cache").c_str(), 1);
    setenv("TMPDIR", temporary.c_str(), 1);
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0) << "what loses its parent becomes ours";

    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    void* memory = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&memory, 3 * 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    const uint64_t at = word(memory);
    FusedImage image;
    image.parts = {file_text(CANOPY_TEST_FUSION_KERNELS)};
    image.steps = {{"bend", 1, 3, ""}, {"bend", 1, 3, ""}};
    std::vector<uint64_t> block = {0, at, at + 4096, 1024, at + 4096, at + 8192, 1024};
    const std::string file = image.write();
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "fused", &function));
    ASSERT_ACL_OK(
        aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, block.data(), block.size() * 8, nullptr, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
    pid_t child = 0, grandchild = 0;
    std::istringstream(line_from_fifo(started)) >> child >> grandchild;
    ASSERT_GT(grandchild, 0);
    EXPECT_NE(std::filesystem::begin(std::filesystem::directory_iterator(temporary)),
              std::filesystem::directory_iterator())
        << "the compiler works there";
    if (!finalize) {
        at_the_end->orphan = grandchild;
        return;
    }
    ASSERT_ACL_OK(aclFinalize());
    int how = 0;
    EXPECT_EQ(waitpid(grandchild, &how, 0), grandchild);
    EXPECT_TRUE(WIFSIGNALED(how));
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "the compiler itself was waited for";
    EXPECT_TRUE(std::filesystem::is_empty(temporary));
}

bool compiles() {
    const char* level = std::getenv("CANOPY_FUSION");
    return !watched && device_fuses() && (!level || std::string(level) == "loops");
}

TEST(FusionEnd, FinalizeEndsACompilerThatRuns) {
    if (!compiles()) GTEST_SKIP() << "nothing is compiled";
    EXPECT_IN_OWN_PROCESS([] { end_while_compiling(true); });
}

TEST(FusionEnd, ExitEndsACompilerThatRuns) {
    if (!compiles()) GTEST_SKIP() << "nothing is compiled";
    EXPECT_IN_OWN_PROCESS([] { end_while_compiling(false); });
}

}  // namespace
}  // namespace conformance
