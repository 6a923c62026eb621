// SPDX-License-Identifier: Apache-2.0
// Fused kernels from images: launches behave like their steps, wait where they must, name the failing step, and outlive
// their binary while in use.
#include <cstdlib>
#include <random>

#include "fixtures/fusion_fixture.h"
#include "fixtures/own_process.h"
#include "runtime/rt.h"

namespace conformance {
namespace {

TEST_F(FusionTest, StepsRunInTheOrderOfTheList) {
    auto* log = device_array(std::vector<uint32_t>(64, 0));
    std::vector<Step> steps;
    for (uint64_t number = 0; number < 20; ++number) steps.push_back({"append", 1, {word(log), number}, ""});
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    const std::vector<uint32_t> seen = read_back(log, 21);
    ASSERT_EQ(seen[0], 20u);
    for (uint32_t number = 0; number < 20; ++number) EXPECT_EQ(seen[1 + number], number);
}

TEST_F(FusionTest, EveryStepHasItsOwnBlocks) {
    auto* few = device_array(std::vector<uint32_t>(64, 0));
    auto* many = device_array(std::vector<uint32_t>(64, 0));
    const std::vector<Step> steps = {{"identify", 3, {word(few)}, ""}, {"identify", 40, {word(many)}, ""}};
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    for (uint32_t block = 0; block < 64; ++block) {
        EXPECT_EQ(read_back(few, 64)[block], block < 3 ? block + 3000 : 0);
        EXPECT_EQ(read_back(many, 64)[block], block < 40 ? block + 40000 : 0);
    }
}

TEST_F(FusionTest, WithoutEarlyStartStepsThatShareNothingWaitForEachOther) {
    std::vector<Step> steps;
    for (uint32_t index = 0; index < 6; ++index) {
        const std::string slot = std::to_string(1 + index);
        steps.push_back({"increment",
                         1,
                         {word(device_array<uint32_t>({0}))},
                         R"(,"inputs":[)" + slot + R"(],"outputs":[)" + slot + "]"});
    }
    for (const char* early : {"0", "1", "2"}) {
        aclrtFuncHandle function = fused(steps, std::string(R"(,"options":{"early-start":")") + early + "\"}");
        ASSERT_ACL_OK(launch_fused(function, steps, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        const char* level = std::getenv("CANOPY_FUSION");
        if (level && std::string(level) == "off") continue;
        const nlohmann::json variant = report(function)["fused"][0]["variants"][0];
        EXPECT_EQ(variant["barriers_after"], *early == '0' ? 5 : 0) << variant;
    }
}

TEST_F(FusionTest, MeetingsInsideAStepWork) {
    auto* words = device_array(std::vector<uint32_t>(4, 0));
    const std::vector<Step> steps = {{"meet_in_barrier", 8, {word(words), word(words + 1), 3}, ""},
                                     {"meet_in_barrier", 4, {word(words + 2), word(words + 3), 2}, ""}};
    ASSERT_ACL_OK(launch_fused(fused(steps, R"(,"options":{"feed-sync-all":"1"})"), steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(words, 4), (std::vector<uint32_t>{24, 0, 8, 0}));
}

TEST_F(FusionTest, OneBinaryIsLaunchedWithChangingArgumentsOnSeveralStreams) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    std::vector<uint32_t*> counters;
    for (int index = 0; index < 8; ++index) counters.push_back(device_array<uint32_t>({0}));
    const auto steps_for = [&](uint32_t* first, uint32_t* second) {
        return std::vector<Step>{{"increment", 1, {word(first)}, ""}, {"increment", 1, {word(second)}, ""}};
    };
    aclrtFuncHandle function = fused(steps_for(counters[0], counters[1]));
    for (int round = 0; round < 100; ++round) {
        const bool aliased = round % 3 == 0;
        ASSERT_ACL_OK(launch_fused(function, steps_for(counters[0], counters[aliased ? 0 : 1]), stream_));
        ASSERT_ACL_OK(launch_fused(function, steps_for(counters[2 + round % 2], counters[4]), other));
    }
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
    if (!device_computes()) return;
    EXPECT_EQ(read_back(counters[0], 1)[0], 134u);
    EXPECT_EQ(read_back(counters[1], 1)[0], 66u);
    EXPECT_EQ(read_back(counters[2], 1)[0] + read_back(counters[3], 1)[0], 100u);
    EXPECT_EQ(read_back(counters[4], 1)[0], 100u);
}

TEST_F(FusionTest, ArgumentsInDeviceMemoryAreReadWhenTheKernelStarts) {
    auto* counter = device_array<uint32_t>({0});
    const std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""}, {"increment", 1, {word(counter)}, ""}};
    auto* block = device_array(block_of(steps));
    ASSERT_ACL_OK(aclrtLaunchKernel(fused(steps), 1, block, block_of(steps).size() * 8, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 2u);
}

TEST_F(FusionTest, TooFewArgumentsAreRefused) {
    auto* counter = device_array<uint32_t>({0});
    const std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""}, {"increment", 1, {word(counter)}, ""}};
    aclrtFuncHandle function = fused(steps);
    std::vector<uint64_t> block = block_of(steps);
    EXPECT_ACL_FAILS(107000, "16 is less than the 24",
                     aclrtLaunchKernelWithHostArgs(function, 1, stream_, nullptr, block.data(), 16, nullptr, 0));
}

TEST_F(FusionTest, RegisteredBinariesLaunchByTheirStubs) {
    auto* counter = device_array<uint32_t>({0});
    std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""}, {"increment", 1, {word(counter)}, ""}};
    const std::string file = image_of(steps).write();
    const rtDevBinary_t binary = {RT_DEV_BINARY_MAGIC_ELF, 1, file.data(), file.size()};
    void* handle = nullptr;
    ASSERT_ACL_OK(rtDevBinaryRegister(&binary, &handle));
    const int stub = 0;
    ASSERT_ACL_OK(rtFunctionRegister(handle, &stub, "fused stub", "fused", 0));
    void* found = nullptr;
    ASSERT_ACL_OK(rtGetFunctionByName("fused stub", &found));
    EXPECT_EQ(found, &stub);
    std::vector<uint64_t> block = block_of(steps);
    uint32_t length = 0;
    ASSERT_ACL_OK(rtGetC2cCtrlAddr(&block[0], &length));
    rtSmDesc_t description = {};
    ASSERT_ACL_OK(
        rtKernelLaunch(found, 1, block.data(), static_cast<uint32_t>(block.size() * 8), &description, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 2u);
    ASSERT_ACL_OK(rtDevBinaryUnRegister(handle));
}

// ---- directions ----------------------------------------------------------------------------------------------------

TEST_F(FusionTest, DeclaredDirectionsSaveBarriers) {
    std::vector<uint32_t*> words;
    for (int index = 0; index < 4; ++index) words.push_back(device_array<uint32_t>({7}));
    std::vector<Step> steps;
    for (uint32_t index = 0; index < 4; ++index) {
        const std::string slot = std::to_string(index + 1);
        steps.push_back(
            {"increment", 1, {word(words[index])}, R"(,"inputs":[)" + slot + R"(],"outputs":[)" + slot + "]"});
    }
    aclrtFuncHandle function = fused(steps);
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    const nlohmann::json variant = report(function)["fused"][0]["variants"][0];
    EXPECT_EQ(variant["barriers_before"], 3);
    EXPECT_EQ(variant["barriers_after"], 0) << "the steps share no memory: " << variant;
    for (Step& step : steps) step.values = {word(words[0])};
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(report(function)["fused"][0]["variants"][1]["barriers_after"], 3) << "all steps share one word";
    if (device_computes()) EXPECT_EQ(read_back(words[0], 1)[0], 12u);
}

TEST_F(FusionTest, SyncAllKeepsEveryBarrier) {
    auto* first = device_array<uint32_t>({0});
    auto* second = device_array<uint32_t>({0});
    const std::vector<Step> steps = {{"increment", 1, {word(first)}, R"(,"inputs":[1],"outputs":[1])"},
                                     {"increment", 1, {word(second)}, R"(,"inputs":[2],"outputs":[2])"}};
    aclrtFuncHandle function = fused(steps, R"(,"options":{"debug-sync-all":"1"})");
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(report(function)["fused"][0]["variants"][0]["barriers_after"], 1);
}

TEST_F(FusionTest, StepsOfTwoStreamsHaveTheOrderTheirEventsGive) {
    auto* log = device_array(std::vector<uint32_t>(64, 0));
    const std::vector<Step> steps = {{"append", 1, {word(log), 1}, R"(,"after":[],"stream":0)"},
                                     {"append", 1, {word(log + 32), 2}, R"(,"after":[],"stream":1)"},
                                     {"append", 1, {word(log), 3}, R"(,"after":[0],"stream":0)"},
                                     {"append", 1, {word(log), 4}, R"(,"after":[1,2],"stream":1)"}};
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    EXPECT_EQ(read_back(log, 4), (std::vector<uint32_t>{3, 1, 3, 4}));
    EXPECT_EQ(read_back(log + 32, 2), (std::vector<uint32_t>{1, 2}));
}

// ---- words outside the fused kernel ---------------------------------------------------------------------------------

TEST_F(FusionTest, LocksOfEventsOutsideAreAwaitedWrittenAndReset) {
    if (!device_computes()) GTEST_SKIP() << "nobody writes the words";
    auto* counter = device_array<uint32_t>({0});
    auto* locks = device_array<uint64_t>({0, 0});
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    const std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""},
                                     {"increment",
                                      1,
                                      {word(counter), word(locks), word(locks + 1)},
                                      R"(,"wait_slots":[3],"notify_slots":[4],"reset_slots":[3])"},
                                     {"increment", 1, {word(counter)}, ""}};
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    ASSERT_ACL_OK(aclrtValueWrite(locks, 1, 0, other));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(read_back(counter, 1)[0], 3u);
    EXPECT_EQ(read_back(locks, 2), (std::vector<uint64_t>{0, 1}));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(FusionTest, DynamicStepsReadTheirKernelAndBlocksFromMemory) {
    auto* counter = device_array<uint32_t>({0});
    auto* words = device_array<uint64_t>({22, 3, 1});
    const std::vector<Step> steps = {
        {"count_blocks_21",
         8,
         {word(counter), word(words), word(words + 1), word(words + 2)},
         R"(,"dynamic":{"key_slot":2,"blocks_slot":3,"wait_slot":4,"choices":[{"key":21,"part":0,"kernel":"count_blocks_21"},
            {"key":22,"part":0,"kernel":"count_blocks_22"}]})"}};
    aclrtFuncHandle function = fused(steps);
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    EXPECT_EQ(read_back(counter, 1)[0], 300u);
    const std::vector<uint64_t> unknown = {5, 3, 1};
    ASSERT_ACL_OK(aclrtMemcpy(words, 24, unknown.data(), 24, ACL_MEMCPY_HOST_TO_DEVICE));
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    EXPECT_ACL_FAILS(507035, "step 0", aclrtSynchronizeStream(stream_));
}

// ---- failures ------------------------------------------------------------------------------------------------------

TEST_F(FusionTest, AFaultNamesStepKernelAndBlock) {
    if (!device_computes()) GTEST_SKIP() << "nothing faults";
    auto* log = device_array(std::vector<uint32_t>(64, 0));
    const std::vector<Step> steps = {{"append", 1, {word(log), 1}, ""},
                                     {"append", 1, {word(log), 2}, ""},
                                     {"trap_in_block", 8, {5}, ""},
                                     {"append", 1, {word(log), 3}, ""}};
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    EXPECT_ACL_FAILS(507035, "step 2 of fused kernel fused, kernel trap_in_block (task",
                     aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(log, 4), (std::vector<uint32_t>{2, 1, 2, 0}))
        << "what comes after the failed step does not run";
    ASSERT_ACL_OK(launch_fused(fused(steps), steps, stream_));
    EXPECT_ACL_FAILS(507035, "block 5", aclrtSynchronizeStream(stream_));
}

TEST_F(FusionTest, AStepThatTakesTooLongIsEndedByName) {
    if (!device_computes()) GTEST_SKIP() << "nothing takes time";
    auto* words = device_array<uint32_t>({0, 0});
    const std::vector<Step> steps = {{"increment", 1, {word(words)}, ""},
                                     {"never_return", 1, {word(words + 1)}, ""},
                                     {"increment", 1, {word(words)}, ""}};
    aclrtLaunchKernelAttr attribute = {};
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attribute.value.timeoutUs.timeoutLow =
        200000;  // long enough for the steps that do not hang, also on a busy machine
    aclrtLaunchKernelCfg config = {&attribute, 1};
    std::vector<uint64_t> block = block_of(steps);
    ASSERT_ACL_OK(
        aclrtLaunchKernelWithHostArgs(fused(steps), 1, stream_, &config, block.data(), block.size() * 8, nullptr, 0));
    EXPECT_ACL_FAILS(507034, "step 1 of fused kernel fused, kernel never_return", aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words, 2), (std::vector<uint32_t>{1, 1}));
}

// ---- life ----------------------------------------------------------------------------------------------------------

TEST_F(FusionTest, ALaunchOutlivesItsBinary) {
    if (std::getenv("CANOPY_FUSION_CHECK")) GTEST_SKIP() << "another stream writes the memory of the launch";
    auto* words = device_array<uint32_t>({0, 0, 0});
    const std::vector<Step> steps = {
        {"begin_and_wait_for_word", 1, {word(words), word(words + 1), word(words + 2)}, ""},
        {"increment", 1, {word(words + 2)}, ""}};
    const std::string file = image_of(steps).write();
    aclrtBinHandle binary = load(file);
    forget_last_binary();
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "fused", &function));
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    ASSERT_ACL_OK(launch("set_word", 1, other, words + 1));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(words, 3)[2], 2u);
    ASSERT_ACL_OK(aclrtSynchronizeStream(other));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
    EXPECT_ACL_FAILS(107017, "function handle", launch_fused(function, steps, stream_));
}

TEST_F(FusionTest, ACapturedLaunchOutlivesItsBinary) {
    auto* counter = device_array<uint32_t>({0});
    const std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""}, {"increment", 1, {word(counter)}, ""}};
    aclrtBinHandle binary = load(image_of(steps).write());
    forget_last_binary();
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "fused", &function));
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    ASSERT_ACL_OK(launch_fused(function, steps, stream_));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    for (int round = 0; round < 3; ++round) ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 6u);
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
}

TEST_F(FusionTest, ACapturedLaunchGetsOtherArgumentsByAnUpdate) {
    auto* counters = device_array<uint32_t>({0, 0, 0});
    const auto steps_for = [&](int second) {
        return std::vector<Step>{{"increment", 1, {word(counters)}, ""},
                                 {"increment", 1, {word(counters + second)}, ""}};
    };
    aclrtFuncHandle function = fused(steps_for(1));
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    ASSERT_ACL_OK(launch_fused(function, steps_for(1), stream_));
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    uint32_t count = 1;
    aclrtStream lane = nullptr;
    ASSERT_ACL_OK(aclmdlRIGetStreams(graph, &lane, &count));
    aclmdlRITask task = nullptr;
    ASSERT_ACL_OK(aclmdlRIGetTasksByStream(lane, &task, &count));
    ASSERT_EQ(count, 1u);
    aclmdlRITaskParams params = {};
    ASSERT_ACL_OK(aclmdlRITaskGetParams(task, &params));
    std::vector<uint64_t> block = block_of(steps_for(2));
    params.kernelTaskParams.args = block.data();
    params.kernelTaskParams.argsSize = static_cast<uint32_t>(block.size() * 8);
    params.kernelTaskParams.isHostArgs = 1;
    ASSERT_ACL_OK(aclmdlRITaskSetParams(task, &params));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(aclmdlRIUpdate(graph));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(canopyFusionWait(function, -1));
    ASSERT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counters, 3), (std::vector<uint32_t>{4, 2, 2}));
    ASSERT_ACL_OK(aclmdlRIDestroy(graph));
}

// ---- images ---------------------------------------------------------------------------------------------------------

TEST_F(FusionTest, DamagedImagesAreRefused) {
    const std::vector<Step> steps = {{"increment", 1, {0}, ""}, {"nothing", 1, {0}, ""}};
    const auto refused = [&](const char* words, auto&& change) {
        FusedImage image = image_of(steps);
        change(image);
        const std::string file = image.write();
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_FAILS(107000, words, aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
    };
    refused("part 0 is damaged", [](FusedImage& image) { image.damage_part = true; });
    refused("two fusion notes", [](FusedImage& image) { image.second_fusion_note = true; });
    refused("has no parts", [](FusedImage& image) { image.parts.clear(); });
    refused("not a JSON object", [](FusedImage& image) { image.json = "{\"kernels\":"; });
    refused("\"kernels\" is not a list", [](FusedImage& image) { image.json = "{}"; });
    refused("does not mention kernel", [](FusedImage& image) {
        image.json = image.text();
        image.name = "other";
    });
    refused("bytes of arguments and", [](FusedImage& image) { image.arguments_size = 64; });
    refused("does not contain", [](FusedImage& image) { image.steps[1].kernel = "absent"; });
    refused("has no blocks", [](FusedImage& image) { image.steps[1].blocks = 0; });
    refused("is not a number from 0 to 65535", [](FusedImage& image) { image.steps[1].blocks = 70000; });
    refused("\"after\" contains something other", [](FusedImage& image) { image.steps[1].more = R"(,"after":[1])"; });
    refused("\"inputs\" contains something other", [](FusedImage& image) { image.steps[1].more = R"(,"inputs":[9])"; });
    refused("\"wait_slots\" is not a short list",
            [](FusedImage& image) { image.steps[1].more = R"(,"wait_slots":3)"; });
    refused("two choices with one key", [](FusedImage& image) {
        image.steps[1].more = R"(,"dynamic":{"key_slot":1,"choices":[{"key":1,"part":0,"kernel":"nothing"},
                                 {"key":1,"part":0,"kernel":"nothing"}]})";
    });
    refused("choices and no key", [](FusedImage& image) { image.steps[1].more = R"(,"dynamic":{"choices":[]})"; });
    refused("among no kernels",
            [](FusedImage& image) { image.steps[1].more = R"(,"dynamic":{"key_slot":1,"choices":[]})"; });
    refused("not an ELF file", [](FusedImage& image) { image.parts[0] = "no kernel image"; });
    if (device_computes())  // other devices run code for any chip
        refused("architecture 1", [](FusedImage& image) { image.architecture = 1; });
}

TEST_F(FusionTest, FusedImagesDoNotNest) {
    const std::vector<Step> steps = {{"increment", 1, {0}, ""}};
    FusedImage image = image_of(steps);
    image.parts = {image.write()};
    const std::string file = image.write();
    aclrtBinHandle binary = nullptr;
    EXPECT_ACL_FAILS(107000, "itself an image of fused kernels",
                     aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
}

// ---- parity ---------------------------------------------------------------------------------------------------------

class FusionParity : public FusionTest {
protected:
    static constexpr std::size_t floats = 4096;

    void fill(std::vector<float*>& buffers, std::mt19937& random) {
        for (float* buffer : buffers) {
            std::vector<float> values(floats);
            for (float& value : values) value = static_cast<float>(random() % 1000) / 8;
            EXPECT_ACL_OK(aclrtMemcpy(buffer, floats * 4, values.data(), floats * 4, ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }
    // Steps over whole and partial buffers, some declared and some not.
    static std::vector<Step> random_steps(const std::vector<float*>& buffers, std::mt19937& random) {
        const std::size_t count = 1 + random() % 64;
        std::vector<Step> steps;
        std::uint32_t slot = 1;
        for (std::size_t index = 0; index < count; ++index) {
            const auto pick = [&] { return buffers[random() % buffers.size()] + (random() % 4) * 512; };
            Step step{"add",
                      1 + static_cast<std::uint32_t>(random() % 5),
                      {word(pick()), word(pick()), word(pick()), 1 + random() % 2048},
                      ""};
            if (random() % 2 == 0)
                step.more = R"(,"inputs":[)" + std::to_string(slot) + "," + std::to_string(slot + 1) +
                            R"(],"outputs":[)" + std::to_string(slot + 2) + "]";
            slot += 4;
            // Blocks of one step must not depend on each other: an input either equals the output or does not overlap
            // it.
            for (std::size_t input = 0; input < 2; ++input) {
                const std::int64_t apart =
                    static_cast<std::int64_t>(step.values[2]) - static_cast<std::int64_t>(step.values[input]);
                if (apart != 0 && std::abs(apart) < 2048 * 4) step.values[input] = step.values[2];
            }
            steps.push_back(step);
        }
        return steps;
    }
};

TEST_F(FusionParity, RandomChainsOfUpTo64StepsEqualTheirStepsBitForBit) {
    std::mt19937 random(20261115);
    std::vector<float*> buffers;
    for (int index = 0; index < 6; ++index) buffers.push_back(device_array(std::vector<float>(floats, 0)));
    for (int round = 0; round < 12; ++round) {
        const std::vector<Step> steps = random_steps(buffers, random);
        const std::mt19937 data = random;
        std::vector<std::vector<float>> expected;
        std::mt19937 first = data;
        fill(buffers, first);
        ASSERT_ACL_OK(launch_one_by_one(steps, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        for (float* buffer : buffers) expected.push_back(read_back(buffer, floats));
        aclrtFuncHandle function = fused(steps);
        for (int launch = 0; launch < 3; ++launch) {  // before, during and after the background work
            std::mt19937 again = data;
            fill(buffers, again);
            ASSERT_ACL_OK(launch_fused(function, steps, stream_));
            ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
            for (std::size_t index = 0; device_computes() && index < buffers.size(); ++index) {
                const std::vector<float> got = read_back(buffers[index], floats);
                ASSERT_EQ(std::memcmp(got.data(), expected[index].data(), floats * 4), 0)
                    << "round " << round << ", buffer " << index << ", " << steps.size() << " steps";
            }
            if (launch == 1) ASSERT_ACL_OK(canopyFusionWait(function, -1));
        }
    }
}

void run_checked() {
    setenv("CANOPY_FUSION_CHECK", "1", 1);
    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    void* log = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&log, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    ASSERT_ACL_OK(aclrtMemset(log, 4096, 0, 4096));
    FusedImage image;
    image.parts = {file_text(CANOPY_TEST_KERNELS)};
    std::vector<uint64_t> block = {0};
    for (uint64_t number = 0; number < 4; ++number) {
        image.steps.push_back({"append", 1, 2, number == 0 ? "" : R"(,"after":[)" + std::to_string(number - 1) + "]"});
        block.insert(block.end(), {word(log), number + 10});
    }
    const std::string file = image.write();
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary, "fused", &function));
    ASSERT_ACL_OK(
        aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, block.data(), block.size() * 8, nullptr, 0));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
    uint32_t seen[5] = {};
    ASSERT_ACL_OK(aclrtMemcpy(seen, sizeof(seen), log, sizeof(seen), ACL_MEMCPY_DEVICE_TO_HOST));
    for (uint32_t number = 0; number < 4; ++number) EXPECT_EQ(seen[1 + number], number + 10);
    ASSERT_ACL_OK(aclrtFree(log));
    ASSERT_ACL_OK(aclrtBinaryUnLoad(binary));
    ASSERT_ACL_OK(aclFinalize());
}

TEST(FusionCheck, AFusedKernelThatDoesWhatItsStepsDoPasses) {
    if (!device_computes()) GTEST_SKIP() << "nothing is computed";
    EXPECT_IN_OWN_PROCESS([] { run_checked(); });
}

}  // namespace
}  // namespace conformance
