// SPDX-License-Identifier: Apache-2.0
#include "records.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

namespace canopy_cc {
namespace {

// An x86-64 object file in memory. Everything is read by copy: nothing says that the bytes are aligned.
class ObjectFile {
public:
    explicit ObjectFile(const std::string& bytes) : bytes_(bytes) {
        Elf64_Ehdr header{};
        if (!read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
        sections_.resize(header.e_shnum);
        for (std::size_t index = 0; index < sections_.size(); ++index)
            if (!read(header.e_shoff + index * sizeof(Elf64_Shdr), sections_[index])) sections_[index] = {};
        names_ = header.e_shstrndx;
        section_table_ = header.e_shoff;
        read_symbols();
    }

    [[nodiscard]] std::size_t count() const { return sections_.size(); }
    [[nodiscard]] const Elf64_Shdr& section(std::size_t index) const { return sections_[index]; }
    [[nodiscard]] std::size_t header_offset(std::size_t index) const {
        return section_table_ + index * sizeof(Elf64_Shdr);
    }
    [[nodiscard]] std::string name(std::size_t index) const { return text(names_, sections_[index].sh_name); }

    template <class T>
    bool read(std::size_t offset, T& value) const {
        if (offset + sizeof value > bytes_.size()) return false;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return true;
    }

    // A text that ends with zero.
    [[nodiscard]] std::string text(std::size_t section, std::size_t offset) const {
        if (section >= sections_.size() || offset >= sections_[section].sh_size) return {};
        const std::size_t begin = sections_[section].sh_offset + offset;
        const std::size_t end = std::min(bytes_.find('\0', begin), bytes_.size());
        return bytes_.substr(begin, end - begin);
    }

    // Where a pointer of a section leads, by its offset there.
    struct Target {
        std::string symbol;
        std::size_t section = 0;
        std::uint64_t offset = 0;
    };
    [[nodiscard]] std::map<std::uint64_t, Target> pointers(std::size_t index) const {
        std::map<std::uint64_t, Target> result;
        for (const Elf64_Shdr& relocations : sections_) {
            if (relocations.sh_type != SHT_RELA || relocations.sh_info != index) continue;
            for (std::uint64_t at = 0; at < relocations.sh_size; at += sizeof(Elf64_Rela)) {
                Elf64_Rela one{};
                if (!read(relocations.sh_offset + at, one)) break;
                result[one.r_offset] = target(one);
            }
        }
        return result;
    }

private:
    void read_symbols() {
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type != SHT_SYMTAB) continue;
            strings_ = section.sh_link;
            symbols_.resize(section.sh_size / sizeof(Elf64_Sym));
            for (std::size_t index = 0; index < symbols_.size(); ++index) {
                if (!read(section.sh_offset + index * sizeof(Elf64_Sym), symbols_[index])) continue;
                const Elf64_Sym& symbol = symbols_[index];
                const unsigned type = ELF64_ST_TYPE(symbol.st_info);
                if (type == STT_FUNC || type == STT_OBJECT)
                    by_place_.emplace(std::pair(symbol.st_shndx, symbol.st_value), text(strings_, symbol.st_name));
            }
        }
    }

    [[nodiscard]] Target target(const Elf64_Rela& relocation) const {
        const std::size_t index = ELF64_R_SYM(relocation.r_info);
        if (index >= symbols_.size()) return {};
        const Elf64_Sym& symbol = symbols_[index];
        Target result;
        result.section = symbol.st_shndx;
        result.offset = symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_SECTION) {
            result.symbol = text(strings_, symbol.st_name);
        } else if (const auto found = by_place_.find({symbol.st_shndx, result.offset}); found != by_place_.end()) {
            result.symbol = found->second;
        }
        return result;
    }

    const std::string& bytes_;
    std::vector<Elf64_Shdr> sections_;
    std::size_t names_ = 0;
    std::size_t section_table_ = 0;
    std::size_t strings_ = 0;
    std::vector<Elf64_Sym> symbols_;
    std::map<std::pair<Elf64_Section, Elf64_Addr>, std::string> by_place_;
};

// The layout of canopy::kernel::RecordData.
struct RecordHead {
    std::uint32_t size, line;
    std::uint64_t key, source, entry, function;
    std::uint32_t core_type, cube_ratio, vector_ratio, schedule_mode, flags, arguments_size, parameter_count;
};

bool read_record(const ObjectFile& file, std::size_t section, std::uint64_t at, std::uint32_t& size,
                 std::vector<KernelDescription>& kernels) {
    const auto pointers = file.pointers(section);
    RecordHead head{};
    const std::uint64_t start = file.section(section).sh_offset + at;
    if (!file.read(start, head) || head.size < sizeof head) return false;
    const auto pointed = [&](std::size_t member) {
        const auto found = pointers.find(at + member);
        return found == pointers.end() ? ObjectFile::Target{} : found->second;
    };
    const auto text_at = [&](std::size_t member) {
        const ObjectFile::Target target = pointed(member);
        return file.text(target.section, target.offset);
    };
    KernelDescription kernel;
    kernel.key = text_at(offsetof(RecordHead, key));
    kernel.source = text_at(offsetof(RecordHead, source));
    kernel.entry = pointed(offsetof(RecordHead, entry)).symbol;
    kernel.symbol = pointed(offsetof(RecordHead, function)).symbol;
    kernel.line = head.line;
    kernel.core_type = head.core_type;
    kernel.cube_ratio = static_cast<std::uint16_t>(head.cube_ratio);
    kernel.vector_ratio = static_cast<std::uint16_t>(head.vector_ratio);
    kernel.schedule_mode = head.schedule_mode;
    kernel.flags = head.flags;
    kernel.arguments_size = head.arguments_size;
    for (std::uint32_t index = 0; index < head.parameter_count; ++index) {
        Parameter parameter;
        if (!file.read(start + offsetof(RecordHead, parameter_count) + 4 + index * sizeof parameter, parameter))
            return false;
        kernel.parameters.push_back(parameter);
    }
    size = head.size;
    if (kernel.key.empty() || kernel.entry.empty() || kernel.symbol.empty()) return false;
    kernels.push_back(std::move(kernel));
    return true;
}

}  // namespace

std::string read_records(const std::string& object, std::vector<KernelDescription>& kernels) {
    const ObjectFile file(object);
    if (file.count() == 0) return "the compiler wrote no object file";
    for (std::size_t index = 0; index < file.count(); ++index) {
        if (file.name(index) != "canopy_kernels") continue;
        for (std::uint64_t at = 0; at + sizeof(RecordHead) <= file.section(index).sh_size;) {
            std::uint32_t size = 0;
            if (!read_record(file, index, at, size, kernels)) return "the record of a kernel is damaged";
            at += (size + 7) / 8 * 8;
        }
    }
    std::stable_sort(kernels.begin(), kernels.end(), [](const KernelDescription& left, const KernelDescription& right) {
        return left.source == right.source && left.line < right.line;
    });
    return {};
}

std::vector<std::string> pointed_symbols(const std::string& object, const std::string& section_name) {
    const ObjectFile file(object);
    std::vector<std::string> result;
    for (std::size_t index = 0; index < file.count(); ++index)
        if (file.name(index) == section_name)
            for (const auto& [offset, target] : file.pointers(index)) result.push_back(target.symbol);
    return result;
}

void drop_constructors(std::string& object) {
    const ObjectFile file(object);
    std::vector<std::size_t> dropped;
    for (std::size_t index = 0; index < file.count(); ++index) {
        const std::string name = file.name(index);
        if (name.rfind(".init_array", 0) == 0 || name.rfind(".fini_array", 0) == 0 || name.rfind(".ctors", 0) == 0)
            dropped.push_back(index);
    }
    for (const std::size_t index : dropped) {
        Elf64_Shdr header = file.section(index);
        header.sh_flags |= SHF_EXCLUDE;
        std::memcpy(object.data() + file.header_offset(index), &header, sizeof header);
    }
}

}  // namespace canopy_cc
