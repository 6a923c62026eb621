// SPDX-License-Identifier: Apache-2.0
// Shared objects for CPU cores, found by name: those registered in this process, then those in folders. Bytes once
// found never change, whatever is later registered or written under the name.
//
// Threads: all functions from any thread, CPU kernels included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace canopy {

using CpuImageBytes = std::shared_ptr<const std::vector<std::byte>>;

// The name now refers to these bytes, until they are unregistered or others are registered under it. Unregistering
// makes the previous bytes current again. Returns the registration number.
std::uint64_t register_cpu_image(std::string name, CpuImageBytes bytes);
void unregister_cpu_image(std::uint64_t number) noexcept;

// Where an object was found. Equal identities mean equal bytes.
struct CpuImageSource {
    std::string where;    // readable description
    std::string path;     // of its file; empty if registered
    CpuImageBytes bytes;  // set if registered
    std::array<std::uint64_t, 5> identity{};
};

// 107000 listing every place tried.
Result<CpuImageSource> locate_cpu_image(std::string_view name);
Result<CpuImageBytes> read_cpu_image(const CpuImageSource& source);

// The bytes of a file; `what` names it in messages. 107000 if it cannot be read or has more than `most` bytes.
Result<std::vector<std::byte>> read_whole_file(const std::string& path, const char* what, std::size_t most);

inline constexpr std::size_t max_cpu_image_size = std::size_t{1} << 30;

}  // namespace canopy
