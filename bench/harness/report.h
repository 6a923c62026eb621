// SPDX-License-Identifier: Apache-2.0
// The rows that the topics fill, and the one table and the JSON file made of them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure.h"

namespace bench {

enum class Verdict { reached, missed, no_rival, failed };

struct Row {
    std::string name;  // as --filter and the JSON file know it
    std::string what;
    std::string ours;
    std::string goal;
    std::string rivals;
    std::string ratio;
    Verdict verdict = Verdict::missed;
    nlohmann::ordered_json numbers = {};  // what the texts were made from
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

// "1,234 ns", "63.4 ns": a decimal place below 100.
std::string nanoseconds_text(double value);
// "12.3 GB/s", of bytes in nanoseconds.
std::string rate_text(double bytes_per_nanosecond);
// "17.4 x", with as many places as it needs.
std::string times_text(double ratio);
// "PoCL 1,100 ns; oneTBB 25.0 ns" from the contenders behind the first.
std::string rivals_text(const std::vector<Contender>& contenders, const std::vector<std::string>& missing);

nlohmann::ordered_json to_json(const Summary& summary);
nlohmann::ordered_json to_json(const std::vector<Contender>& contenders);

}  // namespace bench
