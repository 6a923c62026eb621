// SPDX-License-Identifier: Apache-2.0
// The command-line tool `canopy`. It sees the public interface only and opens no device.
#include <CLI/CLI.hpp>
#include <iostream>

#include "info.h"
#include "link_default.h"

int main(int argc, char** argv) {
    CLI::App app{"Canopy runs programs written for the AscendCL runtime interface on this machine."};
    app.set_version_flag("--version", std::string("canopy ") + CANOPY_VERSION);
    app.require_subcommand(1);

    bool as_json = false;
    CLI::App* info = app.add_subcommand("info", "Show the devices, their chips and memory, and the settings");
    info->add_flag("--json", as_json, "Print JSON instead of text");

    canopy_tool::LinkDefaultOptions links;
    CLI::App* link_default = app.add_subcommand(
        "link-default",
        "Make links to this install tree where scripts look for the toolkit: ~/Ascend/ascend-toolkit/latest, "
        "~/Ascend/cann and others. Asks first; never replaces anything");
    CLI::Option* prefix =
        link_default->add_option("--prefix", links.prefix, "The folder to make them in (default: ~/Ascend)");
    link_default->add_flag("--system", links.system, "Make them in /usr/local/Ascend")->excludes(prefix);
    link_default->add_flag("--remove", links.remove, "Take away those that lead into this tree");
    link_default->add_flag("--yes", links.yes, "Do not ask");
    link_default->add_flag("--dry-run", links.dry_run, "Only say what would be done");

    CLI11_PARSE(app, argc, argv);

    if (info->parsed()) return as_json ? canopy_tool::print_json(std::cout) : canopy_tool::print_text(std::cout);
    if (link_default->parsed()) return canopy_tool::link_default(links);
    return 0;
}
