// SPDX-License-Identifier: Apache-2.0
// A file holds the bytes followed by their checksum. Its modification time is the time of last use. It is first written
// under a temporary name that ends in `unfinished`; a process that dies leaves such a file behind.
#include "foundation/code_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <tuple>

#include "foundation/byte_size.h"
#include "foundation/hash.h"
#include "foundation/problem.h"

namespace canopy {
namespace {

namespace fs = std::filesystem;

using Checksum = std::uint64_t;

constexpr std::array folder_names = {"loops", "recipes", "texts", "checks"};  // by CodeKind
constexpr std::string_view unfinished = ".part";
constexpr std::time_t unfinished_after = 3600;  // seconds; no write takes that long

// Null if it is unset or empty.
const char* variable(const char* name) noexcept {
    const char* value = getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// True if only this user can have written it.
bool is_own(const struct stat& facts) noexcept {
    return facts.st_uid == geteuid() && (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

class OpenFile {
public:
    explicit OpenFile(int descriptor) noexcept : descriptor_(descriptor) {}
    ~OpenFile() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    [[nodiscard]] bool valid() const noexcept { return descriptor_ >= 0; }
    [[nodiscard]] int get() const noexcept { return descriptor_; }

    bool read_all(std::span<std::byte> bytes) const noexcept {
        while (!bytes.empty()) {
            const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
            if (count <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return true;
    }
    bool write_all(std::span<const std::byte> bytes) const noexcept {
        while (!bytes.empty()) {
            const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
            if (count <= 0) return false;
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        }
        return true;
    }

private:
    int descriptor_;
};

// A file of the cache.
struct KeptFile {
    timespec used{};
    std::uint64_t size = 0;
    std::string path;

    [[nodiscard]] bool older_than(const KeptFile& other) const {
        return std::tie(used.tv_sec, used.tv_nsec, path) < std::tie(other.used.tv_sec, other.used.tv_nsec, other.path);
    }
};

// A file left behind by a writer that died.
bool is_abandoned(std::string_view name, const struct stat& facts) noexcept {
    return name.ends_with(unfinished) && facts.st_mtime < std::time(nullptr) - unfinished_after;
}

void list_files(const std::string& folder, std::vector<KeptFile>& files) {
    DIR* entries = opendir(folder.c_str());
    if (entries == nullptr) return;
    while (const dirent* entry = readdir(entries)) {
        struct stat facts {};
        if (fstatat(dirfd(entries), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode))
            continue;
        if (is_abandoned(entry->d_name, facts))
            unlinkat(dirfd(entries), entry->d_name, 0);
        else
            files.push_back(
                {facts.st_mtim, static_cast<std::uint64_t>(facts.st_size), join({folder, "/", entry->d_name})});
    }
    closedir(entries);
}

}  // namespace

CacheSettings cache_settings() {
    CacheSettings settings;
    if (const char* chosen = variable("CANOPY_CACHE_DIR"))
        settings.folder = chosen;
    else if (const char* cache = variable("XDG_CACHE_HOME"))
        settings.folder = join({cache, "/canopy"});
    else if (const char* home = variable("HOME"))
        settings.folder = join({home, "/.cache/canopy"});
    const char* size = variable("CANOPY_CACHE_SIZE");
    settings.size = size != nullptr ? parse_size(size).value_or(default_cache_size) : default_cache_size;
    return settings;
}

CodeCache::CodeCache(CodeKind kind) {
    const CacheSettings settings = cache_settings();
    if (settings.folder.empty() || settings.size == 0) return;
    std::error_code error;
    const std::string folder = join({settings.folder, "/", folder_names.at(static_cast<std::size_t>(kind))});
    if (fs::create_directories(folder, error)) chmod(folder.c_str(), S_IRWXU);
    struct stat facts {};
    if (stat(folder.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode) || !is_own(facts)) return;
    base_ = settings.folder;
    folder_ = folder;
    limit_ = settings.size;
}

std::optional<std::vector<std::byte>> CodeCache::find(const std::string& name) const {
    if (folder_.empty()) return std::nullopt;
    const OpenFile file(open(join({folder_, "/", name}).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat facts {};
    if (!file.valid() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) || !is_own(facts))
        return std::nullopt;
    if (facts.st_size <= static_cast<off_t>(sizeof(Checksum))) return std::nullopt;
    std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
    if (!file.read_all(bytes)) return std::nullopt;
    Checksum kept = 0;
    const std::size_t size = bytes.size() - sizeof kept;
    std::memcpy(&kept, bytes.data() + size, sizeof kept);
    bytes.resize(size);
    if (hash_of(bytes) != kept) return std::nullopt;
    futimens(file.get(), nullptr);  // mark as used now
    return bytes;
}

bool CodeCache::has(const std::string& name) const noexcept {
    return !folder_.empty() && utimensat(AT_FDCWD, join({folder_, "/", name}).c_str(), nullptr, 0) == 0;
}

void CodeCache::keep(const std::string& name, std::span<const std::byte> bytes) const noexcept try {
    if (folder_.empty() || bytes.size() + sizeof(Checksum) > limit_) return;
    std::string part = join({folder_, "/", name, ".XXXXXX", unfinished});
    const Checksum checksum = hash_of(bytes);
    bool written = false;
    {
        const OpenFile file(mkostemps(part.data(), static_cast<int>(unfinished.size()), O_CLOEXEC));
        if (!file.valid()) return;
        written = file.write_all(bytes) && file.write_all(std::as_bytes(std::span(&checksum, 1)));
    }
    if (!written || rename(part.c_str(), join({folder_, "/", name}).c_str()) != 0) unlink(part.c_str());
    trim();
} catch (...) {  // out of memory: nothing is cached
}

// Concurrent trims agree on which file is oldest; it does not matter which process removes it.
void CodeCache::trim() const {
    std::vector<KeptFile> files;
    for (const char* name : folder_names) list_files(join({base_, "/", name}), files);
    std::uint64_t total = 0;
    for (const KeptFile& file : files) total += file.size;
    if (total <= limit_) return;
    std::sort(files.begin(), files.end(),
              [](const KeptFile& left, const KeptFile& right) { return left.older_than(right); });
    for (const KeptFile& file : files) {
        unlink(file.path.c_str());
        total -= file.size;
        if (total <= limit_) return;
    }
}

}  // namespace canopy
