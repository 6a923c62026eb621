// SPDX-License-Identifier: Apache-2.0
#include "core/share/key.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "core/share/fork.h"

namespace canopy {
namespace {

// Field 22 of /proc/self/stat; the name in field 2 may contain anything, so the search begins behind its last bracket.
std::uint64_t start_time() noexcept {
    char text[1024];
    std::FILE* file = std::fopen("/proc/self/stat", "re");
    if (file == nullptr) return 1;
    const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    text[size] = 0;
    const char* at = std::strrchr(text, ')');
    for (int field = 2; at && field < 22; ++field) at = std::strchr(at + 1, ' ');
    std::uint64_t ticks = 0;
    if (at == nullptr || std::sscanf(at, "%lu", &ticks) != 1 || ticks == 0) return 1;
    return ticks;
}

struct Numbers {
    const char* next;
    const char* end;
    bool good = true;
    // The next number in hex and the dash behind it.
    std::uint64_t take() noexcept {
        std::uint64_t value = 0;
        const auto [at, error] = std::from_chars(next, end, value, 16);
        good = good && error == std::errc() && at != next;
        next = at;
        if (next != end) good = good && *next++ == '-';
        return value;
    }
};

struct Packed {
    char magic[4];
    std::uint8_t kind;
    std::uint8_t unused[3];
    std::uint32_t process;
    std::uint32_t number;
    std::uint64_t name_space;
    std::uint64_t start;
    std::uint64_t random;
    std::uint32_t forks;
    std::uint8_t rest[20];
};
static_assert(sizeof(Packed) == 64);
constexpr char packed_magic[4] = {'c', '1', 'k', 'e'};

bool known(std::uint64_t kind) noexcept { return kind > 0 && kind <= static_cast<std::uint64_t>(SharedKind::pool); }

}  // namespace

ProcessId this_process() noexcept {
    static thread_local ProcessId known_id;  // of this thread, so that nothing needs a lock
    const auto process = static_cast<std::uint32_t>(getpid());
    const std::uint32_t forks = fork_count();
    if (known_id.process == process && known_id.forks == forks) return known_id;
    struct stat facts {};
    known_id.name_space = stat("/proc/self/ns/pid", &facts) == 0 ? facts.st_ino : 1;
    known_id.start = start_time();
    known_id.process = process;
    known_id.forks = forks;
    return known_id;
}

std::string SharedKey::text() const {
    // 2 + 1 + 1 + 8 + 1 + 6 + 1 + 14 + 1 + 6 + 1 + 16 at the usual sizes, at most 64.
    return fmt::format("c1{:x}-{:x}-{:x}-{:x}-{:x}-{:x}", static_cast<unsigned>(kind), owner.name_space, owner.process,
                       owner.start << 8 | (owner.forks & 0xff), number, random);
}

std::optional<SharedKey> SharedKey::from_text(std::string_view text) noexcept {
    if (text.size() > text_size || !text.starts_with("c1")) return std::nullopt;
    Numbers numbers{text.data() + 2, text.data() + text.size()};
    SharedKey key;
    const std::uint64_t kind = numbers.take();
    key.owner.name_space = numbers.take();
    const std::uint64_t process = numbers.take();
    const std::uint64_t start = numbers.take();
    const std::uint64_t number = numbers.take();
    key.random = numbers.take();
    if (!numbers.good || numbers.next != numbers.end || text.back() == '-') return std::nullopt;
    if (!known(kind) || process == 0 || process > INT32_MAX || number > max_number) return std::nullopt;
    key.kind = static_cast<SharedKind>(kind);
    key.owner.process = static_cast<std::uint32_t>(process);
    key.owner.start = start >> 8;
    key.owner.forks = start & 0xff;
    key.number = static_cast<std::uint32_t>(number);
    return key;
}

SharedKey::Bytes SharedKey::bytes() const noexcept {
    Packed packed{};
    std::memcpy(packed.magic, packed_magic, sizeof packed.magic);
    packed.kind = static_cast<std::uint8_t>(kind);
    packed.process = owner.process;
    packed.number = number;
    packed.name_space = owner.name_space;
    packed.start = owner.start;
    packed.random = random;
    packed.forks = owner.forks;
    Bytes made;
    std::memcpy(made.data(), &packed, sizeof packed);
    return made;
}

std::optional<SharedKey> SharedKey::from_bytes(const Bytes& bytes) noexcept {
    Packed packed;
    std::memcpy(&packed, bytes.data(), sizeof packed);
    if (std::memcmp(packed.magic, packed_magic, sizeof packed.magic) != 0 || !known(packed.kind) ||
        packed.process == 0 || packed.process > INT32_MAX || packed.number > max_number)
        return std::nullopt;
    SharedKey key;
    key.kind = static_cast<SharedKind>(packed.kind);
    key.owner = {packed.name_space, packed.start, packed.process, packed.forks};
    key.number = packed.number;
    key.random = packed.random;
    return key;
}

std::uint64_t SharedKey::shareable() const noexcept {
    return std::uint64_t{owner.process & 0x3fffff} << 42 | std::uint64_t{number & max_number} << 22 |
           (random & random_mask(KeyStrength::shareable));
}

SharedKey SharedKey::from_shareable(SharedKind kind, std::uint64_t handle) noexcept {
    SharedKey key = from_number(kind, static_cast<std::uint32_t>(handle >> 42), handle >> 22 & max_number);
    key.strength = KeyStrength::shareable;
    key.random = handle & random_mask(KeyStrength::shareable);
    return key;
}

SharedKey SharedKey::from_number(SharedKind kind, std::uint32_t process, std::uint32_t number) noexcept {
    SharedKey key;
    key.kind = kind;
    key.strength = KeyStrength::number;
    key.owner.process = process;
    key.owner.name_space = this_process().name_space;
    key.number = number;
    return key;
}

}  // namespace canopy
