// SPDX-License-Identifier: Apache-2.0
// InnerImage: a shared object opened from its own sealed memory file, isolated from other code in the process. The
// dispatcher and the extension kernels keep runtimes in it.
//
// Threads: opened, moved and destroyed by one thread at a time; functions may be looked up from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "foundation/code_file.h"
#include "foundation/hash.h"

namespace canopy::dispatcher {

using Entry = std::uint32_t (*)(void*);

// A result of canopy/dispatcher_abi.h and its message.
struct Outcome {
    std::uint32_t result = 0;
    std::string text;
    [[nodiscard]] bool ok() const noexcept { return result == 0; }
};

class InnerImage {
public:
    Outcome open(std::span<const std::byte> bytes);
    // The first of these functions that the image has; nullptr if it has none.
    [[nodiscard]] Entry function(std::initializer_list<const char*> names) const noexcept;
    // Keeps the code loaded for ever.
    void keep_open() noexcept { file_.keep_open(); }

private:
    CodeFile file_;
};

}  // namespace canopy::dispatcher
