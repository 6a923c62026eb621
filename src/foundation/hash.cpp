// SPDX-License-Identifier: Apache-2.0
#include "foundation/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace canopy {

std::uint64_t hash_of(std::span<const std::byte> bytes) noexcept { return XXH3_64bits(bytes.data(), bytes.size()); }

Hash128 wide_hash_of(std::span<const std::byte> bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64};
}

}  // namespace canopy
