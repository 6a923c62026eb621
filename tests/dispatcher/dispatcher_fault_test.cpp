// SPDX-License-Identifier: Apache-2.0
// Inner runtimes that crash or never end, in threads of the program or in a separate process (selected by the
// environment), and dispatchers of several devices.
#include <cstdlib>
#include <memory>

#include "dispatcher_fixture.h"

namespace conformance {
namespace {

// True if CPU kernels run in a separate process, which ends when a kernel crashes.
bool isolated() {
    const char* where = std::getenv("CANOPY_CPU_KERNELS");
    return where && std::string(where) == "process";
}

class DispatcherFaults : public DispatcherTest {
protected:
    void SetUp() override {
        DispatcherTest::SetUp();
        if (IsSkipped()) return;
        one_ = loaded(CANOPY_TEST_INNER_1);
        two_ = loaded(CANOPY_TEST_INNER_2);
        const std::uint64_t setting = 7;
        EXPECT_DONE(dispatcher_.init(one_, &setting, sizeof setting));
        EXPECT_EQ(answer_of(one_, InnerWork::count), 1u);
        EXPECT_EQ(answer_of(two_, InnerWork::count), 1u);
    }
    // Expects the run to end as requested, with this code at the synchronisation.
    void expect_end(int code, InnerWork::Kind kind, std::uint32_t blocks) {
        aclrtLaunchKernelAttr attribute = {};
        attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
        attribute.value.timeoutUs.timeoutLow = kind == InnerWork::stay ? 50000 : 60000000;
        aclrtLaunchKernelCfg config = {&attribute, 1};
        write_word(words_ + 1, 0);
        const InnerWork work = {kind, words_ + 1};
        EXPECT_DONE(dispatcher_.run(stream_, one_, blocks, &work, sizeof work, &config));
        EXPECT_EQ(aclrtSynchronizeStream(stream_), code) << recent_error();
    }
    // Both runtimes work, whether still loaded or loaded again, and calls that were stopped block nobody.
    void expect_usable() {
        EXPECT_EQ(answer_of(one_, InnerWork::settings), 701u) << "the runtime has lost what init gave it";
        EXPECT_EQ(answer_of(two_, InnerWork::add, 3), 32u);
        EXPECT_EQ(answer_of(two_, InnerWork::count), isolated() ? 1u : ++counted_);
        EXPECT_EQ(answer_of(one_, InnerWork::add, 3), 31u);
    }

    std::uint64_t one_ = 0, two_ = 0;
    std::uint64_t counted_ = 1;
};

TEST_F(DispatcherFaults, ARunThatCrashesOrNeverEndsLetsTheNextOneWork) {
    for (const std::uint32_t blocks : {1u, 4u}) {
        expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, blocks);
        expect_usable();
        expect_end(ACL_ERROR_RT_AICPU_TIMEOUT, InnerWork::stay, blocks);
        expect_usable();
    }
}

TEST_F(DispatcherFaults, SwapAndUnloadDoNotWaitForRunsThatWereEnded) {
    for (const std::uint32_t blocks : {1u, 4u}) {
        expect_end(ACL_ERROR_RT_AICPU_TIMEOUT, InnerWork::stay, blocks);
        EXPECT_DONE(dispatcher_.swap(one_, CANOPY_TEST_INNER_3));
        EXPECT_EQ(answer_of(one_, InnerWork::add), 3u);
        expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, blocks);
        EXPECT_DONE(dispatcher_.swap(one_, CANOPY_TEST_INNER_1));
        EXPECT_EQ(answer_of(one_, InnerWork::add), 1u);
    }
    expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, 4);
    EXPECT_DONE(dispatcher_.unload(one_));
    EXPECT_EQ(answer_of(two_, InnerWork::add, 1), 12u);
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(one_), dispatcher_.unload(one_));
}

TEST_F(DispatcherFaults, AStreamThatIsAbortedGivesItsRuntimeBack) {
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    EXPECT_DONE(run(one_, {InnerWork::hold, words_ + 4, 0, words_ + 8}, 1, other));
    wait_for_word(words_ + 4);
    EXPECT_ACL_OK(aclrtStreamAbort(other));
    EXPECT_DONE(dispatcher_.swap(one_, CANOPY_TEST_INNER_3));
    EXPECT_EQ(answer_of(one_, InnerWork::add), 3u);
    EXPECT_ACL_OK(aclrtDestroyStreamForce(other));
}

TEST_F(DispatcherFaults, WhatWasLoadedTwiceIsUnloadedTwiceAlsoBehindACrash) {
    EXPECT_EQ(loaded(CANOPY_TEST_INNER_1), one_);
    expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, 1);
    EXPECT_DONE(dispatcher_.unload(one_));
    EXPECT_EQ(answer_of(one_, InnerWork::add, 1), 11u);
    EXPECT_DONE(dispatcher_.unload(one_));
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(one_), dispatcher_.unload(one_));
    // Ids that programs may still hold are not reused.
    const std::uint64_t three = loaded(CANOPY_TEST_INNER_3);
    EXPECT_NE(three, one_);
    EXPECT_NE(three, two_);
    EXPECT_EQ(answer_of(two_, InnerWork::add, 1), 12u);
    EXPECT_EQ(answer_of(three, InnerWork::add, 1), 13u);
}

TEST_F(DispatcherFaults, ARuntimeThatIsLoadedAgainBehindACrashIsTheSameOne) {
    expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, 1);
    EXPECT_EQ(loaded(CANOPY_TEST_INNER_1), one_);
    EXPECT_EQ(answer_of(one_, InnerWork::settings), 701u);
    EXPECT_DONE(dispatcher_.unload(one_));
    EXPECT_EQ(answer_of(one_, InnerWork::add, 1), 11u);
    expect_end(ACL_ERROR_RT_AICPU_EXCEPTION, InnerWork::crash, 1);
    EXPECT_DONE(dispatcher_.unload(one_));
    const std::uint64_t again = loaded(CANOPY_TEST_INNER_1);
    EXPECT_NE(again, one_);
    EXPECT_EQ(answer_of(again, InnerWork::settings), 0u) << "nothing is left of the one before";
    EXPECT_REFUSED(CANOPY_DISPATCHER_UNKNOWN_RUNTIME, std::to_string(one_), dispatcher_.init(one_));
}

// ---- several devices -----------------------------------------------------------------------------------------------

class DispatcherRuntimesOfDevices : public DeviceTest {
protected:
    struct Place {
        std::uint64_t times;
        aclrtContext context = nullptr;
        aclrtStream stream = nullptr;
        std::uint64_t* word = nullptr;
        std::uint64_t runtime = 0;
        canopy::Dispatcher dispatcher;
    };

    void SetUp() override {
        DeviceTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
        aclrtContext home = nullptr;
        EXPECT_ACL_OK(aclrtGetCurrentContext(&home));
        for (std::int32_t device : {1, 0}) {
            Place& place = places_[device];
            EXPECT_ACL_OK(device == 0 ? aclrtSetCurrentContext(home) : aclrtSetDevice(device));
            EXPECT_ACL_OK(aclrtGetCurrentContext(&place.context));
            EXPECT_ACL_OK(aclrtCreateStream(&place.stream));
            EXPECT_ACL_OK(aclrtMalloc(reinterpret_cast<void**>(&place.word), 64, ACL_MEM_MALLOC_HUGE_FIRST));
            EXPECT_DONE(place.dispatcher.open());
            EXPECT_DONE(place.dispatcher.load(CANOPY_TEST_INNER_1, place.runtime));
        }
    }
    void TearDown() override {
        for (std::int32_t device : {1, 0}) {
            Place& place = places_[device];
            if (!place.stream) continue;
            EXPECT_ACL_OK(aclrtSetCurrentContext(place.context));
            EXPECT_DONE(place.dispatcher.close());
            EXPECT_ACL_OK(aclrtFree(place.word));
            EXPECT_ACL_OK(aclrtDestroyStream(place.stream));
            if (device != 0) EXPECT_ACL_OK(aclrtResetDevice(device));
        }
        DeviceTest::TearDown();
    }
    static std::uint64_t counted(Place& place) {
        std::uint64_t word = 0;
        EXPECT_ACL_OK(aclrtSetCurrentContext(place.context));
        EXPECT_ACL_OK(aclrtSynchronizeStream(place.stream));
        EXPECT_ACL_OK(aclrtMemcpy(&word, 8, place.word, 8, ACL_MEMCPY_DEVICE_TO_HOST));
        return word;
    }

    Place places_[2] = {{1}, {3}};
};

TEST_F(DispatcherRuntimesOfDevices, EachDeviceHasItsOwn) {
    for (std::uint64_t round = 1; round <= 50; ++round) {
        for (Place& place : places_) {
            EXPECT_ACL_OK(aclrtSetCurrentContext(place.context));
            for (std::uint64_t times = 0; times < place.times; ++times) {
                const InnerWork count{InnerWork::count, place.word};
                EXPECT_DONE(place.dispatcher.run(place.stream, place.runtime, 1, &count, sizeof count));
            }
        }
        for (Place& place : places_) EXPECT_EQ(counted(place), round * place.times);
    }
    EXPECT_ACL_OK(aclrtSetCurrentContext(places_[0].context));
    EXPECT_DONE(places_[0].dispatcher.swap(places_[0].runtime, CANOPY_TEST_INNER_2));
    EXPECT_EQ(counted(places_[1]), 50 * places_[1].times);
}

}  // namespace
}  // namespace conformance
