// SPDX-License-Identifier: Apache-2.0
// A LaunchChecker for tests: wants all launches unless told otherwise, and keeps what it is told.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "device/launch_checker.h"

namespace canopy::test {

class RecordingChecker final : public LaunchChecker, public check::FindingSink {
public:
    // Set before a device uses it.
    bool wanted = true;
    std::uint32_t unwanted_block = UINT32_MAX;
    bool stops = false;
    std::string known_text;           // the name of a text for which there is checking code
    std::vector<std::byte> its_code;  // that code
    check::CheckOptions check_options;

    struct Launch {
        std::string kernel;
        std::vector<check::TouchedRange> touched;
    };
    std::vector<check::Finding> findings() {
        const std::lock_guard guard(mutex_);
        return findings_;
    }
    std::vector<Launch> ended() {
        const std::lock_guard guard(mutex_);
        return ended_;
    }
    // Kernels with the reasons.
    std::vector<std::pair<std::string, std::string>> unchecked() {
        const std::lock_guard guard(mutex_);
        return unchecked_;
    }
    // "race.pipe 12 15": the findings with the lines of their places.
    std::vector<std::string> in_short() {
        std::vector<std::string> all;
        for (const check::Finding& finding : findings()) {
            all.push_back(finding.id);
            for (const check::Place& place : finding.places) all.back() += " " + std::to_string(place.line);
        }
        return all;
    }

    [[nodiscard]] bool wants(std::string_view) noexcept override { return wanted; }
    [[nodiscard]] bool wants_block(std::uint32_t block) const noexcept override { return block != unwanted_block; }
    [[nodiscard]] const check::CheckOptions& options() const noexcept override { return check_options; }
    [[nodiscard]] check::FindingSink& sink() noexcept override { return *this; }
    void add(check::Finding finding) override {
        const std::lock_guard guard(mutex_);
        findings_.push_back(std::move(finding));
    }
    [[nodiscard]] bool launch_ended(const CheckedLaunch& launch,
                                    std::vector<check::TouchedRange> touched) noexcept override {
        const std::lock_guard guard(mutex_);
        ended_.push_back({std::string(launch.kernel), std::move(touched)});
        return stops;
    }
    void not_checked(std::string_view kernel, std::string_view reason) noexcept override {
        const std::lock_guard guard(mutex_);
        unchecked_.emplace_back(kernel, reason);
    }
    [[nodiscard]] Expected<std::vector<std::byte>> checking_code(const std::string& text, std::string_view) override {
        if (text == known_text) return its_code;
        return Problem{"there is no text called ", text};
    }
    [[nodiscard]] std::string origin(unsigned, std::uint64_t) const noexcept override { return "the test"; }

private:
    std::mutex mutex_;
    std::vector<check::Finding> findings_;
    std::vector<Launch> ended_;
    std::vector<std::pair<std::string, std::string>> unchecked_;
};

}  // namespace canopy::test
