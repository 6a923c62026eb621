// SPDX-License-Identifier: Apache-2.0
// Compiled code on disk, by a name that says everything it was made from: $CANOPY_CACHE_DIR, else
// $XDG_CACHE_HOME/canopy, else ~/.cache/canopy. A file that somebody else could have written is not used, nor is one
// that was cut short. Used by fused loops.
//
// Threads: any, and any number of processes: files are replaced in one step.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace canopy {

class CodeCache {
public:
    // `kind` names the folder inside of it.
    explicit CodeCache(const std::string& kind);

    [[nodiscard]] std::optional<std::vector<std::byte>> find(const std::string& name) const;
    // Does nothing where there is no place to write.
    void keep(const std::string& name, std::span<const std::byte> bytes) const noexcept;
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }  // empty: there is none

private:
    std::string folder_;
};

}  // namespace canopy
