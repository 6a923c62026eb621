// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the reader of line tables. An input is an object file, or the bytes of its sections
// .debug_line and .debug_line_str, which are put into an object here so that mutations reach the line programs.
#include <elf.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "device/execution/source_line.h"

namespace {

template <class T>
void append(std::string& file, const T& value) {
    file.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// An ELF file with the two sections. Both contain the whole input, so that any offset into the strings can be valid.
std::string object_with(std::string_view bytes) {
    static constexpr char names[] = "\0.debug_line\0.debug_line_str\0.shstrtab";
    static constexpr std::uint32_t name_of[] = {0, 1, 13, 29};
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shstrndx = 3;
    header.e_shoff = (sizeof header + bytes.size() + sizeof names + 7) / 8 * 8;
    std::string file;
    append(file, header);
    file += bytes;
    file.append(names, sizeof names);
    file.resize(header.e_shoff);
    const std::array<std::pair<std::uint64_t, std::uint64_t>, 4> places = {
        {{0, 0},
         {sizeof header, bytes.size()},
         {sizeof header, bytes.size()},
         {sizeof header + bytes.size(), sizeof names}}};
    for (std::size_t index = 0; index < places.size(); ++index) {
        Elf64_Shdr section = {};
        section.sh_name = name_of[index];
        section.sh_type = index == 0 ? SHT_NULL : index == 3 ? SHT_STRTAB : SHT_PROGBITS;
        section.sh_offset = places[index].first;
        section.sh_size = places[index].second;
        section.sh_addralign = 1;
        append(file, section);
    }
    return file;
}

void find(std::string_view object, std::uint64_t address) {
    const std::string words = canopy::source_line_in(std::as_bytes(std::span(object)), address);
    if (!words.empty() && !words.starts_with("at ") && !words.starts_with("near ")) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const bool whole = bytes.starts_with(std::string_view(ELFMAG, SELFMAG));
    const std::string object = whole ? std::string(bytes) : object_with(bytes);
    for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{0x10}, std::uint64_t{0x1234}, UINT64_MAX})
        find(object, address);
    return 0;
}
