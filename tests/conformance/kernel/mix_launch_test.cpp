// SPDX-License-Identifier: Apache-2.0
// Kernels for groups of cube and vector cores: the identities of their blocks, how they synchronise, and what happens
// if a wait can never end.
#include <algorithm>
#include <array>

#include "fixtures/core_fixture.h"
#include "until.h"

namespace conformance {
namespace {

constexpr int aicore_timeout = 507014, aicore_exception = 507015, vector_timeout = 507034, vector_exception = 507035;
constexpr std::uint32_t cube = 1, vector = 2;

class MixLaunch : public CoreTest {
protected:
    // index, count, sub_index, sub_count, core type, whether `core` was null; sorted
    using Identity = std::array<std::uint32_t, 6>;
    std::vector<Identity> identities(const char* kernel, std::uint32_t blocks, std::size_t cores) {
        auto* out = zeros(1 + 6 * (cores + 1));
        run(kernel, blocks, out);
        const std::vector<std::uint32_t> words = read_back(out, 1 + 6 * (cores + 1));
        EXPECT_EQ(words[0], cores);
        std::vector<Identity> found(std::min<std::size_t>(words[0], cores + 1));
        std::memcpy(found.data(), words.data() + 1, found.size() * sizeof(Identity));
        std::sort(found.begin(), found.end());
        return found;
    }
    std::vector<Identity> expected(std::uint32_t blocks, std::uint32_t cubes, std::uint32_t vectors) {
        std::vector<Identity> all;
        for (std::uint32_t group = 0; group < blocks; ++group) {
            for (std::uint32_t i = 0; i < cubes; ++i) all.push_back({group, blocks, i, std::max(vectors, 1u), cube, 1});
            for (std::uint32_t i = 0; i < vectors; ++i) all.push_back({group, blocks, i, vectors, vector, 1});
        }
        std::sort(all.begin(), all.end());
        return all;
    }
};

TEST_F(MixLaunch, EveryCoreOfAGroupRunsTheKernelUnderItsOwnIdentity) {
    for (const std::uint32_t blocks : {1u, 2u, 7u, 20u, 100u}) {
        EXPECT_EQ(identities("identify_mix_1_2", blocks, 3 * blocks), expected(blocks, 1, 2)) << blocks;
        EXPECT_EQ(identities("identify_mix_1_1", blocks, 2 * blocks), expected(blocks, 1, 1)) << blocks;
        EXPECT_EQ(identities("identify_mix_1_0", blocks, blocks), expected(blocks, 1, 0)) << blocks;
        EXPECT_EQ(identities("identify_mix_0_1", blocks, blocks), expected(blocks, 0, 1)) << blocks;
        EXPECT_EQ(identities("identify_cube", blocks, blocks), expected(blocks, 1, 0)) << blocks;
        EXPECT_EQ(identities("identify_vector", blocks, blocks), expected(blocks, 0, 1)) << blocks;
    }
}

TEST_F(MixLaunch, BlockOffsetShiftsTheGroups) {
    auto* out = zeros(1 + 6 * 6);
    aclrtLaunchKernelAttr offset = {};
    offset.id = ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET;
    offset.value.blockDimOffset = 40;
    aclrtLaunchKernelCfg configuration = {&offset, 1};
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary_, "identify_mix_1_2", &function));
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, 2, stream_, &configuration, &out, sizeof out, nullptr, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    std::vector<std::uint32_t> words = read_back(out, 1 + 6 * 6);
    EXPECT_EQ(words[0], 6u);
    std::uint32_t sum = 0;
    for (int i = 0; i < 6; ++i) sum += words[static_cast<std::size_t>(1 + 6 * i)];
    EXPECT_EQ(sum, 3u * 40 + 3u * 41);
}

// ---- flags ---------------------------------------------------------------------------------------------------------

TEST_F(MixLaunch, FlagsOrderCubeAndVectorCoresInBothDirections) {
    for (const std::uint32_t blocks : {1u, 2u, 13u, 20u, 50u}) {
        run("exchange", blocks, zeros(3 * blocks), wrong_, 200u);
        run("exchange_in_turn", blocks, zeros(blocks), wrong_, 100u);
        ASSERT_EQ(wrong(), 0u) << blocks;
    }
}

TEST_F(MixLaunch, FlagsAmongOneKindAreBarriers) {
    for (const std::uint32_t blocks : {1u, 2u, 20u}) {
        run("meet_by_flags", blocks, zeros(2 + blocks), wrong_, 50u);
        ASSERT_EQ(wrong(), 0u) << blocks;
    }
}

TEST_F(MixLaunch, AFlagCountsWhatWasSetAheadOfItsWaits) {
    for (const std::uint32_t blocks : {1u, 3u}) {
        auto* out = zeros(1);
        run("set_ahead", blocks, out, 15u);
        EXPECT_EQ(read_back(out, 1)[0], 15 * blocks);
    }
}

TEST_F(MixLaunch, ACounterThatWouldRunOverFailsTheBlockThatSetsIt) {
    run_to_failure(aicore_exception, {"cube core", "CrossCoreSetFlag", "flag 0 of mode 2", "15 times"}, "set_too_often",
                   1);
    run_to_failure(aicore_exception, {"CrossCoreSetFlag"}, "set_too_often", 4);
}

TEST_F(MixLaunch, AFlagNobodySetsFailsTheTaskAndIsNamed) {
    run_to_failure(aicore_timeout,
                   {"block 2", "vector core 1", "CrossCoreWaitFlag of flag 6 (mode 2)", "can never complete", "1 wait"},
                   "wait_in_vain", 5, 2u);
    run_to_failure(aicore_timeout, {"CrossCoreWaitFlag of flag 6", "2 have ended"}, "wait_in_vain", 1, 0u);
    run_to_failure(aicore_timeout, {"cube core", "CrossCoreWaitFlag of flag 4", "9 wait"}, "wait_for_each_other", 3);
}

TEST_F(MixLaunch, ABlockThatIsAloneMeetsItselfAndNobodyElse) {
    auto* out = zeros(1);
    run_to_failure(vector_timeout, {"CrossCoreWaitFlag of flag 3", "only one"}, "wait_alone", 1, out);
    EXPECT_EQ(read_back(out, 1)[0], 1u);
    run_to_failure(vector_timeout, {"CrossCoreWaitFlag of flag 3"}, "wait_alone", 2, out);
}

TEST_F(MixLaunch, FlagsThatDoNotExistFailTheBlock) {
    run_to_failure(vector_exception, {"CrossCoreSetFlag", "no flag 16 of mode 0"}, "use_flag", 1, 0u, 16u);
    run_to_failure(vector_exception, {"no flag 1 of mode 3"}, "use_flag", 2, 3u, 1u);
    run_to_failure(vector_exception, {"no flag 16 of mode 4"}, "use_flag", 1, 4u, 16u);
    run("use_flag", 2, 2u, 15u);
}

// ---- meetings ------------------------------------------------------------------------------------------------------

TEST_F(MixLaunch, EachScopeMeetsItsOwnCores) {
    for (const std::uint32_t blocks : {1u, 2u, 20u}) {
        run("meet_in_scopes", blocks, zeros(3 + blocks), wrong_, 40u);
        ASSERT_EQ(wrong(), 0u) << blocks;
    }
}

TEST_F(MixLaunch, AMeetingThatCannotCompleteIsNamed) {
    run_to_failure(aicore_timeout, {"SyncAll can never complete", "vector core 0"}, "meet_half", 2, 0u);
    run_to_failure(aicore_timeout, {"SyncAll of the vector cores"}, "meet_half", 2, 1u);
    run_to_failure(aicore_timeout, {"barrier of a group's vector cores"}, "meet_half", 1, 3u);
}

TEST_F(MixLaunch, ACoreOfTheOtherKindCannotTakePart) {
    run_to_failure(aicore_exception, {"cube core: a cube core cannot"}, "meet_as_cube", 2, 1u);
    run_to_failure(aicore_exception, {"a cube core cannot"}, "meet_as_cube", 1, 3u);
    run_to_failure(aicore_exception, {"a vector core cannot"}, "meet_half", 2, 2u);
    run("meet_as_cube", 3, 2u);
}

TEST_F(MixLaunch, MoreGroupsThanCoresMeetInVain) {
    run_to_failure(aicore_timeout, {"SyncAll can never complete", "cannot start"}, "meet_in_scopes", 100, zeros(103),
                   wrong_, 1u);
}

TEST_F(MixLaunch, AllWaitsTogether) {
    for (const std::uint32_t blocks : {1u, 5u, 20u}) {
        auto* out = zeros(1);
        run("everything", blocks, out, 100u);
        EXPECT_EQ(read_back(out, 1)[0], 300 * blocks);
    }
}

TEST_F(MixLaunch, LaunchesOnSeveralStreamsShareTheCores) {
    aclrtStream streams[4] = {};
    auto* out = zeros(4);
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary_, "everything", &function));
    for (aclrtStream& stream : streams) ASSERT_ACL_OK(aclrtCreateStream(&stream));
    for (int round = 0; round < 10; ++round) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::uint64_t slots[] = {reinterpret_cast<std::uint64_t>(out + i), 20};
            ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, static_cast<std::uint32_t>(3 + 4 * i), streams[i],
                                                        nullptr, const_cast<std::uint64_t*>(slots), sizeof slots,
                                                        nullptr, 0));
        }
    }
    for (aclrtStream& stream : streams) {
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
        ASSERT_ACL_OK(aclrtDestroyStream(stream));
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read_back(out + i, 1)[0], 10 * 20 * 3 * (3 + 4 * i));
}

// ---- polling -------------------------------------------------------------------------------------------------------

TEST_F(MixLaunch, BlocksThatPollLetTheOthersRun) {
    for (const std::uint32_t blocks : {1u, 2u, 20u, 40u}) {
        auto* word = zeros(1);
        run("meet_by_polling", blocks, word);
        EXPECT_EQ(read_back(word, 1)[0], blocks);
        word = zeros(1);
        run("pass_on_by_polling", blocks, word);
        EXPECT_EQ(read_back(word, 1)[0], blocks);
    }
}

TEST_F(MixLaunch, BlocksThatPollDoNotHoldUpOtherStreams) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    auto *started = zeros(1), *word = zeros(1);
    ASSERT_ACL_OK(launch("poll_until_set", 4, started, word));
    aclrtFuncHandle function = nullptr;
    ASSERT_ACL_OK(aclrtBinaryGetFunction(binary_, "set_word", &function));
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(function, 1, other, nullptr, &word, sizeof word, nullptr, 0));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(started, 1)[0], 4u);
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(MixLaunch, BlocksThatPollForEverCanBeAborted) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    void* word_here = nullptr;
    ASSERT_ACL_OK(aclrtMallocHost(&word_here, 64));
    for (const std::uint32_t blocks : {1u, 2u, 9u}) {
        auto *started = zeros(1), *word = zeros(1);
        ASSERT_ACL_OK(launch("poll_until_set", blocks, started, word));
        ASSERT_TRUE(eventually([&] {
            std::uint32_t seen = 0;  // without waiting for the kernel, as aclrtMemcpy would
            EXPECT_ACL_OK(aclrtMemcpyAsync(word_here, 4, started, 4, ACL_MEMCPY_DEVICE_TO_HOST, other));
            EXPECT_ACL_OK(aclrtSynchronizeStream(other));
            std::memcpy(&seen, word_here, 4);
            return seen == blocks;
        }));
        ASSERT_ACL_OK(aclrtStreamAbort(stream_));
        aclrtSynchronizeStream(stream_);
        recent_error();
    }
    EXPECT_ACL_OK(aclrtFreeHost(word_here));
    EXPECT_ACL_OK(aclrtDestroyStream(other));
}

}  // namespace
}  // namespace conformance
