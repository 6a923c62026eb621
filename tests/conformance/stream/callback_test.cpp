// SPDX-License-Identifier: Apache-2.0
// Host functions on threads of the runtime and of the program, callbacks with report threads, exception callbacks.
#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "fixtures/fixture.h"
#include "fixtures/holding.h"
#include "until.h"

// The single exception callback is deprecated but still tested.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace conformance {
namespace {

uint64_t number_of(pthread_t thread) { return static_cast<uint64_t>(thread); }

// A thread of the program that loops in aclrtProcessReport or aclrtProcessHostFunc until told to stop.
class ReportThread {
public:
    explicit ReportThread(aclError (*process)(int32_t)) : process_(process) {
        thread_ = std::thread([this] {
            started_.store(true);
            while (!end_.load()) {
                const aclError code = process_(10);
                if (code != ACL_SUCCESS && code != ACL_ERROR_RT_REPORT_TIMEOUT && code != ACL_ERROR_RT_THREAD_SUBSCRIBE)
                    ADD_FAILURE() << "processing gave " << code;
            }
        });
        number_ = number_of(thread_.native_handle());
        EXPECT_TRUE(eventually([this] { return started_.load(); }));
    }
    ~ReportThread() { stop(); }
    void stop() {
        end_.store(true);
        if (thread_.joinable()) thread_.join();
    }
    uint64_t number() const { return number_; }  // valid after the thread has ended too

private:
    aclError (*process_)(int32_t);
    std::atomic<bool> started_{false}, end_{false};
    uint64_t number_ = 0;
    std::thread thread_;
};

struct Call {
    std::atomic<int> count{0};
    std::atomic<uint64_t> thread{0};
    static void run(void* argument) {
        auto* call = static_cast<Call*>(argument);
        call->thread.store(number_of(pthread_self()));
        call->count.fetch_add(1);
    }
};

// Blocks the thread that runs it until the test releases it.
class BlockingCall {
public:
    static void run(void* argument) {
        auto* call = static_cast<BlockingCall*>(argument);
        call->entered.store(true);
        EXPECT_TRUE(eventually([&] { return call->go.load(); }));
        call->left.store(true);
    }
    void wait_until_entered() const {
        EXPECT_TRUE(eventually([this] { return entered.load(); }));
    }
    std::atomic<bool> entered{false}, go{false}, left{false};
};

// ---- host functions ------------------------------------------------------------------------------------------------

class HostFunction : public KernelTest {};

TEST_F(HostFunction, RunsInOrderOnAThreadOfTheRuntime) {
    auto* counter = device_array<uint32_t>({0});
    Call call;
    for (int i = 0; i < 50; ++i) {
        ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
        ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &call));
    }
    ASSERT_ACL_OK(aclrtLaunchHostFunc(nullptr, &Call::run, &call));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(nullptr));
    EXPECT_EQ(call.count.load(), 51);
    if (device_computes()) {
        EXPECT_NE(call.thread.load(), number_of(pthread_self()));
        EXPECT_EQ(read_back(counter, 1)[0], 50u);
    }
}

TEST_F(HostFunction, HoldsLaterWorkOfItsStreamAndNoOther) {
    if (!device_computes()) GTEST_SKIP();
    auto* counter = device_array<uint32_t>({0});
    aclrtStream other = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&other));
    BlockingCall call;
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &BlockingCall::run, &call));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    call.wait_until_entered();
    EXPECT_TRUE(stands_still(stream_));
    Call quick;
    ASSERT_ACL_OK(aclrtLaunchHostFunc(other, &Call::run, &quick));
    EXPECT_ACL_OK(aclrtSynchronizeStream(other));
    EXPECT_EQ(quick.count.load(), 1);
    EXPECT_EQ(read_back(counter, 1)[0], 0u);
    call.go.store(true);
    EXPECT_ACL_OK(aclrtDestroyStream(other));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 1u);
}

TEST_F(HostFunction, ManyThatBlockAtOnceAllRun) {
    if (!device_computes()) GTEST_SKIP();
    // Each call waits for all the others, so as many threads as calls are needed.
    struct Meeting {
        std::mutex mutex;
        std::condition_variable news;
        int present = 0;
        static void run(void* argument) {
            auto* meeting = static_cast<Meeting*>(argument);
            std::unique_lock lock(meeting->mutex);
            ++meeting->present;
            meeting->news.notify_all();
            meeting->news.wait(lock, [&] { return meeting->present == 12; });
        }
    } meeting;
    std::vector<aclrtStream> streams(12);
    for (aclrtStream& stream : streams) {
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        ASSERT_ACL_OK(aclrtLaunchHostFunc(stream, &Meeting::run, &meeting));
    }
    for (aclrtStream stream : streams) EXPECT_ACL_OK(aclrtDestroyStream(stream));
    EXPECT_EQ(meeting.present, 12);
}

TEST_F(HostFunction, NullFunctionIsRefused) {
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "fn", aclrtLaunchHostFunc(stream_, nullptr, nullptr));
}

TEST_F(HostFunction, BeforeAClosedGateIsNotRunWhenItsStreamIsAborted) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    Call call;
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &call));
    ASSERT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_EQ(call.count.load(), 0);
}

TEST_F(HostFunction, RunsOnTheThreadOfTheProgramThatSubscribed) {
    ReportThread thread(&aclrtProcessHostFunc);
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(thread.number(), stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SUBSCRIBE, "already", aclrtSubscribeHostFunc(thread.number(), stream_));
    Call call;
    for (int i = 0; i < 20; ++i) ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &call));
    if (device_computes()) {
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_EQ(call.count.load(), 20);
        EXPECT_EQ(call.thread.load(), thread.number());
    }
    EXPECT_TRUE(eventually([&] { return call.count.load() == 20; }));
    thread.stop();
    EXPECT_ACL_OK(aclrtUnSubscribeHostFunc(thread.number(), stream_));  // after the thread has ended
    EXPECT_EQ(aclrtUnSubscribeHostFunc(thread.number(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &call));  // runs on the runtime's threads again
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(call.count.load(), 21);
}

TEST_F(HostFunction, NobodyRunsIsGivenUpWithTheSubscription) {
    if (!device_computes()) GTEST_SKIP();
    Call call;
    auto* counter = device_array<uint32_t>({0});
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(4711, stream_));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &call));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_ACL_OK(aclrtUnSubscribeHostFunc(4711, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(call.count.load(), 0);
    EXPECT_EQ(read_back(counter, 1)[0], 1u);
}

TEST_F(HostFunction, NotReachedBeforeTheSubscriptionEndsIsGivenUpToo) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    Call given_up, later;
    ReportThread thread(&aclrtProcessHostFunc);
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(4713, stream_));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &given_up));
    ASSERT_ACL_OK(aclrtUnSubscribeHostFunc(4713, stream_));
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(thread.number(), stream_));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &later));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(given_up.count.load(), 0);
    EXPECT_EQ(later.count.load(), 1);
    EXPECT_EQ(later.thread.load(), thread.number());
    EXPECT_ACL_OK(aclrtUnSubscribeHostFunc(thread.number(), stream_));
    gate.close();
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(4713, stream_));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &given_up));
    ASSERT_ACL_OK(aclrtUnSubscribeHostFunc(4713, stream_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(given_up.count.load(), 0);
}

TEST_F(HostFunction, NobodyRunsDoesNotKeepItsStreamFromBeingDestroyed) {
    Call call;
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(4712, stream));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream, &Call::run, &call));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    EXPECT_EQ(call.count.load(), 0);
}

// ---- callbacks -----------------------------------------------------------------------------------------------------

class Callback : public KernelTest {};

TEST_F(Callback, ArgumentsAreChecked) {
    Call call;
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "fn", aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "blockType",
                     aclrtLaunchCallback(&Call::run, &call, static_cast<aclrtCallbackBlockType>(2), stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "timeout", aclrtProcessReport(0));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "timeout", aclrtProcessReport(-2));
    EXPECT_ACL_FAILS(ACL_ERROR_INVALID_PARAM, "timeout", aclrtProcessHostFunc(0));
}

TEST_F(Callback, NeedsASubscription) {
    Call call;
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_NO_CB_REG, "SubscribeReport",
                     aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_THREAD_SUBSCRIBE, "thread", aclrtProcessReport(1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_THREAD_SUBSCRIBE, "thread", aclrtProcessHostFunc(1));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SUBSCRIBE, "not subscribed", aclrtUnSubscribeReport(1, stream_));
    ASSERT_ACL_OK(aclrtSubscribeReport(1, stream_));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_STREAM_SUBSCRIBE, "already", aclrtSubscribeReport(2, stream_));
    EXPECT_EQ(aclrtUnSubscribeReport(2, stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
    EXPECT_ACL_OK(aclrtUnSubscribeReport(1, stream_));
    EXPECT_EQ(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_NO_BLOCK, stream_), ACL_ERROR_RT_STREAM_NO_CB_REG);
    EXPECT_EQ(call.count.load(), 0);
}

TEST_F(Callback, RunsOnTheSubscribedThreadInOrder) {
    ReportThread thread(&aclrtProcessReport);
    ASSERT_ACL_OK(aclrtSubscribeReport(thread.number(), stream_));
    static std::vector<int> order;
    order.clear();
    struct Step {
        int number;
        static void run(void* argument) { order.push_back(static_cast<Step*>(argument)->number); }
    };
    std::vector<Step> steps(40);
    for (int i = 0; i < 40; ++i) {
        steps[static_cast<size_t>(i)].number = i;
        ASSERT_ACL_OK(aclrtLaunchCallback(&Step::run, &steps[static_cast<size_t>(i)],
                                          i % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, stream_));
    }
    Call last;
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &last, ACL_CALLBACK_BLOCK, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_TRUE(eventually([&] { return last.count.load() != 0; }));
    EXPECT_EQ(last.thread.load(), thread.number());
    ASSERT_EQ(order.size(), 40u);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(order[static_cast<size_t>(i)], i);
    thread.stop();
    EXPECT_ACL_OK(aclrtUnSubscribeReport(thread.number(), stream_));
}

TEST_F(Callback, OnlyTheBlockingKindHoldsTheStream) {
    if (!device_computes()) GTEST_SKIP();
    ReportThread thread(&aclrtProcessReport);
    ASSERT_ACL_OK(aclrtSubscribeReport(thread.number(), stream_));
    auto* counter = device_array<uint32_t>({0});
    BlockingCall free_running, holding;
    ASSERT_ACL_OK(aclrtLaunchCallback(&BlockingCall::run, &free_running, ACL_CALLBACK_NO_BLOCK, stream_));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 1u);
    EXPECT_FALSE(free_running.left.load());
    free_running.go.store(true);
    ASSERT_ACL_OK(aclrtLaunchCallback(&BlockingCall::run, &holding, ACL_CALLBACK_BLOCK, stream_));
    ASSERT_ACL_OK(launch("increment", 1, stream_, counter));
    holding.wait_until_entered();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(read_back(counter, 1)[0], 1u);
    holding.go.store(true);
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(read_back(counter, 1)[0], 2u);
    thread.stop();
    EXPECT_ACL_OK(aclrtUnSubscribeReport(thread.number(), stream_));
}

// On an idle stream the callback may finish before its launch has queued the command that blocks the stream.
TEST_F(Callback, BlockingOneMayBeOverBeforeItsLaunchReturns) {
    constexpr int rounds = 1000;
    const auto limit = static_cast<int32_t>(std::chrono::milliseconds(patience).count());
    ReportThread thread(&aclrtProcessReport);
    ASSERT_ACL_OK(aclrtSubscribeReport(thread.number(), stream_));
    auto* counter = device_array<uint32_t>({0});
    Call call;
    for (int i = 1; i <= rounds; ++i) {
        ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream_));
        ASSERT_TRUE(eventually([&] { return call.count.load() == i; })) << i;
        if (i % 100 == 0) ASSERT_ACL_OK(launch("increment", 1, stream_, counter));  // must be released too
    }
    ASSERT_ACL_OK(aclrtSynchronizeStreamWithTimeout(stream_, limit));
    EXPECT_EQ(call.count.load(), rounds);
    EXPECT_EQ(call.thread.load(), thread.number());
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], rounds / 100u);
    thread.stop();
    EXPECT_ACL_OK(aclrtUnSubscribeReport(thread.number(), stream_));
}

TEST_F(Callback, OneThreadServesManyStreams) {
    ReportThread thread(&aclrtProcessReport);
    std::vector<aclrtStream> streams(8);
    Call call;
    for (aclrtStream& stream : streams) {
        ASSERT_ACL_OK(aclrtCreateStream(&stream));
        ASSERT_ACL_OK(aclrtSubscribeReport(thread.number(), stream));
        ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream));
    }
    for (aclrtStream stream : streams) {
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream));
        if (!device_computes()) EXPECT_TRUE(eventually([&] { return call.count.load() == 8; }));
        EXPECT_ACL_OK(aclrtUnSubscribeReport(thread.number(), stream));
        EXPECT_ACL_OK(aclrtDestroyStream(stream));
    }
    EXPECT_EQ(call.count.load(), 8);
}

TEST_F(Callback, ProcessingTimesOutWithoutAny) {
    std::thread([&] {
        ASSERT_ACL_OK(aclrtSetDevice(0));
        ASSERT_ACL_OK(aclrtSubscribeReport(number_of(pthread_self()), stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_REPORT_TIMEOUT, "ms", aclrtProcessReport(2));
        Call call;
        ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream_));
        EXPECT_ACL_OK(aclrtProcessReport(-1));
        EXPECT_EQ(call.count.load(), 1);
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        EXPECT_ACL_OK(aclrtUnSubscribeReport(number_of(pthread_self()), stream_));
    }).join();
}

TEST_F(Callback, ThreadThatWaitsForEverEndsWithItsLastSubscription) {
    std::atomic<int> code{-1};
    std::atomic<uint64_t> number{0};
    std::atomic<bool> subscribed{false};
    std::thread thread([&] {
        number.store(number_of(pthread_self()));
        EXPECT_TRUE(eventually([&] { return subscribed.load(); }));
        code.store(aclrtProcessReport(-1));
    });
    EXPECT_TRUE(eventually([&] { return number.load() != 0; }));
    ASSERT_ACL_OK(aclrtSubscribeReport(number.load(), stream_));
    subscribed.store(true);
    ASSERT_ACL_OK(aclrtUnSubscribeReport(number.load(), stream_));
    thread.join();
    EXPECT_EQ(code.load(), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(Callback, NobodyRunsIsGivenUpWithTheSubscriptionOrTheStream) {
    if (!device_computes()) GTEST_SKIP();
    Call call;
    ASSERT_ACL_OK(aclrtSubscribeReport(77, stream_));
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream_));
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_ACL_OK(aclrtUnSubscribeReport(77, stream_));
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    aclrtStream stream = nullptr;
    ASSERT_ACL_OK(aclrtCreateStream(&stream));
    ASSERT_ACL_OK(aclrtSubscribeReport(77, stream));
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &call, ACL_CALLBACK_BLOCK, stream));
    EXPECT_ACL_OK(aclrtDestroyStreamForce(stream));
    EXPECT_EQ(call.count.load(), 0);
}

TEST_F(Callback, NotReachedBeforeTheSubscriptionEndsIsGivenUpToo) {
    if (!device_computes()) GTEST_SKIP();
    Gate gate;
    Call given_up, later;
    ReportThread thread(&aclrtProcessReport);
    gate.hold(stream_);
    ASSERT_ACL_OK(aclrtSubscribeReport(78, stream_));
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &given_up, ACL_CALLBACK_BLOCK, stream_));
    ASSERT_ACL_OK(aclrtUnSubscribeReport(78, stream_));
    ASSERT_ACL_OK(aclrtSubscribeReport(thread.number(), stream_));
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &later, ACL_CALLBACK_BLOCK, stream_));
    gate.open();
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(given_up.count.load(), 0);
    EXPECT_EQ(later.count.load(), 1);
    EXPECT_ACL_OK(aclrtUnSubscribeReport(thread.number(), stream_));
}

TEST_F(Callback, BothFamiliesServeOneStream) {
    ReportThread reports(&aclrtProcessReport), functions(&aclrtProcessHostFunc);
    ASSERT_ACL_OK(aclrtSubscribeReport(reports.number(), stream_));
    ASSERT_ACL_OK(aclrtSubscribeHostFunc(functions.number(), stream_));
    Call report, function;
    ASSERT_ACL_OK(aclrtLaunchCallback(&Call::run, &report, ACL_CALLBACK_BLOCK, stream_));
    ASSERT_ACL_OK(aclrtLaunchHostFunc(stream_, &Call::run, &function));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_TRUE(eventually([&] { return report.count.load() != 0 && function.count.load() != 0; }));
    EXPECT_EQ(report.thread.load(), reports.number());
    EXPECT_EQ(function.thread.load(), functions.number());
    EXPECT_ACL_OK(aclrtUnSubscribeHostFunc(functions.number(), stream_));
    EXPECT_ACL_OK(aclrtUnSubscribeReport(reports.number(), stream_));
}

TEST_F(Callback, AtMost1024ThreadsSubscribe) {
    // Only subscribed threads count. These numbers belong to no thread and are used only by this test.
    std::vector<uint64_t> numbers;
    aclError code = ACL_SUCCESS;
    for (uint64_t number = 1; number <= 1100 && code == ACL_SUCCESS; ++number) {
        code = aclrtSubscribeReport((uint64_t{1} << 60) + number, stream_);
        if (code == ACL_SUCCESS) {
            numbers.push_back(number);
            ASSERT_ACL_OK(aclrtUnSubscribeReport((uint64_t{1} << 60) + number, stream_));
        }
    }
    EXPECT_EQ(code, ACL_SUCCESS) << "a thread that has unsubscribed still counts";
    std::vector<aclrtStream> streams(1025);
    for (aclrtStream& stream : streams) ASSERT_ACL_OK(aclrtCreateStream(&stream));
    for (size_t i = 0; i < 1024; ++i) ASSERT_ACL_OK(aclrtSubscribeReport((uint64_t{1} << 61) + i, streams[i]));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_THREAD_SUBSCRIBE, "1024", aclrtSubscribeReport(uint64_t{1} << 62, streams.back()));
    for (aclrtStream stream : streams) ASSERT_ACL_OK(aclrtDestroyStream(stream));
    ASSERT_ACL_OK(aclrtSubscribeReport(uint64_t{1} << 62, stream_));
}

// ---- exceptions ----------------------------------------------------------------------------------------------------

struct Seen {
    int count = 0;
    uint32_t task = 0, stream = 0, thread = 0, device = 99, code = 0;
    aclrtFuncHandle function = nullptr;
    std::vector<uint64_t> arguments;
};
std::mutex seen_mutex;
Seen seen, seen_again;

void note(Seen& into, aclrtExceptionInfo* info) {
    std::lock_guard guard(seen_mutex);
    ++into.count;
    into.task = aclrtGetTaskIdFromExceptionInfo(info);
    into.stream = aclrtGetStreamIdFromExceptionInfo(info);
    into.thread = aclrtGetThreadIdFromExceptionInfo(info);
    into.device = aclrtGetDeviceIdFromExceptionInfo(info);
    into.code = aclrtGetErrorCodeFromExceptionInfo(info);
    EXPECT_ACL_OK(aclrtGetFuncHandleFromExceptionInfo(info, &into.function));
    void* arguments = nullptr;
    uint32_t size = 0;
    EXPECT_ACL_OK(aclrtGetArgsFromExceptionInfo(info, &arguments, &size));
    into.arguments.resize(size / 8);
    std::memcpy(into.arguments.data(), arguments, size / 8 * 8);
}
void note_first(aclrtExceptionInfo* info) { note(seen, info); }
void note_second(aclrtExceptionInfo* info) { note(seen_again, info); }

class ExceptionCallback : public KernelTest {
protected:
    void SetUp() override {
        KernelTest::SetUp();
        seen = seen_again = {};
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtSetExceptionInfoCallback(nullptr));
        EXPECT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&note_first));
        EXPECT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&note_second));
        KernelTest::TearDown();
    }
};

TEST_F(ExceptionCallback, HasFiredWithEverythingKnownWhenTheSynchronisationReturns) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtSetExceptionInfoCallback(&note_first));
    ASSERT_ACL_OK(launch("nothing", 1, stream_));
    ASSERT_ACL_OK(launch("trap_in_block", 1, stream_, 0u));
    uint32_t task = 0;
    int32_t id = 0;
    ASSERT_ACL_OK(aclrtGetThreadLastTaskId(&task));
    ASSERT_ACL_OK(aclrtStreamGetId(stream_, &id));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(seen.count, 1);
    EXPECT_EQ(seen.task, task);
    EXPECT_EQ(seen.stream, static_cast<uint32_t>(id));
    EXPECT_EQ(seen.device, 0u);
    EXPECT_NE(seen.thread, 0u);
    EXPECT_EQ(seen.code, static_cast<uint32_t>(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION));
    EXPECT_EQ(seen.function, function("trap_in_block"));
    EXPECT_EQ(seen.arguments, std::vector<uint64_t>{0});
}

TEST_F(ExceptionCallback, ArgumentsAreThoseOfTheFailedLaunch) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&note_first));
    for (uint32_t i = 0; i < 100; ++i) ASSERT_ACL_OK(launch("trap_in_block", 8, stream_, i == 60 ? 5u : 1000u));
    ASSERT_ACL_OK(launch("store_at", 1, stream_, uint64_t{16}, 3u));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(seen.count, 2);
    EXPECT_EQ(seen.arguments, (std::vector<uint64_t>{16, 3}));
    EXPECT_EQ(seen.function, function("store_at"));
}

TEST_F(ExceptionCallback, SingleOneAndRegisteredOnesAllFire) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtSetExceptionInfoCallback(&note_first));
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&note_second));
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&note_second));  // registering it twice has no effect
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(seen.count, 1);
    EXPECT_EQ(seen_again.count, 1);
    ASSERT_ACL_OK(aclrtSetExceptionInfoCallback(nullptr));
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&note_second));
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackUnregister(&note_second));  // no longer registered
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(seen.count + seen_again.count, 2);
}

TEST_F(ExceptionCallback, OfABinaryHearsOfItsKernelsOnly) {
    if (!device_computes()) GTEST_SKIP();
    aclrtBinHandle other = nullptr;
    aclrtFuncHandle trap = nullptr;
    ASSERT_ACL_OK(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &other));
    ASSERT_ACL_OK(aclrtBinaryGetFunction(other, "trap_always", &trap));
    int count = 0;
    ASSERT_ACL_OK(aclrtBinarySetExceptionCallback(
        other, [](aclrtExceptionInfo*, void* user) { ++*static_cast<int*>(user); }, &count));
    ASSERT_ACL_OK(launch("trap_always", 1, stream_));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(count, 0);
    uint64_t unused = 0;
    ASSERT_ACL_OK(aclrtLaunchKernelWithHostArgs(trap, 1, stream_, nullptr, &unused, 8, nullptr, 0));
    EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(count, 1);
    EXPECT_ACL_OK(aclrtBinaryUnLoad(other));
}

TEST_F(ExceptionCallback, FiresOnceForAKernelOfManyBlocks) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&note_first));
    ASSERT_ACL_OK(launch("trap_always", 48, stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
    EXPECT_EQ(seen.count, 1);
}

TEST_F(ExceptionCallback, DoesNotFireForAbortsAndLateWaits) {
    if (!device_computes()) GTEST_SKIP();
    ASSERT_ACL_OK(aclrtExceptionInfoCallbackRegister(&note_first));
    SharedWord started;
    ASSERT_ACL_OK(launch("never_return", 1, stream_, started.device()));
    started.wait_until_set();
    ASSERT_ACL_OK(aclrtStreamAbort(stream_));
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_ABORT);
    EXPECT_EQ(seen.count, 0);
}

TEST_F(ExceptionCallback, NullInformationGivesNoNumbers) {
    EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), UINT32_MAX);
    EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), UINT32_MAX);
    EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), UINT32_MAX);
    EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), UINT32_MAX);
    EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), UINT32_MAX);
    void* arguments = nullptr;
    uint32_t size = 0;
    aclrtFuncHandle func = nullptr;
    EXPECT_EQ(aclrtGetArgsFromExceptionInfo(nullptr, &arguments, &size), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetFuncHandleFromExceptionInfo(nullptr, &func), ACL_ERROR_INVALID_PARAM);
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callback", aclrtExceptionInfoCallbackRegister(nullptr));
    EXPECT_ACL_FAILS(ACL_ERROR_RT_PARAM_INVALID, "callback", aclrtExceptionInfoCallbackUnregister(nullptr));
}

}  // namespace
}  // namespace conformance
