// SPDX-License-Identifier: Apache-2.0
#include "core/profile/operator_records.h"

#include <array>
#include <deque>
#include <unordered_map>

#include "base/process_state.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t most_operations = 1u << 20;

constexpr std::array<std::uint32_t, 256> make_table() noexcept {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78u : 0);
        table[byte] = value;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> crc_table = make_table();

struct Operations {
    Mutex mutex;
    std::deque<OperatorName> names CANOPY_GUARDED_BY(mutex) = {{"unknown", "unknown"}};
    std::unordered_map<std::string, std::uint64_t> numbers CANOPY_GUARDED_BY(mutex);
};

Operations& operations() { return process_state<Operations>(); }

std::uint32_t signature_of(const OperatorRecord& record) noexcept {
    return crc32c(reinterpret_cast<const std::byte*>(&record) + sizeof record.signature,
                  sizeof record - sizeof record.signature);
}

}  // namespace

std::uint32_t crc32c(const void* bytes, std::size_t size) noexcept {
    std::uint32_t value = ~0u;
    const auto* const each = static_cast<const unsigned char*>(bytes);
    for (std::size_t index = 0; index < size; ++index) value = (value >> 8) ^ crc_table[(value ^ each[index]) & 0xFF];
    return ~value;
}

void OperatorRecord::sign() noexcept { signature = signature_of(*this); }

bool OperatorRecord::is_signed() const noexcept { return signature == signature_of(*this); }

std::uint64_t number_operation(std::string_view type, std::string_view name) {
    std::string key(type);
    key.append(1, '\0').append(name);
    Operations& all = operations();
    MutexLock guard(all.mutex);
    const auto found = all.numbers.find(key);
    if (found != all.numbers.end()) return found->second;
    if (all.names.size() >= most_operations) return 0;
    all.names.push_back({std::string(type), std::string(name)});
    return all.numbers.emplace(std::move(key), all.names.size() - 1).first->second;
}

const OperatorName* operation(std::uint64_t number) {
    Operations& all = operations();
    MutexLock guard(all.mutex);
    return number < all.names.size() ? &all.names[static_cast<std::size_t>(number)] : nullptr;
}

}  // namespace canopy
