// SPDX-License-Identifier: Apache-2.0
#include "core/lowered_names.h"

#include <elf.h>

#include <cstring>
#include <optional>

#include "base/elf.h"
#include "base/error_text.h"
#include "core/error_codes.h"
#include "device/image.h"

namespace canopy {
namespace {

constexpr const char* variable_prefix = "canopy_name_expression_";

const ElfSymbol* find_named(const std::vector<ElfSymbol>& symbols, std::string_view name) {
    for (const ElfSymbol& symbol : symbols)
        if (symbol.name == name) return &symbol;
    return nullptr;
}

// The symbol that starts at an address, one that other files can see before a local one.
const ElfSymbol* find_at(const std::vector<ElfSymbol>& symbols, std::uint64_t address) {
    const ElfSymbol* found = nullptr;
    for (const ElfSymbol& symbol : symbols) {
        if (symbol.value != address || symbol.name.empty()) continue;
        if (symbol.type != STT_FUNC && symbol.type != STT_OBJECT) continue;
        if (!found || (found->binding == STB_LOCAL && symbol.binding != STB_LOCAL)) found = &symbol;
    }
    return found;
}

// What the loader will write into the word at an address: where in the object it points.
std::optional<std::uint64_t> relocated_word(const ElfFile& object, std::uint64_t address,
                                            const std::vector<ElfSymbol>& symbols) {
    for (const ElfSection& section : object.sections()) {
        if (section.type != SHT_RELA || section.entry_size != sizeof(Elf64_Rela)) continue;
        for (std::size_t at = 0; at + sizeof(Elf64_Rela) <= section.bytes.size(); at += sizeof(Elf64_Rela)) {
            Elf64_Rela entry;
            std::memcpy(&entry, section.bytes.data() + at, sizeof(entry));
            if (entry.r_offset != address) continue;
            if (ELF64_R_TYPE(entry.r_info) == R_X86_64_RELATIVE) return static_cast<std::uint64_t>(entry.r_addend);
            if (ELF64_R_TYPE(entry.r_info) != R_X86_64_64 || section.link >= object.sections().size()) continue;
            // A symbol of the dynamic table: by name, because that is what the other table shares with it.
            const ElfSection& table = object.sections()[section.link];
            const std::size_t place = ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym);
            if (place + sizeof(Elf64_Sym) > table.bytes.size() || table.link >= object.sections().size()) continue;
            Elf64_Sym symbol;
            std::memcpy(&symbol, table.bytes.data() + place, sizeof(symbol));
            const std::span<const std::byte> names = object.sections()[table.link].bytes;
            if (symbol.st_name >= names.size()) continue;
            const char* name = reinterpret_cast<const char*>(names.data()) + symbol.st_name;
            const ElfSymbol* found = find_named(symbols, {name, strnlen(name, names.size() - symbol.st_name)});
            if (found) return found->value + static_cast<std::uint64_t>(entry.r_addend);
        }
    }
    return std::nullopt;
}

std::string name_in_image(const Image& image, const ElfSymbol& symbol) {
    for (const ImageKernel& kernel : image.kernels)
        if (kernel.symbol == symbol.name) return kernel.info.name;
    return std::string(symbol.name);
}

}  // namespace

std::string line_directive(unsigned line, const std::string& file) {
    std::string name;
    for (const char letter : file) {
        if (letter == '"' || letter == '\\') name += '\\';
        name += letter == '\n' ? ' ' : letter;
    }
    return fmt::format("#line {} \"{}\"\n", line, name);
}

std::string name_expression_text(const std::vector<std::string>& expressions) {
    std::string text;
    for (std::size_t index = 0; index < expressions.size(); ++index)
        text += "\n" + line_directive(1, fmt::format("name expression '{}'", expressions[index])) +
                fmt::format(
                    "extern \"C\" {{ extern const void* volatile {0}{1}; __attribute__((used)) const void* "
                    "volatile {0}{1} = (const void*)(\n{2}\n); }}\n",
                    variable_prefix, index, expressions[index]);
    return text;
}

Result<std::vector<std::string>> lowered_names(std::span<const std::byte> bytes, std::size_t count) {
    std::vector<std::string> names;
    if (count == 0) return names;
    Result<Image> image = read_image(bytes);
    if (!image.ok()) return image.status();
    if (image->targets.empty()) return fail(code::internal, "the compiled image has no code");
    Result<ElfFile> object = ElfFile::read(image->targets.front().object);
    if (!object.ok()) return object.status();
    Result<std::vector<ElfSymbol>> symbols = object->symbols();
    if (!symbols.ok()) return symbols.status();
    for (std::size_t index = 0; index < count; ++index) {
        const ElfSymbol* variable = find_named(*symbols, fmt::format("{}{}", variable_prefix, index));
        const std::optional<std::uint64_t> address =
            variable ? relocated_word(*object, variable->value, *symbols) : std::nullopt;
        const ElfSymbol* symbol = address ? find_at(*symbols, *address) : nullptr;
        if (!symbol) return fail(code::internal, "the compiled image does not tell what name expression {} is", index);
        names.push_back(name_in_image(*image, *symbol));
    }
    return names;
}

}  // namespace canopy
