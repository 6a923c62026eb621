// SPDX-License-Identifier: Apache-2.0
// Shared objects for CPU cores by their names: those that this process has registered, and those in folders. A name is
// only a name: bytes that were found stay what they are, whatever is registered or written under the name later.
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

// From now on the name means these bytes, until they are unregistered or others are registered under it; then the ones
// before count again. Returns the number of the registration.
std::uint64_t register_cpu_image(std::string name, CpuImageBytes bytes);
void unregister_cpu_image(std::uint64_t number) noexcept;

// Where an object was found. The same identity: the same bytes.
struct CpuImageSource {
    std::string where;    // in words
    std::string path;     // of its file; empty when it was registered
    CpuImageBytes bytes;  // when it was registered
    std::array<std::uint64_t, 5> identity{};
};

// 107000 with all the places that were tried.
Result<CpuImageSource> locate_cpu_image(std::string_view name);
Result<CpuImageBytes> read_cpu_image(const CpuImageSource& source);

// The bytes of a file; `what` is what messages call it. 107000 when it cannot be read or has more than `most` bytes.
Result<std::vector<std::byte>> read_whole_file(const std::string& path, const char* what, std::size_t most);

inline constexpr std::size_t max_cpu_image_size = std::size_t{1} << 30;

}  // namespace canopy
