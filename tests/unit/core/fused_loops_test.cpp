// SPDX-License-Identifier: Apache-2.0
// Compiled loops compared with the kernels they replace: the same bits for all operations and types.
#if defined(TRACED_KERNELS_IMAGE)
#include "soft/traced_kernels.h"

namespace canopy::test {
namespace {

struct Step {
    const char* kernel;
    std::uint32_t blocks;
    std::vector<std::uint64_t> arguments;
};

class FusedLoopsOf : public TracedKernels {
protected:
    Result<CompiledLoops> compile(const std::vector<Step>& steps, const std::vector<const void*>& temporaries = {}) {
        traces_.clear();
        std::vector<LoopStep> traced;
        std::vector<LoopRegion> regions(regions_.size());
        std::uint32_t slot = 0;
        for (const Step& step : steps) {
            auto one = trace(step.kernel, step.blocks, step.arguments);
            if (!one.ok()) return one.status();
            traces_.push_back(std::make_unique<LaunchTrace>(std::move(*one)));
            traced.push_back({traces_.back().get(), module_->bitcode()});
            for (const std::uint64_t word : step.arguments) {
                for (std::size_t i = 0; i < regions_.size(); ++i) {
                    const DeviceAddress address(word);
                    if (regions_[i].contains(address)) regions[i] = {slot, address - regions_[i].base, false};
                }
                ++slot;
            }
        }
        for (std::size_t i = 0; i < regions_.size(); ++i)
            for (const void* temporary : temporaries)
                regions[i].temporary |= regions_[i].base == device_address(temporary);
        LoopRequest request;
        request.steps = traced;
        request.regions = regions;
        return compile_loops(*device_, request);
    }
    void launch(const Step& step) {
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = &kernel(step.kernel);
        command.launch.set_arguments(step.arguments.data());
        command.launch.arguments_size = static_cast<std::uint32_t>(step.arguments.size() * 8);
        command.launch.blocks = step.blocks;
        queue_->finish(queue_->submit(command));
    }
    void launch_loops(const std::vector<Step>& steps, std::shared_ptr<const FusedLoops> loops) {
        TestPlan plan;
        for (const Step& step : steps) {
            FusedStep& added = plan.step(kernel(step.kernel), step.blocks, {});
            (void)added;
            for (const std::uint64_t word : step.arguments) plan.slot(word);
        }
        plan.part();
        plan.plan().parts.back().loops = std::move(loops);
        const std::unique_ptr<FusedKernel> fused = plan.fuse(*device_);
        ASSERT_TRUE(fused);
        queue_->finish(queue_->submit(plan.launch(*fused)));
    }
    std::vector<std::vector<std::byte>> contents() const {
        std::vector<std::vector<std::byte>> all;
        for (const DeviceRange& region : regions_) {
            const auto* bytes = static_cast<const std::byte*>(opaque_pointer(region.base));
            all.emplace_back(bytes, bytes + region.size);
        }
        return all;
    }
    void restore(const std::vector<std::vector<std::byte>>& all) {
        for (std::size_t i = 0; i < all.size(); ++i)
            std::memcpy(opaque_pointer(regions_[i].base), all[i].data(), all[i].size());
    }
    // Runs the kernels one by one, then the loops on the same memory.
    void expect_same(const std::vector<Step>& steps) {
        auto loops = compile(steps);
        ASSERT_TRUE(loops.ok()) << reason();
        const auto before = contents();
        for (const Step& step : steps) launch(step);
        const auto expected = contents();
        restore(before);
        launch_loops(steps, loops->loops);
        const auto found = contents();
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto [a, b] = std::mismatch(expected[i].begin(), expected[i].end(), found[i].begin());
            EXPECT_EQ(a, expected[i].end()) << "region " << i << " differs at byte " << a - expected[i].begin();
        }
        EXPECT_NE(before, expected) << "the kernels did nothing";
    }
    std::vector<std::unique_ptr<LaunchTrace>> traces_;
};

TEST_F(FusedLoopsOf, StepsThatHandOnThroughMemoryAreTheSameBits) {
    constexpr std::uint32_t blocks = 16;
    void* x = buffer(blocks * tile * 4, 1, Numbers::any);
    void* y = buffer(blocks * tile * 4, 2);
    void* z = buffer(blocks * tile * 4, 3);
    std::vector<Step> steps;
    for (int i = 0; i < 4; ++i) {
        steps.push_back(
            {"affine", blocks, {word_of(i == 0 ? x : z), word_of(y), word_of(0.5f + static_cast<float>(i))}});
        steps.push_back({"affine", blocks, {word_of(y), word_of(z), word_of(1.25f)}});
    }
    expect_same(steps);
}

TEST_F(FusedLoopsOf, FunctionsOfEveryTypeAreTheSameBits) {
    constexpr std::uint32_t blocks = 4;
    const std::pair<const char*, Numbers> kernels[] = {
        {"functions_float", Numbers::floats}, {"functions_half", Numbers::halves}, {"functions_int32", Numbers::any}};
    for (const auto& [name, numbers] : kernels) {
        SCOPED_TRACE(name);
        void* x = buffer(blocks * tile * 4, 1, numbers);
        void* y = buffer(blocks * tile * 4, 2, numbers);
        void* z = buffer(blocks * tile * 4, 3, numbers);
        expect_same({{name, blocks, {word_of(x), word_of(y)}}, {name, blocks, {word_of(y), word_of(z)}}});
    }
}

TEST_F(FusedLoopsOf, CastsAreTheSameBits) {
    void* x = buffer(4 * tile * 4, 1);
    void* y = buffer(4 * tile * 4, 2);
    void* z = buffer(4 * tile * 4, 3);
    expect_same({{"cast_chain", 4, {word_of(x), word_of(y)}}, {"functions_int32", 4, {word_of(y), word_of(z)}}});
}

TEST_F(FusedLoopsOf, ComparisonsAndSelectionsAreTheSameBits) {
    void* x = buffer(4 * tile * 4, 1);
    void* y = buffer(4 * tile * 4, 2);
    expect_same(
        {{"affine", 4, {word_of(x), word_of(y), word_of(3.0f)}}, {"clip", 4, {word_of(y), word_of(y), word_of(7.0f)}}});
}

TEST_F(FusedLoopsOf, TailsMasksAndWalksAreTheSameBits) {
    void* x = buffer(8 * tile * 4, 1);
    void* y = buffer(8 * tile * 4, 2);
    const std::uint64_t count = 7 * tile + 77;
    expect_same({{"affine_tail", 8, {word_of(x), word_of(y), word_of(3.0f), count}},
                 {"affine_tail", 8, {word_of(y), word_of(y), word_of(0.3f), count}}});
    expect_same({{"repeated", 8, {word_of(x), word_of(y)}}, {"affine", 8, {word_of(y), word_of(x), word_of(3.0f)}}});
    expect_same({{"affine_walk", 3, {word_of(x), word_of(y), word_of(3.0f), 8}},
                 {"affine", 8, {word_of(y), word_of(x), word_of(3.0f)}}});
}

TEST_F(FusedLoopsOf, SeveralInputsAndWritesAfterReadsAreTheSameBits) {
    void* x = buffer(8 * tile * 4, 1);
    void* y = buffer(8 * tile * 4, 2);
    void* z = buffer(8 * tile * 4, 3);
    expect_same({{"add", 8, {word_of(x), word_of(y), word_of(z)}},
                 {"affine", 8, {word_of(z), word_of(x), word_of(3.0f)}},
                 {"add", 8, {word_of(x), word_of(z), word_of(y)}}});
}

TEST_F(FusedLoopsOf, TemporariesAreNotStored) {
    void* x = buffer(4 * tile * 4, 1);
    void* y = buffer(4 * tile * 4, 2);
    void* z = buffer(4 * tile * 4, 3);
    const std::vector<Step> steps = {{"affine", 4, {word_of(x), word_of(y), word_of(3.0f)}},
                                     {"affine", 4, {word_of(y), word_of(z), word_of(2.0f)}}};
    auto loops = compile(steps, {y});
    ASSERT_TRUE(loops.ok()) << reason();
    EXPECT_EQ(loops->stores_dropped, 4u);
    const auto before = contents();
    launch_loops(steps, loops->loops);
    const auto after = contents();
    EXPECT_EQ(before[0], after[0]);
    EXPECT_EQ(before[1], after[1]);
    for (const Step& step : steps) launch(step);
    EXPECT_EQ(contents()[2], after[2]);
}

TEST_F(FusedLoopsOf, TheSecondTimeComesFromTheCache) {
    void* x = buffer(4 * tile * 4, 1);
    void* y = buffer(4 * tile * 4, 2);
    const std::vector<Step> steps = {{"affine", 4, {word_of(x), word_of(y), word_of(1234.5f)}}};
    auto first = compile(steps);
    ASSERT_TRUE(first.ok()) << reason();
    EXPECT_FALSE(first->from_cache);
    EXPECT_NE(first->compile_time, 0u);
    auto second = compile(steps);
    ASSERT_TRUE(second.ok()) << reason();
    EXPECT_TRUE(second->from_cache);
    EXPECT_EQ(second->compile_time, 0u);
}

TEST_F(FusedLoopsOf, AnotherConstantIsAnotherLoop) {
    void* x = buffer(tile * 4, 1);
    void* y = buffer(tile * 4, 2);
    ASSERT_TRUE(compile({{"affine", 1, {word_of(x), word_of(y), word_of(11.0f)}}}).ok());
    auto other = compile({{"affine", 1, {word_of(x), word_of(y), word_of(12.0f)}}});
    ASSERT_TRUE(other.ok());
    EXPECT_FALSE(other->from_cache);
}

}  // namespace
}  // namespace canopy::test
#endif
