// SPDX-License-Identifier: Apache-2.0
#include "base/touched_pages.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/mapping.h"

namespace canopy {
namespace {

using Parts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Parts plain(const std::vector<TouchedPart>& parts) {
    Parts found;
    for (const TouchedPart& part : parts) found.emplace_back(part.offset, part.size);
    return found;
}

TEST(TouchedPages, OfAFile) {
    const std::uint64_t page = page_size();
    auto file = MemoryFile::create("touched-test", 16 * page);
    auto memory = Mapping::reserve(16 * page, page);
    ASSERT_TRUE(file.ok() && memory.ok());
    ASSERT_TRUE(file->map(*memory, 0, 16 * page, 0, Access::read_write));
    EXPECT_EQ(plain(touched_in_file(file->descriptor(), 0, 16 * page)), Parts{});
    for (const std::uint64_t index : {1, 2, 9, 15}) memory->base()[index * page + 5] = std::byte{1};
    EXPECT_EQ(plain(touched_in_file(file->descriptor(), 0, 16 * page)),
              (Parts{{page, 2 * page}, {9 * page, page}, {15 * page, page}}));
    // Offsets count from the start of the part, which may begin and end inside pages.
    EXPECT_EQ(plain(touched_in_file(file->descriptor(), 2 * page + 100, 7 * page)),
              (Parts{{0, page - 100}, {7 * page - 100, 100}}));
    EXPECT_EQ(plain(touched_in_file(file->descriptor(), 3 * page, 6 * page)), Parts{});
    EXPECT_EQ(plain(touched_in_file(-1, 0, 100)), (Parts{{0, 100}}));  // not known: all of it
}

TEST(TouchedPages, OfPrivateMemory) {
    const std::uint64_t page = page_size();
    auto memory = Mapping::sparse(20'000 * page);  // more than is asked about at once
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(plain(touched_here({memory->base(), memory->size()})), Parts{});
    for (const std::uint64_t index : {0, 8191, 8192, 19'999}) memory->base()[index * page] = std::byte{1};
    const Parts found = plain(touched_here({memory->base(), memory->size()}));
    // The system may have given more pages than were touched, never fewer.
    for (const std::uint64_t index : {0, 8191, 8192, 19'999}) {
        bool inside = false;
        for (const auto& [offset, size] : found) inside = inside || index * page - offset < size;
        EXPECT_TRUE(inside) << index;
    }
    EXPECT_EQ(plain(touched_here({memory->base(), page / 2})), (Parts{{0, page / 2}}));
}

}  // namespace
}  // namespace canopy
