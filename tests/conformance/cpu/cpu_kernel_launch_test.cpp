// SPDX-License-Identifier: Apache-2.0
// Launching CPU kernels: every form of arguments, blocks, attributes, failures and how they are reported.
#include "fixtures/cpu_kernel_fixture.h"

namespace conformance {
namespace {

class CpuKernelLaunch : public CpuKernelTest {
protected:
    void SetUp() override {
        CpuKernelTest::SetUp();
        if (IsSkipped()) return;
        ASSERT_ACL_OK(aclrtCreateStream(&bystander_));
    }
    void TearDown() override {
        if (bystander_) EXPECT_ACL_OK(aclrtDestroyStream(bystander_));
        CpuKernelTest::TearDown();
    }

    struct Meet {
        std::uint64_t* arrived;
        std::uint64_t* seen;
    };
    void expect_blocks_meet(const char* name, std::uint32_t blocks) {
        EXPECT_ACL_OK(aclrtMemset(words_, 128 * 8, 0, 128 * 8));
        EXPECT_ACL_OK(launch(kernel(name), blocks, stream_, Meet{words_, words_ + 1}));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        const std::vector<std::uint64_t> words = read_back(words_, blocks + 2);
        EXPECT_EQ(words[0], blocks);
        for (std::uint32_t block = 0; block < blocks; ++block) EXPECT_EQ(words[1 + block], 1u) << "block " << block;
        EXPECT_EQ(words[1 + blocks], 0u);
    }

    // Expects the launch to fail with that code at the next synchronisation, and both streams to continue.
    template <class Block>
    void expect_fault(int code, const std::vector<std::string>& words, const char* name, std::uint32_t blocks,
                      Block block, aclrtLaunchKernelCfg* config = nullptr) {
        ASSERT_ACL_OK(launch(kernel(name), blocks, stream_, block, config));
        recent_error();
        EXPECT_EQ(aclrtSynchronizeStream(stream_), code) << name;
        const std::string text = recent_error();
        for (const std::string& part : words) EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
        EXPECT_ACL_OK(launch(kernel("write_value"), 1, bystander_, Write{words_, 5}));
        EXPECT_ACL_OK(aclrtSynchronizeStream(bystander_));
        EXPECT_EQ(written_by(kernel("write_value"), 6), 6u);
    }

    struct Attribute {
        aclrtLaunchKernelAttr attribute[2] = {};
        aclrtLaunchKernelCfg config = {attribute, 1};
    };
    static Attribute seconds(std::uint16_t time) {
        Attribute made;
        made.attribute[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
        made.attribute[0].value.timeout = time;
        return made;
    }
    static Attribute microseconds(std::uint32_t time) {
        Attribute made;
        made.attribute[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
        made.attribute[0].value.timeoutUs.timeoutLow = time;
        return made;
    }
    template <class Block>
    aclError launch_timed(const char* name, Block block, Attribute attribute) {
        attribute.config.attrs = attribute.attribute;
        return launch(kernel(name), 1, stream_, block, &attribute.config);
    }

    aclrtStream bystander_ = nullptr;
};

// ---- arguments -----------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLaunch, PointersInTheBlockPointIntoItsCopy) {
    struct Block {
        std::uint64_t* to;
        std::uint64_t first, second;  // pointers, filled by the runtime
        std::uint64_t data[2];
    } block = {words_, 0, 0, {111, 222}};
    aclrtPlaceHolderInfo holders[] = {{8, 24}, {16, 32}};
    EXPECT_ACL_OK(aclrtLaunchKernelWithHostArgs(kernel("follow_pointers"), 1, stream_, nullptr, &block, sizeof block,
                                                holders, 2));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 4), (std::vector<std::uint64_t>{111, 222, 24, 32}));
    holders[1].dataOffset = 24;  // both point to the same data
    EXPECT_ACL_OK(aclrtLaunchKernelWithHostArgs(kernel("follow_pointers"), 1, stream_, nullptr, &block, sizeof block,
                                                holders, 2));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 4), (std::vector<std::uint64_t>{111, 111, 24, 24}));
    holders[1] = {8, 32};  // the same pointer twice: the last entry wins
    block.second = reinterpret_cast<std::uint64_t>(words_ + 8);
    EXPECT_ACL_OK(aclrtLaunchKernelWithHostArgs(kernel("follow_pointers"), 1, stream_, nullptr, &block, sizeof block,
                                                holders, 2));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 1)[0], 222u);
}

TEST_F(CpuKernelLaunch, PointersOutsideTheBlockAreRefused) {
    std::uint64_t block[4] = {};
    for (const aclrtPlaceHolderInfo holder :
         {aclrtPlaceHolderInfo{25, 0}, aclrtPlaceHolderInfo{0, 33}, aclrtPlaceHolderInfo{0xFFFFFFFF, 0},
          aclrtPlaceHolderInfo{0, 0xFFFFFFFF}}) {
        aclrtPlaceHolderInfo holders[] = {{0, 8}, holder};
        EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "placeholder 1",
                         aclrtLaunchKernelWithHostArgs(kernel("follow_pointers"), 1, stream_, nullptr, block,
                                                       sizeof block, holders, 2));
    }
}

TEST_F(CpuKernelLaunch, ArgumentListsOfCpuKernelsArePacked) {
    aclrtArgsHandle list = nullptr;
    aclrtParamHandle parameter = nullptr;
    aclrtFuncHandle sum = kernel("packed_sum");
    std::uint8_t small = 200;
    std::uint32_t number = 70000;
    ASSERT_ACL_OK(aclrtKernelArgsInit(sum, &list));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &small, sizeof small, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &number, sizeof number, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsAppend(list, &words_, sizeof words_, &parameter));
    ASSERT_ACL_OK(aclrtKernelArgsFinalize(list));
    EXPECT_ACL_OK(aclrtLaunchKernelWithConfig(sum, 1, stream_, nullptr, list, nullptr));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 1)[0], 70200u);
}

TEST_F(CpuKernelLaunch, ArgumentsMayLieInDeviceMemory) {
    Write* block = device_array(std::vector<Write>{{words_, 31}});
    EXPECT_ACL_OK(aclrtLaunchKernel(kernel("write_value"), 1, block, sizeof(Write), stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 1)[0], 31u);
    EXPECT_ACL_OK(aclrtLaunchKernelV2(kernel("add_value"), 1, block, sizeof(Write), nullptr, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 1)[0], 62u);
}

TEST_F(CpuKernelLaunch, WhatCannotBeALaunchIsRefused) {
    aclrtFuncHandle store = kernel("write_value");
    Write block{words_, 1};
    void* pointers[] = {&block};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks 0", launch(store, 0, stream_, block));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "numBlocks 65536", launch(store, 65536, stream_, block));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "CPU kernel",
                     aclrtLaunchKernelWithArgsArray(store, 1, stream_, nullptr, pointers));
    aclrtLaunchKernelAttr attribute = {};
    attribute.id = static_cast<aclrtLaunchKernelAttrId>(77);
    aclrtLaunchKernelCfg config = {&attribute, 1};
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "77", launch(store, 1, stream_, block, &config));
}

// ---- blocks --------------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLaunch, AllBlocksAreAliveAtOnceAndHaveTheirOwnNumber) {
    for (std::uint32_t blocks : {1u, 2u, 3u, 8u, 24u}) {
        expect_blocks_meet("RunCpuKernelWithBlock", blocks);
        expect_blocks_meet("meet_others", blocks);
    }
}

// ---- return values and faults --------------------------------------------------------------------------------------

TEST_F(CpuKernelLaunch, ReturnValuesAreReportedWhenTheStreamIsSynchronised) {
    EXPECT_ACL_OK(launch(kernel("return_value"), 1, stream_, std::uint64_t{0}));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    const int exception = ACL_ERROR_RT_AICPU_EXCEPTION;
    expect_fault(exception, {"return_value", "return value 1", ".so", "block 0"}, "return_value", 1, std::uint64_t{1});
    expect_fault(exception, {"return value 4000000000"}, "return_value", 1, std::uint64_t{4000000000});
    expect_fault(exception, {"return value 301", "abort"}, "return_value", 1, std::uint64_t{301});
    expect_fault(ACL_ERROR_RT_END_OF_SEQUENCE, {"end of sequence"}, "return_value", 1, std::uint64_t{201});
    expect_fault(exception, {"return value 77", "block 2"}, "fail_in_block_2", 4, std::uint64_t{0});
}

TEST_F(CpuKernelLaunch, FaultsAreExceptionsOfTheCpuCores) {
    expect_fault(ACL_ERROR_RT_AICPU_EXCEPTION, {"out of cheese", "throw_exception"}, "throw_exception", 1, words_);
    expect_fault(ACL_ERROR_RT_AICPU_EXCEPTION, {"CPU kernel trap"}, "trap", 1, words_);
}

TEST_F(CpuKernelLaunch, AStreamThatStopsOnFailureStaysInError) {
    aclrtContext home = nullptr, context = nullptr;
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&home));
    ASSERT_ACL_OK(aclrtCreateContext(&context, 0));
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE));
    Gate gate;
    gate.hold(stream);
    ASSERT_ACL_OK(launch(kernel("add_value"), 1, stream, Write{words_, 5}));
    ASSERT_ACL_OK(launch(kernel("return_value"), 1, stream, std::uint64_t{1}));
    ASSERT_ACL_OK(launch(kernel("add_value"), 1, stream, Write{words_, 70}));
    gate.open();
    for (int again = 0; again < 2; ++again)
        EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_AICPU_EXCEPTION) << again;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_EXCEPTION, "stopped",
                     launch(kernel("add_value"), 1, stream, Write{words_, 600}));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    EXPECT_ACL_OK(aclrtDestroyContext(context));
    ASSERT_ACL_OK(aclrtSetCurrentContext(home));
    ASSERT_ACL_OK(launch(kernel("add_value"), 1, stream_, Write{words_ + 1, 8}));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(words_, 2), (std::vector<std::uint64_t>{5, 8}));
}

// ---- timeouts ------------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLaunch, ALaunchThatTakesTooLongIsEnded) {
    for (const Attribute& limit : {seconds(1), microseconds(20000)}) {
        ASSERT_ACL_OK(launch_timed("never_end", std::uint64_t{0}, limit));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_AICPU_TIMEOUT, "never_end", aclrtSynchronizeStream(stream_));
        EXPECT_EQ(written_by(kernel("write_value"), 7), 7u);
    }
}

TEST_F(CpuKernelLaunch, ATimeOfNoughtIsNoLimit) {
    for (const Attribute& limit : {seconds(0), microseconds(0)}) {
        SharedWord word;
        ASSERT_ACL_OK(launch_timed("wait_for_word", word.device(), limit));
        EXPECT_TRUE(stands_still(stream_));
        word.set(1);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
}

TEST_F(CpuKernelLaunch, ALaunchHasOneTimeLimit) {
    Attribute both = seconds(1);
    both.attribute[1] = microseconds(5).attribute[0];
    both.config.numAttrs = 2;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "one timeout", launch_timed("write_value", Write{words_, 1}, both));
}

// ---- graphs --------------------------------------------------------------------------------------------------------

TEST_F(CpuKernelLaunch, CapturedCpuKernelsRunWithEveryReplay) {
    aclrtFuncHandle add = kernel("add_value");
    aclmdlRI graph = nullptr;
    ASSERT_ACL_OK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT_ACL_OK(launch(add, 1, stream_, Write{words_, 3}));
    EXPECT_ACL_OK(launch(add, 1, stream_, Write{words_, 4}));
    ASSERT_ACL_OK(aclmdlRICaptureEnd(stream_, &graph));
    EXPECT_EQ(read_back(words_, 1)[0], 0u);
    for (int replay = 1; replay <= 3; ++replay) {
        EXPECT_ACL_OK(aclmdlRIExecuteAsync(graph, stream_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(read_back(words_, 1)[0], 7u * replay);
    }
    EXPECT_ACL_OK(aclmdlRIDestroy(graph));
}

}  // namespace
}  // namespace conformance
