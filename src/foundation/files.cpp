// SPDX-License-Identifier: Apache-2.0
#include "foundation/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace canopy {

namespace {

template <class Content>
bool read_into(const std::string& path, Content& content) {
    FILE* file = fopen(path.c_str(), "rbe");
    if (file == nullptr) return false;
    content.clear();
    // Also on stacks of 64 KiB: while kernels are checked, their threads look for lines in files of programs.
    typename Content::value_type buffer[8192];
    for (std::size_t count; (count = fread(buffer, 1, sizeof buffer, file)) > 0;)
        content.insert(content.end(), buffer, buffer + count);
    const bool whole = ferror(file) == 0;
    fclose(file);
    return whole;
}

}  // namespace

bool read_file(const std::string& path, std::string& content) { return read_into(path, content); }

bool read_file(const std::string& path, std::vector<std::byte>& content) { return read_into(path, content); }

bool write_file(const std::string& path, std::string_view content) {
    // A device or a pipe (/dev/null) cannot be replaced, only written to.
    struct stat existing {};
    const bool in_place = stat(path.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode);
    const std::string part = in_place ? path : join({path, ".part", getpid()});
    FILE* file = fopen(part.c_str(), "wbe");
    if (file == nullptr) return false;
    const bool written = fwrite(content.data(), 1, content.size(), file) == content.size();
    const bool closed = fclose(file) == 0;
    if (written && closed && (in_place || rename(part.c_str(), path.c_str()) == 0)) return true;
    const int reason = errno;
    if (!in_place) unlink(part.c_str());
    errno = reason;
    return false;
}

Expected<TemporaryFolder> TemporaryFolder::create(std::string_view purpose) {
    const char* place = getenv("TMPDIR");
    std::string path = join({place && *place ? place : "/tmp", "/canopy-", purpose, "-XXXXXX"});
    if (!mkdtemp(path.data())) return Problem{"cannot create the folder ", path, ": ", std::strerror(errno)};
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace canopy
