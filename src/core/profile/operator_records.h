// SPDX-License-Identifier: Apache-2.0
// The records that a subscription sends through its pipe: one for each task of a graph that was replayed. Their bytes
// are the same for every reader, so the pipe may lead to another process; names and types of operators are kept in the
// process that made the records. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

struct OperatorRecord {
    std::uint32_t signature = 0;  // CRC-32C of everything that follows
    std::uint32_t model = 0;
    std::uint32_t flag = 0;
    std::uint32_t thread = 0;
    std::uint64_t operation = 0;  // number of its name and type
    std::uint64_t duration = 0;   // all times in nanoseconds on the monotonic clock
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t execution_time = 0;
    std::uint64_t cube_operations = 0;
    std::uint64_t vector_operations = 0;
    std::uint32_t device = 0;
    std::uint32_t reserved = 0;

    void sign() noexcept;
    [[nodiscard]] bool is_signed() const noexcept;
};
static_assert(sizeof(OperatorRecord) == 80);

std::uint32_t crc32c(const void* bytes, std::size_t size) noexcept;

struct OperatorName {
    std::string type;
    std::string name;
};
// The same names have the same number; 0 stands for all that found no room.
std::uint64_t number_operation(std::string_view type, std::string_view name);
// nullptr for a number that was never given. Stays valid.
const OperatorName* operation(std::uint64_t number);

}  // namespace canopy
