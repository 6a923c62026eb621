// SPDX-License-Identifier: Apache-2.0
// On-disk cache of compiled code in a user-owned folder (cache_settings()). A file's name is
// a hash of everything the code was made from. Files that another user could have written, or that are truncated, are
// ignored. All kinds together stay within the configured size; the least recently used files are evicted first.
//
// Threads: any, in any number of processes: files are replaced atomically, and losing one only costs a compilation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace canopy {

inline constexpr std::uint64_t default_cache_size = 512ull << 20;  // a loop takes some 20 KiB

// The folder for compiled code and its size limit. Read from the environment each time: programs may switch folders
// while they run.
struct CacheSettings {
    std::string folder;      // CANOPY_CACHE_DIR, else canopy in XDG_CACHE_HOME, else in ~/.cache; empty: no cache
    std::uint64_t size = 0;  // CANOPY_CACHE_SIZE; 0: nothing is kept
};
CacheSettings cache_settings();

// texts: what canopy-cc leaves for the checking code of an image (canopy/kernel_image.h), which is in `checks`.
enum class CodeKind : std::uint8_t { loops, recipes, texts, checks };

class CodeCache {
public:
    explicit CodeCache(CodeKind kind);

    [[nodiscard]] std::optional<std::vector<std::byte>> find(const std::string& name) const;
    // Whether it has the bytes; if so, they are used now.
    [[nodiscard]] bool has(const std::string& name) const noexcept;
    // Does nothing if there is nowhere to write, or if the bytes exceed the limit of the whole cache.
    void keep(const std::string& name, std::span<const std::byte> bytes) const noexcept;
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }  // empty: nothing is cached

private:
    void trim() const;

    std::string base_;
    std::string folder_;
    std::uint64_t limit_ = 0;
};

}  // namespace canopy
