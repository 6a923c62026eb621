// SPDX-License-Identifier: Apache-2.0
// Processes that are forked without exec. They inherit this library's objects but none of its threads, and must not
// look like their parent to others. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace canopy {

// How often this process and its ancestors were forked since the library first shared something. An object that is
// shared remembers the count at its creation; if it differs, the object belongs to an ancestor (107017).
inline std::atomic<std::uint32_t> forks_so_far{0};
inline std::uint32_t fork_count() noexcept { return forks_so_far.load(std::memory_order_relaxed); }

}  // namespace canopy
