// SPDX-License-Identifier: Apache-2.0
// Hashes of bytes (XXH3): checksums in images and caches, and keys that identify content. Not secure against deliberate
// tampering. Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace canopy {

std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept;
inline std::uint64_t hash_of(std::string_view text) noexcept { return hash_of(std::as_bytes(std::span(text))); }

using Hash128 = std::array<std::uint64_t, 2>;  // low, high
Hash128 wide_hash_of(std::span<const std::byte> bytes) noexcept;
inline Hash128 wide_hash_of(std::string_view text) noexcept { return wide_hash_of(std::as_bytes(std::span(text))); }

// Content is identified by its hash and size.
using ContentKey = std::array<std::uint64_t, 3>;
inline ContentKey content_key(std::span<const std::byte> bytes) noexcept {
    const Hash128 hash = wide_hash_of(bytes);
    return {hash[0], hash[1], bytes.size()};
}

}  // namespace canopy
