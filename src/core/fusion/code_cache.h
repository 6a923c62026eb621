// SPDX-License-Identifier: Apache-2.0
// Compiled code on disk, by a name that says everything it was made from, in a folder of the user's
// (cache_settings() in core/process/settings.h). A file that somebody else could have written is not used, nor is one
// that was cut short. All kinds together stay within the size that is set: what was not used for longest goes first.
//
// Threads: any, and any number of processes: files are replaced in one step, and losing one costs a compilation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace canopy {

enum class CodeKind : std::uint8_t { loops, recipes };

class CodeCache {
public:
    explicit CodeCache(CodeKind kind);

    [[nodiscard]] std::optional<std::vector<std::byte>> find(const std::string& name) const;
    // Does nothing where there is no place to write, and for what is larger than the whole cache may be.
    void keep(const std::string& name, std::span<const std::byte> bytes) const noexcept;
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }  // empty: nothing is kept

private:
    void trim() const;

    std::string base_;
    std::string folder_;
    std::uint64_t limit_ = 0;
};

}  // namespace canopy
