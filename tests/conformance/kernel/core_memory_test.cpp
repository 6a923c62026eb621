// SPDX-License-Identifier: Apache-2.0
// The core a block opens: its memories have the chip's sizes, and accesses past their ends fault. Also tests failures
// that a kernel describes itself.
#include "fixtures/core_fixture.h"

namespace conformance {
namespace {

constexpr int vector_exception = 507035;
constexpr std::uint32_t memories = 8, ub = 1, l1 = 2, l0a = 3, l0c = 5, bias = 6;

class CoreMemory : public CoreTest {
protected:
    void expect_core(const std::vector<std::uint32_t>& found) {
        constexpr std::uint32_t kib = 1024;
        constexpr std::uint32_t sizes[memories] = {0,        192 * kib, 512 * kib, 64 * kib,
                                                   64 * kib, 128 * kib, 1 * kib,   7 * kib};
        for (std::uint32_t i = 0; i < memories; ++i) {
            EXPECT_EQ(found[3 * i], sizes[i]) << i;
            if (sizes[i] == 0) continue;
            EXPECT_EQ(found[3 * i + 1], 1u) << "memory " << i << " lies above 4 GiB";
            EXPECT_GE(found[3 * i + 2], 1024u) << "alignment of memory " << i;
        }
        EXPECT_EQ(found[3 * memories], 1u) << "registers of an earlier block";
        EXPECT_EQ(found[3 * memories + 1], 1u) << "a second look found another core";
    }
};

TEST_F(CoreMemory, HasTheSizesOfTheChipAndZeroRegistersInEveryBlock) {
    for (const std::uint32_t blocks : {1u, 1u, 1u, 6u, 6u}) {
        auto* out = zeros(3 * memories + 2);
        run("look_at_core", blocks, out);
        expect_core(read_back(out, 3 * memories + 2));
    }
}

TEST_F(CoreMemory, BelongsToOneBlockAlone) {
    for (const std::uint32_t blocks : {1u, 2u, 24u}) run("fill_core", blocks, wrong_);
    EXPECT_EQ(wrong(), 0u);
}

TEST_F(CoreMemory, AnOverrunIsExplained) {
    run_to_failure(vector_exception, {"block 0", "ran past the end of UB (192 KiB)", "is 0 bytes past it"},
                   "touch_beside", 1, ub, std::int64_t{192 * 1024}, 0u);
    run_to_failure(vector_exception, {"block 3", "ran past the end of L1 (512 KiB)", "is 100 bytes past it"},
                   "touch_beside", 5, l1, std::int64_t{512 * 1024 + 100}, 3u);
    run_to_failure(vector_exception, {"ran past the end of L0C (128 KiB)"}, "touch_beside", 1, l0c,
                   std::int64_t{128 * 1024 + 20000}, 0u);
    run_to_failure(vector_exception, {"ran past the end of BT (1 KiB)"}, "touch_beside", 2, bias, std::int64_t{1024},
                   1u);
}

TEST_F(CoreMemory, AnUnderrunIsExplained) {
    run_to_failure(vector_exception, {"accessed memory before UB", "is 1 bytes before it"}, "touch_beside", 1, ub,
                   std::int64_t{-1}, 0u);
    run_to_failure(vector_exception, {"accessed memory before L0A"}, "touch_beside", 2, l0a, std::int64_t{-4096}, 1u);
}

TEST_F(CoreMemory, TheLastByteMayBeTouched) {
    run("touch_beside", 1, ub, std::int64_t{192 * 1024 - 1}, 0u);
    run("touch_beside", 1, l1, std::int64_t{512 * 1024 - 1}, 0u);
    run("touch_beside", 3, bias, std::int64_t{1023}, 2u);
}

// ---- failures with a message ----------------------------------------------------------------------------------------

TEST_F(CoreMemory, AFailureCarriesTheKernelsOwnWords) {
    run_to_failure(vector_exception, {"block 0", "somewhere.cpp:12: the queue is empty"}, "fail_in_block", 1, 0u, 0u);
    run_to_failure(vector_exception, {"block 7", "somewhere.cpp:12: the queue is empty"}, "fail_in_block", 10, 7u, 0u);
    run_to_failure(vector_exception, {std::string(1000, 'x')}, "fail_in_block", 2, 1u, 100000u);
    run_to_failure(507015, {"block 1", "vector core 1: no"}, "fail_on_second_vector_core", 3);
    run("fail_in_block", 3, 3u, 0u);  // no block has this number
}

TEST_F(CoreMemory, AProductIsMadeOnTheCore) {
    auto* a = device_array<float>({1, 2, 3, 4, 5, 6});
    auto* b = device_array<float>({1, 0, 2, 0, 1, 3});
    auto* c = device_array<float>(std::vector<float>(4, -1.0f));
    run("product", 1, a, b, c, std::int64_t{2}, std::int64_t{2}, std::int64_t{3});
    EXPECT_EQ(read_back(c, 4), (std::vector<float>{8, 9, 20, 18}));
}

}  // namespace
}  // namespace conformance
