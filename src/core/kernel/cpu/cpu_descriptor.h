// SPDX-License-Identifier: Apache-2.0
// The JSON descriptor of CPU kernels: which op types there are, and which function of which shared object each one is.
// Nothing that a file says can do more than be refused: sizes, depths and names have limits.
//
// Threads: all functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace canopy {

inline constexpr std::size_t max_descriptor_size = std::size_t{16} << 20;

// The numbers of the interface.
enum class CpuKernelKind : std::uint32_t {
    framework = 1,
    built_in = 2,
    custom = 4,
    cooperative = 5,
    custom_cooperative = 6,
    unknown = 99,
};

// One op type.
struct CpuEntry {
    std::string op_type;   // what programs look it up by
    std::string function;  // the symbol; may be empty
    std::string library;   // file name of the shared object; may be empty
    CpuKernelKind kind = CpuKernelKind::unknown;
};

struct CpuDescriptor {
    std::map<std::string, std::shared_ptr<const CpuEntry>, std::less<>> entries;
    // Members that are not usable, and why; the others are all the same.
    std::map<std::string, std::string, std::less<>> skipped;
};

// 107000 with line and column when the text is not a JSON object. `path` is for messages.
Result<CpuDescriptor> read_cpu_descriptor(std::string_view text, std::string_view path);

// Whether a file can be nothing else than a descriptor: its first byte that is not blank opens an object.
bool looks_like_descriptor(std::span<const std::byte> bytes) noexcept;

}  // namespace canopy
