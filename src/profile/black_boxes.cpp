// SPDX-License-Identifier: Apache-2.0
#include "profile/black_boxes.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "foundation/run_folder.h"
#include "profile/profile_writer.h"

namespace canopy::profile {

std::vector<std::string> dead_black_boxes() {
    std::vector<std::tuple<time_t, long, std::string>> found;
    const std::string folder = run_folder_path();
    if (DIR* const list = ::opendir(folder.c_str())) {
        while (const dirent* const entry = ::readdir(list)) {
            if (!std::string_view(entry->d_name).starts_with(black_box_prefix)) continue;
            std::string path = folder + "/" + entry->d_name;
            struct stat facts {};
            if (::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid()) continue;
            if (!ProfileWriter::in_use(path))
                found.emplace_back(facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, std::move(path));
        }
        ::closedir(list);
    }
    std::sort(found.rbegin(), found.rend());
    std::vector<std::string> paths;
    for (auto& [seconds, nanoseconds, path] : found) paths.push_back(std::move(path));
    return paths;
}

void remove_old_black_boxes(std::size_t kept) {
    const std::vector<std::string> paths = dead_black_boxes();
    for (std::size_t i = kept; i < paths.size(); ++i) ::unlink(paths[i].c_str());
}

}  // namespace canopy::profile
