// SPDX-License-Identifier: Apache-2.0
#include "core/profile/results.h"

#include <unistd.h>

#include "base/notice.h"
#include "core/process/runtime.h"
#include "profile/profile_file.h"
#include "profile/result_folder.h"

namespace canopy {

Problem write_results(const std::string& file, const std::string& folder) {
    Expected<profile::ProfileFile> opened = profile::ProfileFile::open(file);
    if (!opened.ok()) return Problem{"the profile ", file, " cannot be read: ", opened.message()};
    const Expected<std::string> made = profile::write_result_folder(*opened, folder);
    if (!made.ok()) return Problem{made.message(), "; the profile is in ", file};
    unlink(file.c_str());
    return {};
}

void tell_user(std::string_view problem) {
    const Runtime* const runtime = Runtime::existing();
    if (problem.empty() || (runtime && runtime->settings().quiet)) return;
    print_notice("profiling: " + std::string(problem));
}

}  // namespace canopy
