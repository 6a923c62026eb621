// SPDX-License-Identifier: Apache-2.0
// Names of objects that a process shares with others. A key says which process made it (in a way that a later process
// with the same number does not match), which of its objects is meant, and carries random bits, so that it cannot be
// guessed. Its forms: a printable text of at most 64 characters, 64 bytes, and for shareable handles one 64-bit number.
// Plain values and pure functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace canopy {

enum class SharedKind : std::uint8_t { none = 0, memory, physical, notify, event, queue, pool };

// A process of this machine. Two of them are equal only if they are the same process.
struct ProcessId {
    std::uint64_t name_space = 0;  // number of its pid namespace
    std::uint64_t start = 0;       // when it started, in clock ticks; 0: not known
    std::uint32_t process = 0;     // its pid, as itself sees it
    std::uint32_t forks = 0;       // how often this was forked without exec since the library was loaded

    friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// This process. Read anew after a fork.
ProcessId this_process() noexcept;

// The bits of a key that count: those of the shortest form it is given out in.
enum class KeyStrength : std::uint8_t { full, shareable, number };

struct SharedKey {
    SharedKind kind = SharedKind::none;
    KeyStrength strength = KeyStrength::full;
    ProcessId owner;
    std::uint32_t number = 0;  // of the object; 20 bits
    std::uint64_t random = 0;

    static constexpr std::uint32_t max_number = (1u << 20) - 1;
    static constexpr std::size_t text_size = 64;  // at most, without the zero behind it
    static constexpr std::uint64_t random_mask(KeyStrength strength) noexcept {
        return strength == KeyStrength::full ? ~std::uint64_t{0} : strength == KeyStrength::shareable ? 0x3fffff : 0;
    }

    [[nodiscard]] std::string text() const;
    static std::optional<SharedKey> from_text(std::string_view text) noexcept;

    using Bytes = std::array<std::byte, 64>;
    [[nodiscard]] Bytes bytes() const noexcept;
    static std::optional<SharedKey> from_bytes(const Bytes& bytes) noexcept;

    // 22 bits of the pid, 20 of the number, 22 random ones. The start time and the namespace are not part of it.
    [[nodiscard]] std::uint64_t shareable() const noexcept;
    static SharedKey from_shareable(SharedKind kind, std::uint64_t handle) noexcept;
    // For forms of other sizes: an object of a process of this pid namespace, found by its number alone. Works only
    // for objects exported with KeyStrength::number.
    static SharedKey from_number(SharedKind kind, std::uint32_t process, std::uint32_t number) noexcept;
};

}  // namespace canopy
