// SPDX-License-Identifier: Apache-2.0
// Buffer for the arguments of one launch: on the stack, or on the heap if they are large.
#pragma once

#include <cstddef>
#include <vector>

namespace canopy {

class ArgumentBlock {
public:
    explicit ArgumentBlock(std::size_t size) {
        if (size > sizeof(small_)) large_.resize(size);
    }
    [[nodiscard]] char* data() noexcept { return large_.empty() ? small_ : large_.data(); }

private:
    alignas(16) char small_[512];
    std::vector<char> large_;
};

}  // namespace canopy
