// SPDX-License-Identifier: Apache-2.0
#include "foundation/elf_writer.h"

#include <cstring>
#include <utility>

namespace canopy {

Elf64_Shdr& ElfWriter::add(std::string_view name, std::uint32_t type, std::string_view content, std::size_t alignment) {
    pad(file_, alignment);
    Elf64_Shdr& header = table_.emplace_back();
    header.sh_name = static_cast<Elf64_Word>(names_.size());
    names_.append(name).push_back('\0');
    header.sh_type = type;
    header.sh_offset = file_.size();
    header.sh_addralign = alignment;
    header.sh_size = content.size();
    file_ += content;
    return header;
}

std::string ElfWriter::finish() {
    // The name section also contains its own name.
    Elf64_Shdr& names = add(".shstrtab", SHT_STRTAB, {}, 1);
    names.sh_size = names_.size();
    file_ += names_;
    pad(file_, 8);
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
    header.e_shoff = file_.size();
    header.e_shnum = static_cast<Elf64_Half>(table_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(table_.size() - 1);
    std::memcpy(file_.data(), &header, sizeof header);
    for (const Elf64_Shdr& section : table_) append_bytes(file_, section);
    return std::move(file_);
}

}  // namespace canopy
