// SPDX-License-Identifier: Apache-2.0
// OffsetAllocator compared with a map of live blocks that does everything the slow and obvious way, and edge cases.
#include "base/offset_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

namespace canopy {
namespace {

constexpr std::uint64_t granule = OffsetAllocator::granule;
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

OffsetAllocator make(std::uint64_t capacity) {
    auto allocator = OffsetAllocator::create(capacity);
    EXPECT_TRUE(allocator.ok());
    return std::move(*allocator);
}

// Live blocks by offset; derives everything by walking over them.
class Model {
public:
    struct Live {
        std::uint64_t size;
        std::uint64_t tag;
    };
    explicit Model(std::uint64_t capacity) : capacity_(capacity) {}

    [[nodiscard]] bool can_hold(std::uint64_t size, std::uint64_t alignment) const {
        size = round_up(size, granule);
        alignment = std::max(alignment, granule);
        std::uint64_t gap = 0;
        for (const auto& [offset, live] : live_) {
            if (round_up(gap, alignment) + size <= offset) return true;
            gap = offset + live.size;
        }
        return round_up(gap, alignment) + size <= capacity_;
    }
    [[nodiscard]] bool is_free(std::uint64_t offset, std::uint64_t size) const {
        const auto after = live_.lower_bound(offset + size);
        if (after == live_.begin()) return offset + size <= capacity_;
        const auto last = std::prev(after);
        return last->first + last->second.size <= offset && offset + size <= capacity_;
    }
    [[nodiscard]] std::map<std::uint64_t, Live>::const_iterator around(std::uint64_t offset) const {
        const auto after = live_.upper_bound(offset);
        if (after == live_.begin()) return live_.end();
        const auto before = std::prev(after);
        return offset < before->first + before->second.size ? before : live_.end();
    }
    [[nodiscard]] std::uint64_t largest_gap() const {
        std::uint64_t largest = 0;
        std::uint64_t gap = 0;
        for (const auto& [offset, live] : live_) {
            largest = std::max(largest, offset - gap);
            gap = offset + live.size;
        }
        return std::max(largest, capacity_ - gap);
    }
    [[nodiscard]] std::uint64_t used() const {
        std::uint64_t sum = 0;
        for (const auto& entry : live_) sum += entry.second.size;
        return sum;
    }

    std::map<std::uint64_t, Live> live_;

private:
    std::uint64_t capacity_;
};

struct Workload {
    unsigned seed;
    std::uint64_t capacity;
    std::uint64_t largest_request;
};

class RandomWorkload : public testing::TestWithParam<Workload> {
protected:
    RandomWorkload() : allocator_(make(GetParam().capacity)), model_(GetParam().capacity), random_(GetParam().seed) {}

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

    void allocate() {
        // Spread the sizes over all magnitudes, so that every row of classes is used.
        const std::uint64_t size = 1 + below(std::max<std::uint64_t>(2, GetParam().largest_request >> below(16)));
        const std::uint64_t alignment = below(4) == 0 ? std::uint64_t{1} << below(18) : granule;
        const auto offset = allocator_.allocate(size, alignment);
        if (!offset) {
            ASSERT_FALSE(model_.can_hold(size, alignment)) << size << " aligned to " << alignment;
            return;
        }
        ASSERT_EQ(*offset % std::max(alignment, granule), 0u);
        ASSERT_TRUE(model_.is_free(*offset, round_up(size, granule))) << "overlap at " << *offset;
        ASSERT_EQ(allocator_.tag(*offset), 0u);
        allocator_.set_tag(*offset, ++tags_);
        model_.live_[*offset] = {round_up(size, granule), tags_};
    }

    void allocate_at() {
        const std::uint64_t offset = below(GetParam().capacity) / granule * granule;
        const std::uint64_t size = 1 + below(std::max<std::uint64_t>(2, GetParam().largest_request >> below(16)));
        const bool possible = model_.is_free(offset, round_up(size, granule));
        ASSERT_EQ(allocator_.allocate_at(offset, size, ++tags_), possible) << size << " at " << offset;
        if (possible) model_.live_[offset] = {round_up(size, granule), tags_};
    }

    void release() {
        if (model_.live_.empty()) return;
        auto victim = model_.live_.lower_bound(below(GetParam().capacity));
        if (victim == model_.live_.end()) victim = model_.live_.begin();
        ASSERT_TRUE(allocator_.release(victim->first));
        ASSERT_FALSE(allocator_.release(victim->first)) << "released twice";
        model_.live_.erase(victim);
    }

    void look_around() {
        const std::uint64_t offset = below(GetParam().capacity);
        const auto expected = model_.around(offset);
        const auto found = allocator_.find(offset);
        ASSERT_EQ(found.has_value(), expected != model_.live_.end()) << offset;
        if (!found) {
            ASSERT_FALSE(allocator_.release(offset));
            return;
        }
        ASSERT_EQ(found->offset, expected->first);
        ASSERT_EQ(found->size, expected->second.size);
        ASSERT_EQ(found->tag, expected->second.tag);
        if (found->offset != offset) {
            ASSERT_FALSE(allocator_.release(offset)) << "released from the inside";
        }
    }

    void compare_totals() {
        ASSERT_EQ(allocator_.count(), model_.live_.size());
        ASSERT_EQ(allocator_.used(), model_.used());
        ASSERT_EQ(allocator_.free(), allocator_.capacity() - model_.used());
        ASSERT_EQ(allocator_.largest_free(), model_.largest_gap());
        auto expected = model_.live_.begin();
        allocator_.for_each_live([&](const OffsetAllocator::Block& block) {
            ASSERT_NE(expected, model_.live_.end());
            ASSERT_EQ(block.offset, expected->first);
            ASSERT_EQ(block.tag, expected->second.tag);
            ++expected;
        });
        ASSERT_EQ(expected, model_.live_.end());
    }

    OffsetAllocator allocator_;
    Model model_;
    std::mt19937_64 random_;
    std::uint64_t tags_ = 0;
};

TEST_P(RandomWorkload, AgreesWithAMapOfLiveBlocks) {
    std::uint64_t peak = 0;
    for (int step = 0; step < 20'000; ++step) {
        // Alternate between mostly allocating and mostly freeing.
        const bool filling = step / 1000 % 2 == 0;
        if (below(10) < (filling ? 7u : 3u)) {
            ASSERT_NO_FATAL_FAILURE(allocate());
        } else {
            ASSERT_NO_FATAL_FAILURE(release());
        }
        if (filling && step % 8 == 0) ASSERT_NO_FATAL_FAILURE(allocate_at());
        ASSERT_NO_FATAL_FAILURE(look_around());
        peak = std::max(peak, allocator_.used());
        if (step % 500 == 0) {
            ASSERT_NO_FATAL_FAILURE(compare_totals());
        }
    }
    EXPECT_EQ(allocator_.peak(), peak);
    while (!model_.live_.empty()) {
        ASSERT_NO_FATAL_FAILURE(release());
    }
    EXPECT_EQ(allocator_.largest_free(), allocator_.capacity());
    EXPECT_EQ(allocator_.used(), 0u);
    EXPECT_EQ(allocator_.count(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomWorkload,
                         testing::Values(Workload{1, 64 * mebibyte, mebibyte},
                                         Workload{2, 64 * mebibyte, 16 * mebibyte}, Workload{3, mebibyte, 64 << 10},
                                         Workload{4, 97 * granule, 20 * granule},
                                         Workload{5, 256 * gibibyte, 8 * gibibyte},
                                         Workload{6, 333 * mebibyte + 17 * granule, 100'000}),
                         [](const auto& info) { return "Seed" + std::to_string(info.param.seed); });

TEST(OffsetAllocator, RefusesImpossibleCapacities) {
    EXPECT_EQ(OffsetAllocator::create(0).status().code(), 207001);
    EXPECT_EQ(OffsetAllocator::create(granule - 1).status().code(), 207001);
    EXPECT_EQ(OffsetAllocator::create(OffsetAllocator::max_capacity + 1).status().code(), 207001);
}

TEST(OffsetAllocator, LargestPossibleCapacityIsUsableToItsLastByte) {
    OffsetAllocator allocator = make(OffsetAllocator::max_capacity);
    const auto all = allocator.allocate(OffsetAllocator::max_capacity);
    ASSERT_EQ(all, 0u);
    EXPECT_EQ(allocator.find(OffsetAllocator::max_capacity - 1)->size, OffsetAllocator::max_capacity);
    EXPECT_FALSE(allocator.allocate(1));
    EXPECT_TRUE(allocator.release(0));
    const auto first = allocator.allocate(OffsetAllocator::max_capacity / 2);
    const auto second = allocator.allocate(OffsetAllocator::max_capacity / 2);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(allocator.find(OffsetAllocator::max_capacity - 1)->offset, *second);
}

TEST(OffsetAllocator, HandsOutEveryGranuleAndMergesThemBackInAnyOrder) {
    constexpr std::uint64_t count = 4096;
    for (const unsigned seed : {1u, 2u, 3u}) {
        OffsetAllocator allocator = make(count * granule);
        std::vector<std::uint64_t> offsets;
        while (const auto offset = allocator.allocate(1)) offsets.push_back(*offset);
        ASSERT_EQ(offsets.size(), count);
        EXPECT_EQ(allocator.free(), 0u);
        EXPECT_EQ(allocator.largest_free(), 0u);
        std::shuffle(offsets.begin(), offsets.end(), std::mt19937(seed));
        for (const std::uint64_t offset : offsets) ASSERT_TRUE(allocator.release(offset));
        EXPECT_EQ(allocator.largest_free(), count * granule);
        EXPECT_EQ(allocator.allocate(count * granule), 0u);
    }
}

TEST(OffsetAllocator, TakesABlockOfExactlyTheRequestedSizeInsideAClass) {
    // 2,049 granules share their class with larger sizes; the one free block of that size must still be found.
    constexpr std::uint64_t odd = 2049 * granule;
    OffsetAllocator allocator = make(3 * odd);
    const auto first = allocator.allocate(odd);
    const auto second = allocator.allocate(odd);
    const auto third = allocator.allocate(odd);
    ASSERT_TRUE(first && second && third);
    EXPECT_FALSE(allocator.allocate(1));
    ASSERT_TRUE(allocator.release(*second));
    EXPECT_EQ(allocator.allocate(odd), second);
}

TEST(OffsetAllocator, ReusesTheMostRecentlyFreedBlock) {
    OffsetAllocator allocator = make(64 * mebibyte);
    std::vector<std::uint64_t> offsets;
    for (int index = 0; index < 8; ++index) offsets.push_back(*allocator.allocate(mebibyte));
    allocator.release(offsets[1]);
    allocator.release(offsets[5]);
    allocator.release(offsets[3]);
    EXPECT_EQ(allocator.allocate(mebibyte), offsets[3]);
    EXPECT_EQ(allocator.allocate(mebibyte), offsets[5]);
    EXPECT_EQ(allocator.allocate(mebibyte), offsets[1]);
}

TEST(OffsetAllocator, AlignsToLargePowersOfTwoAndKeepsWhatLiesInFrontUsable) {
    OffsetAllocator allocator = make(8 * mebibyte);
    ASSERT_EQ(allocator.allocate(granule), 0u);
    const auto aligned = allocator.allocate(4 * mebibyte, 4 * mebibyte);
    ASSERT_EQ(aligned, 4 * mebibyte);
    EXPECT_EQ(allocator.allocate(4 * mebibyte - granule), granule);
    EXPECT_EQ(allocator.free(), 0u);
    EXPECT_FALSE(allocator.allocate(1, 16 * mebibyte));
}

TEST(OffsetAllocator, FindsNothingInFreedAndForeignOffsets) {
    OffsetAllocator allocator = make(mebibyte);
    const auto first = allocator.allocate(1000);
    const auto second = allocator.allocate(1000);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(allocator.find(*second + 999)->offset, *second);
    EXPECT_EQ(allocator.find(*second + 1023)->size, 1024u);
    EXPECT_FALSE(allocator.find(*second + 1024));
    EXPECT_FALSE(allocator.find(mebibyte));
    EXPECT_FALSE(allocator.find(~std::uint64_t{0}));
    EXPECT_FALSE(allocator.release(mebibyte));
    EXPECT_FALSE(allocator.release(*second + granule));
    EXPECT_FALSE(allocator.release(*second + 1));
    ASSERT_TRUE(allocator.release(*first));
    EXPECT_FALSE(allocator.find(*first));
    EXPECT_TRUE(allocator.find(*second));
}

TEST(OffsetAllocator, RefusesEmptyAndOversizedRequests) {
    OffsetAllocator allocator = make(mebibyte);
    EXPECT_FALSE(allocator.allocate(0));
    EXPECT_FALSE(allocator.allocate(mebibyte + 1));
    EXPECT_FALSE(allocator.allocate(~std::uint64_t{0}));
    EXPECT_EQ(allocator.used(), 0u);
    EXPECT_EQ(allocator.allocate(mebibyte), 0u);
}

}  // namespace
}  // namespace canopy
