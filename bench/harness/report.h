// SPDX-License-Identifier: Apache-2.0
// The rows filled by the topics, and the table and JSON file made from them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure.h"

namespace bench {

enum class Verdict { reached, missed, no_rival, failed };

struct Row {
    std::string name;  // for --filter and the JSON file
    std::string what;
    std::string ours;
    std::string goal;
    std::string rivals;
    std::string ratio;
    Verdict verdict = Verdict::missed;
    nlohmann::ordered_json numbers = {};  // the numbers behind the texts
};

class Report {
public:
    void add(Row row);
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
    [[nodiscard]] std::string table() const;
    [[nodiscard]] nlohmann::ordered_json json() const;
    [[nodiscard]] bool any_failed() const;

private:
    std::vector<Row> rows_;
};

// "1,234 ns", "63.4 ns": one decimal place below 100.
std::string nanoseconds_text(double value);
// "12.3 GB/s", from bytes per nanosecond.
std::string rate_text(double bytes_per_nanosecond);
// "17.4 x", with as many decimal places as needed.
std::string times_text(double ratio);
// "PoCL 1,100 ns; oneTBB 25.0 ns" from all contenders but the first.
std::string rivals_text(const std::vector<Contender>& contenders, const std::vector<std::string>& missing);

nlohmann::ordered_json to_json(const Summary& summary);
nlohmann::ordered_json to_json(const std::vector<Contender>& contenders);

}  // namespace bench
