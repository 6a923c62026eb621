// SPDX-License-Identifier: Apache-2.0
// Graphs on the software NPU, below the interface: order, joins, turns, changes, conditions, lanes that start each
// other, failures and aborts.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>

#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestQueue;

Command call_of(void (*function)(void*), void* argument) {
    Command command(Opcode::inline_call);
    command.call = {function, argument, nullptr, nullptr};
    return command;
}

Command write_of(std::uint64_t& word, std::uint64_t value) {
    Command command(Opcode::write_value);
    command.value = {device_address(&word), value, ValueCondition::equal};
    return command;
}

Command copy_of(void* destination, const void* source, std::size_t size) {
    Command command(Opcode::copy);
    command.copy = {device_address(destination), device_address(source), size, 1, size, size};
    return command;
}

struct Plan {
    std::vector<std::vector<Command>> lanes;
    std::vector<GraphEdge> edges;
    std::vector<GraphGroup> groups;
    std::vector<Fence*> cleared;
    std::vector<WordPreset> presets;
    std::vector<bool> starts;
    bool flow = false;

    Result<Executable*> prepare(Device& device) const {
        std::vector<GraphLane> views;
        for (std::size_t i = 0; i < lanes.size(); ++i) views.push_back({lanes[i], starts.empty() || starts[i]});
        GraphPlan plan;
        plan.lanes = views;
        plan.edges = edges;
        plan.groups = groups;
        plan.cleared = cleared;
        plan.presets = presets;
        plan.flow = flow;
        plan.label = "test";
        return device.prepare(plan);
    }
};

class Graphs : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override { device_ = test::open_soft_device(GetParam()); }
    Executable* make(const Plan& plan) {
        Result<Executable*> made = plan.prepare(*device_);
        EXPECT_TRUE(made.ok());
        return *made;
    }
    static std::uint64_t replay(TestQueue& queue, Executable* graph, std::span<const FenceBinding> bindings = {}) {
        Command command(Opcode::replay);
        command.replay = {graph, bindings.data(), static_cast<std::uint32_t>(bindings.size()), 0};
        return queue.submit(command);
    }
    std::unique_ptr<Device> device_;
};

TEST_P(Graphs, RunAChainInOrderAgainAndAgain) {
    std::vector<char> chain(3001);
    Plan plan;
    plan.lanes.emplace_back();
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) plan.lanes[0].push_back(copy_of(&chain[i + 1], &chain[i], 1));
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    for (char value = 1; value <= 20; ++value) {
        chain[0] = value;
        queue.finish(replay(queue, graph));
        EXPECT_EQ(chain.back(), value);
    }
    EXPECT_EQ(graph->unfinished(), 0u);
    graph->release();
}

TEST_P(Graphs, AnEmptyGraphIsDoneAtOnce) {
    Executable* graph = make({});
    TestQueue queue(*device_);
    queue.finish(replay(queue, graph));
    graph->release();
}

// Every command adds the numbers of all commands it depends on, so the result depends on the order.
struct Node {
    std::vector<const std::uint64_t*> inputs;
    std::uint64_t* output = nullptr;
    static void run(void* data) {
        auto* node = static_cast<Node*>(data);
        std::uint64_t sum = 1;
        for (const std::uint64_t* input : node->inputs) sum = sum * 31 + *input;
        *node->output = *node->output * 7 + sum;
    }
};

TEST_P(Graphs, RandomJoinsGiveTheResultOfRunningInOrder) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const std::uint32_t lanes = 1 + random() % 8, count = 1 + random() % 64;
        std::vector<std::uint64_t> values(count, seed), expected(count, seed);
        std::vector<Node> nodes(count), reference(count);
        std::vector<GraphPlace> places(count);
        Plan plan;
        plan.lanes.resize(lanes);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t lane = random() % lanes;
            places[i] = {lane, static_cast<std::uint32_t>(plan.lanes[lane].size())};
            nodes[i].output = &values[i];
            reference[i].output = &expected[i];
            for (std::uint32_t input = 0; input < i; ++input) {
                if (places[input].lane != lane && random() % 6 == 0)
                    plan.edges.push_back({places[input], places[i]});
                else if (places[input].lane != lane || random() % 3 != 0)
                    continue;
                nodes[i].inputs.push_back(&values[input]);
                reference[i].inputs.push_back(&expected[input]);
            }
            plan.lanes[lane].push_back(call_of(&Node::run, &nodes[i]));
        }
        Executable* graph = make(plan);
        TestQueue queue(*device_);
        for (int round = 0; round < 5; ++round) {
            for (Node& node : reference) Node::run(&node);
            queue.finish(replay(queue, graph));
            ASSERT_EQ(values, expected) << "seed " << seed << " round " << round;
        }
        graph->release();
    }
}

TEST_P(Graphs, RefuseCirclesAndPlacesThatAreNotThere) {
    std::uint64_t word = 0;
    Plan plan;
    plan.lanes = {{write_of(word, 1), write_of(word, 2)}, {write_of(word, 3), write_of(word, 4)}};
    plan.edges = {{{0, 1}, {1, 0}}, {{1, 1}, {0, 0}}};
    EXPECT_FALSE(plan.prepare(*device_).ok());
    plan.edges = {{{0, 2}, {1, 0}}};
    EXPECT_FALSE(plan.prepare(*device_).ok());
}

TEST_P(Graphs, ReplaysOfOneGraphRunInTheOrderOfSubmission) {
    std::uint64_t sum = 0;
    Plan plan;
    plan.lanes = {{call_of([](void* data) { *static_cast<std::uint64_t*>(data) *= 3; }, &sum)},
                  {call_of([](void* data) { *static_cast<std::uint64_t*>(data) += 1; }, &sum)}};
    plan.edges = {{{0, 0}, {1, 0}}};
    Executable* graph = make(plan);
    TestQueue first(*device_), second(*device_);
    Fence* gate = *device_->create_fence();
    first.wait_for(*gate, 1);
    std::uint64_t last_first = 0, last_second = 0;
    for (int i = 0; i < 10; ++i) {
        last_first = replay(first, graph);
        last_second = replay(second, graph);
    }
    EXPECT_EQ(graph->unfinished(), 20u);
    gate->signal(SignalMode::raise, 1);
    first.finish(last_first);
    second.finish(last_second);
    std::uint64_t expected = 0;
    for (int i = 0; i < 20; ++i) expected = expected * 3 + 1;
    EXPECT_EQ(sum, expected);
    graph->release();
    gate->release();
}

TEST_P(Graphs, AnAbortedQueueGivesItsTurnsUp) {
    std::uint64_t count = 0;
    Plan plan;
    plan.lanes = {{call_of([](void* data) { ++*static_cast<std::uint64_t*>(data); }, &count)}};
    Executable* graph = make(plan);
    Fence* gate = *device_->create_fence();
    TestQueue first(*device_), second(*device_), third(*device_);
    first.wait_for(*gate, 1);
    replay(first, graph);
    replay(second, graph);
    const std::uint64_t last = replay(third, graph);
    second->abort();
    first->abort();
    third.finish(last);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(graph->unfinished(), 0u);
    graph->release();
    gate->release();
}

TEST_P(Graphs, WaitInsideForTheOutsideAndLetOthersRunMeanwhile) {
    std::uint64_t before = 0, beside = 0, after = 0;
    Fence* gate = *device_->create_fence();
    Fence* reached = *device_->create_fence();
    Command wait(Opcode::wait), signal(Opcode::signal);
    wait.wait = {nullptr, 0, 0, WaitMode::at_least, false};
    signal.signal = {nullptr, 1, SignalMode::raise};
    Plan plan;
    plan.lanes = {{write_of(before, 1), signal, wait, write_of(after, 1)}, {write_of(beside, 1)}};
    Executable* graph = make(plan);
    TestQueue queue(*device_), other(*device_);
    for (std::uint64_t round = 1; round <= 5; ++round) {
        after = 0;
        const std::array<FenceBinding, 2> bindings = {FenceBinding{gate, round}, FenceBinding{reached, round}};
        const std::uint64_t last = replay(queue, graph, bindings);
        other.finish(other.wait_for(*reached, round));
        EXPECT_EQ(before, 1u);
        EXPECT_EQ(after, 0u);
        gate->signal(SignalMode::raise, round);
        queue.finish(last);
        EXPECT_EQ(after, 1u);
        EXPECT_EQ(beside, 1u);
    }
    graph->release();
    gate->release();
    reached->release();
}

TEST_P(Graphs, AFailedCommandEndsTheReplayAndTheNextOneRuns) {
    std::uint64_t before = 0, after = 0, source = 5, count = 0;
    void* target = reinterpret_cast<void*>(8);
    Fence* fence = *device_->create_fence();
    Command signal(Opcode::signal);
    signal.signal = {fence, 1, SignalMode::add};
    Plan plan;
    plan.lanes = {{copy_of(&before, &source, 8), copy_of(target, &source, 8), copy_of(&after, &source, 8), signal}};
    plan.groups = {{{0, 1}, 1}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    queue.finish(replay(queue, graph));
    EXPECT_EQ(queue.failures(), std::vector<FaultKind>{FaultKind::memory});
    EXPECT_EQ(before, 5u);
    EXPECT_EQ(after, 0u);
    EXPECT_EQ(fence->value(), 1u);  // waiters are still released
    const GraphChange change = {{0, 1}, copy_of(&count, &source, 8)};
    ASSERT_TRUE(graph->change(std::span(&change, 1), ChangeTime::next_replay).ok());
    queue.finish(replay(queue, graph));
    EXPECT_EQ(after, 5u);
    EXPECT_EQ(count, 5u);
    EXPECT_EQ(queue.failures().size(), 1u);
    graph->release();
    fence->release();
}

TEST_P(Graphs, ChangesReachTheReplaysSubmittedAfterThem) {
    std::uint64_t a = 0, b = 0;
    Plan plan;
    plan.lanes = {{write_of(a, 1)}, {write_of(b, 1)}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    Fence* gate = *device_->create_fence();
    queue.wait_for(*gate, 1);
    const std::uint64_t first = replay(queue, graph);
    const std::array<GraphChange, 2> changes = {GraphChange{{0, 0}, write_of(a, 2)},
                                                GraphChange{{1, 0}, write_of(b, 2)}};
    ASSERT_TRUE(graph->change(changes, ChangeTime::next_replay).ok());
    Fence* between = *device_->create_fence();
    queue.wait_for(*between, 1);
    const std::uint64_t second = replay(queue, graph);
    gate->signal(SignalMode::raise, 1);
    queue.finish(first);
    EXPECT_EQ(a, 1u);
    EXPECT_EQ(b, 1u);
    between->signal(SignalMode::raise, 1);
    queue.finish(second);
    EXPECT_EQ(a, 2u);
    EXPECT_EQ(b, 2u);
    graph->release();
    gate->release();
    between->release();
}

TEST_P(Graphs, AGroupCanBeChangedUntilTheReplayReachesIt) {
    std::uint64_t value = 0, began = 0;
    Fence* gate = *device_->create_fence();
    Fence* late = *device_->create_fence();
    Command wait(Opcode::wait), wait_late(Opcode::wait);
    wait.wait = {gate, 1, 0, WaitMode::at_least, true};
    wait_late.wait = {late, 1, 0, WaitMode::at_least, true};
    Plan plan;
    plan.lanes = {{wait, write_of(began, 1), wait_late, write_of(value, 1)}};
    plan.groups = {{{0, 1}, 3}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    const std::uint64_t first = replay(queue, graph);
    GraphChange change = {{0, 3}, write_of(value, 2)};
    ASSERT_TRUE(graph->change(std::span(&change, 1), ChangeTime::untouched).ok());
    gate->signal(SignalMode::set, 1);
    ASSERT_TRUE(eventually([&] { return std::atomic_ref(began).load() != 0; }));
    change.command = write_of(value, 3);  // too late for this replay
    ASSERT_TRUE(graph->change(std::span(&change, 1), ChangeTime::untouched).ok());
    late->signal(SignalMode::set, 1);
    queue.finish(first);
    EXPECT_EQ(value, 2u);
    gate->signal(SignalMode::set, 1);
    late->signal(SignalMode::set, 1);
    queue.finish(replay(queue, graph));
    EXPECT_EQ(value, 3u);
    graph->release();
    gate->release();
    late->release();
}

TEST_P(Graphs, AChangeIsNotUndoneByAnEarlierOneForLaterReplays) {
    std::uint64_t value = 0, other = 0;
    Fence* gate = *device_->create_fence();
    Command wait(Opcode::wait);
    wait.wait = {gate, 1, 0, WaitMode::at_least, true};
    Plan plan;
    plan.lanes = {{wait, write_of(other, 1), write_of(value, 1)}};
    plan.groups = {{{0, 1}, 2}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    const std::uint64_t first = replay(queue, graph);
    const std::array<GraphChange, 2> earlier = {GraphChange{{0, 1}, write_of(other, 2)},
                                                GraphChange{{0, 2}, write_of(value, 2)}};
    ASSERT_TRUE(graph->change(earlier, ChangeTime::next_replay).ok());
    const GraphChange later = {{0, 2}, write_of(value, 3)};
    ASSERT_TRUE(graph->change(std::span(&later, 1), ChangeTime::untouched).ok());
    gate->signal(SignalMode::set, 1);
    queue.finish(first);
    EXPECT_EQ(other, 1u);
    EXPECT_EQ(value, 3u);
    gate->signal(SignalMode::set, 1);
    queue.finish(replay(queue, graph));
    EXPECT_EQ(other, 2u);
    EXPECT_EQ(value, 3u);
    graph->release();
    gate->release();
}

TEST_P(Graphs, ConditionsChooseAndRepeatBodies) {
    std::uint64_t selector = 0, choice = 0, rounds = 0, taken[3] = {};
    Plan body, first, second, third;
    struct Loop {
        std::uint64_t* selector;
        std::uint64_t* rounds;
    } loop{&selector, &rounds};
    body.lanes = {{call_of(
        [](void* data) {
            auto* state = static_cast<Loop*>(data);
            ++*state->rounds;
            --*state->selector;
        },
        &loop)}};
    first.lanes = {{write_of(taken[0], 1)}};
    second.lanes = {{write_of(taken[1], 1)}, {write_of(taken[2], 1)}};
    Executable* loop_body = make(body);
    std::array<Executable*, 2> bodies = {make(first), make(second)};
    Command repeat(Opcode::condition), branch(Opcode::condition), pick(Opcode::condition);
    repeat.condition = {device_address(&selector), &loop_body, 1, ConditionKind::loop};
    branch.condition = {device_address(&selector), bodies.data(), 2, ConditionKind::branch};
    pick.condition = {device_address(&choice), bodies.data(), 2, ConditionKind::choice};
    Plan plan;
    plan.lanes = {{repeat, branch, pick}};
    plan.presets = {{device_address(&selector), 500}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    for (std::uint64_t round = 1; round <= 3; ++round) {
        choice = round - 1;
        taken[0] = taken[1] = taken[2] = 0;
        queue.finish(replay(queue, graph));
        EXPECT_EQ(rounds, 500 * round);
        EXPECT_EQ(selector, 0u);
        EXPECT_EQ(taken[0], round == 1 ? 1u : 0u);
        EXPECT_EQ(taken[1], 1u);  // the branch for 0
        EXPECT_EQ(taken[2], 1u);
    }
    loop_body->release();
    for (Executable* one : bodies) one->release();
    graph->release();
}

TEST_P(Graphs, AnEndlessLoopCanBeAborted) {
    std::uint64_t selector = 1, rounds = 0;
    Plan body;
    body.lanes = {
        {call_of([](void* data) { std::atomic_ref(*static_cast<std::uint64_t*>(data)).fetch_add(1); }, &rounds)}};
    Executable* loop_body = make(body);
    Command repeat(Opcode::condition);
    repeat.condition = {device_address(&selector), &loop_body, 1, ConditionKind::loop};
    Plan plan;
    plan.lanes = {{repeat}};
    Executable* graph = make(plan);
    {
        TestQueue queue(*device_);
        replay(queue, graph);
        ASSERT_TRUE(eventually([&] { return std::atomic_ref(rounds).load() != 0; }));
        queue->abort();
        EXPECT_TRUE(queue.failures().empty());
        EXPECT_EQ(graph->unfinished(), 0u);
        const std::uint64_t last = replay(queue, graph);
        EXPECT_TRUE(eventually([&] {
            if (graph->unfinished() == 0) return true;
            graph->abort();
            return false;
        }));
        queue.finish(last);
        EXPECT_EQ(queue.failures(), std::vector<FaultKind>{FaultKind::aborted});
    }
    loop_body->release();
    graph->release();
}

TEST_P(Graphs, AbortingEndsWaitsInside) {
    Fence* never = *device_->create_fence();
    std::uint64_t word = 0, after = 0;
    Command wait(Opcode::wait), wait_value(Opcode::wait_value);
    wait.wait = {never, 1, 0, WaitMode::at_least, false};
    wait_value.value = {device_address(&word), 1, ValueCondition::equal};
    Plan plan;
    plan.lanes = {{wait, write_of(after, 1)}, {wait_value}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    for (int round = 0; round < 5; ++round) {
        replay(queue, graph);
        queue->abort();
        EXPECT_EQ(after, 0u);
    }
    never->signal(SignalMode::raise, 1);
    std::atomic_ref(word).store(1);
    queue.finish(replay(queue, graph));
    EXPECT_EQ(after, 1u);
    graph->release();
    never->release();
}

TEST_P(Graphs, LanesStartEachOtherAndJump) {
    std::uint64_t counter = 0, limit = 3, done = 0, beside = 0;
    std::uint32_t index = 0;
    struct State {
        std::uint64_t* counter;
        std::uint32_t* index;
    } state{&counter, &index};
    const Command step = call_of(
        [](void* data) {
            auto* at = static_cast<State*>(data);
            ++*at->counter;
            *at->index = *at->counter < 3 ? 0 : 7;  // past the last target, so the last one is used
        },
        &state);
    const std::array<GraphPlace, 2> targets = {GraphPlace{0, 0}, GraphPlace{0, 3}};
    Command jump(Opcode::jump), change_lane(Opcode::switch_lane), start(Opcode::start_lane), end(Opcode::end_graph);
    jump.jump = {device_address(&index), targets.data(), 2};
    change_lane.switch_lane = {device_address(&counter), device_address(&limit), Comparison::equal, true, 1};
    start.start = {2};
    Plan plan;
    plan.flow = true;
    plan.lanes = {{step, jump, write_of(done, 99), start, change_lane, write_of(done, 98)},
                  {write_of(done, 1), end},
                  {write_of(beside, 1)}};
    plan.starts = {true, false, false};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    for (int round = 0; round < 4; ++round) {
        counter = done = beside = 0;
        queue.finish(replay(queue, graph));
        EXPECT_EQ(counter, 3u);
        EXPECT_EQ(done, 1u);
        EXPECT_TRUE(queue.failures().empty());
    }
    counter = 0;
    limit = 4;  // the switch is not taken, and no lane reaches the end
    queue.finish(replay(queue, graph));
    EXPECT_EQ(queue.failures().size(), 1u);
    graph->release();
}

TEST_P(Graphs, BlockedOnesDoNotKeepTheDeviceFromSettling) {
    Fence* gate = *device_->create_fence();
    Command wait(Opcode::wait);
    wait.wait = {gate, 1, 0, WaitMode::at_least, false};
    std::uint64_t word = 0;
    Plan plan;
    plan.lanes = {{write_of(word, 1), wait}};
    Executable* graph = make(plan);
    TestQueue queue(*device_);
    const std::uint64_t last = replay(queue, graph);
    device_->quiesce();
    EXPECT_EQ(std::atomic_ref(word).load(), 1u);
    EXPECT_EQ(graph->unfinished(), 1u);
    gate->signal(SignalMode::raise, 1);
    queue.finish(last);
    graph->release();
    gate->release();
}

TEST_P(Graphs, ManyThreadsReplayManyGraphs) {
    constexpr int threads = 4, rounds = 200;
    std::array<std::uint64_t, 3> words{};
    std::array<Executable*, 3> graphs{};
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        Plan plan;
        const auto add = [](void* data) { ++*static_cast<std::uint64_t*>(data); };
        plan.lanes = {
            {call_of(add, &words[i]), call_of(add, &words[i])}, {call_of(add, &words[i])}, {call_of(add, &words[i])}};
        plan.edges = {{{0, 1}, {1, 0}}, {{1, 0}, {2, 0}}};
        graphs[i] = make(plan);
    }
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
        all.emplace_back([&] {
            TestQueue queue(*device_);
            std::uint64_t last = 0;
            for (int round = 0; round < rounds; ++round)
                for (Executable* graph : graphs) last = replay(queue, graph);
            queue.finish(last);
        });
    for (std::thread& thread : all) thread.join();
    for (const std::uint64_t word : words) EXPECT_EQ(word, 4u * threads * rounds);
    for (Executable* graph : graphs) graph->release();
}

INSTANTIATE_TEST_SUITE_P(Workers, Graphs, testing::Values(1u, 2u, 8u));

}  // namespace
}  // namespace canopy
