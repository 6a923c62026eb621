// SPDX-License-Identifier: Apache-2.0
// npu-smi: shows the devices in the form that scripts for the platform's own tool read. It opens no device; the figures
// come from the programs that use them. `canopy top` shows more, for people.
#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "chips.h"
#include "output.h"

namespace {

using Arguments = std::vector<std::string>;

constexpr const char* help = R"(Usage: npu-smi info [options]

  npu-smi info                         All chips, and the processes that use them
  npu-smi info -l                      The chips
  npu-smi info -m                      Their names and numbers
  npu-smi info -t TOPIC -i N [-c 0]    One chip: usages, common, memory, board, temp, power, health, proc-mem, topo
  npu-smi info watch [-i N] [-c 0] [-d SECONDS] [-s COLUMNS]
                                       A line per chip again and again; columns: letters of ptaicmbu
  npu-smi -v                           The version

Figures are those of this user's programs. NA: this computer has no such sensor, or a chip here has no such thing.
)";

int wrong(const std::string& option) {
    fmt::print("Error parameter of {}\n", option);
    return 1;
}

std::optional<int> number_of(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

struct Request {
    std::string topic;
    std::optional<int> chip, core;
    int seconds = 1;
    std::string columns = "ptaicmb";
    bool list = false, map = false, watch = false;
};

// The option that is wrong; empty: none.
std::string read_request(const Arguments& arguments, Request& request) {
    for (std::size_t at = 1; at < arguments.size(); ++at) {
        const std::string& name = arguments[at];
        if (name == "-l") {
            request.list = true;
        } else if (name == "-m") {
            request.map = true;
        } else if (name == "watch" && at == 1) {
            request.watch = true;
        } else {
            if (at + 1 == arguments.size()) return name;
            const std::string& value = arguments[++at];
            const std::optional<int> number = number_of(value);
            if (name == "-t") {
                request.topic = value;
            } else if (name == "-i" && number) {
                request.chip = number;
            } else if (name == "-c" && number) {
                request.core = number;
            } else if (name == "-d" && number && *number > 0) {
                request.seconds = *number;
            } else if (name == "-s" && !value.empty() && value.find_first_not_of("ptaicmbu") == std::string::npos) {
                request.columns = value;
            } else {
                return name;
            }
        }
    }
    return {};
}

bool put(const std::string& text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

const npu_smi::Chip* find_chip(const std::vector<npu_smi::Chip>& chips, int number) {
    const auto found = std::find_if(chips.begin(), chips.end(), [&](const npu_smi::Chip& chip) {
        return chip.number == static_cast<std::uint32_t>(number);
    });
    return found == chips.end() ? nullptr : &*found;
}

int watch(const Request& request) {
    if (!put(npu_smi::watch_header(request.columns))) return 1;
    for (;;) {
        std::string lines;
        const npu_smi::Sensors sensors = npu_smi::read_sensors();
        const std::vector<npu_smi::Chip> chips = npu_smi::read_chips();
        if (request.chip && !find_chip(chips, *request.chip)) return wrong("-i");
        for (const npu_smi::Chip& chip : chips)
            if (!request.chip || chip.number == static_cast<std::uint32_t>(*request.chip))
                lines += npu_smi::watch_line(request.columns, chip, sensors);
        if (!put(lines)) return 1;
        const timespec time{request.seconds, 0};
        nanosleep(&time, nullptr);
    }
}

int info(const Arguments& arguments) {
    Request request;
    if (const std::string problem = read_request(arguments, request); !problem.empty()) return wrong(problem);
    if (request.core && *request.core != 0) return wrong("-c");  // a card here has one chip
    if (request.watch) return watch(request);
    const std::vector<npu_smi::Chip> chips = npu_smi::read_chips();
    if (request.list) return put(npu_smi::list(chips)) ? 0 : 1;
    if (request.map) return put(npu_smi::map(chips)) ? 0 : 1;
    const npu_smi::Sensors sensors = npu_smi::read_sensors();
    if (request.topic.empty() && !request.chip) return put(npu_smi::table(chips, sensors)) ? 0 : 1;
    const npu_smi::Chip* chip = find_chip(chips, request.chip.value_or(0));
    if (chip == nullptr) return wrong("-i");
    if (!request.chip && request.topic != "topo") return wrong("-i");
    std::string text;
    if (!npu_smi::topic(request.topic, chips, *chip, request.core.has_value(), sensors, text)) return wrong("-t");
    return put(text) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const Arguments arguments(argv + 1, argv + std::max(argc, 1));
    const std::string command = arguments.empty() ? "-h" : arguments.front();
    if (command == "info") return info(arguments);
    if (command == "-v" || command == "--version") return put("npu-smi version: " CANOPY_VERSION "\n") ? 0 : 1;
    if (command == "-h" || command == "--help" || command == "help") return put(help) ? 0 : 1;
    return wrong(command);
}
