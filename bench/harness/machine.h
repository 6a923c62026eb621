// SPDX-License-Identifier: Apache-2.0
// Describes the machine and the software versions of a run.
#pragma once

#include <nlohmann/json.hpp>

namespace bench {

nlohmann::ordered_json describe_machine();
// Measures how much processor time other processes and other guests of the host take during the run.
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
