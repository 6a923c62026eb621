// SPDX-License-Identifier: Apache-2.0
#include "doctor.h"

#include <fmt/core.h>
#include <unistd.h>

#include <ostream>

#include "checks.h"
#include "report.h"

namespace canopy_tool {
namespace {

constexpr std::size_t files_between_signs = 500;

// Progress messages for large folders.
class Progress {
public:
    explicit Progress(std::ostream& out) : out_(out), wanted_(isatty(STDERR_FILENO) != 0) {}
    ~Progress() {
        if (shown_) out_ << "\r\x1b[K" << std::flush;
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(std::size_t files) {
        if (!wanted_ || files % files_between_signs != 0) return;
        out_ << fmt::format("\rreading: {} files", files) << std::flush;
        shown_ = true;
    }

private:
    std::ostream& out_;
    bool wanted_;
    bool shown_ = false;
};

std::vector<Finding> examine(const InstallTree& tree, const Sources& sources) {
    const Program program(sources);
    Compiler compiler(tree.root());
    Findings findings;
    const Examination examination{tree, program, compiler, findings};
    check_code(examination);
    check_cmake(examination);
    check_scripts(examination);
    check_python(examination);
    check_json(examination);
    return findings.sorted();
}

}  // namespace

int run_doctor(const DoctorOptions& options, std::ostream& out, std::ostream& errors) {
    InstallTree tree;
    Sources sources;
    std::string problem = tree.load(options.tree.empty() ? own_tree() : std::filesystem::path(options.tree));
    {
        Progress progress(errors);
        for (const std::string& path : options.paths)
            if (problem.empty()) problem = add_sources(path, sources, [&](std::size_t files) { progress.show(files); });
    }
    if (!problem.empty()) {
        errors << "canopy doctor: " << problem << '\n';
        return 2;
    }
    const Report report{sources.files.size(), sources.skipped, examine(tree, sources)};
    const Level least = options.quiet ? Level::error : Level::hint;
    (options.json ? print_report_json : print_report)(out, report, least);
    return report.count(Level::error) == 0 ? 0 : 1;
}

}  // namespace canopy_tool
