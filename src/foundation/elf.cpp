// SPDX-License-Identifier: Apache-2.0
// The bounded ELF reader. Every number in the file is read through `take`, which copies (a file in memory may start at
// any address); every range is checked by `inside`, which compares without overflow.
#include "foundation/elf.h"

#include <elf.h>

#include <cstring>

namespace canopy {
namespace {

template <class T>
T take(std::span<const std::byte> bytes, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t available) noexcept {
    return offset <= available && size <= available - offset;
}

Problem truncated(std::string_view what, std::uint64_t offset, std::uint64_t size, std::uint64_t available) {
    return {"the ELF file is truncated at byte ",
            available,
            ": ",
            what,
            " needs ",
            size,
            " bytes from byte ",
            offset,
            " on"};
}

Problem check_identity(std::span<const std::byte> file) {
    if (file.size() < SELFMAG || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0)
        return {"not an ELF file: ", file.size(), " bytes that do not start with 7f 45 4c 46"};
    if (file.size() < sizeof(Elf64_Ehdr)) return truncated("the ELF header", 0, sizeof(Elf64_Ehdr), file.size());
    const auto elf_class = std::to_integer<unsigned>(file[EI_CLASS]);
    if (elf_class != ELFCLASS64)
        return {"an ELF file of class ", elf_class, elf_class == ELFCLASS32 ? " (32-bit)" : " (unknown)",
                "; only 64-bit files are images"};
    const auto order = std::to_integer<unsigned>(file[EI_DATA]);
    if (order != ELFDATA2LSB)
        return {"an ELF file of byte order ", order, order == ELFDATA2MSB ? " (big-endian)" : " (unknown)",
                "; only little-endian files are images"};
    return {};
}

}  // namespace

Expected<ElfFile> ElfFile::read(std::span<const std::byte> file) {
    if (Problem problem = check_identity(file)) return problem;
    const auto header = take<Elf64_Ehdr>(file, 0);
    ElfFile result;
    result.type_ = header.e_type;
    result.machine_ = header.e_machine;
    if (header.e_shnum != 0) {
        if (header.e_shentsize != sizeof(Elf64_Shdr))
            return Problem{"a section header of ", header.e_shentsize,
                           " bytes at byte 58 of the ELF file; it must have ", sizeof(Elf64_Shdr)};
        if (Problem problem = result.read_sections(file, header.e_shoff, header.e_shnum, header.e_shstrndx))
            return problem;
    }
    if (header.e_phnum != 0) {
        if (header.e_phentsize != sizeof(Elf64_Phdr))
            return Problem{"a program header of ", header.e_phentsize,
                           " bytes at byte 54 of the ELF file; it must have ", sizeof(Elf64_Phdr)};
        if (Problem problem = result.read_segments(file, header.e_phoff, header.e_phnum)) return problem;
    }
    return result;
}

Problem ElfFile::read_sections(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count,
                               std::uint32_t names) {
    const std::uint64_t table_size = std::uint64_t{count} * sizeof(Elf64_Shdr);
    if (!inside(table, table_size, file.size()))
        return truncated("the section header table", table, table_size, file.size());
    if (names >= count) return {"the section names are in section ", names, " of ", count};
    sections_.resize(count);
    std::vector<std::uint32_t> name_offsets(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        const auto header = take<Elf64_Shdr>(file, table + std::uint64_t{index} * sizeof(Elf64_Shdr));
        ElfSection& section = sections_[index];
        section.type = header.sh_type;
        section.link = header.sh_link;
        section.info = header.sh_info;
        section.flags = header.sh_flags;
        section.header_offset = table + std::uint64_t{index} * sizeof(Elf64_Shdr);
        section.offset = header.sh_offset;
        section.entry_size = header.sh_entsize;
        name_offsets[index] = header.sh_name;
        if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL) continue;
        if (!inside(header.sh_offset, header.sh_size, file.size()))
            return truncated(join({"section ", index}), header.sh_offset, header.sh_size, file.size());
        section.bytes = file.subspan(header.sh_offset, header.sh_size);
    }
    for (std::uint32_t index = 0; index < count; ++index) {
        if (sections_[index].type == SHT_NULL) continue;
        const auto name = elf_text(sections_[names], name_offsets[index]);
        if (!name) return {"the name of section ", index, " is outside the section names"};
        sections_[index].name = *name;
    }
    return {};
}

Problem ElfFile::read_segments(std::span<const std::byte> file, std::uint64_t table, std::uint32_t count) {
    const std::uint64_t table_size = std::uint64_t{count} * sizeof(Elf64_Phdr);
    if (!inside(table, table_size, file.size()))
        return truncated("the program header table", table, table_size, file.size());
    segments_.reserve(count);
    for (std::uint32_t index = 0; index < count; ++index) {
        const auto header = take<Elf64_Phdr>(file, table + std::uint64_t{index} * sizeof(Elf64_Phdr));
        if (!inside(header.p_offset, header.p_filesz, file.size()))
            return truncated(join({"segment ", index}), header.p_offset, header.p_filesz, file.size());
        segments_.push_back({header.p_type, header.p_flags, header.p_vaddr, header.p_memsz});
    }
    return {};
}

const ElfSection* ElfFile::section(std::string_view name) const noexcept {
    for (const ElfSection& section : sections_)
        if (section.name == name) return &section;
    return nullptr;
}

Expected<std::vector<ElfNote>> ElfFile::notes(const ElfSection& section) {
    const auto bytes = section.bytes;
    std::vector<ElfNote> notes;
    std::uint64_t offset = 0;
    while (offset < bytes.size()) {
        if (!inside(offset, sizeof(Elf64_Nhdr), bytes.size()))
            return Problem{"the notes in ", section.name, " are truncated at byte ", section.offset + bytes.size(),
                           " of the file"};
        const auto header = take<Elf64_Nhdr>(bytes, offset);
        const std::uint64_t name_at = offset + sizeof(Elf64_Nhdr);
        const std::uint64_t name_room = (std::uint64_t{header.n_namesz} + 3) & ~std::uint64_t{3};
        const std::uint64_t text_room = (std::uint64_t{header.n_descsz} + 3) & ~std::uint64_t{3};
        if (!inside(name_at, name_room + text_room, bytes.size()))
            return Problem{"the note at byte ",
                           section.offset + offset,
                           " of the file claims ",
                           sizeof(Elf64_Nhdr) + name_room + text_room,
                           " bytes; ",
                           section.name,
                           " ends at byte ",
                           section.offset + bytes.size()};
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

Expected<std::vector<ElfSymbol>> ElfFile::all_symbols() const {
    const ElfSection* table = nullptr;
    for (const ElfSection& section : sections_) {
        if (section.type == SHT_SYMTAB) table = &section;
        if (section.type == SHT_DYNSYM && table == nullptr) table = &section;
    }
    std::vector<ElfSymbol> symbols;
    if (table == nullptr) return symbols;
    if (table->link >= sections_.size())
        return Problem{"the symbol names are in section ", table->link, " of ", sections_.size()};
    const ElfSection& names = sections_[table->link];
    const std::size_t count = table->bytes.size() / sizeof(Elf64_Sym);
    symbols.reserve(count);
    for (std::size_t index = 0; index < count; ++index) {
        const auto symbol = take<Elf64_Sym>(table->bytes, index * sizeof(Elf64_Sym));
        const auto name = elf_text(names, symbol.st_name);
        if (!name && symbol.st_shndx != SHN_UNDEF)
            return Problem{"the name of symbol ", index, " is outside ", table->name};
        symbols.push_back({name.value_or(std::string_view()), symbol.st_value, symbol.st_size,
                           static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
                           static_cast<std::uint8_t>(ELF64_ST_BIND(symbol.st_info)), symbol.st_shndx});
    }
    return symbols;
}

Expected<std::vector<ElfSymbol>> ElfFile::symbols() const {
    auto all = all_symbols();
    if (all.ok()) std::erase_if(*all, [](const ElfSymbol& symbol) { return symbol.section == SHN_UNDEF; });
    return all;
}

std::vector<ElfRelocation> ElfFile::relocations(std::size_t section) const {
    std::vector<ElfRelocation> found;
    for (const ElfSection& table : sections_) {
        if (table.type != SHT_RELA || table.info != section) continue;
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= table.bytes.size(); at += sizeof(Elf64_Rela)) {
            const auto one = take<Elf64_Rela>(table.bytes, at);
            found.push_back({one.r_offset, static_cast<std::uint32_t>(ELF64_R_SYM(one.r_info)), one.r_addend});
        }
    }
    return found;
}

std::optional<std::string_view> elf_text(const ElfSection& section, std::uint64_t offset) noexcept {
    const auto table = section.bytes;
    if (offset >= table.size()) return std::nullopt;
    const char* start = reinterpret_cast<const char*>(table.data()) + offset;
    const void* end = std::memchr(start, 0, table.size() - offset);
    if (end == nullptr) return std::nullopt;
    return std::string_view(start, static_cast<std::size_t>(static_cast<const char*>(end) - start));
}

std::vector<std::byte> without_unique_symbols(const ElfFile& elf, std::span<const std::byte> file) {
    std::vector<std::byte> changed;
    for (const ElfSection& section : elf.sections()) {
        if (section.type != SHT_DYNSYM) continue;
        for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size(); at += sizeof(Elf64_Sym)) {
            const auto symbol = take<Elf64_Sym>(section.bytes, at);
            if (ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE) continue;
            if (changed.empty()) changed.assign(file.begin(), file.end());
            changed[section.offset + at + offsetof(Elf64_Sym, st_info)] =
                static_cast<std::byte>(ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info)));
        }
    }
    return changed;
}

#if defined(__x86_64__)
const std::uint16_t own_elf_machine = EM_X86_64;
#elif defined(__aarch64__)
const std::uint16_t own_elf_machine = EM_AARCH64;
#endif

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
            break;
    }
    char digits[8];
    const char* end = std::to_chars(digits, digits + sizeof digits, machine, 16).ptr;
    return join({"machine 0x", std::string_view(digits, static_cast<std::size_t>(end - digits))});
}

}  // namespace canopy
