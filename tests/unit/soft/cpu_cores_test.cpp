// SPDX-License-Identifier: Apache-2.0
// Kernels on CPU cores: blocks, what they may wait for, and all kinds of failures.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <deque>
#include <thread>

#include "device/execution/executor.h"
#include "device/opaque_pointer.h"
#include "device/soft/code/kernel.h"
#include "soft/cpu_images.h"
#include "until.h"

namespace canopy::test {
namespace {

// The argument of kernels that read none; a command only points to it.
constexpr std::uint64_t nothing = 0;

class CpuCoresTest : public testing::Test {
protected:
    const Kernel* kernel(const char* name) { return module_->kernel(name); }

    // Launches the kernel and waits for it; a failure shows as the queue's last one.
    template <class Arguments>
    void run(const char* name, const Arguments& arguments, std::uint32_t blocks = 1, std::uint64_t timeout = 0) {
        Command command = cpu_launch(kernel(name), arguments, blocks);
        command.launch.timeout = timeout;
        queue_.finish(queue_.submit(command));
    }
    void run(const char* name) { run(name, std::uint64_t{0}); }

    // Makes a graph of these lanes and a command that replays it. The caller releases the graph.
    void prepare(std::span<const GraphLane> lanes, Command& replay) {
        GraphPlan plan;
        plan.lanes = lanes;
        Result<Executable*> graph = device_->prepare(plan);
        ASSERT_TRUE(graph.ok());
        replay.replay = {*graph, nullptr, 0, 0};
    }

    TestQueue::Failure failure_of(const char* name, std::uint64_t argument = 0, std::uint64_t timeout = 0) {
        const std::size_t before = queue_.failures().size();
        run(name, argument, 1, timeout);
        EXPECT_EQ(queue_.failures().size(), before + 1) << name;
        const TestQueue::Failure failure = queue_.last_failure();
        EXPECT_EQ(failure.kernel, name);
        EXPECT_EQ(failure.core, CoreType::cpu);
        EXPECT_EQ(failure.opcode, Opcode::cpu_kernel);
        expect_next_works();
        return failure;
    }
    void expect_next_works() {
        const std::size_t before = queue_.failures().size();
        std::uint64_t answer[3] = {};
        run("identify", reinterpret_cast<std::uint64_t>(answer));
        EXPECT_EQ(answer[0], 1u);
        EXPECT_EQ(queue_.failures().size(), before);
    }

    std::unique_ptr<Device> device_ = open_soft_device(2);
    std::unique_ptr<Module> module_ = load_cpu_image(*device_, CPU_IMAGE_1);
    TestQueue queue_{*device_};
};

constexpr std::uint64_t short_timeout = 20 * millisecond;

TEST_F(CpuCoresTest, ArgumentsAreCopiedAndPlaceholdersPointIntoTheCopy) {
    struct Arguments {
        std::uint64_t pointer = 0;
        std::uint64_t answer[3] = {};
    } arguments;
    const Placeholder holder = {0, 8};
    Command command = cpu_launch(kernel("identify"), arguments);
    command.launch.placeholders = &holder;
    command.launch.placeholder_count = 1;
    queue_.finish(queue_.submit(command));
    EXPECT_TRUE(queue_.failures().empty());
    EXPECT_EQ(arguments.answer[0], 0u) << "the kernel wrote to the caller's arguments";
}

TEST_F(CpuCoresTest, ArgumentsInDeviceMemoryAreUsedInPlace) {
    auto* memory = static_cast<std::uint64_t*>(opaque_pointer(*device_->allocate(64, 0)));
    memory[0] = reinterpret_cast<std::uint64_t>(memory + 1);
    Command command = cpu_launch(kernel("identify"), nothing);
    command.launch.set_arguments_in_place(device_address(memory));
    queue_.finish(queue_.submit(command));
    EXPECT_EQ(memory[1], 1u);
    EXPECT_TRUE(device_->release(device_address(memory)).ok());
}

struct Meeting {
    std::uint64_t arrived;
    std::uint64_t seen;
    std::uint64_t rounds;
};

class CpuBlocksTest : public CpuCoresTest, public testing::WithParamInterface<std::uint32_t> {};

TEST_P(CpuBlocksTest, AllBlocksOfALaunchAreAliveAtOnceWhoeverTellsThemTheirNumber) {
    const std::uint32_t blocks = GetParam();
    for (const char* name : {"RunCpuKernelWithBlock", "meet_others"}) {
        std::uint64_t arrived = 0;
        std::vector<std::uint64_t> seen(blocks);
        const Meeting meeting = {reinterpret_cast<std::uint64_t>(&arrived),
                                 reinterpret_cast<std::uint64_t>(seen.data()), 5};
        run(name, meeting, blocks);
        EXPECT_TRUE(queue_.failures().empty());
        EXPECT_EQ(arrived, 5u * blocks);
        EXPECT_EQ(seen, std::vector<std::uint64_t>(blocks, 1)) << name;
    }
}

INSTANTIATE_TEST_SUITE_P(, CpuBlocksTest, testing::Values(1, 2, 3, 7, 32));

TEST_F(CpuCoresTest, LaunchesOfSeveralStreamsRunAtOnce) {
    constexpr std::uint32_t streams = 4, blocks = 4;
    std::uint64_t arrived = 0;
    std::deque<TestQueue> queues;
    std::vector<std::uint64_t> seen(streams * blocks), last;
    for (std::uint32_t stream = 0; stream < streams; ++stream) {
        // Block numbers continue from stream to stream; all blocks take part in one meeting.
        const Meeting meeting = {reinterpret_cast<std::uint64_t>(&arrived),
                                 reinterpret_cast<std::uint64_t>(seen.data()), 1};
        Command command = cpu_launch(kernel("meet_others"), meeting, blocks);
        command.launch.block_offset = stream * blocks;
        last.push_back(queues.emplace_back(*device_).submit(command));
    }
    for (std::uint32_t stream = 0; stream < streams; ++stream) queues[stream].finish(last[stream]);
    EXPECT_EQ(seen, std::vector<std::uint64_t>(streams * blocks, 1));
}

// The waiting thread, workers and CPU cores share the blocks of short launches. A stream's next launch may begin while
// some of them are still leaving the previous one.
TEST_F(CpuCoresTest, LaunchesThatFollowEachOtherCloselyRunEveryBlockOnce) {
    constexpr std::uint32_t streams = 3, launches = 600, most_blocks = 5;
    std::vector<std::uint64_t> seen(streams * most_blocks), arrived(streams * launches);
    const auto launch_all = [&](std::uint32_t stream) {
        TestQueue queue(*device_);
        std::uint64_t last = 0;
        for (std::uint32_t i = 0; i < launches; ++i) {
            const std::uint64_t rounds = i % 7 == 0 ? 1 : 0;  // these synchronise, the others only pass through
            const Meeting meeting = {reinterpret_cast<std::uint64_t>(&arrived[stream * launches + i]),
                                     reinterpret_cast<std::uint64_t>(&seen[stream * most_blocks]), rounds};
            last = queue.submit(cpu_launch(kernel("meet_others"), meeting, 1 + i % most_blocks));
            if (i % 3 != 0) queue.finish(last);
        }
        queue.finish(last);
        EXPECT_TRUE(queue.failures().empty());
    };
    std::vector<std::thread> threads;
    for (std::uint32_t stream = 0; stream < streams; ++stream) threads.emplace_back(launch_all, stream);
    for (std::thread& thread : threads) thread.join();
    for (std::uint32_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i], launches / most_blocks * (most_blocks - i % most_blocks)) << "block " << i;
}

TEST_F(CpuCoresTest, ALaunchOfMoreBlocksThanCanLiveAtOnceIsRefused) {
    run("empty", std::uint64_t{0}, 60000);
    ASSERT_EQ(queue_.failures().size(), 1u);
    EXPECT_NE(queue_.last_failure().what.find("60000 blocks"), std::string::npos);
    expect_next_works();
}

// A kernel that has been short so far runs on the thread that drains the stream. If it then waits, it must not hold up
// other streams.
TEST_F(CpuCoresTest, AKernelThatWasShortMayWaitForAnotherStream) {
    alignas(8) std::uint64_t words[8] = {1, 1, 1, 1, 0, 0, 0, 0};
    for (int i = 0; i < 4; ++i)
        for (int round = 0; round < 20; ++round) run("wait_for_word", reinterpret_cast<std::uint64_t>(&words[i]));
    std::deque<TestQueue> queues;
    std::vector<std::uint64_t> last;
    for (int i = 4; i < 8; ++i) {
        const auto address = reinterpret_cast<std::uint64_t>(&words[i]);
        last.push_back(queues.emplace_back(*device_).submit(cpu_launch(kernel("wait_for_word"), address)));
    }
    Command write(Opcode::write_value);
    for (int i = 4; i < 8; ++i) {
        write.value = {device_address(&words[i]), 5, {}};
        queue_.finish(queue_.submit(write));
    }
    for (std::size_t i = 0; i < queues.size(); ++i) queues[i].finish(last[i]);
    for (int i = 4; i < 8; ++i) EXPECT_EQ(words[i], 6u);
}

TEST_F(CpuCoresTest, WhatIsSubmittedAfterAKernelRunsAfterIt) {
    for (const char* name : {"meet_others", "empty"}) {
        std::atomic<std::uint64_t> counter{0};
        std::uint64_t arrived = 0, seen[3] = {}, last = 0;
        const Meeting meeting = {reinterpret_cast<std::uint64_t>(&arrived), reinterpret_cast<std::uint64_t>(seen), 1};
        for (int i = 1; i <= 200; ++i) {
            arrived = 0;
            queue_.submit(cpu_launch(kernel(name), meeting, 3));
            last = queue_.count(counter);
            queue_.finish(last);
            ASSERT_EQ(counter.load(), static_cast<std::uint64_t>(i));
            if (name[0] == 'm') {
                ASSERT_EQ(seen[2], static_cast<std::uint64_t>(i));
            }
        }
    }
    EXPECT_TRUE(queue_.failures().empty());
}

// ---- launch properties ----------------------------------------------------------------------------------------------

// The time limits of the blocks now running on the CPU cores of the test's kernels.
std::vector<std::uint64_t> limits_of_running_blocks() {
    std::vector<std::uint64_t> limits;
    for_each_executor([&](Executor& executor) {
        const std::uint64_t step = executor.step();
        if (Executor::inside(step) && executor.has_task()) limits.push_back(executor.timeout());
    });
    return limits;
}

TEST_F(CpuCoresTest, AKernelHasTwentyEightSecondsUnlessItsLaunchSaysOtherwise) {
    constexpr std::uint64_t by_default = 28 * second, given = 3600 * second;
    for (const bool was_short : {false, true}) {  // on a CPU core, and on the thread that drains the stream
        for (const std::uint64_t limit : {std::uint64_t{0}, given}) {
            std::atomic<std::uint64_t> word{1};
            const auto address = reinterpret_cast<std::uint64_t>(&word);
            for (int round = 0; was_short && round < 40; ++round) run("wait_for_word", address);
            word = 0;
            Command command = cpu_launch(kernel("wait_for_word"), address);
            command.launch.timeout = limit;
            const std::uint64_t last = queue_.submit(command);
            std::vector<std::uint64_t> limits;
            ASSERT_TRUE(eventually([&] { return !(limits = limits_of_running_blocks()).empty(); }));
            word = 1;
            queue_.finish(last);
            EXPECT_EQ(limits, std::vector<std::uint64_t>{limit == 0 ? by_default : limit}) << was_short;
        }
    }
}

TEST_F(CpuCoresTest, TheEndOfALaunchIsToldHoweverItEnds) {
    for (const std::uint64_t how : {0, 1, 2}) {
        for (const std::uint32_t blocks : {1u, 1u, 4u}) {
            std::atomic<std::uint64_t> ended{0};
            struct {
                std::uint64_t ended, how;
            } arguments = {reinterpret_cast<std::uint64_t>(&ended), how};
            const std::size_t before = queue_.failures().size();
            run("tell_end", arguments, blocks, how == 2 ? 10 * short_timeout : 0);
            EXPECT_EQ(queue_.failures().size(), before + (how == 0 ? 0 : 1));
            // Some blocks of a failed launch may not have begun.
            EXPECT_GE(ended.load(), 3u) << how;
            EXPECT_LE(ended.load(), 3u * blocks) << how;
            if (how == 0) {
                EXPECT_EQ(ended.load(), 3u * blocks);
            }
        }
    }
}

TEST(CpuPinning, EveryCoreStaysOnOneProcessorWhenAskedTo) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    const auto processors = static_cast<std::uint64_t>(CPU_COUNT(&allowed));
    for (const bool pinned : {false, true}) {
        DeviceOptions options;
        options.chip = &default_chip();
        options.memory = std::uint64_t{64} << 20;
        options.workers = 1;
        options.cpu_cores = 2;
        options.cpu_pinned = pinned;
        auto device = open_device(*find_kind("soft"), options);
        ASSERT_TRUE(device.ok());
        EXPECT_EQ((*device)->info().cpu_pinned, pinned);
        EXPECT_EQ((*device)->info().cpu_cores, 2u);
        auto module = load_cpu_image(**device, CPU_IMAGE_1);
        TestQueue queue(**device);
        std::uint64_t told[2] = {};
        const auto address = reinterpret_cast<std::uint64_t>(told);
        queue.finish(queue.submit(cpu_launch(module->kernel("tell_processors"), address, 2)));
        EXPECT_TRUE(queue.failures().empty());
        for (const std::uint64_t count : told) EXPECT_EQ(count, pinned ? 1 : processors);
    }
}

// ---- failures ------------------------------------------------------------------------------------------------------

TEST_F(CpuCoresTest, AReturnValueOtherThanZeroIsAFailureWithThatResult) {
    for (int round = 0; round < 3; ++round) {
        const auto failure = failure_of("return_value", 17);
        EXPECT_EQ(failure.kind, FaultKind::returned);
        EXPECT_EQ(failure.result, 17u);
        EXPECT_NE(failure.what.find("returned 17"), std::string::npos);
    }
}

TEST_F(CpuCoresTest, TheBlockThatFailedIsNamed) {
    run("fail_in_block_2", std::uint64_t{0}, 4);
    EXPECT_EQ(queue_.last_failure().kind, FaultKind::returned);
    EXPECT_EQ(queue_.last_failure().block, 2u);
    EXPECT_EQ(queue_.last_failure().result, 77u);
}

TEST_F(CpuCoresTest, ExceptionsEndTheKernelWithTheirText) {
    for (int round = 0; round < 3; ++round) {
        auto failure = failure_of("throw_exception");
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_NE(failure.what.find("out of cheese"), std::string::npos) << failure.what;
        failure = failure_of("throw_number");
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_NE(failure.what.find("threw"), std::string::npos) << failure.what;
    }
}

TEST_F(CpuCoresTest, AbortEndsTheKernelOnly) {
    for (const char* name : {"call_abort", "throw_where_none_may", "call_abort"}) {
        const auto failure = failure_of(name);
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_NE(failure.what.find("abort"), std::string::npos) << failure.what;
    }
}

TEST_F(CpuCoresTest, FaultsOfTheProcessorAreTold) {
    for (int round = 0; round < 3; ++round) {
        auto failure = failure_of("write_to", 0x10);
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_EQ(failure.address, 0x10u);
        EXPECT_NE(failure.what.find("0x10"), std::string::npos) << failure.what;
        failure = failure_of("divide", 0);
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_NE(failure.what.find("divided by zero"), std::string::npos) << failure.what;
        failure = failure_of("trap");
        EXPECT_EQ(failure.kind, FaultKind::trap);
        failure = failure_of("run_off_stack");
        EXPECT_EQ(failure.kind, FaultKind::exception);
        EXPECT_NE(failure.what.find("stack"), std::string::npos) << failure.what;
    }
}

TEST_F(CpuCoresTest, SevenMebibytesOfStackAreThere) {
    run("use_stack");
    EXPECT_TRUE(queue_.failures().empty());
}

TEST_F(CpuCoresTest, AKernelThatDoesNotEndIsEndedWhereverItIs) {
    for (const char* name : {"never_end", "sleep_for_ever", "allocate_for_ever"}) {
        const auto failure = failure_of(name, 0, short_timeout);
        EXPECT_EQ(failure.kind, FaultKind::timeout) << name;
        EXPECT_NE(failure.what.find("in time"), std::string::npos) << failure.what;
    }
    void* memory = std::malloc(100);  // the allocator is not left locked
    EXPECT_NE(memory, nullptr);
    std::free(memory);
}

TEST_F(CpuCoresTest, TheOtherBlocksOfALaunchThatFailedAreEnded) {
    run("leave_others_alone", std::uint64_t{0}, 4, UINT64_MAX);
    EXPECT_EQ(queue_.failures(), std::vector<FaultKind>{FaultKind::trap});
    EXPECT_EQ(queue_.last_failure().block, 1u);
    expect_next_works();
}

TEST_F(CpuCoresTest, AbortingTheStreamEndsItsKernel) {
    for (const char* name : {"never_end", "leave_others_alone", "sleep_for_ever"}) {
        TestQueue other(*device_);
        Command command = cpu_launch(kernel(name), nothing, name[0] == 'n' ? 5 : 1);
        command.launch.timeout = UINT64_MAX;
        const std::uint64_t last = other.submit(command);
        other->abort();
        EXPECT_EQ(other->completed(), last);
        EXPECT_TRUE(other.failures().empty());
        const std::uint64_t next = other.submit(cpu_launch(kernel("empty"), std::uint64_t{0}));
        other.finish(next);
        EXPECT_TRUE(other.failures().empty());
    }
}

TEST_F(CpuCoresTest, StoppingTheRunningKernelLetsTheStreamGoOn) {
    std::atomic<std::uint64_t> counter{0};
    Command command = cpu_launch(kernel("never_end"), nothing, 3);
    command.launch.timeout = UINT64_MAX;
    queue_.submit(command);
    const std::uint64_t last = queue_.count(counter);
    ASSERT_TRUE(eventually([&] {
        queue_->stop_running();
        return queue_->completed() != 0;
    }));
    queue_.finish(last);
    EXPECT_EQ(counter.load(), 1u);
    EXPECT_EQ(queue_.failures(), std::vector<FaultKind>{FaultKind::aborted});
}

TEST_F(CpuCoresTest, AFailureCanDropTheRestOfTheStream) {
    queue_.set_after(AfterFailure::drop_the_rest);
    std::atomic<std::uint64_t> word{0};
    // Submit everything before the first kernel can end.
    const auto address = reinterpret_cast<std::uint64_t>(&word);
    queue_.submit(cpu_launch(kernel("wait_for_word"), address));
    queue_.submit(cpu_launch(kernel("return_value"), std::uint64_t{1}));
    Command write(Opcode::write_value);
    std::uint64_t written = 0;
    write.value = {device_address(&written), 1, {}};
    const std::uint64_t last = queue_.submit(write);
    word.store(1);
    queue_.finish(last);
    EXPECT_EQ(written, 0u);
    EXPECT_EQ(queue_.failures().size(), 1u);
}

// ---- together with AI cores -----------------------------------------------------------------------------------------

struct Work {
    std::uint64_t* ready;
    std::uint64_t* done;
    std::uint64_t tasks;
    std::uint64_t* sum;
};

// A typical AI-core worker: waits for a task, does it, reports it.
void work_off(const void* arguments) {
    const Work work = *static_cast<const Work*>(arguments);
    for (std::uint64_t task = 1; task <= work.tasks; ++task) {
        while (std::atomic_ref(*work.ready).load(std::memory_order_acquire) != task) sched_yield();
        *work.sum += task;
        std::atomic_ref(*work.done).store(task, std::memory_order_release);
    }
}

TEST_F(CpuCoresTest, BlocksHandTasksToAiCoresOfOtherStreamsThroughMemory) {
    constexpr std::uint64_t workers = 4, tasks = 1000;
    alignas(64) std::uint64_t ready[workers] = {}, done[workers] = {}, sums[workers] = {};
    KernelInfo info;
    info.name = "work_off";
    SoftKernel on_ai_core;
    on_ai_core.info = &info;
    on_ai_core.entry = &work_off;
    on_ai_core.group = {0, 1};
    std::deque<TestQueue> queues;
    std::vector<std::uint64_t> last;
    for (std::uint64_t worker = 0; worker < workers; ++worker) {
        const Work work = {&ready[worker], &done[worker], tasks, &sums[worker]};
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = &on_ai_core;
        command.launch.set_arguments(&work);
        command.launch.arguments_size = sizeof work;
        command.launch.blocks = 1;
        last.push_back(queues.emplace_back(*device_).submit(command));
    }
    struct {
        std::uint64_t ready, done, workers, tasks;
    } control = {reinterpret_cast<std::uint64_t>(ready), reinterpret_cast<std::uint64_t>(done), workers, tasks};
    run("hand_out", control, 3);
    for (std::size_t worker = 0; worker < workers; ++worker) {
        queues[worker].finish(last[worker]);
        EXPECT_EQ(sums[worker], tasks * (tasks + 1) / 2);
        EXPECT_TRUE(queues[worker].failures().empty());
    }
    EXPECT_TRUE(queue_.failures().empty());
}

// ---- in graphs -----------------------------------------------------------------------------------------------------

TEST_F(CpuCoresTest, GraphsReplayCpuKernels) {
    alignas(8) std::uint64_t answer[3] = {};
    const auto address = reinterpret_cast<std::uint64_t>(answer);
    std::uint64_t arrived = 0, seen[3] = {};
    const Meeting meeting = {reinterpret_cast<std::uint64_t>(&arrived), reinterpret_cast<std::uint64_t>(seen), 1};
    Command clear(Opcode::write_value);
    clear.value = {device_address(&arrived), 0, {}};
    const Command first[] = {cpu_launch(kernel("identify"), address), clear,
                             cpu_launch(kernel("RunCpuKernelWithBlock"), meeting, 3)};
    const Command second[] = {cpu_launch(kernel("empty"), nothing)};
    const GraphLane lanes[] = {{first, true, 1}, {second, true, 2}};
    Command replay(Opcode::replay);
    ASSERT_NO_FATAL_FAILURE(prepare(lanes, replay));
    for (std::uint64_t round = 1; round <= 50; ++round) {
        queue_.finish(queue_.submit(replay));
        ASSERT_EQ(answer[1], round);
        ASSERT_EQ(seen[2], round);
    }
    EXPECT_TRUE(queue_.failures().empty());
    replay.replay.executable->release();
}

TEST_F(CpuCoresTest, ACpuKernelThatFailsInAGraphIsTold) {
    const std::uint32_t nine = 9;
    const Command commands[] = {cpu_launch(kernel("return_value"), nine)};
    const GraphLane lanes[] = {{commands, true, 1}};
    Command replay(Opcode::replay);
    ASSERT_NO_FATAL_FAILURE(prepare(lanes, replay));
    for (std::size_t round = 1; round <= 5; ++round) {
        queue_.finish(queue_.submit(replay));
        ASSERT_EQ(queue_.failures().size(), round);
        EXPECT_EQ(queue_.last_failure().result, 9u);
        EXPECT_EQ(queue_.last_failure().kernel, "return_value");
    }
    replay.replay.executable->release();
}

TEST_F(CpuCoresTest, AbortEndsAGraphInsideACpuKernel) {
    Command endless = cpu_launch(kernel("never_end"), nothing, 2);
    endless.launch.timeout = UINT64_MAX;
    const Command commands[] = {endless};
    const GraphLane lanes[] = {{commands, true, 1}};
    Command replay(Opcode::replay);
    ASSERT_NO_FATAL_FAILURE(prepare(lanes, replay));
    const std::uint64_t last = queue_.submit(replay);
    queue_->abort();
    EXPECT_EQ(queue_->completed(), last);
    replay.replay.executable->release();
    expect_next_works();
}

}  // namespace
}  // namespace canopy::test
