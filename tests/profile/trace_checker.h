// SPDX-License-Identifier: Apache-2.0
// Checks a trace strictly: it is JSON, every event has what its phase needs, slices of one row nest, every begin has an
// end and every arrow two, in rows that have a slice there.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "foundation/json.h"

namespace canopy::profile {

struct CheckedTrace {
    std::map<std::string, std::uint64_t> processes;                       // name and label: pid
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> rows;  // pid, tid: name
    std::map<std::string, int> slices;                                    // process: how many
    std::map<std::string, int> arrows;                                    // category: how many
    int counters = 0, instants = 0, ranges = 0;
    Json events;

    [[nodiscard]] std::string process_of(const Json& event) const {
        for (const auto& [name, pid] : processes)
            if (pid == event.at("pid").get<std::uint64_t>()) return name;
        return "?";
    }
};

// "12.345" or 12.345 in nanoseconds.
inline std::int64_t nanoseconds_of(const Json& value) {
    if (!value.is_string()) return std::llround(value.get<double>() * 1000);
    std::string text = value.text();
    const std::size_t point = text.find('.');
    EXPECT_EQ(text.size(), point + 4) << text;
    text.erase(point, 1);
    return std::stoll(text);
}

inline CheckedTrace check_trace(const std::string& text) {
    CheckedTrace trace;
    auto parsed = parse_json(text);
    EXPECT_TRUE(parsed && parsed->is_array());
    if (!parsed || !parsed->is_array()) return trace;
    trace.events = std::move(*parsed);
    struct Slice {
        std::int64_t begin, end;
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<Slice>> rows;
    std::map<std::tuple<std::string, std::uint64_t, std::string>, std::pair<int, int>> arrows;
    std::map<std::uint64_t, std::pair<int, int>> ranges;
    for (const Json& event : trace.events) {
        if (event.at("ph") != "M") continue;
        const std::string name = event.at("name").text();
        const auto pid = event.at("pid").get<std::uint64_t>();
        if (name == "process_name") trace.processes.emplace(event.at("args").at("name").text(), pid);
        if (name == "thread_name") {
            EXPECT_TRUE(
                trace.rows
                    .emplace(std::pair(pid, event.at("tid").get<std::uint64_t>()), event.at("args").at("name").text())
                    .second);
        }
    }
    for (const Json& event : trace.events) {
        const std::string phase = event.at("ph").text();
        EXPECT_FALSE(event.at("name").text().empty());
        if (phase == "M") continue;
        const std::pair row(event.at("pid").get<std::uint64_t>(), event.at("tid").get<std::uint64_t>());
        EXPECT_TRUE(trace.rows.contains(row)) << event.dump();
        const std::int64_t begin = nanoseconds_of(event.at("ts"));
        if (phase == "X") {
            const std::int64_t duration = nanoseconds_of(event.at("dur"));
            EXPECT_GE(duration, 0);
            rows[row].push_back({begin, begin + duration});
            ++trace.slices[trace.process_of(event)];
        } else if (phase == "s" || phase == "f") {
            const std::string category = event.at("cat").text();
            const auto id = event.at("id").get<std::uint64_t>();
            EXPECT_EQ(id % (std::uint64_t{1} << 32), 0u);
            EXPECT_EQ(event.at("name"), category + std::to_string(id));
            if (phase == "f") EXPECT_EQ(event.at("bp"), "e");
            auto& ends = arrows[{category, id, event.at("name").text()}];
            ++(phase == "s" ? ends.first : ends.second);
        } else if (phase == "b" || phase == "e") {
            auto& ends = ranges[event.at("id").get<std::uint64_t>()];
            ++(phase == "b" ? ends.first : ends.second);
        } else if (phase == "C") {
            ++trace.counters;
            EXPECT_TRUE(event.at("args").is_object());
        } else if (phase == "i") {
            ++trace.instants;
            EXPECT_EQ(event.at("s"), "t");
        } else {
            ADD_FAILURE() << "unknown phase " << phase;
        }
    }
    for (const auto& [key, ends] : arrows) {
        EXPECT_EQ(ends, std::pair(1, 1)) << std::get<2>(key);
        ++trace.arrows[std::get<0>(key)];
    }
    for (const auto& [id, ends] : ranges) {
        EXPECT_EQ(ends, std::pair(1, 1)) << id;
        ++trace.ranges;
    }
    for (auto& [row, slices] : rows) {
        std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
        });
        std::vector<Slice> open;
        for (const Slice& slice : slices) {
            while (!open.empty() && open.back().end <= slice.begin) open.pop_back();
            if (!open.empty()) EXPECT_LE(slice.end, open.back().end) << trace.rows[row] << " at " << slice.begin;
            open.push_back(slice);
        }
    }
    return trace;
}

}  // namespace canopy::profile
