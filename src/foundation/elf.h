// SPDX-License-Identifier: Apache-2.0
// A bounded reader for 64-bit little-endian ELF files held in memory: sections, segments, notes, symbols, relocations.
// It trusts no number in the file: every offset and size is checked against the available bytes, nothing is read
// outside them, and a problem names the byte where the file becomes invalid. Used for kernel images, the code inside
// them, shared objects with CPU kernels and the objects that canopy-cc compiles.
//
// Threads: a plain value; views stay valid as long as the bytes given to `read`.
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
    std::uint64_t header_offset = 0;   // offset of its header in the file
    std::span<const std::byte> bytes;  // empty for sections without file contents
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
    std::uint64_t offset = 0;  // in the section it modifies
    std::uint32_t symbol = 0;  // index in all_symbols()
    std::int64_t addend = 0;
};

class ElfFile {
public:
    // Returns a problem unless `file` is a complete ELF64 little-endian file.
    static Expected<ElfFile> read(std::span<const std::byte> file);

    [[nodiscard]] std::uint16_t type() const noexcept { return type_; }
    [[nodiscard]] std::uint16_t machine() const noexcept { return machine_; }
    [[nodiscard]] std::span<const ElfSection> sections() const noexcept { return sections_; }
    [[nodiscard]] std::span<const ElfSegment> segments() const noexcept { return segments_; }
    // The first section with that name, or nullptr.
    [[nodiscard]] const ElfSection* section(std::string_view name) const noexcept;

    [[nodiscard]] static Expected<std::vector<ElfNote>> notes(const ElfSection& section);
    // All entries of .symtab, or of .dynsym in a stripped file, in file order.
    [[nodiscard]] Expected<std::vector<ElfSymbol>> all_symbols() const;
    // The defined symbols only.
    [[nodiscard]] Expected<std::vector<ElfSymbol>> symbols() const;
    // For the section with this index in sections().
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

// The string at `offset` of a string table, up to its terminator; nothing if there is none.
std::optional<std::string_view> elf_text(const ElfSection& section, std::uint64_t offset) noexcept;

// Process-wide unique variables (STB_GNU_UNIQUE) would connect shared objects that are loaded in isolation, and keep
// them from being unloaded: in the returned copy they are ordinary globals. Empty if the file has none.
std::vector<std::byte> without_unique_symbols(const ElfFile& elf, std::span<const std::byte> file);

// e_machine of the processor this code is compiled for.
extern const std::uint16_t own_elf_machine;

// The processor name for an e_machine number: "x86-64", "Ascend NPU (machine 0x1029)", "machine 0x1234".
std::string elf_machine_name(std::uint16_t machine);

}  // namespace canopy
