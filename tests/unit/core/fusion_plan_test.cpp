// SPDX-License-Identifier: Apache-2.0
// The planner of fused kernels: which steps share memory and how, which steps must wait for which, which waits are
// redundant, and which steps run block by block.
#include "core/fusion/fusion_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace canopy {
namespace {

// Bytes that a block touches, for short tables.
Touched read(std::uint32_t block, std::uint64_t begin, std::uint64_t end, std::int32_t region = 0) {
    return {region, block, false, begin, end};
}
Touched write(std::uint32_t block, std::uint64_t begin, std::uint64_t end, std::int32_t region = 0) {
    return {region, block, true, begin, end};
}

StepAccess traced(std::vector<Touched> touched) {
    StepAccess access{Knowledge::traced, std::move(touched)};
    order_touched(access.touched);
    return access;
}
StepAccess declared(std::vector<Touched> touched) {
    StepAccess access = traced(std::move(touched));
    access.knowledge = Knowledge::declared;
    return access;
}
StepAccess unknown() { return {}; }

// Each of `blocks` blocks reads its share of one region and writes its share of another.
StepAccess tiles(std::uint32_t blocks, std::int32_t from, std::int32_t to, std::uint64_t share = 64) {
    std::vector<Touched> touched;
    for (std::uint32_t block = 0; block < blocks; ++block) {
        touched.push_back(read(block, block * share, (block + 1) * share, from));
        touched.push_back(write(block, block * share, (block + 1) * share, to));
    }
    return traced(std::move(touched));
}

TEST(FusionConflict, ReadsShareMemoryAndWritesDoNot) {
    const StepAccess reads = traced({read(0, 0, 64)}), writes = traced({write(1, 32, 48)});
    EXPECT_EQ(conflict_between(reads, reads), Conflict::none);
    EXPECT_EQ(conflict_between(reads, writes), Conflict::full) << "a write after a read";
    EXPECT_EQ(conflict_between(writes, reads), Conflict::full) << "a read after a write";
    EXPECT_EQ(conflict_between(writes, traced({write(0, 40, 41)})), Conflict::full) << "a write after a write";
}

TEST(FusionConflict, BytesThatOnlyTouchAreNotShared) {
    EXPECT_EQ(conflict_between(traced({write(0, 0, 64)}), traced({write(1, 64, 128)})), Conflict::none);
    EXPECT_EQ(conflict_between(traced({write(0, 0, 65)}), traced({read(1, 64, 128)})), Conflict::full);
    EXPECT_EQ(conflict_between(traced({write(0, 0, 64, 0)}), traced({write(1, 0, 64, 1)})), Conflict::none)
        << "regions are apart";
}

TEST(FusionConflict, EqualBlocksAreBlockLocal) {
    EXPECT_EQ(conflict_between(tiles(8, 0, 1), tiles(8, 1, 2)), Conflict::block_local);
    EXPECT_EQ(conflict_between(tiles(8, 0, 1), tiles(8, 0, 2)), Conflict::none) << "both only read region 0";
    EXPECT_EQ(conflict_between(tiles(8, 0, 1), tiles(4, 1, 2)), Conflict::block_local) << "fewer blocks, same shares";
    EXPECT_EQ(conflict_between(tiles(8, 0, 1), tiles(4, 1, 2, 128)), Conflict::full) << "other shares";
}

TEST(FusionConflict, OneByteOfANeighbourMakesItFull) {
    StepAccess next = tiles(8, 1, 2);
    next.touched.push_back(read(3, 255, 257, 1));  // the last byte of block 3, the first of block 4
    order_touched(next.touched);
    EXPECT_EQ(conflict_between(tiles(8, 0, 1), next), Conflict::full);
}

TEST(FusionConflict, DeclaredAndUnknownStepsMeetWholeSteps) {
    const StepAccess all = declared({write(every_block, 0, UINT64_MAX)});
    EXPECT_EQ(conflict_between(all, traced({read(0, 5, 6)})), Conflict::full);
    EXPECT_EQ(conflict_between(all, traced({read(0, 5, 6, 1)})), Conflict::none);
    EXPECT_EQ(conflict_between(unknown(), traced({})), Conflict::full);
}

TEST(FusionConflict, LongReachesMeetEverythingInThem) {
    // A long read by block 0 before many short ones: the sweep must not forget it.
    StepAccess first = traced({read(0, 0, 10000)});
    for (std::uint64_t at = 0; at < 50; ++at) first.touched.push_back(read(1, at * 10, at * 10 + 5));
    order_touched(first.touched);
    EXPECT_EQ(conflict_between(first, traced({write(0, 9000, 9001)})), Conflict::block_local);
    EXPECT_EQ(conflict_between(first, traced({write(1, 9000, 9001)})), Conflict::full);
}

TEST(FusionConflict, EqualsTheObviousComparison) {
    std::mt19937 random(3);
    const auto some = [&] {
        std::vector<Touched> touched;
        for (std::size_t count = random() % 12; count > 0; --count) {
            const std::uint64_t begin = random() % 100;
            touched.push_back({static_cast<std::int32_t>(random() % 2), static_cast<std::uint32_t>(random() % 3),
                               random() % 2 == 0, begin, begin + 1 + random() % 30});
        }
        return traced(std::move(touched));
    };
    for (int round = 0; round < 5000; ++round) {
        const StepAccess first = some(), second = some();
        Conflict expected = Conflict::none;
        for (const Touched& a : first.touched)
            for (const Touched& b : second.touched) {
                if (a.region != b.region || a.end <= b.begin || b.end <= a.begin || (!a.write && !b.write)) continue;
                expected = std::max(expected, a.block == b.block ? Conflict::block_local : Conflict::full);
            }
        ASSERT_EQ(conflict_between(first, second), expected) << "round " << round;
    }
}

TEST(FusionAccess, ATraceBecomesJoinedRangesOfItsBlocks) {
    LaunchTrace trace;
    trace.operations.push_back({"f", 0, 4, 2, {4, 4, 0}});
    const auto load = [](std::uint64_t offset, std::uint64_t bytes) {
        TraceRecord record;
        record.kind = TraceKind::load;
        record.count = bytes;
        record.sources[0] = {0, offset};
        return record;
    };
    TraceRecord store;
    store.kind = TraceKind::store;
    store.count = 32;
    store.target = {1, 8};
    TraceRecord compute;  // works on local memory, so it touches nothing
    compute.kind = TraceKind::compute;
    compute.count = 8;
    trace.records = {load(0, 16), load(16, 16), compute, store, load(64, 16)};
    trace.block_begin = {0, 4, 5};
    const StepAccess access = access_of(trace);
    ASSERT_EQ(access.touched.size(), 3u);
    EXPECT_EQ(access.touched[0].end, 32u) << "neighbours are joined";
    EXPECT_EQ(access.touched[1].block, 1u);
    EXPECT_TRUE(access.touched[2].write);
    EXPECT_EQ(access.touched[2].region, 1);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

FusedList list_of(std::size_t count) {
    FusedList list;
    list.name = "list";
    list.slots = 1;
    for (std::uint32_t index = 0; index < count; ++index) {
        ListStep& step = list.steps.emplace_back();
        step.number = index;
        if (index != 0) step.after = {index - 1};
    }
    return list;
}

PlannedFusion plan_of(const FusedList& list, const std::vector<StepAccess>& accesses,
                      FusionLevel level = FusionLevel::loops) {
    return make_plan({&list, accesses, level});
}

using Parts = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint32_t> numbers_of(const FusionPlan& plan, const FusedPart& part) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t step = part.first; step < part.first + part.count; ++step)
        numbers.push_back(plan.steps[step].number);
    return numbers;
}
Parts parts_of(const PlannedFusion& planned) {
    Parts parts;
    for (const FusedPart& part : planned.plan.parts) parts.push_back(numbers_of(planned.plan, part));
    return parts;
}

TEST(FusionPlan, UnknownStepsRunOneAfterTheOther) {
    const PlannedFusion planned = plan_of(list_of(4), std::vector<StepAccess>(4));
    ASSERT_EQ(parts_of(planned), (Parts{{0}, {1}, {2}, {3}}));
    for (std::uint32_t part = 1; part < 4; ++part)
        EXPECT_EQ(planned.plan.parts[part].after, (std::vector<std::uint32_t>{part - 1})) << "other waits follow";
    EXPECT_EQ(planned.figures.barriers_after, 3u);
}

TEST(FusionPlan, StepsThatShareNothingWaitForNobody) {
    const PlannedFusion planned = plan_of(list_of(3), {tiles(2, 0, 1), tiles(2, 2, 3), tiles(2, 4, 5)});
    for (const FusedPart& part : planned.plan.parts) EXPECT_TRUE(part.after.empty());
    EXPECT_EQ(planned.figures.barriers_before, 2u);
    EXPECT_EQ(planned.figures.barriers_after, 0u);
}

TEST(FusionPlan, BlockLocalStepsBecomeOnePart) {
    const std::vector<StepAccess> chain = {tiles(8, 0, 1), tiles(8, 1, 2), tiles(8, 2, 3)};
    EXPECT_EQ(parts_of(plan_of(list_of(3), chain)), (Parts{{0, 1, 2}}));
    EXPECT_EQ(parts_of(plan_of(list_of(3), chain, FusionLevel::steps)), (Parts{{0}, {1}, {2}}));
}

TEST(FusionPlan, AStepThatMeetsAnEarlierMemberFullyStaysOut) {
    // 0 and 1 chain, and so do 1 and 2, but 2 also writes what other blocks of 0 read.
    StepAccess last = tiles(8, 1, 2);
    last.touched.push_back(write(0, 64, 128, 0));  // block 1 of step 0 reads it
    order_touched(last.touched);
    const PlannedFusion planned = plan_of(list_of(3), {tiles(8, 0, 1), tiles(8, 1, 1), last});
    EXPECT_EQ(parts_of(planned), (Parts{{0, 1}, {2}}));
    EXPECT_EQ(planned.plan.parts[1].after, (std::vector<std::uint32_t>{0}));
}

TEST(FusionPlan, TwoChainsStayTwoParts) {
    const PlannedFusion planned =
        plan_of(list_of(4), {tiles(4, 0, 1), tiles(4, 10, 11), tiles(4, 1, 2), tiles(4, 11, 12)});
    EXPECT_EQ(parts_of(planned), (Parts{{0, 2}, {1, 3}}));
    for (const FusedPart& part : planned.plan.parts) EXPECT_TRUE(part.after.empty());
}

TEST(FusionPlan, StepsThatStreamsDoNotOrderDoNotWait) {
    FusedList list = list_of(2);
    list.steps[1].after.clear();
    const PlannedFusion planned = plan_of(list, std::vector<StepAccess>(2));
    EXPECT_TRUE(planned.plan.parts[1].after.empty());
}

TEST(FusionPlan, SyncAllAndOffKeepTheOrder) {
    FusedList list = list_of(3);
    const std::vector<StepAccess> apart = {tiles(2, 0, 1), tiles(2, 2, 3), tiles(2, 4, 5)};
    EXPECT_EQ(plan_of(list, apart, FusionLevel::off).figures.barriers_after, 2u);
    list.options["debug-sync-all"] = "1";
    EXPECT_EQ(plan_of(list, apart).figures.barriers_after, 2u);
}

TEST(FusionPlan, WithoutEarlyStartWholeStepsWaitForWholeSteps) {
    FusedList list = list_of(3);
    const std::vector<StepAccess> apart = {tiles(2, 0, 1), tiles(2, 2, 3), tiles(2, 4, 5)};
    const std::vector<StepAccess> chain = {tiles(2, 0, 1), tiles(2, 1, 2), tiles(2, 2, 3)};
    EXPECT_EQ(plan_of(list, apart).figures.barriers_after, 0u);
    EXPECT_EQ(parts_of(plan_of(list, chain)), (Parts{{0, 1, 2}}));
    list.options["early-start"] = "0";
    EXPECT_EQ(plan_of(list, apart).figures.barriers_after, 2u);
    EXPECT_EQ(parts_of(plan_of(list, chain)), (Parts{{0}, {1}, {2}}));
    EXPECT_EQ(plan_of(list, chain).figures.barriers_after, 2u);
    for (const char* early : {"1", "2"}) {
        list.options["early-start"] = early;
        EXPECT_EQ(plan_of(list, apart).figures.barriers_after, 0u);
    }
}

TEST(FusionPlan, WordsKeepTheirPlaceInTheOrder) {
    FusedList list = list_of(3);
    list.slots = 8;
    list.steps[1].wait_slots = {4};
    list.steps[1].notify_slots = {5};
    list.steps[1].reset_slots = {4};
    const PlannedFusion planned = plan_of(list, {tiles(2, 0, 1), tiles(2, 2, 3), tiles(2, 4, 5)});
    std::vector<FusedAction> actions;
    for (const FusedStep& step : planned.plan.steps) actions.push_back(step.action);
    EXPECT_EQ(actions,
              (std::vector<FusedAction>{FusedAction::kernel, FusedAction::wait_word, FusedAction::kernel,
                                        FusedAction::write_word, FusedAction::kernel, FusedAction::write_word}));
    for (std::uint32_t part = 1; part < 6; ++part)
        EXPECT_EQ(planned.plan.parts[part].after, (std::vector<std::uint32_t>{part - 1}))
            << "what waits for the world outside holds up what comes after it";
    EXPECT_EQ(planned.plan.steps[5].value, 0u);
}

TEST(FusionPlan, DynamicStepsArePartsOfTheirOwn) {
    FusedList list = list_of(3);
    list.steps[1].dynamic.emplace().blocks_slot = 0;
    EXPECT_EQ(parts_of(plan_of(list, {tiles(8, 0, 1), tiles(8, 1, 2), tiles(8, 2, 3)})), (Parts{{0}, {1}, {2}}));
}

// In any plan, two ordered steps that share memory never run at the same time, and run in the right order.
TEST(FusionPlan, RandomPlansKeepWhatMustBeKept) {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        FusedList list = list_of(1 + random() % 24);
        std::vector<StepAccess> accesses;
        for (std::uint32_t index = 0; index < list.steps.size(); ++index) {
            std::vector<std::uint32_t>& after = list.steps[index].after;
            after.clear();
            for (std::uint32_t before = 0; before < index; ++before)
                if (random() % 3 == 0) after.push_back(before);
            const auto from = static_cast<std::int32_t>(random() % 6), to = static_cast<std::int32_t>(random() % 6);
            accesses.push_back(random() % 8 == 0 ? unknown() : tiles(1 + random() % 4, from, to, 64 << random() % 2));
        }
        const PlannedFusion planned = plan_of(list, accesses);
        const std::vector<FusedPart>& parts = planned.plan.parts;
        const std::size_t count = parts.size();
        std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
        std::vector<std::uint32_t> part_of(list.steps.size()), place(list.steps.size());
        for (std::uint32_t part = 0; part < count; ++part) {
            for (const std::uint32_t before : parts[part].after) {
                ASSERT_LT(before, part);
                reaches[part][before] = true;
                for (std::uint32_t earlier = 0; earlier < count; ++earlier)
                    if (reaches[before][earlier]) reaches[part][earlier] = true;
            }
            for (std::uint32_t step = parts[part].first; step < parts[part].first + parts[part].count; ++step) {
                part_of[planned.plan.steps[step].number] = part;
                place[planned.plan.steps[step].number] = step;
            }
        }
        std::vector<std::vector<bool>> ordered(list.steps.size(), std::vector<bool>(list.steps.size()));
        for (std::uint32_t index = 0; index < list.steps.size(); ++index)
            for (const std::uint32_t before : list.steps[index].after) {
                ordered[index][before] = true;
                for (std::uint32_t earlier = 0; earlier < index; ++earlier)
                    if (ordered[before][earlier]) ordered[index][earlier] = true;
            }
        for (std::uint32_t late = 0; late < list.steps.size(); ++late)
            for (std::uint32_t early = 0; early < late; ++early) {
                const Conflict met = conflict_between(accesses[early], accesses[late]);
                if (!ordered[late][early] || met == Conflict::none) continue;
                if (part_of[late] == part_of[early]) {
                    EXPECT_EQ(met, Conflict::block_local);
                    EXPECT_LT(place[early], place[late]);
                } else {
                    EXPECT_TRUE(reaches[part_of[late]][part_of[early]]) << "round " << round;
                }
            }
    }
}

}  // namespace
}  // namespace canopy
