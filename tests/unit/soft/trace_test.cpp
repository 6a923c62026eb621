// SPDX-License-Identifier: Apache-2.0
// Traces of compiled kernels: their contents, and which kernels have none.
#if defined(TRACED_KERNELS_IMAGE)
#include "soft/traced_kernels.h"

namespace canopy::test {
namespace {

using Trace = TracedKernels;

std::vector<TraceKind> kinds_of(const LaunchTrace& trace, std::size_t block) {
    std::vector<TraceKind> kinds;
    for (std::size_t index = trace.block_begin[block]; index < trace.block_begin[block + 1]; ++index)
        kinds.push_back(trace.records[index].kind);
    return kinds;
}

TEST_F(Trace, SaysWhatEachBlockLoadsComputesAndStores) {
    void* x = buffer(8 * tile * 4, 1);
    void* y = buffer(8 * tile * 4, 2);
    auto traced = trace("affine", 8, {word_of(x), word_of(y), word_of(2.5f)});
    ASSERT_TRUE(traced.ok()) << reason();
    ASSERT_EQ(traced->block_begin.size(), 9u);
    for (std::size_t block = 0; block < 8; ++block) {
        ASSERT_EQ(kinds_of(*traced, block),
                  (std::vector<TraceKind>{TraceKind::load, TraceKind::compute, TraceKind::compute, TraceKind::store}));
        const TraceRecord& load = traced->records[traced->block_begin[block]];
        const TraceRecord& store = traced->records[traced->block_begin[block] + 3];
        EXPECT_EQ(load.sources[0].region, 0);
        EXPECT_EQ(load.sources[0].offset, block * tile * 4);
        EXPECT_EQ(load.count, tile * 4);
        EXPECT_EQ(load.target.region, local_memory);
        EXPECT_EQ(store.target.region, 1);
        EXPECT_EQ(store.target.offset, block * tile * 4);
    }
    ASSERT_EQ(traced->operations.size(), 2u);
    EXPECT_NE(traced->operations[0].symbol.find("MulOperation"), std::string::npos);
    EXPECT_EQ(traced->operations[0].target_size, 4);
    EXPECT_EQ(traced->operations[0].source_count, 1);
    ASSERT_EQ(traced->operations[0].object_size, 4u);
    float factor = 0;
    std::memcpy(&factor, traced->objects.data() + traced->records[1].object, sizeof factor);
    EXPECT_EQ(factor, 2.5f);
}

TEST_F(Trace, TouchesNoMemory) {
    void* x = buffer(tile * 4, 1);
    void* y = buffer(tile * 4, 2);
    const std::vector<std::byte> before(static_cast<std::byte*>(y), static_cast<std::byte*>(y) + tile * 4);
    ASSERT_TRUE(trace("affine", 1, {word_of(x), word_of(y), word_of(2.5f)}).ok());
    EXPECT_EQ(std::memcmp(before.data(), y, before.size()), 0);
}

TEST_F(Trace, FollowsOffsetsIntoRegionsAndTails) {
    void* x = buffer(8 * tile * 4, 1);
    const std::uint64_t second = word_of(x) + 4 * tile * 4;
    auto traced = trace("affine_tail", 2, {word_of(x), second, word_of(2.5f), tile + 100});
    ASSERT_TRUE(traced.ok()) << reason();
    const TraceRecord& last = traced->records.back();
    EXPECT_EQ(last.kind, TraceKind::store);
    EXPECT_EQ(last.count, 400u);
    EXPECT_EQ(last.target.region, 0);
    EXPECT_EQ(last.target.offset, 5 * tile * 4);
}

TEST_F(Trace, RefusesKernelsThatDoMoreThanElements) {
    void* x = buffer(2 * tile * 4, 1);
    void* y = buffer(2 * tile * 4, 2);
    for (const char* name :
         {"reads_value", "reads_local_value", "writes_pointer", "meets", "accumulates", "reduces", "prints"}) {
        const auto refused = trace(name, 2, {word_of(x), word_of(y)});
        EXPECT_FALSE(refused.ok()) << name;
        EXPECT_NE(reason().find(name), std::string::npos) << name;
    }
    EXPECT_TRUE(trace("affine", 2, {word_of(x), word_of(y), word_of(1.0f)}).ok()) << "traces go on after a refusal";
}

// The image is compiled with -g, so a refusal names the kernel's source line.
TEST_F(Trace, RefusalsNameTheLine) {
    void* x = buffer(2 * tile * 4, 1);
    void* y = buffer(2 * tile * 4, 2);
    std::ifstream file(TRACED_KERNELS_SOURCE);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    for (const char* name : {"writes_pointer", "prints"}) {
        const auto begin = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(std::string("void ") + name + "(") != std::string::npos;
        });
        const auto end = std::find(begin, lines.end(), "}");
        ASSERT_NE(end, lines.end()) << name;
        ASSERT_FALSE(trace(name, 2, {word_of(x), word_of(y)}).ok()) << name;
        const std::string text = reason();
        const std::size_t at = text.find("kernels.asc:");
        ASSERT_NE(at, std::string::npos) << text;
        const long line = std::strtol(text.c_str() + at + std::strlen("kernels.asc:"), nullptr, 10);
        EXPECT_GE(line, begin - lines.begin() + 1) << text;
        EXPECT_LE(line, end - lines.begin() + 1) << text;
    }
}

TEST_F(Trace, RefusesWhatRunsOverTheEndOfARegion) {
    void* x = buffer(2 * tile * 4, 1);
    void* y = buffer(2 * tile * 4, 2);
    EXPECT_FALSE(trace("affine", 3, {word_of(x), word_of(y), word_of(1.0f)}).ok());
}

TEST_F(Trace, RefusesAddressesOutsideOfTheRegions) {
    void* x = buffer(tile * 4, 1);
    std::vector<float> elsewhere(tile);
    EXPECT_FALSE(trace("affine", 1, {word_of(x), word_of(elsewhere.data()), word_of(1.0f)}).ok());
}

TEST_F(Trace, RefusesMoreRecordsThanAsked) {
    void* x = buffer(8 * tile * 4, 1);
    TraceRequest request;
    const std::vector<std::uint64_t> arguments = {word_of(x), word_of(x), word_of(1.0f)};
    request.kernel = &kernel("affine");
    request.arguments = std::as_bytes(std::span(arguments));
    request.blocks = 8;
    request.regions = regions_;
    request.most_records = 31;
    EXPECT_FALSE(module_->trace(request).ok());
    request.most_records = 32;
    EXPECT_TRUE(module_->trace(request).ok());
}

}  // namespace
}  // namespace canopy::test
#endif
