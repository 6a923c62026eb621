// SPDX-License-Identifier: Apache-2.0
// The command-line tool `canopy`. It sees the public interface only and opens no device.
#include <CLI/CLI.hpp>
#include <iostream>

#include "info.h"

int main(int argc, char** argv) {
    CLI::App app{"Canopy runs programs written for the AscendCL runtime interface on this machine."};
    app.set_version_flag("--version", std::string("canopy ") + CANOPY_VERSION);
    app.require_subcommand(1);

    bool as_json = false;
    CLI::App* info = app.add_subcommand("info", "Show the devices, their chips and memory, and the settings");
    info->add_flag("--json", as_json, "Print JSON instead of text");

    CLI11_PARSE(app, argc, argv);

    if (info->parsed()) return as_json ? canopy_tool::print_json(std::cout) : canopy_tool::print_text(std::cout);
    return 0;
}
