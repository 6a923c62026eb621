// SPDX-License-Identifier: Apache-2.0
// The dispatcher through its host class: several runtimes side by side, swaps and unloads under load, failures.
#include <atomic>
#include <thread>

#include "dispatcher_fixture.h"
#include "until.h"

namespace conformance {
namespace {

using DispatcherRuntimes = DispatcherTest;

TEST_F(DispatcherRuntimes, RuntimesWithTheSameNamesAreKeptApart) {
    const std::uint64_t one = loaded(CANOPY_TEST_INNER_1), two = loaded(CANOPY_TEST_INNER_2);
    EXPECT_NE(one, two);
    EXPECT_EQ(answer_of(one, InnerWork::add, 5), 51u);
    EXPECT_EQ(answer_of(two, InnerWork::add, 5), 52u);
    EXPECT_EQ(answer_of(one, InnerWork::count), 1u);
    EXPECT_EQ(answer_of(one, InnerWork::count), 2u);
    EXPECT_EQ(answer_of(two, InnerWork::count), 1u);
}

TEST_F(DispatcherRuntimes, TenThousandInterleavedLaunchesAreNeverMixedAlsoWhenOneIsSwapped) {
    constexpr std::uint64_t launches = 10000;
    const std::uint64_t one = loaded(CANOPY_TEST_INNER_1), two = loaded(CANOPY_TEST_INNER_2);
    std::uint64_t* results = device_array(std::vector<std::uint64_t>(launches, 0));
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    std::atomic<std::uint64_t> launched{0};
    std::atomic<bool> replaced{false};
    std::thread swapper([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_TRUE(eventually([&] { return launched.load() >= launches / 4; }));
        EXPECT_DONE(dispatcher_.swap(two, CANOPY_TEST_INNER_3));
        replaced = true;
    });
    for (std::uint64_t i = 0; i < launches; ++i) {
        const InnerWork work{InnerWork::add, results + i, i};
        EXPECT_DONE(run(i % 2 == 0 ? one : two, work, 1, i % 3 == 0 ? other : stream_));
        // Both versions are sure to run some launches: the first quarter completes before the swap, and the last
        // quarter starts after it.
        if (i + 1 == launches / 4) {
            EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
            EXPECT_ACL_OK(aclrtSynchronizeStream(other));
        }
        if (i + 1 == launches * 3 / 4) EXPECT_TRUE(eventually([&] { return replaced.load(); }));
        launched.store(i + 1);
    }
    swapper.join();
    EXPECT_EQ(answer_of(two, InnerWork::add, 0), 3u);
    ASSERT_ACL_OK(aclrtSynchronizeStream(other));
    const std::vector<std::uint64_t> seen = read_back(results, launches);
    bool swapped[2] = {false, false};  // on each stream, all launches after the first new one are new
    for (std::uint64_t i = 0; i < launches; ++i) {
        ASSERT_EQ(seen[i] / 10, i) << "lost or doubled";
        const std::uint64_t variant = seen[i] % 10;
        if (i % 2 == 0) {
            ASSERT_EQ(variant, 1u) << i;
            continue;
        }
        bool& new_code = swapped[i % 3 == 0];
        new_code = new_code || variant == 3;
        ASSERT_EQ(variant, new_code ? 3u : 2u) << i;
        if (i < launches / 4) {
            ASSERT_FALSE(new_code) << i;
        }
    }
    EXPECT_TRUE(swapped[0] && swapped[1]);
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(DispatcherRuntimes, ASwapWaitsForCallsUnderWayAndLaterOnesReachTheNewCode) {
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    EXPECT_DONE(run(runtime, {InnerWork::hold, words_ + 4, 0, words_ + 8}, 1, other));
    wait_for_word(words_ + 4);
    std::atomic<bool> swapped{false};
    std::thread swapper([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_DONE(dispatcher_.swap(runtime, CANOPY_TEST_INNER_2));
        swapped = true;
    });
    EXPECT_TRUE(eventually([&] { return answer_of(runtime, InnerWork::add) == 2; }));
    EXPECT_FALSE(swapped.load()) << "the old code was closed while it was running";
    write_word(words_ + 8, 1);
    swapper.join();
    ASSERT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(read_back(words_ + 4, 2), (std::vector<std::uint64_t>{1, 1}));
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(DispatcherRuntimes, AllBlocksOfALaunchReachTheSameCodeWhileItIsSwapped) {
    constexpr std::uint32_t blocks = 4;
    constexpr int launches = 100;
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    std::uint64_t* met = device_array(std::vector<std::uint64_t>(4 * launches, 0));
    std::atomic<bool> done{false};
    std::thread swapper([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        while (!done) {
            EXPECT_DONE(dispatcher_.swap(runtime, CANOPY_TEST_INNER_2));
            EXPECT_DONE(dispatcher_.swap(runtime, CANOPY_TEST_INNER_1));
        }
    });
    for (int i = 0; i < launches; ++i) EXPECT_DONE(run(runtime, {InnerWork::meet, met + 4 * i, blocks}, blocks));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    done = true;
    swapper.join();
    const std::vector<std::uint64_t> seen = read_back(met, 4 * launches);
    for (int i = 0; i < launches; ++i) EXPECT_EQ(seen[4 * i + 1] + seen[4 * i + 2], blocks) << i;
}

TEST_F(DispatcherRuntimes, TheSameBytesAreOneRuntimeUntilTheLastUnload) {
    const std::uint64_t one = loaded(CANOPY_TEST_INNER_1), same = loaded(CANOPY_TEST_INNER_1);
    EXPECT_EQ(one, same);
    EXPECT_EQ(answer_of(one, InnerWork::count), 1u);
    EXPECT_DONE(dispatcher_.unload(one));
    EXPECT_EQ(answer_of(one, InnerWork::count), 2u);
    EXPECT_DONE(dispatcher_.unload(one));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(one), dispatcher_.unload(one));
    const std::uint64_t again = loaded(CANOPY_TEST_INNER_1);
    EXPECT_NE(again, one);
    EXPECT_EQ(answer_of(again, InnerWork::count), 1u) << "the code was not closed";
}

TEST_F(DispatcherRuntimes, UnloadUnderLoadRunsOrRefusesEveryLaunch) {
    constexpr std::uint64_t launches = 2000;
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    std::uint64_t* results = device_array(std::vector<std::uint64_t>(launches, 0));
    std::atomic<std::uint64_t> launched{0};
    std::thread unloader([&] {
        EXPECT_ACL_OK(aclrtSetDevice(0));
        EXPECT_TRUE(eventually([&] { return launched.load() >= launches / 4; }));
        EXPECT_DONE(dispatcher_.unload(runtime));
    });
    for (std::uint64_t i = 0; i < launches; ++i) {
        run(runtime, {InnerWork::add, results + i, i});  // refused once it has been unloaded
        launched.store(i + 1);
    }
    unloader.join();
    EXPECT_FALSE(run(runtime, {InnerWork::add, words_, 1}) && aclrtSynchronizeStream(stream_) == 0);
    aclrtSynchronizeStream(stream_);
    const std::vector<std::uint64_t> seen = read_back(results, launches);
    bool ended = false;
    for (std::uint64_t i = 0; i < launches; ++i) {
        ended = ended || seen[i] == 0;
        ASSERT_EQ(seen[i], ended ? 0u : 10 * i + 1) << i;
        ASSERT_FALSE(ended && i < launches / 4) << i;
    }
    EXPECT_EQ(read_back(words_, 1)[0], 0u);
}

TEST_F(DispatcherRuntimes, WhatWasLaunchedBeforeUnloadRuns) {
    constexpr std::uint64_t launches = 100;
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    EXPECT_EQ(answer_of(runtime, InnerWork::count), 1u);
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    EXPECT_ACL_OK(aclrtValueWait(words_ + 4, 1, 1, other));
    for (std::uint64_t i = 0; i < launches; ++i)
        EXPECT_DONE(run(runtime, {InnerWork::add, words_ + 1, i}, i % 2 == 0 ? 1 : 3, other));
    EXPECT_DONE(dispatcher_.unload(runtime));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "unloaded", run(runtime, {InnerWork::add, words_, 1}));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "unloaded", dispatcher_.unload(runtime));
    EXPECT_ACL_OK(aclrtValueWrite(words_ + 4, 1, 0, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < launches; ++i) expected += (10 * i + 1) * (i % 2 == 0 ? 1 : 3);
    EXPECT_EQ(word(words_ + 1), expected);
    // The next request unloads the code.
    EXPECT_EQ(answer_of(loaded(CANOPY_TEST_INNER_1), InnerWork::count), 1u);
    ASSERT_ACL_OK(aclrtDestroyStream(other));
}

TEST_F(DispatcherRuntimes, ARuntimeThatIsLoadedAgainWhileItLeavesStays) {
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    EXPECT_ACL_OK(aclrtValueWait(words_ + 4, 1, 1, stream_));
    EXPECT_DONE(run(runtime, {InnerWork::add, words_ + 1, 1}));
    EXPECT_DONE(dispatcher_.unload(runtime));
    EXPECT_EQ(loaded(CANOPY_TEST_INNER_1), runtime);
    EXPECT_DONE(run(runtime, {InnerWork::add, words_ + 1, 1}));
    // Its pending runs keep it loaded again if it is unloaded before they begin.
    EXPECT_DONE(dispatcher_.unload(runtime));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "unloaded", run(runtime, {InnerWork::add, words_ + 1, 1}));
    const std::uint64_t one = 1;
    ASSERT_ACL_OK(aclrtMemcpy(words_ + 4, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT_EQ(word(words_ + 1), 22u);
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(runtime), dispatcher_.init(runtime));
}

TEST_F(DispatcherRuntimes, InitReachesItsRuntimeAndItsResultComesBack) {
    const std::uint64_t one = loaded(CANOPY_TEST_INNER_1), two = loaded(CANOPY_TEST_INNER_2);
    const std::uint64_t setting = 7, refused = 999;
    EXPECT_DONE(dispatcher_.init(one, &setting, sizeof setting));
    EXPECT_EQ(answer_of(one, InnerWork::settings), 701u);
    EXPECT_EQ(answer_of(two, InnerWork::settings), 0u);
    EXPECT_REFUSED(77, "returned 77", dispatcher_.init(two, &refused, sizeof refused));
    // If the init of a new image fails, nothing changes.
    EXPECT_REFUSED(77, "the old image stays", dispatcher_.swap(one, CANOPY_TEST_INNER_3, &refused, sizeof refused));
    EXPECT_EQ(answer_of(one, InnerWork::settings), 701u);
    EXPECT_DONE(dispatcher_.swap(one, CANOPY_TEST_INNER_3, &setting, sizeof setting));
    EXPECT_EQ(answer_of(one, InnerWork::settings), 703u);
}

TEST_F(DispatcherRuntimes, FailuresSayWhy) {
    std::uint64_t runtime = 1;
    EXPECT_REFUSED(ACL_ERROR_RT_PARAM_INVALID, "/none.so", dispatcher_.load("/none.so", runtime));
    EXPECT_EQ(runtime, 0u);
    EXPECT_REFUSED(CANOPY_DISPATCHER_BAD_IMAGE, "not an ELF file", dispatcher_.load("text", 4, runtime));
    std::string cut = bytes_of(CANOPY_TEST_INNER_1).substr(0, 4096);
    EXPECT_REFUSED(CANOPY_DISPATCHER_BAD_IMAGE, "cut off", dispatcher_.load(cut.data(), cut.size(), runtime));
    EXPECT_REFUSED(CANOPY_DISPATCHER_NO_ENTRY, "DynTileFwkBackendKernelServer",
                   dispatcher_.load(CANOPY_TEST_NO_INNER, runtime));
    EXPECT_REFUSED(CANOPY_DISPATCHER_BAD_ARGUMENT, "length", dispatcher_.load("", 0, runtime));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "12345", dispatcher_.init(12345));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, "12345", dispatcher_.swap(12345, CANOPY_TEST_INNER_1));
    canopy::Dispatcher closed;
    EXPECT_REFUSED(ACL_ERROR_RT_PARAM_INVALID, "not open", closed.load(CANOPY_TEST_INNER_1, runtime));
    EXPECT_REFUSED(ACL_ERROR_RT_PARAM_INVALID, "/none.so", closed.open("/none.so"));
}

TEST_F(DispatcherRuntimes, AFailingRunEndsAtSynchronisationAndTheNextOneWorks) {
    const std::uint64_t runtime = loaded(CANOPY_TEST_INNER_1);
    EXPECT_DONE(run(runtime, {InnerWork::fail, nullptr, 42}));
    EXPECT_ACL_FAILS(507018, "42", aclrtSynchronizeStream(stream_));
    EXPECT_EQ(answer_of(runtime, InnerWork::add, 1), 11u);
    EXPECT_DONE(run(runtime + CANOPY_DISPATCHER_MAX_RUNTIMES, {InnerWork::add, words_}, 2));
    EXPECT_ACL_FAILS(507018, "11021", aclrtSynchronizeStream(stream_));
    EXPECT_NE(dispatcher_.newest_text().find("is not loaded"), std::string::npos);
}

}  // namespace
}  // namespace conformance
