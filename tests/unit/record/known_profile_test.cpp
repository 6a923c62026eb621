// SPDX-License-Identifier: Apache-2.0
// Work whose records are known by construction: every one of them is checked, with 1, 2 and 8 workers.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "record/keeping_listener.h"
#include "soft/fused_plan.h"
#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using profile::Detail;
using profile::Kind;
using profile::TaskObject;
using profile::TaskType;
using record::KeepingListener;
using test::TestKernel;

void do_nothing(const void*) {}
void trap(const void*) { __builtin_trap(); }

// A stream with a number, whose tasks are numbered as core does it.
class NumberedQueue final : public QueueObserver {
public:
    NumberedQueue(Device& device, std::uint32_t number, AfterFailure after = AfterFailure::go_on)
        : number_(number), after_(after) {
        QueueOptions options;
        options.submit_lock = &lock_;
        options.observer = this;
        options.number = number;
        auto queue = device.create_queue(options);
        EXPECT_TRUE(queue.ok());
        queue_ = std::move(*queue);
    }
    // The link of its record.
    std::uint64_t submit(Command command) {
        command.task = next_task_++;
        SpinGuard guard(lock_);
        Result<std::uint64_t> sequence = queue_->submit(std::span(&command, 1));
        EXPECT_TRUE(sequence.ok());
        last_ = *sequence;
        return profile::link_of(number_, command.task);
    }
    std::uint64_t wait_for(Fence& fence) {
        Command command(Opcode::wait);
        command.wait = {&fence, 1, 0, WaitMode::at_least, false, nullptr};
        return submit(command);
    }
    std::uint64_t signal(Fence& fence) {
        Command command(Opcode::signal);
        command.signal = {&fence, 1, SignalMode::raise};
        return submit(command);
    }
    std::uint64_t launch(const Kernel& kernel, std::uint32_t blocks) {
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = &kernel;
        command.launch.blocks = blocks;
        return submit(command);
    }
    std::uint64_t copy(void* to, const void* from, std::size_t size) {
        Command command(Opcode::copy);
        command.copy = {device_address(to), device_address(from), size, 1, size, size};
        return submit(command);
    }
    void finish() { EXPECT_EQ(queue_->wait(last_, Deadline::never()), WaitOutcome::done); }
    AfterFailure task_failed(const TaskFailure& failure) noexcept override {
        if (failure.code) *failure.code = 507000 + static_cast<int>(failure.kind);
        return after_;
    }
    [[nodiscard]] bool blocked() const { return static_cast<const EngineQueue&>(*queue_).blocked(); }

private:
    SpinLock lock_;
    std::unique_ptr<Queue> queue_;
    const std::uint32_t number_;
    const AfterFailure after_;
    std::uint32_t next_task_ = 0;
    std::uint64_t last_ = 0;
};

// A record with the details behind it.
struct Told {
    record::Record record{};
    std::map<Detail, std::uint64_t> details;
    [[nodiscard]] TaskObject object() const { return TaskObject::of(record.object); }
    [[nodiscard]] std::uint64_t end() const { return record.begin + record.duration; }
};

class KnownProfile : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override {
        device_ = test::open_soft_device(GetParam());
        record::listen(listener_, record::everything);
    }
    void TearDown() override {
        record::stop_listening(listener_);
        EXPECT_EQ(listener_->lost(), 0u);
    }
    std::vector<Told> told(Kind kind) {
        record::flush();
        std::vector<Told> found;
        for (const auto& [thread, records] : listener_->by_thread()) {
            bool inside = false;
            for (const record::Record& record : records) {
                if (record.what() != Kind::detail) inside = record.what() == kind;
                if (!inside) continue;
                if (record.what() == Kind::detail) {
                    EXPECT_EQ(record.link, found.back().record.link);
                    found.back().details[static_cast<Detail>(record.object)] = record.begin;
                } else {
                    found.push_back({record, {}});
                }
            }
        }
        return found;
    }
    Told task(std::uint64_t link) {
        std::vector<Told> all = told(Kind::task);
        const auto has_link = [&](const Told& one) { return one.record.link == link; };
        EXPECT_EQ(std::count_if(all.begin(), all.end(), has_link), 1) << "records of task " << link;
        const auto found = std::find_if(all.begin(), all.end(), has_link);
        return found == all.end() ? Told{} : *found;
    }
    std::string name_of(const Told& one) { return listener_->text_of(static_cast<std::uint32_t>(one.record.name)); }

    std::unique_ptr<Device> device_;
    std::shared_ptr<KeepingListener> listener_ = std::make_shared<KeepingListener>();
};

TEST_P(KnownProfile, TasksOfAStreamFollowEachOther) {
    const TestKernel kernel("some kernel", &do_nothing);
    NumberedQueue queue(*device_, 7);
    const Ticks before = ticks();
    constexpr std::uint32_t count = 300;
    for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(queue.launch(kernel, 1), profile::link_of(7, i));
    queue.finish();
    const Ticks after = ticks();
    std::vector<Told> all = told(Kind::task);
    ASSERT_EQ(all.size(), count);
    std::sort(all.begin(), all.end(), [](const Told& a, const Told& b) { return a.record.link < b.record.link; });
    for (std::uint32_t i = 0; i < count; ++i) {
        const Told& one = all[i];
        EXPECT_EQ(one.record.link, profile::link_of(7, i));
        EXPECT_EQ(name_of(one), "some kernel");
        EXPECT_EQ(one.object().type, TaskType::kernel);
        EXPECT_EQ(one.object().how, static_cast<std::uint8_t>(profile::CoreKind::vector));
        EXPECT_EQ(one.object().flags, 0);
        EXPECT_EQ(one.record.argument, 1u);
        EXPECT_GE(one.record.begin, i == 0 ? before : all[i - 1].end());
        EXPECT_LE(one.end(), after);
    }
}

TEST_P(KnownProfile, BlocksLieInTheirTask) {
    const TestKernel kernel("blocks", &do_nothing);
    NumberedQueue queue(*device_, 1);
    const std::uint64_t link = queue.launch(kernel, 20);
    queue.finish();
    const Told whole = task(link);
    EXPECT_EQ(whole.record.argument, 20u);
    const std::vector<Told> blocks = told(Kind::block);
    std::vector<std::uint32_t> numbers;
    for (const Told& block : blocks) {
        EXPECT_EQ(block.record.link, link);
        EXPECT_EQ(name_of(block), "blocks");
        EXPECT_EQ(block.record.argument, 0u);
        EXPECT_GE(block.record.begin, whole.record.begin);
        EXPECT_LE(block.end(), whole.end());
        numbers.push_back(block.record.object);
    }
    std::sort(numbers.begin(), numbers.end());
    ASSERT_EQ(numbers.size(), 20u);
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(numbers[i], i);
}

TEST_P(KnownProfile, AWaitNamesTheTaskThatEndedIt) {
    Fence* const gate = *device_->create_fence();
    Fence* const fence = *device_->create_fence();
    NumberedQueue first(*device_, 1), second(*device_, 2);
    const std::uint64_t first_waits = first.wait_for(*gate);
    const std::uint64_t signals = first.signal(*fence);
    const std::uint64_t waits = second.wait_for(*fence);
    ASSERT_TRUE(eventually([&] { return first.blocked() && second.blocked(); }));
    gate->signal(SignalMode::raise, 1);
    first.finish();
    second.finish();
    const std::uint64_t over_at_once = second.wait_for(*fence);
    second.finish();
    const Told wait = task(waits);
    EXPECT_EQ(wait.object().type, TaskType::wait);
    EXPECT_EQ(wait.details.at(Detail::released_by), signals);
    EXPECT_GE(wait.end(), task(signals).record.begin);
    EXPECT_EQ(task(signals).object().type, TaskType::signal);
    EXPECT_EQ(task(first_waits).details.at(Detail::released_by), 0u);  // the host did it
    EXPECT_NE(task(first_waits).details.at(Detail::waits_for), wait.details.at(Detail::waits_for));
    const Told late = task(over_at_once);
    EXPECT_EQ(late.details.at(Detail::waits_for), wait.details.at(Detail::waits_for));
    EXPECT_EQ(late.details.count(Detail::released_by), 0u);
    gate->release();
    fence->release();
}

std::atomic<int> times_run{0};
void count_run(const void*) { ++times_run; }

// The thread that runs launches in one guard looks at the wait between them, and leaves the guard to wait.
TEST_P(KnownProfile, AWaitBetweenLaunchesKnowsWhatItWaitedFor) {
    const TestKernel kernel("counted", &count_run);
    Fence* const gate = *device_->create_fence();
    Fence* const fence = *device_->create_fence();
    NumberedQueue first(*device_, 1), second(*device_, 2);
    times_run = 0;
    first.wait_for(*gate);
    const std::uint64_t before = first.launch(kernel, 1);
    const std::uint64_t waits = first.wait_for(*fence);
    const std::uint64_t after = first.launch(kernel, 1);
    gate->signal(SignalMode::raise, 1);
    ASSERT_TRUE(eventually([&] { return times_run.load() == 1 && first.blocked(); }));
    const std::uint64_t signals = second.signal(*fence);
    second.finish();
    first.finish();
    const Told wait = task(waits);
    EXPECT_NE(wait.details.at(Detail::waits_for), 0u);
    EXPECT_EQ(wait.details.at(Detail::released_by), signals);
    EXPECT_GE(wait.record.begin, task(before).end());
    EXPECT_LE(wait.end(), task(after).record.begin);
    gate->release();
    fence->release();
}

TEST_P(KnownProfile, ATaskThatBeginsBetweenTwoProfilesIsNotOfTheFirst) {
    const TestKernel kernel("some kernel", &do_nothing);
    Fence* const gate = *device_->create_fence();
    NumberedQueue queue(*device_, 1);
    queue.launch(kernel, 1);
    queue.finish();
    record::stop_listening(listener_);
    const std::uint64_t waits = queue.wait_for(*gate);
    ASSERT_TRUE(eventually([&] { return queue.blocked(); }));
    const Ticks between = ticks();
    listener_ = std::make_shared<KeepingListener>();
    record::listen(listener_, record::everything);
    gate->signal(SignalMode::raise, 1);
    queue.finish();
    EXPECT_GE(task(waits).record.begin, between);
    gate->release();
}

TEST_P(KnownProfile, CopiesHaveTheirBytesAndDirection) {
    NumberedQueue queue(*device_, 3);
    Result<DeviceAddress> memory = device_->allocate(8192, memory_default);
    ASSERT_TRUE(memory.ok());
    auto* on_device = reinterpret_cast<char*>(memory->value());
    std::vector<char> host(4096);
    const std::uint64_t to = queue.copy(on_device, host.data(), 100);
    const std::uint64_t from = queue.copy(host.data(), on_device, 200);
    const std::uint64_t within = queue.copy(on_device + 4096, on_device, 4096);
    queue.finish();
    const auto expect = [&](std::uint64_t link, profile::CopyKind kind, std::uint32_t bytes) {
        const Told copy = task(link);
        EXPECT_EQ(copy.object().type, TaskType::copy);
        EXPECT_EQ(copy.object().how, static_cast<std::uint8_t>(kind));
        EXPECT_EQ(copy.record.argument, bytes);
    };
    expect(to, profile::CopyKind::host_to_device, 100);
    expect(from, profile::CopyKind::device_to_host, 200);
    expect(within, profile::CopyKind::device_to_device, 4096);
    EXPECT_TRUE(device_->release(*memory).ok());
    const std::vector<Told> memory_records = told(Kind::memory);
    ASSERT_EQ(memory_records.size(), 2u);
    using profile::MemoryChange;
    using profile::MemoryObject;
    EXPECT_EQ(MemoryObject::of(memory_records[0].record.object).change, MemoryChange::allocated);
    EXPECT_EQ(memory_records[0].record.duration, 8192u);
    EXPECT_GE(memory_records[0].record.link, 8192u);
    EXPECT_EQ(MemoryObject::of(memory_records[1].record.object).change, MemoryChange::freed);
    EXPECT_LT(memory_records[1].record.link, memory_records[0].record.link);
}

TEST_P(KnownProfile, FailedAndDroppedTasksSaySo) {
    const TestKernel good("good", &do_nothing);
    const TestKernel bad("bad", &trap);
    Fence* const gate = *device_->create_fence();
    NumberedQueue queue(*device_, 4, AfterFailure::drop_the_rest);
    Fence* const fence = *device_->create_fence();
    NumberedQueue other(*device_, 5);
    queue.wait_for(*gate);
    const std::uint64_t runs = queue.launch(good, 1);
    const std::uint64_t fails = queue.launch(bad, 1);
    const std::uint64_t dropped = queue.launch(good, 1);
    const std::uint64_t dropped_signal = queue.signal(*fence);
    const std::uint64_t waits = other.wait_for(*fence);
    ASSERT_TRUE(eventually([&] { return other.blocked(); }));
    gate->signal(SignalMode::raise, 1);
    queue.finish();
    other.finish();
    EXPECT_EQ(task(runs).object().flags, 0);
    EXPECT_EQ(task(fails).object().flags, profile::task_failed);
    EXPECT_EQ(task(fails).details.at(Detail::code), 507000u + static_cast<unsigned>(FaultKind::trap));
    EXPECT_EQ(task(dropped).object().flags, profile::task_dropped);
    EXPECT_EQ(task(dropped_signal).object().flags, profile::task_dropped);
    EXPECT_EQ(task(waits).details.at(Detail::released_by), dropped_signal);
    gate->release();
    fence->release();
}

TEST_P(KnownProfile, NodesOfAGraphLieInTheirReplay) {
    std::vector<char> bytes(64);
    std::vector<std::vector<Command>> lanes(2);
    for (std::size_t lane = 0; lane < 2; ++lane)
        for (std::size_t i = 0; i < 10; ++i) {
            Command command(Opcode::copy);
            char* place = &bytes[lane * 32 + i];
            command.copy = {device_address(place + 1), device_address(place), 1, 1, 1, 1};
            lanes[lane].push_back(command);
        }
    const GraphLane views[] = {{lanes[0]}, {lanes[1]}};
    const GraphEdge edges[] = {{{0, 4}, {1, 0}}};
    GraphPlan plan;
    plan.lanes = views;
    plan.edges = edges;
    Result<Executable*> graph = device_->prepare(plan);
    ASSERT_TRUE(graph.ok());
    NumberedQueue queue(*device_, 5);
    std::vector<std::uint64_t> links;
    for (int i = 0; i < 3; ++i) {
        Command command(Opcode::replay);
        command.replay = {*graph, nullptr, 0, 0};
        links.push_back(queue.submit(command));
    }
    queue.finish();
    const std::vector<Told> nodes = told(Kind::node);
    ASSERT_EQ(nodes.size(), 60u);
    for (const std::uint64_t link : links) {
        const Told whole = task(link);
        EXPECT_EQ(whole.object().type, TaskType::replay);
        std::map<std::uint64_t, Told> by_place;
        for (const Told& node : nodes) {
            if (node.record.link != link) continue;
            EXPECT_TRUE(by_place.emplace(node.details.at(Detail::place), node).second);
            EXPECT_EQ(node.object().type, TaskType::copy);
            EXPECT_GE(node.record.begin, whole.record.begin);
            EXPECT_LE(node.end(), whole.end());
        }
        ASSERT_EQ(by_place.size(), 20u);
        for (std::uint64_t lane = 0; lane < 2; ++lane)
            for (std::uint64_t i = 1; i < 10; ++i)
                EXPECT_GE(by_place.at(lane << 32 | i).record.begin, by_place.at(lane << 32 | (i - 1)).end());
        EXPECT_GE(by_place.at(std::uint64_t{1} << 32).record.begin, by_place.at(4).end());
    }
    (*graph)->release();
}

TEST_P(KnownProfile, StepsOfAFusedLaunchAreRecorded) {
    const TestKernel one("first step", &do_nothing), two("second step", &do_nothing);
    test::TestPlan plan;
    plan.step(one, 1, {1});
    plan.part();
    plan.step(two, 3, {2});
    plan.part({0});
    const std::unique_ptr<FusedKernel> fused = plan.fuse(*device_);
    ASSERT_TRUE(fused);
    NumberedQueue queue(*device_, 6);
    const std::uint64_t link = queue.submit(plan.launch(*fused));
    queue.finish();
    const Told whole = task(link);
    EXPECT_EQ(whole.object().flags, profile::task_fused);
    EXPECT_EQ(name_of(whole), "fused");
    std::map<std::string, int> steps;
    for (const Told& step : told(Kind::step)) {
        EXPECT_EQ(step.record.link, link);
        EXPECT_EQ(step.record.object, name_of(step) == "first step" ? 100u : 101u);
        EXPECT_GE(step.record.begin, whole.record.begin);
        EXPECT_LE(step.end(), whole.end());
        ++steps[name_of(step)];
    }
    EXPECT_EQ(steps, (std::map<std::string, int>{{"first step", 1}, {"second step", 3}}));
}

INSTANTIATE_TEST_SUITE_P(Workers, KnownProfile, testing::Values(1, 2, 8));

}  // namespace
}  // namespace canopy
