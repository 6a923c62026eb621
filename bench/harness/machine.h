// SPDX-License-Identifier: Apache-2.0
// The machine and the versions that a table belongs to.
#pragma once

#include <nlohmann/json.hpp>

namespace bench {

nlohmann::ordered_json describe_machine();
// How much of the processors others take while this program measures: other processes, and other guests of the host.
class QuietMeter {
public:
    QuietMeter();
    // Percent of all processors since construction.
    [[nodiscard]] double others() const;

private:
    double busy_;    // seconds of all processors
    double stolen_;  // likewise
    double own_;
    double elapsed_;
};

}  // namespace bench
