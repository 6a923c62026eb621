// SPDX-License-Identifier: Apache-2.0
// Bits for the bytes of memories.
#include "check/memory/written.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "check/memory/byte_bits.h"

namespace canopy::check {
namespace {

constexpr std::uint64_t base = 0x7f0000000000;

TEST(ByteBits, AgreeWithAListOfBytes) {
    std::mt19937_64 random(1);
    ByteBits bits(1000);
    std::vector<bool> expected(1000);
    EXPECT_TRUE(bits.empty());
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t begin = random() % 1000, bytes = random() % (random() % 2 == 0 ? 8 : 300);
        const bool set = random() % 2 == 0;
        if (set)
            bits.set(begin, bytes);
        else
            bits.clear(begin, bytes);
        for (std::uint64_t at = begin; at < std::min<std::uint64_t>(begin + bytes, 1000); ++at) expected[at] = set;
        const std::uint64_t from = random() % 1000, to = from + random() % (1000 - from);
        std::uint64_t clear = from, is_set = from;
        while (clear < to && expected[clear]) ++clear;
        while (is_set < to && !expected[is_set]) ++is_set;
        ASSERT_EQ(bits.find_clear(from, to), clear);
        ASSERT_EQ(bits.find_set(from, to), is_set);
        ASSERT_EQ(bits.all(from, to - from), clear == to);
    }
}

TEST(WrittenBytes, WhatIsNotToldOfIsWritten) {
    WrittenBytes bytes;
    EXPECT_EQ(bytes.find_unwritten(base, base + (1 << 20)), base + (1 << 20));
    EXPECT_EQ(bytes.find_written(base, base + 1), base);
    EXPECT_EQ(bytes.find_unwritten(~std::uint64_t{0} - 10, ~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(WrittenBytes, AgreeWithAListOfBytes) {
    constexpr std::uint64_t size = 700'000;  // several chunks
    std::mt19937_64 random(2);
    WrittenBytes bytes;
    std::vector<bool> unwritten(size);
    for (int i = 0; i < 400; ++i) {
        const std::uint64_t begin = random() % size,
                            count = std::min(size - begin, random() % (1 << (1 + random() % 20)));
        const bool mark = random() % 3 == 0;
        if (mark)
            bytes.unwritten(base + begin, count);
        else
            bytes.written(base + begin, count);
        std::fill_n(unwritten.begin() + static_cast<std::ptrdiff_t>(begin), count, mark);
        const std::uint64_t from = random() % size, to = from + random() % (size - from);
        const auto first = [&](bool value) {
            return base +
                   static_cast<std::uint64_t>(std::find(unwritten.begin() + static_cast<std::ptrdiff_t>(from),
                                                        unwritten.begin() + static_cast<std::ptrdiff_t>(to), value) -
                                              unwritten.begin());
        };
        ASSERT_EQ(bytes.find_unwritten(base + from, base + to), first(true));
        ASSERT_EQ(bytes.find_written(base + from, base + to), first(false));
    }
}

TEST(WrittenBytes, CopiesCarryWhatIsNotWritten) {
    WrittenBytes bytes;
    bytes.allocated(base, 4096);
    bytes.allocated(base + 0x100000, 4096);
    bytes.written(base, 100);
    bytes.written(base + 200, 100);
    bytes.copied(base, base + 0x100000, 1000);
    EXPECT_EQ(bytes.find_unwritten(base + 0x100000, base + 0x101000), base + 0x100000 + 100);
    EXPECT_EQ(bytes.find_written(base + 0x100000 + 100, base + 0x101000), base + 0x100000 + 200);
    EXPECT_EQ(bytes.find_unwritten(base + 0x100000 + 200, base + 0x101000), base + 0x100000 + 300);
    bytes.freed(base, 4096);
    EXPECT_EQ(bytes.find_unwritten(base, base + 4096), base + 4096);
}

TEST(WrittenBytes, FilledMemoryShowsWhoWritesIt) {
    std::vector<std::uint64_t> memory(1000, 0x0101010101010101U * fresh_byte);
    const auto begin = reinterpret_cast<std::uint64_t>(memory.data()), end = begin + 8 * memory.size();
    WrittenBytes bytes(true);
    bytes.allocated(begin, end - begin);
    EXPECT_EQ(bytes.find_unwritten(begin, end), begin);
    std::fill_n(memory.begin(), 10, 0);  // not told
    memory[20] = 1;
    bytes.written(begin + 8 * 30, 16);  // told, with the bytes that were there
    EXPECT_EQ(bytes.find_unwritten(begin, end), begin + 80);
    EXPECT_EQ(bytes.find_written(begin + 80, end), begin + 160);
    EXPECT_EQ(bytes.find_unwritten(begin + 160, end), begin + 168);
    EXPECT_EQ(bytes.find_written(begin + 168, end), begin + 240);
    EXPECT_EQ(bytes.find_unwritten(begin + 3, begin + 80), begin + 80);
    bytes.freed(begin, end - begin);
    EXPECT_EQ(bytes.find_unwritten(begin, end), end);
}

TEST(WrittenBytes, ThreadsWriteNeighbouringBytes) {
    WrittenBytes bytes;
    constexpr std::uint64_t part = 1001;
    bytes.allocated(base, 8 * part * 300);
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 8; ++thread)
        threads.emplace_back([&bytes, thread] {
            for (std::uint64_t i = 0; i < 300; ++i) bytes.written(base + (i * 8 + thread) * part, part);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(bytes.find_unwritten(base, base + 8 * part * 300), base + 8 * part * 300);
}

}  // namespace
}  // namespace canopy::check
