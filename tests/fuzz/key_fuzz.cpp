// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the readers of keys in their three forms: they must refuse them, or return a key that reads
// the same from what it is written as.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/share/key.h"

namespace {

void expect_same(const canopy::SharedKey& one, const std::optional<canopy::SharedKey>& other) {
    if (!other || one.kind != other->kind || !(one.owner == other->owner) || one.number != other->number ||
        one.random != other->random)
        std::abort();
    if (one.number > canopy::SharedKey::max_number || one.owner.process == 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using canopy::SharedKey;
    if (size == 0) return 0;
    if (const auto key = SharedKey::from_text({reinterpret_cast<const char*>(data), size})) {
        if (key->text().size() > SharedKey::text_size) std::abort();
        expect_same(*key, SharedKey::from_text(key->text()));
    }
    SharedKey::Bytes bytes{};
    std::memcpy(bytes.data(), data, std::min(size, bytes.size()));
    if (const auto key = SharedKey::from_bytes(bytes)) expect_same(*key, SharedKey::from_bytes(key->bytes()));
    std::uint64_t handle = 0;
    std::memcpy(&handle, data, std::min(size, sizeof handle));
    if (SharedKey::from_shareable(canopy::SharedKind::physical, handle).shareable() != handle) std::abort();
    return 0;
}
