// SPDX-License-Identifier: Apache-2.0
#include "sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <system_error>

namespace canopy_tool {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_file = 4 << 20;  // larger files are data, not hand-written

bool is_any(const std::string& text, std::initializer_list<std::string_view> choices) {
    return std::find(choices.begin(), choices.end(), text) != choices.end();
}

std::optional<SourceKind> kind_of(const fs::path& path) {
    const std::string name = path.filename().string();
    const std::string suffix = path.extension().string();
    if (is_any(suffix, {".asc", ".cce", ".aicpu", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hh", ".hxx", ".inl",
                        ".inc", ".ipp", ".tpp", ".cuh"}))
        return SourceKind::code;
    if (name == "CMakeLists.txt" || suffix == ".cmake") return SourceKind::cmake;
    if (is_any(name, {"Makefile", "makefile", "GNUmakefile"}) || is_any(suffix, {".mk", ".make"}))
        return SourceKind::make;
    if (is_any(suffix, {".sh", ".bash"})) return SourceKind::shell;
    if (suffix == ".py") return SourceKind::python;
    if (suffix == ".json") return SourceKind::json;
    return std::nullopt;
}

// Folders filled by tools.
bool is_generated(const fs::path& folder) {
    if (is_any(folder.filename().string(), {".git", ".svn", ".hg", "__pycache__", "node_modules", "CMakeFiles"}))
        return true;
    std::error_code error;
    return fs::exists(folder / "CMakeCache.txt", error) || fs::exists(folder / "build.ninja", error);
}

// Returns an empty string, or why the file is not read.
std::string read_text(const fs::path& path, std::string& text) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) return error.message();
    if (size > largest_file) return fmt::format("is larger than {} MiB", largest_file >> 20);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    text.resize(size);
    if (!file || (size != 0 && !file.read(text.data(), static_cast<std::streamsize>(size))))
        return fmt::format("cannot be read: {}", std::strerror(errno == 0 ? EIO : errno));
    if (text.find('\0') != std::string::npos) return "is not text";
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return {};
}

void add_file(const fs::path& path, SourceKind kind, Sources& sources) {
    SourceFile file{path.string(), kind, {}};
    if (std::string reason = read_text(path, file.text); !reason.empty())
        sources.skipped.push_back({path.string(), std::move(reason)});
    else
        sources.files.push_back(std::move(file));
}

void add_folder(const fs::path& folder, Sources& sources, const std::function<void(std::size_t)>& progress) {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, error);
    if (error) sources.skipped.push_back({folder.string(), fmt::format("cannot be read: {}", error.message())});
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        std::error_code unknown;
        const fs::file_status status = entry->symlink_status(unknown);
        if (fs::is_directory(status)) {
            if (is_generated(entry->path())) {
                entry.disable_recursion_pending();
            } else if (fs::directory_iterator(entry->path(), unknown); unknown) {
                sources.skipped.push_back(
                    {entry->path().string(), fmt::format("cannot be read: {}", unknown.message())});
                entry.disable_recursion_pending();
            }
        } else if (const auto kind = kind_of(entry->path()); kind && fs::is_regular_file(status)) {
            add_file(entry->path(), *kind, sources);
            progress(sources.files.size());
        }
    }
}

}  // namespace

std::string add_sources(const fs::path& path, Sources& sources, const std::function<void(std::size_t)>& progress) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (error) return fmt::format("{}: {}", path.string(), error.message());
    const std::size_t skipped = sources.skipped.size();
    if (fs::is_directory(status)) {
        fs::directory_iterator check(path, error);
        if (error) return fmt::format("{}: {}", path.string(), error.message());
        add_folder(path, sources, progress);
    } else if (const auto kind = kind_of(path); kind && fs::is_regular_file(status)) {
        add_file(path, *kind, sources);
        if (sources.skipped.size() != skipped)
            return fmt::format("{} {}", path.string(), sources.skipped.back().reason);
    } else {
        return fmt::format("{} is not a kind of source file that this command reads", path.string());
    }
    auto& files = sources.files;
    std::sort(files.begin(), files.end(),
              [](const SourceFile& one, const SourceFile& other) { return one.path < other.path; });
    files.erase(std::unique(files.begin(), files.end(),
                            [](const SourceFile& one, const SourceFile& other) { return one.path == other.path; }),
                files.end());
    return {};
}

}  // namespace canopy_tool
