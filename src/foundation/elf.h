// SPDX-License-Identifier: Apache-2.0
// A bounded reader for 64-bit little-endian ELF files held in memory: sections, segments, notes, symbols, relocations.
// It trusts no number of the file: every offset and size is checked against the bytes there are, nothing is read
// outside them, and a problem names the byte where the file stops making sense. Used for kernel images, the code inside
// them, shared objects with CPU kernels and the objects that canopy-cc compiles.
//
// Threads: a value without hidden state; views stay valid as long as the bytes given to `read`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/problem.h"

namespace canopy {

struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    std::uint64_t flags = 0;
    std::uint64_t offset = 0;
    std::uint64_t entry_size = 0;
    std::uint64_t header_offset = 0;   // of its header inside the file
    std::span<const std::byte> bytes;  // empty for sections that occupy no file space
};

struct ElfSegment {
    std::uint32_t type = 0;
    std::uint32_t flags = 0;
    std::uint64_t address = 0;  // before relocation
    std::uint64_t memory_size = 0;
};

struct ElfNote {
    std::string_view owner;
    std::uint32_t type = 0;
    std::span<const std::byte> description;
    std::size_t description_offset = 0;  // inside the file
};

struct ElfSymbol {
    std::string_view name;
    std::uint64_t value = 0;  // before relocation
    std::uint64_t size = 0;
    std::uint8_t type = 0;
    std::uint8_t binding = 0;
    std::uint16_t section = 0;
};

struct ElfRelocation {
    std::uint64_t offset = 0;  // inside the section it changes
    std::uint32_t symbol = 0;  // index in all_symbols()
    std::int64_t addend = 0;
};

class ElfFile {
public:
    // Anything but a whole ELF64 little-endian file is a problem.
    static Expected<ElfFile> read(std::span<const std::byte> file);

    [[nodiscard]] std::uint16_t type() const noexcept { return type_; }
    [[nodiscard]] std::uint16_t machine() const noexcept { return machine_; }
    [[nodiscard]] std::span<const ElfSection> sections() const noexcept { return sections_; }
    [[nodiscard]] std::span<const ElfSegment> segments() const noexcept { return segments_; }
    // The first section of that name, or nullptr.
    [[nodiscard]] const ElfSection* section(std::string_view name) const noexcept;

    [[nodiscard]] static Expected<std::vector<ElfNote>> notes(const ElfSection& section);
    // Every entry of .symtab, or of .dynsym in a stripped file, in their order.
    [[nodiscard]] Expected<std::vector<ElfSymbol>> all_symbols() const;
    // Those that are defined.
    [[nodiscard]] Expected<std::vector<ElfSymbol>> symbols() const;
    // Of the section with this index, as sections() counts.
    [[nodiscard]] std::vector<ElfRelocation> relocations(std::size_t section) const;

private:
    Problem read_sections(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count,
                          std::uint32_t names);
    Problem read_segments(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count);

    std::uint16_t type_ = 0;
    std::uint16_t machine_ = 0;
    std::vector<ElfSection> sections_;
    std::vector<ElfSegment> segments_;
};

// The text at `offset` of a section of texts, up to its terminator; nothing when there is none.
std::optional<std::string_view> elf_text(const ElfSection& section, std::uint64_t offset) noexcept;

// Variables that must exist once in a process (STB_GNU_UNIQUE) would connect shared objects that are loaded apart, and
// keep them from being unloaded: in the copy they are ordinary ones. Empty when the file has none.
std::vector<std::byte> without_unique_symbols(const ElfFile& elf, std::span<const std::byte> file);

// e_machine of the processor this code was compiled for.
extern const std::uint16_t own_elf_machine;

// The name of the processor with an e_machine number: "x86-64", "Ascend NPU", "machine 0x1234".
std::string elf_machine_name(std::uint16_t machine);

}  // namespace canopy
