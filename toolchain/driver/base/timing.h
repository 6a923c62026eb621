// SPDX-License-Identifier: Apache-2.0
// Times the stages of a compilation, for --timing and --verbose. Stages may run concurrently.
#pragma once

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

namespace canopy_cc {

class Timing {
public:
    using Clock = std::chrono::steady_clock;

    // Measures from its construction to its destruction.
    class Stage {
    public:
        Stage(Timing& timing, std::string name) : timing_(timing), name_(std::move(name)) {}
        ~Stage() { timing_.add(name_, Clock::now() - begin_); }
        Stage(const Stage&) = delete;
        Stage& operator=(const Stage&) = delete;

    private:
        Timing& timing_;
        std::string name_;
        Clock::time_point begin_ = Clock::now();
    };

    void add(const std::string& name, Clock::duration duration);

    // One line for each stage in the order they ended, and the total.
    [[nodiscard]] std::string table() const;

private:
    struct Row {
        std::string name;
        Clock::duration duration{};
    };

    mutable std::mutex mutex_;
    std::vector<Row> rows_;
    Clock::time_point begin_ = Clock::now();
};

}  // namespace canopy_cc
