// SPDX-License-Identifier: Apache-2.0
#include "record/ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace canopy::record {

// The system's pages are zero, and so is an empty ring: its slots are not touched before they are used.
Ring* Ring::create() noexcept {
    void* memory =
        ::mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<Ring*>(memory);
}

void Ring::destroy(Ring* ring) noexcept { ::munmap(ring, sizeof(Ring)); }

Ring::Taken Ring::take(std::uint64_t& from, std::uint64_t until, profile::Record* to,
                       std::size_t count) const noexcept {
    const std::uint64_t first = from;
    count = static_cast<std::size_t>(std::min<std::uint64_t>(count, until - first));
    for (std::size_t i = 0; i < count; ++i) {
        const Slot& slot = slots_[(first + i) % capacity];
        Words words;
        for (std::size_t word = 0; word < words.size(); ++word)
            words[word] = slot[word].load(std::memory_order_acquire);
        to[i] = std::bit_cast<profile::Record>(words);
    }
    // The owner may be writing record `now`, so the one in its place is not whole either.
    const std::uint64_t now = written();
    const std::uint64_t first_whole = now < capacity ? 0 : now - capacity + 1;
    if (first_whole <= first) {
        from = first + count;
        return {count, 0};
    }
    const std::uint64_t lost = first_whole - first;
    if (lost >= count) {
        from = first_whole;
        return {0, lost};
    }
    std::copy(to + lost, to + count, to);
    from = first + count;
    return {count - static_cast<std::size_t>(lost), lost};
}

}  // namespace canopy::record
