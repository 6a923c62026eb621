// SPDX-License-Identifier: Apache-2.0
// The bounded ELF reader. All numbers of the file pass through `take`, which copies (a file in memory may start at any
// address), and every range through `slice`, which compares without overflow.
#include "base/elf.h"

#include <elf.h>

#include <cstring>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

template <class T>
T take(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t available) noexcept {
    return offset <= available && size <= available - offset;
}

Status truncated(std::string_view what, std::uint64_t offset, std::uint64_t size, std::uint64_t available) {
    return fail(bad_image, "the ELF file is truncated at byte {}: {} needs {} bytes from byte {} on", available, what,
                size, offset);
}

// The text at `offset` of a string table, up to its terminator; nothing when there is none.
std::optional<std::string_view> text_at(std::span<const std::byte> table, std::uint64_t offset) noexcept {
    if (offset >= table.size()) return std::nullopt;
    const char* start = reinterpret_cast<const char*>(table.data()) + offset;
    const void* end = std::memchr(start, 0, table.size() - offset);
    if (end == nullptr) return std::nullopt;
    return std::string_view(start, static_cast<std::size_t>(static_cast<const char*>(end) - start));
}

Status check_identity(std::span<const std::byte> file) {
    if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
        return fail(bad_image, "not an ELF file: {} bytes that do not start with 7f 45 4c 46", file.size());
    if (file.size() < sizeof(Elf64_Ehdr)) return truncated("the ELF header", 0, sizeof(Elf64_Ehdr), file.size());
    const auto elf_class = std::to_integer<unsigned>(file[EI_CLASS]);
    if (elf_class != ELFCLASS64)
        return fail(bad_image, "an ELF file of class {} ({}); only 64-bit files are images", elf_class,
                    elf_class == ELFCLASS32 ? "32-bit" : "unknown");
    const auto order = std::to_integer<unsigned>(file[EI_DATA]);
    if (order != ELFDATA2LSB)
        return fail(bad_image, "an ELF file of byte order {} ({}); only little-endian files are images", order,
                    order == ELFDATA2MSB ? "big-endian" : "unknown");
    return {};
}

}  // namespace

Result<ElfFile> ElfFile::read(std::span<const std::byte> file) {
    CANOPY_TRY(check_identity(file));
    const auto header = take<Elf64_Ehdr>(file, 0);
    ElfFile result;
    result.type_ = header.e_type;
    result.machine_ = header.e_machine;
    if (header.e_shnum != 0) {
        if (header.e_shentsize != sizeof(Elf64_Shdr))
            return fail(bad_image, "a section header of {} bytes at byte 58 of the ELF file; it must have {}",
                        header.e_shentsize, sizeof(Elf64_Shdr));
        CANOPY_TRY(result.read_sections(file, header.e_shoff, header.e_shnum, header.e_shstrndx));
    }
    if (header.e_phnum != 0) {
        if (header.e_phentsize != sizeof(Elf64_Phdr))
            return fail(bad_image, "a program header of {} bytes at byte 54 of the ELF file; it must have {}",
                        header.e_phentsize, sizeof(Elf64_Phdr));
        CANOPY_TRY(result.read_segments(file, header.e_phoff, header.e_phnum));
    }
    return result;
}

Status ElfFile::read_sections(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count,
                              std::uint32_t names) {
    const std::uint64_t table_size = std::uint64_t{count} * sizeof(Elf64_Shdr);
    if (!inside(table, table_size, file.size()))
        return truncated("the section header table", table, table_size, file.size());
    if (names >= count) return fail(bad_image, "the section names are said to be in section {} of {}", names, count);
    sections_.resize(count);
    std::vector<std::uint32_t> name_offsets(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        const auto header = take<Elf64_Shdr>(file, table + std::uint64_t{index} * sizeof(Elf64_Shdr));
        ElfSection& section = sections_[index];
        section.type = header.sh_type;
        section.link = header.sh_link;
        section.offset = header.sh_offset;
        section.entry_size = header.sh_entsize;
        name_offsets[index] = header.sh_name;
        if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) continue;
        if (!inside(header.sh_offset, header.sh_size, file.size()))
            return truncated(fmt::format("section {}", index), header.sh_offset, header.sh_size, file.size());
        section.bytes = file.subspan(header.sh_offset, header.sh_size);
    }
    for (std::uint32_t index = 0; index < count; ++index) {
        if (sections_[index].type == SHT_NULL) continue;
        const auto name = text_at(sections_[names].bytes, name_offsets[index]);
        if (!name) return fail(bad_image, "the name of section {} lies outside the section names", index);
        sections_[index].name = *name;
    }
    return {};
}

Status ElfFile::read_segments(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count) {
    const std::uint64_t table_size = std::uint64_t{count} * sizeof(Elf64_Phdr);
    if (!inside(table, table_size, file.size()))
        return truncated("the program header table", table, table_size, file.size());
    segments_.reserve(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        const auto header = take<Elf64_Phdr>(file, table + std::uint64_t{index} * sizeof(Elf64_Phdr));
        if (!inside(header.p_offset, header.p_filesz, file.size()))
            return truncated(fmt::format("segment {}", index), header.p_offset, header.p_filesz, file.size());
        segments_.push_back({header.p_type, header.p_flags, header.p_vaddr, header.p_memsz});
    }
    return {};
}

const ElfSection* ElfFile::section(std::string_view name) const noexcept {
    for (const ElfSection& section : sections_)
        if (section.name == name) return &section;
    return nullptr;
}

Result<std::vector<ElfNote>> ElfFile::notes(const ElfSection& section) {
    const auto bytes = section.bytes;
    std::vector<ElfNote> notes;
    std::uint64_t offset = 0;
    while (offset < bytes.size()) {
        if (!inside(offset, sizeof(Elf64_Nhdr), bytes.size()))
            return fail(bad_image, "the notes in {} are truncated at byte {} of the file", section.name,
                        section.offset + bytes.size());
        const auto header = take<Elf64_Nhdr>(bytes, offset);
        const std::uint64_t name_at = offset + sizeof(Elf64_Nhdr);
        const std::uint64_t name_room = (std::uint64_t{header.n_namesz} + 3) & ~std::uint64_t{3};
        const std::uint64_t text_room = (std::uint64_t{header.n_descsz} + 3) & ~std::uint64_t{3};
        if (!inside(name_at, name_room + text_room, bytes.size()))
            return fail(bad_image, "the note at byte {} of the file says it has {} bytes; {} ends at byte {}",
                        section.offset + offset, sizeof(Elf64_Nhdr) + name_room + text_room, section.name,
                        section.offset + bytes.size());
        ElfNote note;
        note.type = header.n_type;
        note.description_offset = section.offset + name_at + name_room;
        note.description = bytes.subspan(name_at + name_room, header.n_descsz);
        note.owner = std::string_view(reinterpret_cast<const char*>(bytes.data()) + name_at, header.n_namesz);
        if (!note.owner.empty() && note.owner.back() == '\0') note.owner.remove_suffix(1);
        notes.push_back(note);
        offset = name_at + name_room + text_room;
    }
    return notes;
}

Result<std::vector<ElfSymbol>> ElfFile::symbols() const {
    const ElfSection* table = nullptr;
    for (const ElfSection& section : sections_) {
        if (section.type == SHT_SYMTAB) table = &section;
        if (section.type == SHT_DYNSYM && table == nullptr) table = &section;
    }
    std::vector<ElfSymbol> symbols;
    if (table == nullptr) return symbols;
    if (table->link >= sections_.size())
        return fail(bad_image, "the symbol names are said to be in section {} of {}", table->link, sections_.size());
    const auto names = sections_[table->link].bytes;
    const std::size_t count = table->bytes.size() / sizeof(Elf64_Sym);
    symbols.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
        const auto symbol = take<Elf64_Sym>(table->bytes, index * sizeof(Elf64_Sym));
        if (symbol.st_shndx == SHN_UNDEF) continue;
        const auto name = text_at(names, symbol.st_name);
        if (!name) return fail(bad_image, "the name of symbol {} lies outside {}", index, table->name);
        symbols.push_back({*name, symbol.st_value, symbol.st_size,
                           static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                           static_cast<std::uint8_t>(ELF64_ST_BIND(symbol.st_info)), symbol.st_shndx});
    }
    return symbols;
}

std::string elf_machine_name(std::uint16_t machine) {
    constexpr std::uint16_t ascend = 0x1029;
    switch (machine) {
        case EM_NONE:
            return "no machine";
        case EM_386:
            return "x86 with 32 bits";
        case EM_X86_64:
            return "x86-64";
        case EM_AARCH64:
            return "AArch64";
        case EM_CUDA:
            return "NVIDIA GPU";
        case EM_AMDGPU:
            return "AMD GPU";
        case EM_RISCV:
            return "RISC-V";
        case EM_BPF:
            return "BPF";
        case ascend:
            return "Ascend NPU (machine 0x1029)";
        default:
            return fmt::format("machine {:#x}", machine);
    }
}

}  // namespace canopy
