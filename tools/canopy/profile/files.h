// SPDX-License-Identifier: Apache-2.0
// Where profiles lie, and folders for what is made from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "foundation/problem.h"
#include "profile/profile_file.h"

namespace canopy_tool {

// A folder that only this user can read. The destructor removes it and its contents, unless told to keep it.
class RecordingFolder {
public:
    static canopy::Expected<RecordingFolder> create(const std::string& path);
    RecordingFolder(RecordingFolder&& other) noexcept;
    RecordingFolder& operator=(RecordingFolder&&) = delete;
    ~RecordingFolder();
    void keep() noexcept { keep_ = true; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    // The profiles in it; that of this process first, the others by number.
    [[nodiscard]] std::vector<std::string> profiles(int first) const;

private:
    explicit RecordingFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
    bool keep_ = false;
};

// Fails if something that is not a folder has this name.
canopy::Problem make_folder(const std::string& path);
// "canopy-profile-app-20251118213000", with a number behind it if that is taken.
canopy::Expected<std::string> make_new_folder(const std::string& program);

// Opens a profile: a file, or the profile in a folder that was made from it.
canopy::Expected<canopy::profile::ProfileFile> open_profile(const std::string& path);
// That of the process of this user that was killed last.
canopy::Expected<std::string> last_black_box();
// The folder that holds what is made from it.
std::string folder_of_profile(const std::string& path);

std::string name_of_program(const std::string& path);

}  // namespace canopy_tool
