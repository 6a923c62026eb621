// SPDX-License-Identifier: Apache-2.0
// canopy-graph: draws a graph from the trace that aclmdlRIDebugJsonPrint writes. Needs only the trace.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "../command_line.h"
#include "draw.h"
#include "trace.h"

namespace {

int complain(const std::string& text) {
    std::cerr << "canopy-graph: " << text << "\n";
    return 1;
}

bool read_file(const std::string& path, std::string& text) {
    if (path == "-") {
        text.assign(std::istreambuf_iterator<char>(std::cin), {});
        return !std::cin.bad();
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    text.assign(std::istreambuf_iterator<char>(file), {});
    return !file.bad();
}

bool write_file(const std::string& path, const std::string& text) {
    if (path.empty() || path == "-") return static_cast<bool>(std::cout << text << std::flush);
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text << std::flush;
    return static_cast<bool>(file);
}

bool ends_with(const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> operands;
    std::string output, format;
    bool version = false;
    const std::vector<std::string> arguments(argv + 1, argv + std::max(argc, 1));
    const canopy_tool::CommandLine line = {
        .name = "canopy-graph",
        .meaning =
            "Draws a graph. The trace comes from aclmdlRIDebugJsonPrint(model, \"trace.json\", 0); Perfetto\n"
            "(https://ui.perfetto.dev) opens it as well. SVG is laid out here; DOT is for Graphviz.",
        .options = {{"--version", "Display program version information and exit", &version},
                    {"--output", "The picture; default or -: standard output", nullptr, &output, "-o"},
                    {"--format",
                     "svg (default) or dot; inferred if the output ends in .dot or .gv",
                     nullptr,
                     &format,
                     "",
                     {"svg", "dot"}}},
        .operand = "trace",
        .operand_meaning = "The trace; - for standard input",
        .operands = &operands,
        .one_operand = true};
    if (arguments == std::vector<std::string>{"--version"}) {
        std::cout << "canopy-graph " CANOPY_VERSION "\n";
        return 0;
    }
    if (const int status = read_or_explain(line, arguments); status >= 0) return status;
    const std::string input = operands.front();
    if (format.empty()) format = ends_with(output, ".dot") || ends_with(output, ".gv") ? "dot" : "svg";

    std::string text;
    errno = 0;
    if (!read_file(input, text)) return complain(input + " cannot be read: " + std::strerror(errno));
    try {
        const canopy_graph::Trace trace = canopy_graph::read_trace(text);
        const std::string picture = format == "dot" ? canopy_graph::draw_dot(trace) : canopy_graph::draw_svg(trace);
        errno = 0;
        if (!write_file(output, picture))
            return complain((output.empty() ? "standard output" : output) +
                            " cannot be written: " + std::strerror(errno));
    } catch (const canopy_graph::BadTrace& problem) {
        return complain(input + " " + problem.what());
    } catch (const std::exception& problem) {
        return complain(problem.what());
    }
    return 0;
}
