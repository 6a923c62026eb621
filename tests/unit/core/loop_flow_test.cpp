// SPDX-License-Identifier: Apache-2.0
// Data flow through hand-made traces: what is passed on, what is stored, what becomes a separate piece, and what is
// refused.
#include "core/fusion/loop_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr std::uint64_t bytes = 256, elements = 64;

TraceAddress local(std::uint64_t offset) { return {local_memory, offset}; }
TraceAddress global(std::int32_t region, std::uint64_t offset = 0) { return {region, offset}; }

// A step with one block, built record by record. Operations: 0 "unary", 1 "binary", both on 4-byte elements, 2 "half"
// on 2-byte elements, 3 "test", which yields bits.
class TestStep {
public:
    TestStep() {
        trace_.operations.push_back({"unary", 0, 4, 1, {4, 0, 0}});
        trace_.operations.push_back({"binary", 0, 4, 2, {4, 4, 0}});
        trace_.operations.push_back({"half", 0, 2, 1, {2, 0, 0}});
        trace_.operations.push_back({"test", 0, 0, 1, {4, 0, 0}});
    }
    TestStep& copy(TraceAddress to, TraceAddress from, std::uint64_t size = bytes) {
        TraceRecord record;
        const bool in = to.region == local_memory, out = from.region == local_memory;
        record.kind = in && out ? TraceKind::move : in ? TraceKind::load : TraceKind::store;
        record.count = size;
        record.target = to;
        record.sources[0] = from;
        trace_.records.push_back(record);
        return *this;
    }
    TestStep& compute(std::uint16_t operation, std::uint64_t to, std::uint64_t from, std::uint64_t second = 0,
                      std::uint64_t count = elements) {
        TraceRecord record;
        record.kind = TraceKind::compute;
        record.operation = operation;
        record.count = count;
        record.target = local(to);
        record.sources[0] = local(from);
        record.sources[1] = local(second);
        trace_.records.push_back(record);
        return *this;
    }
    TestStep& forget(std::uint64_t at, std::uint64_t size) {
        TraceRecord record;
        record.kind = TraceKind::forget;
        record.count = size;
        record.target = local(at);
        trace_.records.push_back(record);
        return *this;
    }
    TestStep& next_block() {
        begins_.push_back(static_cast<std::uint32_t>(trace_.records.size()));
        return *this;
    }
    const LaunchTrace& finish() {
        trace_.block_begin = begins_;
        trace_.block_begin.push_back(static_cast<std::uint32_t>(trace_.records.size()));
        return trace_;
    }

private:
    LaunchTrace trace_;
    std::vector<std::uint32_t> begins_ = {0};
};

Result<LoopFlow> flow_of(std::vector<TestStep>& steps, std::vector<std::size_t> temporaries = {}) {
    static std::vector<LoopStep> list;
    static std::vector<LoopRegion> regions;
    list.clear();
    regions.assign(4, {});
    for (TestStep& step : steps) list.push_back({&step.finish(), {}});
    for (const std::size_t region : temporaries) regions[region].temporary = true;
    take_error_text();
    LoopRequest request;
    request.steps = list;
    request.regions = regions;
    return find_loops(request);
}

std::string reason() {
    const char* text = take_error_text();
    return text ? text : "";
}

std::size_t loads(const LoopShape& shape) {
    return static_cast<std::size_t>(
        std::count_if(shape.nodes.begin(), shape.nodes.end(), [](const LoopNode& node) { return node.is_load; }));
}

TEST(LoopFlow, WhatIsStoredAndLoadedAgainIsHandedOn) {
    std::vector<TestStep> steps(2);
    steps[0].copy(local(0), global(0)).compute(0, 0, 0).copy(global(1), local(0));
    steps[1].copy(local(512), global(1)).compute(0, 1024, 512).copy(global(2), local(1024));
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    ASSERT_EQ(flow->pieces.size(), 1u);
    ASSERT_EQ(flow->shapes.size(), 1u);
    EXPECT_EQ(loads(flow->shapes[0]), 1u);
    EXPECT_EQ(flow->shapes[0].nodes.size(), 3u);
    EXPECT_EQ(flow->shapes[0].stores.size(), 2u);
    EXPECT_EQ(flow->pieces[0].count, elements);
}

TEST(LoopFlow, StoresToTemporariesDisappear) {
    std::vector<TestStep> steps(2);
    steps[0].copy(local(0), global(0)).compute(0, 0, 0).copy(global(1), local(0));
    steps[1].copy(local(0), global(1)).compute(0, 0, 0).copy(global(2), local(0));
    auto flow = flow_of(steps, {1});
    ASSERT_TRUE(flow.ok()) << reason();
    EXPECT_EQ(flow->shapes[0].stores.size(), 1u);
    EXPECT_EQ(flow->stores_dropped, 1u);
    EXPECT_EQ(flow->bytes_stored, bytes);
}

TEST(LoopFlow, TheLastStoreToARangeWins) {
    std::vector<TestStep> steps(2);
    steps[0].copy(local(0), global(0)).compute(0, 0, 0).copy(global(1), local(0));
    steps[1].copy(local(0), global(0)).compute(1, 0, 0, 0).copy(global(1), local(0));
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    ASSERT_EQ(flow->shapes[0].stores.size(), 1u);
    const LoopNode& stored = flow->shapes[0].nodes[flow->shapes[0].stores[0].node];
    EXPECT_EQ(flow->operations[stored.operation].symbol, "binary");
    EXPECT_EQ(flow->shapes[0].nodes.size(), 2u) << "what nobody reads is not computed";
}

TEST(LoopFlow, ARangeIsLoadedBeforeALaterStepStoresToIt) {
    std::vector<TestStep> steps(2);
    steps[0].copy(local(0), global(0)).compute(0, 0, 0).copy(global(1), local(0));
    steps[1].copy(local(0), global(2)).compute(0, 0, 0).copy(global(0), local(0));
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    ASSERT_EQ(flow->pieces.size(), 1u) << "both belong to one piece, in which loads come first";
    EXPECT_EQ(loads(flow->shapes[0]), 2u);
    EXPECT_EQ(flow->shapes[0].stores.size(), 2u);
}

TEST(LoopFlow, BlocksThatShareNothingButInputsArePiecesOfTheirOwn) {
    std::vector<TestStep> steps(1);
    steps[0].copy(local(0), global(0)).copy(local(512), global(3)).compute(1, 0, 0, 512).copy(global(1), local(0));
    steps[0].next_block();
    steps[0].copy(local(0), global(0, 4096)).copy(local(512), global(3)).compute(1, 0, 0, 512);
    steps[0].copy(global(1, 4096), local(0));
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    EXPECT_EQ(flow->pieces.size(), 2u);
    EXPECT_EQ(flow->shapes.size(), 1u);
}

TEST(LoopFlow, NeighboursBecomeOnePieceWhenThereAreManyOfThem) {
    std::vector<TestStep> steps(1);
    for (std::uint64_t block = 0; block < 256; ++block) {
        if (block != 0) steps[0].next_block();
        steps[0].copy(local(0), global(0, block * bytes)).compute(0, 0, 0).copy(global(1, block * bytes), local(0));
    }
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    EXPECT_EQ(flow->pieces.size(), 64u);
    std::uint64_t total = 0;
    for (const FlowPiece& piece : flow->pieces) total += piece.count;
    EXPECT_EQ(total, 256 * elements);
}

TEST(LoopFlow, MovesInsideTheBufferAreFollowed) {
    std::vector<TestStep> steps(1);
    steps[0].copy(local(0), global(0)).copy(local(512), local(0)).compute(0, 1024, 512).copy(global(1), local(1024));
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    EXPECT_EQ(flow->shapes[0].nodes.size(), 2u);
}

TEST(LoopFlow, CopiesAloneAreLoopsToo) {
    std::vector<TestStep> steps(1);
    steps[0].copy(local(0), global(0), 100).copy(global(1), local(0), 100);
    auto flow = flow_of(steps);
    ASSERT_TRUE(flow.ok()) << reason();
    EXPECT_EQ(flow->pieces[0].count, 25u);
}

struct Refused {
    const char* what;
    void (*make)(std::vector<TestStep>&);
};

class LoopFlowRefuses : public testing::TestWithParam<Refused> {};

TEST_P(LoopFlowRefuses, WithAReason) {
    std::vector<TestStep> steps(2);
    GetParam().make(steps);
    auto flow = flow_of(steps);
    EXPECT_FALSE(flow.ok());
    EXPECT_FALSE(reason().empty());
}

constexpr Refused refusals[] = {
    {"StoresThatOverlapInPart",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).copy(global(1), local(0));
         steps[1].copy(local(0), global(0)).copy(global(1, 128), local(0));
     }},
    {"ALoadOfAPartOfAStore",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).copy(global(1), local(0));
         steps[1].copy(local(0), global(1), 128).copy(global(2), local(0), 128);
     }},
    {"WhatNobodyWrote", [](std::vector<TestStep>& steps) { steps[0].compute(0, 0, 0).copy(global(1), local(0)); }},
    {"WhatABlockBeforeLeft",
     [](std::vector<TestStep>& steps) { steps[0].copy(local(0), global(0)).next_block().copy(global(1), local(0)); }},
    {"WhatWasForgotten",
     [](std::vector<TestStep>& steps) { steps[0].copy(local(0), global(0)).forget(252, 4).copy(global(1), local(0)); }},
    {"AnOperationOnAPartOfAValue",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).compute(0, 512, 0, 0, elements / 2).copy(global(1), local(512), bytes / 2);
     }},
    {"ElementsOfAnotherSize",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).compute(0, 0, 0).compute(2, 0, 0, 0, elements * 2);
         steps[0].copy(global(1), local(0));
     }},
    {"AnOperationThatWritesOverAPartOfItsSource",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).compute(0, 128, 0).copy(global(1), local(128));
     }},
    {"BitsInMemory",
     [](std::vector<TestStep>& steps) {
         steps[0].copy(local(0), global(0)).compute(3, 512, 0).copy(global(1), local(512), elements / 8);
     }},
};

INSTANTIATE_TEST_SUITE_P(, LoopFlowRefuses, testing::ValuesIn(refusals),
                         [](const testing::TestParamInfo<Refused>& info) { return std::string(info.param.what); });

}  // namespace
}  // namespace canopy
