// SPDX-License-Identifier: Apache-2.0
#include "compile/records.h"

#include <canopy/kernel_image.h>
#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "base/text.h"
#include "foundation/elf.h"

namespace canopy_cc {
namespace {

using canopy::ElfFile;
using canopy::ElfSection;
using canopy::ElfSymbol;

canopy::Expected<ElfFile> read_object(const std::string& object) {
    return ElfFile::read(std::as_bytes(std::span(object)));
}

// The target of a pointer in a section.
struct Target {
    std::string symbol;
    std::size_t section = 0;
    std::uint64_t offset = 0;
};
using Pointers = std::map<std::uint64_t, Target>;  // keyed by offset in the section

// Reads the pointers in the sections of an object from its relocations.
class PointerReader {
public:
    explicit PointerReader(const ElfFile& file) : file_(file) {
        if (auto symbols = file.all_symbols(); symbols.ok()) symbols_ = std::move(*symbols);
        for (const ElfSymbol& symbol : symbols_)
            if (symbol.type == STT_FUNC || symbol.type == STT_OBJECT)
                by_place_.emplace(std::pair(symbol.section, symbol.value), symbol.name);
    }

    [[nodiscard]] Pointers pointers(std::size_t section) const {
        Pointers result;
        for (const canopy::ElfRelocation& relocation : file_.relocations(section))
            result[relocation.offset] = target(relocation);
        return result;
    }

private:
    [[nodiscard]] Target target(const canopy::ElfRelocation& relocation) const {
        if (relocation.symbol >= symbols_.size()) return {};
        const ElfSymbol& symbol = symbols_[relocation.symbol];
        Target result;
        result.section = symbol.section;
        result.offset = symbol.value + static_cast<std::uint64_t>(relocation.addend);
        if (symbol.type != STT_SECTION) {
            result.symbol = symbol.name;
        } else if (const auto found = by_place_.find({symbol.section, result.offset}); found != by_place_.end()) {
            result.symbol = found->second;
        }
        return result;
    }

    const ElfFile& file_;
    std::vector<ElfSymbol> symbols_;
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::string_view> by_place_;
};

// The layout of canopy::kernel::RecordData.
struct RecordHead {
    std::uint32_t size, line;
    std::uint64_t key, source, entry, function;
    std::uint32_t core_type, cube_ratio, vector_ratio, schedule_mode, flags, arguments_size, parameter_count;
};

// One record of a section of records.
class Record {
public:
    Record(const ElfFile& file, const Pointers& pointers, std::span<const std::byte> section, std::uint64_t at)
        : file_(file), pointers_(pointers), section_(section), at_(at) {}

    // False: the record is damaged.
    bool read(KernelDescription& kernel) {
        if (!take(0, head_) || head_.size < sizeof head_) return false;
        kernel.key = text(offsetof(RecordHead, key));
        kernel.source = text(offsetof(RecordHead, source));
        kernel.entry = pointed(offsetof(RecordHead, entry)).symbol;
        kernel.symbol = pointed(offsetof(RecordHead, function)).symbol;
        kernel.line = head_.line;
        kernel.core = static_cast<CoreType>(head_.core_type);
        kernel.cube_ratio = static_cast<std::uint16_t>(head_.cube_ratio);
        kernel.vector_ratio = static_cast<std::uint16_t>(head_.vector_ratio);
        kernel.batch = head_.schedule_mode != 0;
        kernel.simt = (head_.flags & CANOPY_KERNEL_SIMT) != 0;
        kernel.arguments_size = head_.arguments_size;
        return read_parameters(kernel) && !kernel.key.empty() && !kernel.entry.empty() && !kernel.symbol.empty();
    }
    [[nodiscard]] std::uint32_t size() const { return head_.size; }

private:
    bool read_parameters(KernelDescription& kernel) const {
        constexpr std::size_t first = offsetof(RecordHead, parameter_count) + sizeof head_.parameter_count;
        for (std::uint32_t index = 0; index < head_.parameter_count; ++index) {
            canopy::ParameterInfo parameter;
            if (!take(first + index * sizeof parameter, parameter)) return false;
            kernel.parameters.push_back(parameter);
        }
        return true;
    }
    template <class T>
    bool take(std::size_t offset, T& value) const {
        if (at_ + offset + sizeof value > section_.size()) return false;
        std::memcpy(&value, section_.data() + at_ + offset, sizeof value);
        return true;
    }
    [[nodiscard]] Target pointed(std::size_t member) const {
        const auto found = pointers_.find(at_ + member);
        return found == pointers_.end() ? Target{} : found->second;
    }
    [[nodiscard]] std::string text(std::size_t member) const {
        const Target target = pointed(member);
        if (target.section >= file_.sections().size()) return {};
        return std::string(elf_text(file_.sections()[target.section], target.offset).value_or(std::string_view()));
    }

    const ElfFile& file_;
    const Pointers& pointers_;
    std::span<const std::byte> section_;
    std::uint64_t at_;
    RecordHead head_{};
};

}  // namespace

std::string read_records(const std::string& object, std::vector<KernelDescription>& kernels) {
    const auto file = read_object(object);
    if (!file.ok()) return "the compiler wrote a bad object file: " + file.message();
    const PointerReader reader(*file);
    for (std::size_t index = 0; index < file->sections().size(); ++index) {
        const ElfSection& section = file->sections()[index];
        if (section.name != "canopy_kernels") continue;
        const Pointers pointers = reader.pointers(index);
        for (std::uint64_t at = 0; at + sizeof(RecordHead) <= section.bytes.size();) {
            Record record(*file, pointers, section.bytes, at);
            if (!record.read(kernels.emplace_back())) return "the record of a kernel is damaged";
            at += (record.size() + 7) / 8 * 8;
        }
    }
    std::stable_sort(kernels.begin(), kernels.end(), [](const KernelDescription& left, const KernelDescription& right) {
        return left.source == right.source && left.line < right.line;
    });
    return {};
}

std::vector<std::string> pointed_symbols(const std::string& object, const std::string& section_name) {
    const auto file = read_object(object);
    std::vector<std::string> result;
    if (!file.ok()) return result;
    const PointerReader reader(*file);
    for (std::size_t index = 0; index < file->sections().size(); ++index)
        if (file->sections()[index].name == section_name)
            for (const auto& [offset, target] : reader.pointers(index)) result.push_back(target.symbol);
    return result;
}

void drop_constructors(std::string& object) {
    const auto file = read_object(object);
    if (!file.ok()) return;
    for (const ElfSection& section : file->sections()) {
        if (!begins(section.name, ".init_array") && !begins(section.name, ".fini_array") &&
            !begins(section.name, ".ctors"))
            continue;
        const std::uint64_t flags = section.flags | SHF_EXCLUDE;
        std::memcpy(object.data() + section.header_offset + offsetof(Elf64_Shdr, sh_flags), &flags, sizeof flags);
    }
}

}  // namespace canopy_cc
