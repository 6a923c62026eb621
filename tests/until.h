// SPDX-License-Identifier: Apache-2.0
// Waiting for another thread or a device with a limit, so that a bug fails the test where it waits instead of hanging
// the program: ASSERT_TRUE(eventually([&] { return count.load() == 3; })).
#pragma once

#include <chrono>
#include <thread>

// Far longer than any of them takes, on a busy computer and under sanitizers too.
inline constexpr std::chrono::seconds patience{60};

// True as soon as the condition holds, false when it does not in time.
template <class Condition>
[[nodiscard]] bool eventually(const Condition& condition, std::chrono::steady_clock::duration limit = patience) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end) return condition();
        std::this_thread::yield();
    }
    return true;
}
