// SPDX-License-Identifier: Apache-2.0
// What a profiling session has left: its folder, and the tables in it.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"

namespace programs {

// A folder that is removed at the end.
class ResultPlace {
public:
    ResultPlace() {
        char pattern[] = "/tmp/canopy-profile-XXXXXX";
        REQUIRE(mkdtemp(pattern) != nullptr);
        path_ = pattern;
    }
    ~ResultPlace() { std::filesystem::remove_all(path_); }
    ResultPlace(const ResultPlace&) = delete;
    ResultPlace& operator=(const ResultPlace&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::vector<std::string> entries() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().string());
        return found;
    }
    // The only thing in a folder.
    static std::string file_in(const std::string& folder) {
        for (const auto& entry : std::filesystem::directory_iterator(folder)) return entry.path().string();
        return {};
    }
    // The folder of the only run.
    [[nodiscard]] std::string only_run() const {
        const std::vector<std::string> found = entries();
        REQUIRE(found.size() == 1);
        REQUIRE(std::filesystem::path(found[0]).filename().string().starts_with("PROF_000001_"));
        return found[0];
    }

private:
    std::string path_;
};

// A table, a map from column to cell for each row. Cells here hold no commas, except in quotes.
using Table = std::vector<std::map<std::string, std::string>>;

inline std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char letter : line) {
        if (letter == '"')
            quoted = !quoted;
        else if (letter == ',' && !quoted)
            cells.emplace_back();
        else
            cells.back() += letter;
    }
    return cells;
}

inline std::string output_file(const std::string& run, const std::string& name, const std::string& ending) {
    for (const auto& entry : std::filesystem::directory_iterator(run + "/mindstudio_profiler_output")) {
        const std::string file = entry.path().filename().string();
        if (file.starts_with(name) && file.ends_with(ending)) return entry.path().string();
    }
    return {};
}

inline Table read_table(const std::string& run, const std::string& name) {
    std::ifstream file(output_file(run, name + "_", ".csv"));
    REQUIRE(file.good());
    std::string line;
    std::getline(file, line);
    const std::vector<std::string> columns = cells_of(line);
    Table table;
    while (std::getline(file, line)) {
        const std::vector<std::string> cells = cells_of(line);
        REQUIRE(cells.size() == columns.size());
        table.emplace_back();
        for (std::size_t index = 0; index < cells.size(); ++index) table.back()[columns[index]] = cells[index];
    }
    return table;
}

// How many rows have this value in the column.
inline int rows_with(const Table& table, const std::string& column, const std::string& value) {
    int rows = 0;
    for (const auto& row : table)
        if (row.at(column) == value) ++rows;
    return rows;
}

}  // namespace programs
