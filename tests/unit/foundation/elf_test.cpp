// SPDX-License-Identifier: Apache-2.0
// The ELF reader: what it reads from a real file, and that damage never makes it read outside the given bytes.
#include "foundation/elf.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

namespace canopy {
namespace {

using Bytes = std::vector<std::byte>;

Bytes own_executable() {
    std::ifstream file("/proc/self/exe", std::ios::binary | std::ios::ate);
    Bytes bytes(static_cast<std::size_t>(file.tellg()));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    EXPECT_TRUE(file.good());
    return bytes;
}

template <class T>
void put(Bytes& bytes, std::size_t offset, const T& value) {
    if (bytes.size() < offset + sizeof value) bytes.resize(offset + sizeof value);
    std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// A small file with one note, one symbol and the required tables.
class SmallFile {
public:
    SmallFile() {
        const char names[] = "\0.note.x\0.symtab\0.strtab\0.names";
        names_at_ = 64;
        std::memcpy(grow(names_at_, sizeof names), names, sizeof names);
        const std::size_t notes = 128, symbols = 192, symbol_names = 240;
        Elf64_Nhdr note{5, 6, 77};
        put(bytes, notes, note);
        std::memcpy(grow(notes + sizeof note, 8), "Name", 5);
        std::memcpy(grow(notes + sizeof note + 8, 8), "abcdef", 6);
        Elf64_Sym symbol{};
        symbol.st_name = 1;
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
        symbol.st_shndx = 1;
        symbol.st_value = 0x1234;
        symbol.st_size = 8;
        put(bytes, symbols, Elf64_Sym{});
        put(bytes, symbols + sizeof symbol, symbol);
        std::memcpy(grow(symbol_names, 8), "\0value", 7);
        table = 256;
        put(bytes, table, Elf64_Shdr{});
        section(1, 1, SHT_NOTE, notes, 28);
        section(2, 9, SHT_SYMTAB, symbols, 48, 3);
        section(3, 17, SHT_STRTAB, symbol_names, 8);
        section(4, 25, SHT_STRTAB, names_at_, sizeof names);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_machine = EM_AARCH64;
        header.e_type = ET_DYN;
        header.e_shoff = table;
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 5;
        header.e_shstrndx = 4;
        put(bytes, 0, header);
    }

    std::size_t section_header(std::size_t index) const { return table + index * sizeof(Elf64_Shdr); }

    Bytes bytes;
    std::size_t table = 0;

private:
    std::byte* grow(std::size_t offset, std::size_t size) {
        if (bytes.size() < offset + size) bytes.resize(offset + size);
        return bytes.data() + offset;
    }
    void section(std::size_t index, std::uint32_t name, std::uint32_t type, std::uint64_t offset, std::uint64_t size,
                 std::uint32_t link = 0) {
        Elf64_Shdr header{};
        header.sh_name = name;
        header.sh_type = type;
        header.sh_offset = offset;
        header.sh_size = size;
        header.sh_link = link;
        put(bytes, section_header(index), header);
    }
    std::size_t names_at_ = 0;
};

// Reads everything the reader offers; true if nothing was refused.
bool read_everything(std::span<const std::byte> bytes) {
    auto file = ElfFile::read(bytes);
    if (!file.ok()) return false;
    bool whole = file->symbols().ok();
    for (std::size_t index = 0; index < file->sections().size(); ++index) (void)file->relocations(index);
    without_unique_symbols(*file, bytes);
    for (const ElfSection& section : file->sections())
        if (section.type == SHT_NOTE) whole = ElfFile::notes(section).ok() && whole;
    return whole;
}

std::string refusal(const Bytes& bytes) {
    const auto file = ElfFile::read(bytes);
    EXPECT_FALSE(file.ok());
    return file.message();
}

TEST(ElfFile, ReadsSectionsNotesAndSymbols) {
    const SmallFile small;
    const auto file = ElfFile::read(small.bytes);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file.value().machine(), EM_AARCH64);
    EXPECT_EQ(file.value().type(), ET_DYN);
    const ElfSection* section = file.value().section(".note.x");
    ASSERT_NE(section, nullptr);
    const auto notes = ElfFile::notes(*section);
    ASSERT_TRUE(notes.ok());
    ASSERT_EQ(notes.value().size(), 1u);
    EXPECT_EQ(notes.value()[0].owner, "Name");
    EXPECT_EQ(notes.value()[0].type, 77u);
    EXPECT_EQ(notes.value()[0].description.size(), 6u);
    EXPECT_EQ(notes.value()[0].description_offset, 128u + 12 + 8);
    const auto symbols = file.value().symbols();
    ASSERT_TRUE(symbols.ok());
    ASSERT_EQ(symbols.value().size(), 1u);
    EXPECT_EQ(symbols.value()[0].name, "value");
    EXPECT_EQ(symbols.value()[0].value, 0x1234u);
}

TEST(ElfFile, ReadsTheRunningProgram) {
    const Bytes bytes = own_executable();
    const auto file = ElfFile::read(bytes);
    ASSERT_TRUE(file.ok());
    EXPECT_NE(file.value().section(".text"), nullptr);
    EXPECT_EQ(file.value().section(".no.such.section"), nullptr);
    EXPECT_FALSE(file.value().segments().empty());
    const auto symbols = file.value().symbols();
    ASSERT_TRUE(symbols.ok());
    const auto is_main = [](const ElfSymbol& symbol) { return symbol.name == "main" && symbol.type == STT_FUNC; };
    EXPECT_EQ(std::count_if(symbols.value().begin(), symbols.value().end(), is_main), 1);
}

TEST(ElfFile, SaysWhatIsWrong) {
    Bytes bytes = SmallFile().bytes;
    EXPECT_NE(refusal({}).find("not an ELF file"), std::string::npos);
    EXPECT_NE(refusal(Bytes(100, std::byte{'x'})).find("not an ELF file"), std::string::npos);
    bytes[EI_CLASS] = std::byte{ELFCLASS32};
    EXPECT_NE(refusal(bytes).find("32-bit"), std::string::npos);
    bytes = SmallFile().bytes;
    bytes[EI_DATA] = std::byte{ELFDATA2MSB};
    EXPECT_NE(refusal(bytes).find("big-endian"), std::string::npos);
    bytes = SmallFile().bytes;
    bytes.resize(300);
    EXPECT_NE(refusal(bytes).find("truncated at byte 300"), std::string::npos);
}

TEST(ElfFile, RefusesSectionsAndNamesOutsideTheFile) {
    SmallFile small;
    Bytes bytes = small.bytes;
    put(bytes, small.section_header(1) + offsetof(Elf64_Shdr, sh_size), ~std::uint64_t{0});
    EXPECT_NE(refusal(bytes).find("section 1"), std::string::npos);
    bytes = small.bytes;
    put(bytes, small.section_header(1) + offsetof(Elf64_Shdr, sh_name), 0x7fffffff);
    EXPECT_NE(refusal(bytes).find("name of section 1"), std::string::npos);
    bytes = small.bytes;
    put(bytes, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{5});
    EXPECT_NE(refusal(bytes).find("section 5 of 5"), std::string::npos);
    bytes = small.bytes;
    put(bytes, offsetof(Elf64_Ehdr, e_shoff), ~std::uint64_t{0} - 8);
    EXPECT_NE(refusal(bytes).find("section header table"), std::string::npos);
}

TEST(ElfFile, RefusesANoteLongerThanItsSection) {
    SmallFile small;
    put(small.bytes, 128 + offsetof(Elf64_Nhdr, n_descsz), std::uint32_t{0xffffffff});
    const auto file = ElfFile::read(small.bytes);
    ASSERT_TRUE(file.ok());
    const auto notes = ElfFile::notes(*file.value().section(".note.x"));
    EXPECT_FALSE(notes.ok());
    EXPECT_NE(notes.message().find("the note at byte 128"), std::string::npos) << notes.message();
}

TEST(ElfFile, EveryPrefixIsRefused) {
    const Bytes bytes = SmallFile().bytes;
    ASSERT_TRUE(read_everything(bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(read_everything(prefix)) << size;
    }
}

// Each copy is in a buffer of exactly its size, so that a sanitizer sees any read past the end.
TEST(ElfFile, SurvivesRandomDamage) {
    const Bytes bytes = SmallFile().bytes;
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int round = 0; round < 20000; ++round) {
        Bytes damaged = bytes;
        for (int change = 0; change < 1 + round % 4; ++change)
            damaged[random() % damaged.size()] = static_cast<std::byte>(random());
        refused += read_everything(damaged) ? 0 : 1;
    }
    EXPECT_GT(refused, 1000u);
}

// A file with a process-wide unique symbol, as compilers emit it for inline variables.
TEST(ElfFile, UniqueSymbolsBecomeOrdinaryOnesInACopy) {
    SmallFile small;
    EXPECT_TRUE(without_unique_symbols(*ElfFile::read(small.bytes), small.bytes).empty());
    const std::size_t info = 192 + sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_info);
    small.bytes[info] = static_cast<std::byte>(ELF64_ST_INFO(STB_GNU_UNIQUE, STT_OBJECT));
    put(small.bytes, small.section_header(2) + offsetof(Elf64_Shdr, sh_type), std::uint32_t{SHT_DYNSYM});
    Bytes expected = small.bytes;
    expected[info] = static_cast<std::byte>(ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT));
    EXPECT_EQ(without_unique_symbols(*ElfFile::read(small.bytes), small.bytes), expected);
}

TEST(ElfFile, ReadsRelocations) {
    SmallFile small;
    put(small.bytes, 128, Elf64_Rela{16, ELF64_R_INFO(1, R_X86_64_64), -8});
    put(small.bytes, small.section_header(1) + offsetof(Elf64_Shdr, sh_type), std::uint32_t{SHT_RELA});
    put(small.bytes, small.section_header(1) + offsetof(Elf64_Shdr, sh_info), std::uint32_t{3});
    const auto file = ElfFile::read(small.bytes);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->relocations(2).empty());
    const auto found = file->relocations(3);
    ASSERT_EQ(found.size(), 1u) << "28 bytes hold one";
    EXPECT_EQ(found[0].offset, 16u);
    EXPECT_EQ(found[0].addend, -8);
    const auto symbols = file->all_symbols();
    ASSERT_TRUE(symbols.ok() && found[0].symbol < symbols->size());
    EXPECT_EQ((*symbols)[found[0].symbol].name, "value");
}

TEST(ElfFile, NamesMachines) {
    EXPECT_EQ(elf_machine_name(EM_X86_64), "x86-64");
    EXPECT_NE(elf_machine_name(0x1029).find("Ascend NPU"), std::string::npos);
    EXPECT_EQ(elf_machine_name(0x7777), "machine 0x7777");
}

}  // namespace
}  // namespace canopy
