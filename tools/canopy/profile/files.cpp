// SPDX-License-Identifier: Apache-2.0
#include "files.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#include "foundation/clock.h"
#include "foundation/run_folder.h"
#include "profile/black_boxes.h"
#include "profile/result_folder.h"

namespace canopy_tool {

using canopy::Expected;
using canopy::Problem;
namespace fs = std::filesystem;

Expected<RecordingFolder> RecordingFolder::create(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) != 0) return Problem{path, ": ", std::strerror(errno)};
    return RecordingFolder(path);
}

RecordingFolder::RecordingFolder(RecordingFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})), keep_(other.keep_) {}

RecordingFolder::~RecordingFolder() {
    std::error_code error;
    if (!keep_ && !path_.empty()) fs::remove_all(path_, error);
}

std::vector<std::string> RecordingFolder::profiles(int first) const {
    std::vector<std::tuple<bool, long, std::string>> found;
    std::error_code error;
    for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() != ".canopyprof") continue;
        const long process = std::atol(entry->path().stem().c_str());
        found.emplace_back(process != first, process, entry->path().string());
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> paths;
    for (auto& [other, process, path] : found) paths.push_back(std::move(path));
    return paths;
}

Problem make_folder(const std::string& path) {
    if (::mkdir(path.c_str(), 0700) == 0) return {};
    const int reason = errno;
    std::error_code error;
    if (reason == EEXIST && fs::is_directory(path, error)) return {};
    return Problem{path, ": ", std::strerror(reason == EEXIST ? ENOTDIR : reason)};
}

Expected<std::string> make_new_folder(const std::string& program) {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    const std::string name = fmt::format("canopy-profile-{}-{}", program,
                                         canopy::profile::time_in_name(time.tv_sec * canopy::second, false));
    for (int number = 1; number < 1000; ++number) {
        const std::string path = number == 1 ? name : fmt::format("{}-{}", name, number);
        if (::mkdir(path.c_str(), 0700) == 0) return path;
        if (errno != EEXIST) return Problem{path, ": ", std::strerror(errno)};
    }
    return Problem{name, ": no such name is free"};
}

Expected<canopy::profile::ProfileFile> open_profile(const std::string& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) return canopy::profile::ProfileFile::open_with_black_box(path);
    const std::string inside = path + "/" + std::string(canopy::profile::profile_in_folder);
    if (!fs::exists(inside, error)) return Problem{path, ": holds no ", canopy::profile::profile_in_folder};
    return canopy::profile::ProfileFile::open_with_black_box(inside);
}

Expected<std::string> last_black_box() {
    const std::vector<std::string> found = canopy::profile::dead_black_boxes();
    if (found.empty())
        return Problem{"no process that was killed left its last records in ", canopy::run_folder_path(),
                       "; they are kept with CANOPY_BLACKBOX=1"};
    return found.front();
}

std::string folder_of_profile(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return path;
    const std::string folder = fs::path(path).parent_path().string();
    return folder.empty() ? "." : folder;
}

std::string name_of_program(const std::string& path) {
    const std::string name = fs::path(path).filename().string();
    return name.empty() ? "program" : name;
}

}  // namespace canopy_tool
