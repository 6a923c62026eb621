// SPDX-License-Identifier: Apache-2.0
// Waits for another thread or a device with a time limit, so that a bug fails the test at the wait instead of hanging
// the program: ASSERT_TRUE(eventually([&] { return count.load() == 3; })).
#pragma once

#include <chrono>
#include <thread>

// Much longer than any wait should take, even on a busy machine or under sanitizers.
inline constexpr std::chrono::seconds patience{60};

// Returns true as soon as the condition holds, false if it does not within the limit.
template <class Condition>
[[nodiscard]] bool eventually(const Condition& condition, std::chrono::steady_clock::duration limit = patience) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return condition();
        std::this_thread::yield();
    }
    return true;
}
