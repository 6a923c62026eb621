// SPDX-License-Identifier: Apache-2.0
#include "base/touched_pages.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/mapping.h"

namespace canopy {
namespace {

// Of an entry in /proc/self/pagemap.
constexpr std::uint64_t present = std::uint64_t{1} << 63, swapped = std::uint64_t{1} << 62;
constexpr std::size_t entries_at_once = 8192;

void add(std::vector<TouchedPart>& parts, std::uint64_t offset, std::uint64_t size) {
    if (!parts.empty() && parts.back().offset + parts.back().size == offset)
        parts.back().size += size;
    else
        parts.push_back({offset, size});
}

}  // namespace

std::vector<TouchedPart> touched_in_file(int descriptor, std::uint64_t offset, std::uint64_t size) {
    std::vector<TouchedPart> parts;
    const auto end = static_cast<off_t>(offset + size);
    for (auto at = static_cast<off_t>(offset); at < end;) {
        const off_t data = lseek(descriptor, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) break;  // nothing behind it
        const off_t hole = data < 0 ? -1 : lseek(descriptor, data, SEEK_HOLE);
        if (hole < 0) return {{0, size}};
        if (data >= end) break;
        at = std::min(hole, end);
        add(parts, static_cast<std::uint64_t>(data) - offset, static_cast<std::uint64_t>(at - data));
    }
    return parts;
}

std::vector<TouchedPart> touched_here(const MemoryRange& range) {
    std::vector<TouchedPart> parts;
    const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return {{0, range.size}};
    const std::uint64_t page = page_size(), pages = (range.size + page - 1) / page;
    const std::uint64_t first = reinterpret_cast<std::uintptr_t>(range.base) / page;
    std::vector<std::uint64_t> entries(entries_at_once);
    for (std::uint64_t done = 0; done < pages;) {
        const std::uint64_t count = std::min<std::uint64_t>(pages - done, entries.size());
        const auto bytes = static_cast<ssize_t>(count * sizeof(std::uint64_t));
        if (pread(file, entries.data(), static_cast<std::size_t>(bytes),
                  static_cast<off_t>((first + done) * sizeof(std::uint64_t))) != bytes) {
            close(file);
            return {{0, range.size}};
        }
        for (std::uint64_t index = 0; index < count; ++index) {
            if ((entries[index] & (present | swapped)) == 0) continue;
            const std::uint64_t at = (done + index) * page;
            add(parts, at, std::min<std::uint64_t>(page, range.size - at));
        }
        done += count;
    }
    close(file);
    return parts;
}

}  // namespace canopy
