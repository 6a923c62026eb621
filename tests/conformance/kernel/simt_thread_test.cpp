// SPDX-License-Identifier: Apache-2.0
// SIMT threads of a block: they all run, synchronise in barriers of all or some of them, and fail together with their
// block.
#include <numeric>

#include "fixtures/core_fixture.h"

namespace conformance {
namespace {

constexpr int vector_timeout = 507034, vector_exception = 507035;
enum Body : std::uint32_t {
    sum_alone,
    sum_in_a_tree,
    rotate_in_warps,
    leave_one_out,
    fail_in_thread,
    touch_null,
    spin,
    poll_in_turn,
    sync_in_thread,
    nest,
    meet_strangers
};

class SimtThread : public CoreTest {
protected:
    static constexpr std::uint32_t stride = 2048;
    std::vector<std::uint32_t> numbers(std::uint32_t blocks) {
        std::vector<std::uint32_t> values(std::size_t{blocks} * stride);
        std::iota(values.begin(), values.end(), 3u);
        return values;
    }
    std::vector<std::uint32_t> run_body(Body body, std::uint32_t blocks, std::uint32_t count, std::uint32_t steps) {
        auto* in = device_array(numbers(blocks));
        auto* out = zeros(std::size_t{blocks} * stride);
        run("threads", blocks, static_cast<std::uint32_t>(body), count, steps, in, out, std::uint32_t{stride});
        return read_back(out, std::size_t{blocks} * stride);
    }
    void fail_body(int code, const std::vector<std::string>& words, Body body, std::uint32_t blocks,
                   std::uint32_t count, std::uint32_t steps) {
        auto* in = device_array(numbers(blocks));
        auto* out = zeros(std::size_t{blocks} * stride);
        run_to_failure(code, words, "threads", blocks, static_cast<std::uint32_t>(body), count, steps, in, out,
                       std::uint32_t{stride});
    }
};

TEST_F(SimtThread, EveryThreadRunsOnceUnderItsNumber) {
    for (const std::uint32_t blocks : {1u, 5u}) {
        for (const std::uint32_t count : {0u, 1u, 33u, 2048u}) {
            const std::vector<std::uint32_t> in = numbers(blocks), out = run_body(sum_alone, blocks, count, 0);
            for (std::uint32_t i = 0; i < in.size(); ++i) {
                const std::uint32_t thread = i % stride;
                ASSERT_EQ(out[i], thread < count ? in[i] * 2 + thread : 0u) << blocks << " " << count << " " << i;
            }
        }
    }
}

TEST_F(SimtThread, ABarrierOfAllOrdersATreeOfSums) {
    for (const std::uint32_t blocks : {1u, 3u, 30u}) {
        for (const std::uint32_t count : {1u, 2u, 64u, 256u, 2048u}) {
            if (blocks * count > 2048) continue;  // stacks are expensive under the sanitizers
            const std::vector<std::uint32_t> in = numbers(blocks), out = run_body(sum_in_a_tree, blocks, count, 0);
            for (std::uint32_t block = 0; block < blocks; ++block) {
                const auto begin = in.begin() + static_cast<std::ptrdiff_t>(block * stride);
                ASSERT_EQ(out[block * stride], std::accumulate(begin, begin + count, 0u)) << blocks << " " << count;
            }
        }
    }
}

TEST_F(SimtThread, WarpsMeetByThemselves) {
    for (const std::uint32_t count : {1u, 32u, 40u, 1024u}) {
        const std::uint32_t steps = 7;
        const std::vector<std::uint32_t> in = numbers(4), out = run_body(rotate_in_warps, 4, count, steps);
        for (std::uint32_t block = 0; block < 4; ++block) {
            for (std::uint32_t thread = 0; thread < count; ++thread) {
                const std::uint32_t first = thread / 32 * 32, size = std::min(count - first, 32u);
                const std::uint32_t from = first + (thread - first + steps) % size;
                ASSERT_EQ(out[block * stride + thread], in[block * stride + from]) << count << " " << thread;
            }
        }
    }
}

TEST_F(SimtThread, ThreadsThatPollLetTheOthersRun) {
    EXPECT_EQ(run_body(poll_in_turn, 1, 100, 0)[0], 100u);
    EXPECT_EQ(run_body(poll_in_turn, 3, 100, 0)[stride], 100u);
}

TEST_F(SimtThread, ABarrierThatCannotCompleteIsExplained) {
    for (const std::uint32_t missing : {0u, 5u, 255u})
        for (const std::uint32_t blocks : {1u, 2u})
            fail_body(vector_timeout, {"barrier of the SIMT threads", "can never complete"}, leave_one_out, blocks, 256,
                      missing);
}

TEST_F(SimtThread, AThreadThatFailsEndsItsBlock) {
    for (const std::uint32_t thread : {0u, 1u, 100u, 511u}) {
        for (const std::uint32_t blocks : {1u, 3u}) {
            fail_body(vector_exception, {"thread gives up"}, fail_in_thread, blocks, 512, thread);
            fail_body(vector_exception, {"access to address 0x0"}, touch_null, blocks, 512, thread);
        }
    }
    EXPECT_EQ(run_body(sum_in_a_tree, 1, 4, 0)[0], 3u + 4 + 5 + 6) << "the next block finds everything in order";
}

TEST_F(SimtThread, AThreadThatNeverEndsCanBeAborted) {
    auto *in = device_array(numbers(1)), *out = zeros(stride);
    for (const std::uint32_t thread : {0u, 100u, 511u}) {
        ASSERT_ACL_OK(
            launch("threads", 1, static_cast<std::uint32_t>(spin), 512u, thread, in, out, std::uint32_t{stride}));
        ASSERT_ACL_OK(aclrtStreamAbort(stream_));
        aclrtSynchronizeStream(stream_);
        recent_error();
    }
    EXPECT_EQ(run_body(sum_in_a_tree, 1, 4, 0)[0], 3u + 4 + 5 + 6);
}

TEST_F(SimtThread, MisuseIsExplained) {
    fail_body(vector_exception, {"SyncAll was called from a SIMT thread"}, sync_in_thread, 2, 4, 0);
    fail_body(vector_exception, {"started from a SIMT thread"}, nest, 1, 4, 0);
    fail_body(vector_exception, {"thread 0 of 4 cannot meet 2 threads from thread 4 on"}, meet_strangers, 1, 4, 0);
    fail_body(vector_exception, {"more SIMT threads than the 2048"}, sum_alone, 1, 2049, 0);
}

}  // namespace
}  // namespace conformance
