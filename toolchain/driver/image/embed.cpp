// SPDX-License-Identifier: Apache-2.0
#include "image/embed.h"

#include <cstdint>

#include "foundation/elf_writer.h"

namespace canopy_cc {
namespace {

using canopy::append_bytes;

// In the order they appear in the file.
enum SectionNumber : std::uint16_t { group = 1, data, size_data, stack, symbols, strings };

constexpr std::uint32_t first_global = 1;  // the symbol of the bytes; that of the size follows

struct SymbolTable {
    std::string names = std::string(1, '\0');
    std::string entries = std::string(sizeof(Elf64_Sym), '\0');

    void define(const std::string& name, SectionNumber section, std::uint64_t size) {
        Elf64_Sym entry{};
        entry.st_name = static_cast<Elf64_Word>(names.size());
        names.append(name.c_str(), name.size() + 1);
        entry.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
        entry.st_other = STV_HIDDEN;
        entry.st_shndx = section;
        entry.st_size = size;
        append_bytes(entries, entry);
    }
};

void add_group(canopy::ElfWriter& writer) {
    std::string members;
    for (const std::uint32_t word : {std::uint32_t{GRP_COMDAT}, std::uint32_t{data}, std::uint32_t{size_data}})
        append_bytes(members, word);
    Elf64_Shdr& header = writer.add(".group", SHT_GROUP, members, 4);
    header.sh_link = symbols;
    header.sh_info = first_global;
    header.sh_entsize = sizeof(std::uint32_t);
}

}  // namespace

std::string embedded_object(const std::string& image, const std::string& symbol) {
    canopy::ElfWriter writer;
    add_group(writer);
    writer.add(".rodata.canopy_image", SHT_PROGBITS, image, 64).sh_flags = SHF_ALLOC | SHF_GROUP;
    std::string size;
    append_bytes(size, std::uint64_t{image.size()});
    writer.add(".rodata.canopy_image_size", SHT_PROGBITS, size, 8).sh_flags = SHF_ALLOC | SHF_GROUP;
    writer.add(".note.GNU-stack", SHT_PROGBITS, {}, 1);
    SymbolTable table;
    table.define(symbol, data, image.size());
    table.define(symbol + "_size", size_data, sizeof(std::uint64_t));
    Elf64_Shdr& header = writer.add(".symtab", SHT_SYMTAB, table.entries, 8);
    header.sh_link = strings;
    header.sh_info = first_global;
    header.sh_entsize = sizeof(Elf64_Sym);
    writer.add(".strtab", SHT_STRTAB, table.names, 1);
    return writer.finish();
}

}  // namespace canopy_cc
