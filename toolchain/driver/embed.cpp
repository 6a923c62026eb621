// SPDX-License-Identifier: Apache-2.0
#include "embed.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace canopy_cc {
namespace {

template <class T>
void append(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void pad(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

enum SectionIndex : std::uint16_t { none, group, data, size_data, stack, symbols, strings, names, section_count };

constexpr std::uint32_t first_global = 1;  // symbol of the bytes; the one of their size follows

}  // namespace

std::string embedded_object(const std::string& image, const std::string& symbol) {
    std::string file(sizeof(Elf64_Ehdr), '\0');
    std::vector<Elf64_Shdr> table(section_count);
    std::string name_table(1, '\0');
    const auto add = [&](SectionIndex index, const char* name, std::uint32_t type, std::uint64_t flags,
                         const std::string& content, std::uint64_t alignment) {
        pad(file, alignment);
        Elf64_Shdr& header = table[index];
        header.sh_name = static_cast<Elf64_Word>(name_table.size());
        name_table.append(name, std::strlen(name) + 1);
        header.sh_type = type;
        header.sh_flags = flags;
        header.sh_offset = file.size();
        header.sh_addralign = alignment;
        header.sh_size = content.size();
        file += content;
    };
    std::string members;
    for (const std::uint32_t word : {static_cast<std::uint32_t>(GRP_COMDAT), static_cast<std::uint32_t>(data),
                                     static_cast<std::uint32_t>(size_data)})
        append(members, word);
    add(group, ".group", SHT_GROUP, 0, members, 4);
    table[group].sh_link = symbols;
    table[group].sh_info = first_global;
    table[group].sh_entsize = 4;
    add(data, ".rodata.canopy_image", SHT_PROGBITS, SHF_ALLOC | SHF_GROUP, image, 64);
    std::string size;
    append(size, static_cast<std::uint64_t>(image.size()));
    add(size_data, ".rodata.canopy_image_size", SHT_PROGBITS, SHF_ALLOC | SHF_GROUP, size, 8);
    add(stack, ".note.GNU-stack", SHT_PROGBITS, 0, {}, 1);

    std::string string_table(1, '\0'), symbol_table(sizeof(Elf64_Sym), '\0');
    const auto define = [&](const std::string& name, SectionIndex section, std::uint64_t length) {
        Elf64_Sym entry{};
        entry.st_name = static_cast<Elf64_Word>(string_table.size());
        string_table.append(name.c_str(), name.size() + 1);
        entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
        entry.st_other = STV_HIDDEN;
        entry.st_shndx = section;
        entry.st_size = length;
        append(symbol_table, entry);
    };
    define(symbol, data, image.size());
    define(symbol + "_size", size_data, sizeof(std::uint64_t));
    add(symbols, ".symtab", SHT_SYMTAB, 0, symbol_table, 8);
    table[symbols].sh_link = strings;
    table[symbols].sh_info = first_global;
    table[symbols].sh_entsize = sizeof(Elf64_Sym);
    add(strings, ".strtab", SHT_STRTAB, 0, string_table, 1);
    // The section of names holds its own name.
    name_table.append(".shstrtab", sizeof ".shstrtab");
    const std::string all_names = name_table;
    name_table.resize(all_names.size() - sizeof ".shstrtab");
    add(names, ".shstrtab", SHT_STRTAB, 0, all_names, 1);

    pad(file, 8);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = file.size();
    header.e_shnum = section_count;
    header.e_shstrndx = names;
    std::memcpy(file.data(), &header, sizeof header);
    for (const Elf64_Shdr& section : table) append(file, section);
    return file;
}

}  // namespace canopy_cc
