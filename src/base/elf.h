// SPDX-License-Identifier: Apache-2.0
// A bounded reader for 64-bit little-endian ELF files held in memory: sections, segments, notes, symbols. It trusts no
// number of the file: every offset and size is checked against the bytes there are, nothing is read outside them, and
// a refusal names the byte where the file stops making sense. Used for kernel images and the code inside them.
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

#include "base/result.h"

namespace canopy {

struct ElfSection {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::uint64_t offset = 0;
    std::uint64_t entry_size = 0;
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

class ElfFile {
public:
    // Refuses with 107000 what is not a whole ELF64 little-endian file.
    static Result<ElfFile> read(std::span<const std::byte> file);

    [[nodiscard]] std::uint16_t type() const noexcept { return type_; }
    [[nodiscard]] std::uint16_t machine() const noexcept { return machine_; }
    [[nodiscard]] std::span<const ElfSection> sections() const noexcept { return sections_; }
    [[nodiscard]] std::span<const ElfSegment> segments() const noexcept { return segments_; }
    // The first section of that name, or nullptr.
    [[nodiscard]] const ElfSection* section(std::string_view name) const noexcept;

    [[nodiscard]] static Result<std::vector<ElfNote>> notes(const ElfSection& section);
    // Defined symbols of .symtab, or of .dynsym in a stripped file.
    [[nodiscard]] Result<std::vector<ElfSymbol>> symbols() const;

private:
    Status read_sections(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count,
                         std::uint32_t names);
    Status read_segments(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count);

    std::uint16_t type_ = 0;
    std::uint16_t machine_ = 0;
    std::vector<ElfSection> sections_;
    std::vector<ElfSegment> segments_;
};

// The processor an e_machine number stands for, in words: "x86-64", "Ascend NPU", "machine 0x1234".
std::string elf_machine_name(std::uint16_t machine);

}  // namespace canopy
