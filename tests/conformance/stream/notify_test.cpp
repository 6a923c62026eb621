// SPDX-License-Identifier: Apache-2.0
// Notifies, which release one wait per record, and counting notifies, which streams change and compare.
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "until.h"

namespace conformance {
namespace {

class Notify : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        ASSERT_ACL_OK(aclrtCreateStream(&other_));
        ASSERT_ACL_OK(aclrtCreateNotify(&notify_, 0));
        ASSERT_ACL_OK(aclrtCntNotifyCreate(&counting_, 0));
        counter_ = device_array<uint32_t>({0});
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtDestroyStream(other_));
        if (notify_) EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
        if (counting_) EXPECT_ACL_OK(aclrtCntNotifyDestroy(counting_));
        KernelTest::TearDown();
    }
    uint32_t count() { return read_back(counter_, 1)[0]; }
    aclError increment(aclrtStream stream) { return launch("increment", 1, stream, counter_); }
    bool held(aclrtStream stream) {
        return aclrtSynchronizeStreamWithTimeout(stream, 5) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
    }

    aclrtStream other_ = nullptr;
    aclrtNotify notify_ = nullptr;
    aclrtCntNotify counting_ = nullptr;
    uint32_t* counter_ = nullptr;
};

TEST_F(Notify, NullArgumentsAreRefused) {
    uint32_t id = 0;
    aclrtCntNotifyRecordInfo record = {};
    aclrtCntNotifyWaitInfo wait = {};
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notify", aclrtCreateNotify(nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notify", aclrtDestroyNotify(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notify", aclrtRecordNotify(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notify", aclrtWaitAndResetNotify(nullptr, stream_, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notify", aclrtGetNotifyId(nullptr, &id));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notifyId", aclrtGetNotifyId(notify_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notifies", aclrtNotifyBatchReset(nullptr, 1));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyCreate(nullptr, 0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyDestroy(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyRecord(nullptr, stream_, &record));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "info", aclrtCntNotifyRecord(counting_, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyWaitWithTimeout(nullptr, stream_, &wait));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "info", aclrtCntNotifyWaitWithTimeout(counting_, stream_, nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyReset(nullptr, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "cntNotify", aclrtCntNotifyGetId(nullptr, &id));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "notifyId", aclrtCntNotifyGetId(counting_, nullptr));
}

TEST_F(Notify, HandlesThatAreNoneAreRefused) {
    uint32_t id = 0;
    aclrtCntNotifyRecordInfo record = {};
    aclrtCntNotifyWaitInfo wait = {};
    aclrtNotify stale = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&stale, 0));
    ASSERT_ACL_OK(aclrtDestroyNotify(stale));
    const std::vector<HandleCall> plain_calls = {
        {"aclrtDestroyNotify", aclrtDestroyNotify},
        {"aclrtRecordNotify", [&](void* n) { return aclrtRecordNotify(n, stream_); }},
        {"aclrtWaitAndResetNotify", [&](void* n) { return aclrtWaitAndResetNotify(n, stream_, 0); }},
        {"aclrtGetNotifyId", [&](void* n) { return aclrtGetNotifyId(n, &id); }},
        {"aclrtNotifyBatchReset", [&](void* n) { return aclrtNotifyBatchReset(&n, 1); }},
    };
    // A counting notify is not a plain notify, and vice versa.
    expect_all_refuse(plain_calls, handles_that_are_none(stale, counting_), ACL_ERROR_RT_INVALID_HANDLE);
    ASSERT_ACL_OK(aclrtCntNotifyCreate(&stale, 0));
    ASSERT_ACL_OK(aclrtCntNotifyDestroy(stale));
    const std::vector<HandleCall> counting_calls = {
        {"aclrtCntNotifyDestroy", aclrtCntNotifyDestroy},
        {"aclrtCntNotifyRecord", [&](void* n) { return aclrtCntNotifyRecord(n, stream_, &record); }},
        {"aclrtCntNotifyWaitWithTimeout", [&](void* n) { return aclrtCntNotifyWaitWithTimeout(n, stream_, &wait); }},
        {"aclrtCntNotifyReset", [&](void* n) { return aclrtCntNotifyReset(n, stream_); }},
        {"aclrtCntNotifyGetId", [&](void* n) { return aclrtCntNotifyGetId(n, &id); }},
    };
    expect_all_refuse(counting_calls, handles_that_are_none(stale, notify_), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Notify, NumbersOutOfRangeAreRefused) {
    aclrtNotify notify = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtCreateNotify(&notify, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "flag", aclrtCntNotifyCreate(&notify, 2));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "num", aclrtNotifyBatchReset(&notify_, 0));
    aclrtCntNotifyRecordInfo record = {};
    record.mode = static_cast<aclrtCntNotifyRecordMode>(3);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode", aclrtCntNotifyRecord(counting_, stream_, &record));
    aclrtCntNotifyWaitInfo wait = {};
    wait.mode = static_cast<aclrtCntNotifyWaitMode>(9);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "mode", aclrtCntNotifyWaitWithTimeout(counting_, stream_, &wait));
}

TEST_F(Notify, DeviceHas8192) {
    std::vector<aclrtNotify> notifies(8192 - 2);
    for (aclrtNotify& notify : notifies) ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
    aclrtNotify more = nullptr;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "8192", aclrtCreateNotify(&more, 0));
    EXPECT_EQ(aclrtCntNotifyCreate(&more, 0), ACL_ERROR_RT_NO_NOTIFY_RESOURCE);
    ASSERT_ACL_OK(aclrtDestroyNotify(notifies.back()));
    ASSERT_ACL_OK(aclrtCreateNotify(&notifies.back(), 1));
    for (aclrtNotify notify : notifies) ASSERT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(Notify, OneRecordReleasesOneWait) {
    if (!device_computes()) GTEST_SKIP();
    aclrtEvent passed[3] = {};
    for (aclrtEvent& event : passed) {
        ASSERT_ACL_OK(aclrtCreateEvent(&event));
        ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
        ASSERT_ACL_OK(increment(other_));
        ASSERT_ACL_OK(aclrtRecordEvent(event, other_));
    }
    EXPECT_TRUE(held(other_));
    for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(count(), i);
        ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
        // A second record before the wait consumes the first would be merged into it.
        ASSERT_ACL_OK(aclrtSynchronizeEvent(passed[i]));
        if (i < 2) EXPECT_TRUE(held(other_));
    }
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 3u);
    for (aclrtEvent event : passed) EXPECT_ACL_OK(aclrtDestroyEvent(event));
}

TEST_F(Notify, RecordBeforeTheWaitIsKeptOnce) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));  // a notify is either set or not; it does not count
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    EXPECT_TRUE(held(other_));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(Notify, OneRecordReleasesOneOfManyStreams) {
    if (!device_computes()) GTEST_SKIP();
    aclrtStream third = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&third));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, third, 0));
    EXPECT_TRUE(held(other_) && held(third));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_TRUE(eventually([&] { return !stands_still(other_) || !stands_still(third); }));
    EXPECT_TRUE(held(stands_still(other_) ? other_ : third));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_ACL_OK(aclrtDestroyStream(third));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(Notify, WaitThatTakesTooLongIsReported) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 1));
    ASSERT_ACL_OK(increment(other_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_WAIT_TIMEOUT, "in time", aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
}

TEST_F(Notify, BatchResetTakesRecordsBack) {
    if (!device_computes()) GTEST_SKIP();
    aclrtNotify second = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&second, 0));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    ASSERT_ACL_OK(aclrtRecordNotify(second, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    aclrtNotify both[] = {notify_, second};
    ASSERT_ACL_OK(aclrtNotifyBatchReset(both, 2));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(second, other_, 0));
    EXPECT_TRUE(held(other_));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_TRUE(held(other_));
    ASSERT_ACL_OK(aclrtRecordNotify(second, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    // One invalid handle leaves all the others unchanged.
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    aclrtNotify broken[] = {notify_, counting_};
    EXPECT_EQ(aclrtNotifyBatchReset(broken, 2), ACL_ERROR_RT_INVALID_HANDLE);
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_ACL_OK(aclrtDestroyNotify(second));
}

TEST_F(Notify, WorksBetweenDevices) {
    auto* log = device_array(std::vector<uint32_t>(4, 0));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
    ASSERT_ACL_OK(launch("append", 1, stream_, log, 1u));
    std::thread([&] {
        EXPECT_ACL_OK(aclrtSetDevice(1));
        aclrtStream stream = nullptr;
        EXPECT_ACL_OK(aclrtCreateStream(&stream));
        EXPECT_ACL_OK(aclrtRecordNotify(notify_, stream));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
        EXPECT_ACL_OK(aclrtResetDevice(1));
    }).join();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(log, 1)[0], 1u);
}

TEST_F(Notify, MayBeDestroyedWhileStreamsWait) {
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, other_, 0));
    ASSERT_ACL_OK(aclrtRecordNotify(notify_, stream_));
    EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
    notify_ = nullptr;
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
}

TEST_F(Notify, WaitNobodyEndsGoesWithItsStream) {
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream, 0));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
}

TEST_F(Notify, IdsOfLiveOnesDiffer) {
    aclrtNotify second = nullptr;
    ASSERT_ACL_OK(aclrtCreateNotify(&second, 0));
    uint32_t a = 0, b = 0, c = 0;
    EXPECT_ACL_OK(aclrtGetNotifyId(notify_, &a));
    EXPECT_ACL_OK(aclrtGetNotifyId(second, &b));
    EXPECT_ACL_OK(aclrtCntNotifyGetId(counting_, &c));
    EXPECT_NE(a, b);
    EXPECT_ACL_OK(aclrtDestroyNotify(second));
}

// ---- counting ------------------------------------------------------------------------------------------------------

class CountingNotify : public Notify {
protected:
    void record(aclrtCntNotifyRecordMode mode, uint32_t value) {
        aclrtCntNotifyRecordInfo info = {};
        info.mode = mode;
        info.value = value;
        ASSERT_ACL_OK(aclrtCntNotifyRecord(counting_, stream_, &info));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    void wait(aclrtCntNotifyWaitMode mode, uint32_t value, bool clear = false, uint32_t timeout = 0) {
        aclrtCntNotifyWaitInfo info = {};
        info.mode = mode;
        info.value = value;
        info.isClear = clear;
        info.timeout = timeout;
        ASSERT_ACL_OK(aclrtCntNotifyWaitWithTimeout(counting_, other_, &info));
    }
    void expect_value(uint32_t value) {
        wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, value);
        EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(other_, 100000), ACL_SUCCESS) << "the value is not " << value;
    }
};

TEST_F(CountingNotify, RecordModesSetAddOrAndAnd) {
    if (!device_computes()) GTEST_SKIP();
    expect_value(0);
    record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 12);
    expect_value(12);
    record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 5);
    expect_value(17);
    record(ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 0x46);
    expect_value(0x57);
    record(ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 0x0F);
    expect_value(7);
    record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, UINT32_MAX);  // the counter is 32 bits wide
    expect_value(6);
    ASSERT_ACL_OK(aclrtCntNotifyReset(counting_, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    expect_value(0);
}

TEST_F(CountingNotify, WaitModesCompare) {
    if (!device_computes()) GTEST_SKIP();
    struct Case {
        aclrtCntNotifyWaitMode mode;
        uint32_t wanted, holds_at, passes_at;
    };
    const Case cases[] = {
        {ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 10, 10, 9},
        {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 10, 11, 10},
        {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 10, 10, 11},
        {ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 10, 9, 10},
        {ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 0x6, 0x5, 0xE},
    };
    for (const Case& one : cases) {
        record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, one.holds_at);
        wait(one.mode, one.wanted);
        EXPECT_TRUE(held(other_)) << "mode " << one.mode;
        record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, one.passes_at);
        EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
        wait(one.mode, one.wanted);  // again, without any change
        EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    }
}

TEST_F(CountingNotify, WaitClearsOnlyWhenAsked) {
    if (!device_computes()) GTEST_SKIP();
    record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 4);
    wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 4, false);
    expect_value(4);
    wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 4, true);
    expect_value(0);
}

TEST_F(CountingNotify, WaitThatTakesTooLongIsReported) {
    if (!device_computes()) GTEST_SKIP();
    wait(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 1, false, 1);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_WAIT_TIMEOUT);
}

TEST_F(CountingNotify, CountsRecordsOfManyStreams) {
    if (!device_computes()) GTEST_SKIP();
    wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 800);
    ASSERT_ACL_OK(increment(other_));
    aclrtContext context = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&context));
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            EXPECT_ACL_OK(aclrtSetCurrentContext(context));
            aclrtStream stream = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&stream));
            aclrtCntNotifyRecordInfo info = {};
            info.mode = ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE;
            info.value = 1;
            for (int i = 0; i < 100; ++i) EXPECT_EQ(aclrtCntNotifyRecord(counting_, stream, &info), ACL_SUCCESS);
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_ACL_OK(aclrtSynchronizeStream(other_));
    EXPECT_EQ(count(), 1u);
    expect_value(800);
}

}  // namespace
}  // namespace conformance
