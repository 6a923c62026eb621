// SPDX-License-Identifier: Apache-2.0
// The files of a program that `canopy doctor` reads.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace canopy_tool {

enum class SourceKind { code, cmake, make, shell, python, json };

struct SourceFile {
    std::string path;  // as shown to the user
    SourceKind kind = SourceKind::code;
    std::string text;  // without carriage returns
};

struct SkippedFile {
    std::string path;
    std::string reason;
};

struct Sources {
    std::vector<SourceFile> files;  // sorted by path
    std::vector<SkippedFile> skipped;
};

// Adds a file, or everything below a folder. Links are not followed: their target is either read at its own path or not
// part of the folder. `progress` is called with the number of files read so far. Returns an empty string, or why the
// path itself cannot be read.
std::string add_sources(const std::filesystem::path& path, Sources& sources,
                        const std::function<void(std::size_t)>& progress);

}  // namespace canopy_tool
