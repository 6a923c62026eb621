// SPDX-License-Identifier: Apache-2.0
// The command-line tool `canopy`. It uses only the public interface and does not open a device.
#include <CLI/CLI.hpp>
#include <iostream>

#include "doctor/doctor.h"
#include "info.h"
#include "link_default.h"

int main(int argc, char** argv) {
    CLI::App app{"Canopy runs programs for the AscendCL runtime on this computer."};
    app.set_version_flag("--version", std::string("canopy ") + CANOPY_VERSION);
    app.require_subcommand(1);

    bool as_json = false;
    CLI::App* info = app.add_subcommand("info", "Show the devices, their chips and memory, and the settings");
    info->add_flag("--json", as_json, "Print JSON instead of text");

    canopy_tool::LinkDefaultOptions links;
    CLI::App* link_default = app.add_subcommand(
        "link-default",
        "Create links to this install tree where scripts look for the toolkit: ~/Ascend/ascend-toolkit/latest, "
        "~/Ascend/cann and others. Asks first; never replaces anything");
    CLI::Option* prefix =
        link_default->add_option("--prefix", links.prefix, "The folder to create them in (default: ~/Ascend)");
    link_default->add_flag("--system", links.system, "Create them in /usr/local/Ascend")->excludes(prefix);
    link_default->add_flag("--remove", links.remove, "Remove the links into this tree");
    link_default->add_flag("--yes", links.yes, "Do not ask");
    link_default->add_flag("--dry-run", links.dry_run, "Only show what would be done");

    canopy_tool::DoctorOptions examination;
    CLI::App* doctor =
        app.add_subcommand("doctor", "Check the sources of a program for things that do not work with Canopy");
    doctor->add_option("path", examination.paths, "Folders and files to check")->required();
    doctor->add_option("--tree", examination.tree, "Install tree to compare with (default: the tree of this command)");
    doctor->add_flag("--json", examination.json, "Print JSON instead of text");
    doctor->add_flag("--quiet", examination.quiet, "Print errors only, no warnings and hints");
    doctor->footer("Exit status: 0 without errors, 1 with errors, 2 on wrong usage.");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }

    if (doctor->parsed()) return canopy_tool::run_doctor(examination, std::cout, std::cerr);
    if (info->parsed()) return as_json ? canopy_tool::print_json(std::cout) : canopy_tool::print_text(std::cout);
    if (link_default->parsed()) return canopy_tool::link_default(links);
    return 0;
}
