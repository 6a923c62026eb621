// SPDX-License-Identifier: Apache-2.0
// The JSON descriptor of CPU kernels: it lists the op types and maps each to a function in a shared object. Malformed
// files are rejected safely: sizes, nesting depth and names are limited.
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

// Values from the public interface.
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
    std::string op_type;   // lookup key for programs
    std::string function;  // symbol; may be empty
    std::string library;   // file name of the shared object; may be empty
    CpuKernelKind kind = CpuKernelKind::unknown;
};

struct CpuDescriptor {
    std::map<std::string, std::shared_ptr<const CpuEntry>, std::less<>> entries;
    // Unusable members and the reason; the other members remain usable.
    std::map<std::string, std::string, std::less<>> skipped;
};

// 107000 with line and column if the text is not a JSON object. `path` is for messages.
Result<CpuDescriptor> read_cpu_descriptor(std::string_view text, std::string_view path);

// True if a file can only be a descriptor: its first non-blank byte opens an object.
bool looks_like_descriptor(std::span<const std::byte> bytes) noexcept;

}  // namespace canopy
