// SPDX-License-Identifier: Apache-2.0
// A file is the bytes and, behind them, their checksum.
#include "core/fusion/code_cache.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <cstring>
#include <filesystem>

namespace canopy {
namespace {

namespace fs = std::filesystem;

using Checksum = std::uint64_t;

const char* set_variable(const char* name) noexcept {
    const char* value = getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

std::string base_folder() {
    if (const char* chosen = set_variable("CANOPY_CACHE_DIR")) return chosen;
    if (const char* cache = set_variable("XDG_CACHE_HOME")) return fmt::format("{}/canopy", cache);
    if (const char* home = set_variable("HOME")) return fmt::format("{}/.cache/canopy", home);
    return {};
}

// Whether nobody but this user can have written it.
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

}  // namespace

CodeCache::CodeCache(const std::string& kind) {
    const std::string base = base_folder();
    if (base.empty()) return;
    std::error_code error;
    const std::string folder = fmt::format("{}/{}", base, kind);
    if (fs::create_directories(folder, error)) chmod(folder.c_str(), S_IRWXU);
    struct stat facts {};
    if (stat(folder.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && is_own(facts)) folder_ = folder;
}

std::optional<std::vector<std::byte>> CodeCache::find(const std::string& name) const {
    if (folder_.empty()) return std::nullopt;
    const OpenFile file(open(fmt::format("{}/{}", folder_, name).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
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
    if (XXH3_64bits(bytes.data(), bytes.size()) != kept) return std::nullopt;
    return bytes;
}

void CodeCache::keep(const std::string& name, std::span<const std::byte> bytes) const noexcept {
    if (folder_.empty()) return;
    static std::atomic<unsigned> number{0};
    const std::string path = fmt::format("{}/{}", folder_, name);
    const std::string part = fmt::format("{}.{}.{}", path, getpid(), number.fetch_add(1, std::memory_order_relaxed));
    const Checksum checksum = XXH3_64bits(bytes.data(), bytes.size());
    bool written = false;
    {
        const OpenFile file(open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
        written = file.valid() && file.write_all(bytes) && file.write_all(std::as_bytes(std::span(&checksum, 1)));
    }
    if (!written || rename(part.c_str(), path.c_str()) != 0) unlink(part.c_str());
}

}  // namespace canopy
