// SPDX-License-Identifier: Apache-2.0
#include "pack.h"

#include <canopy/kernel_image.h>
#include <elf.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace canopy_cc {
namespace {

// Numbers and texts as notes hold them.
class Description {
public:
    template <class T>
    Description& number(T value) {
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        return *this;
    }
    Description& text(std::string_view text) {
        const auto length = static_cast<std::uint16_t>(std::min<std::size_t>(text.size(), CANOPY_IMAGE_MAX_TEXT));
        number(length);
        bytes_.append(text.substr(0, length));
        return *this;
    }
    Description& long_text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        bytes_.append(text);
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

void pad(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

void add_note(std::string& notes, std::uint32_t type, const Description& description) {
    Elf64_Nhdr header{};
    header.n_namesz = sizeof CANOPY_NOTE_OWNER;
    header.n_descsz = static_cast<Elf64_Word>(description.bytes().size());
    header.n_type = type;
    notes.append(reinterpret_cast<const char*>(&header), sizeof header);
    notes.append(CANOPY_NOTE_OWNER, sizeof CANOPY_NOTE_OWNER);
    pad(notes, 4);
    notes += description.bytes();
    pad(notes, 4);
}

Description image_note(const ImageContent& content) {
    Description note;
    note.number(content.format_version != 0 ? content.format_version : CANOPY_IMAGE_FORMAT_VERSION);
    note.number(content.kernel_abi != 0 ? content.kernel_abi : CANOPY_KERNEL_ABI_VERSION);
    note.number(static_cast<std::uint32_t>(content.architectures.size()));
    for (const std::uint32_t architecture : content.architectures) note.number(architecture);
    note.text(content.producer);
    return note;
}

Description kernel_note(const KernelDescription& kernel) {
    Description note;
    note.number(kernel.core_type).number(kernel.cube_ratio).number(kernel.vector_ratio);
    note.number(kernel.schedule_mode).number(kernel.arguments_size);
    note.number(static_cast<std::uint32_t>(kernel.parameters.size()));
    for (const Parameter& parameter : kernel.parameters)
        note.number(parameter.offset).number(parameter.size).number(parameter.alignment);
    note.text(kernel.name).text(kernel.entry).text(kernel.symbol).text(kernel.source);
    note.number(kernel.flags).text(kernel.key);
    return note;
}

std::string section_name(const PackedTarget& target) { return CANOPY_TARGET_SECTION_PREFIX + target.name; }

Description target_note(const PackedTarget& target) {
    Description note;
    note.text(target.name).text(section_name(target));
    note.number(static_cast<std::uint64_t>(target.object.size()));
    note.number(static_cast<std::uint64_t>(XXH3_64bits(target.object.data(), target.object.size())));
    return note;
}

std::string part_section(std::size_t index) { return CANOPY_PART_SECTION_PREFIX + std::to_string(index); }

Description part_note(const PackedPart& part, std::size_t index) {
    Description note;
    note.text(part_section(index));
    note.number(static_cast<std::uint64_t>(part.size()));
    note.number(static_cast<std::uint64_t>(XXH3_64bits(part.data(), part.size())));
    return note;
}

std::string note_section(const ImageContent& content) {
    std::string notes;
    add_note(notes, CANOPY_NOTE_IMAGE, image_note(content));
    for (const KernelDescription& kernel : content.kernels) add_note(notes, CANOPY_NOTE_KERNEL, kernel_note(kernel));
    for (const PackedTarget& target : content.targets) add_note(notes, CANOPY_NOTE_TARGET, target_note(target));
    for (std::size_t index = 0; index < content.parts.size(); ++index)
        add_note(notes, CANOPY_NOTE_PART, part_note(content.parts[index], index));
    if (!content.fusion.empty()) add_note(notes, CANOPY_NOTE_FUSION, Description().long_text(content.fusion));
    // The seal is the last number of the section, over everything in front of it.
    std::uint64_t seal = 0;
    add_note(notes, CANOPY_NOTE_SEAL, Description().number(seal));
    const std::size_t sealed = notes.size() - sizeof seal;
    seal = XXH3_64bits(notes.data(), sealed);
    std::memcpy(notes.data() + sealed, &seal, sizeof seal);
    return notes;
}

// An ELF file in the making: the header, the sections in the order they are added, the names, the section table.
class Container {
public:
    Container() : file_(sizeof(Elf64_Ehdr), '\0'), names_(1, '\0'), table_(1) {}

    void add(const std::string& name, std::uint32_t type, const std::string& bytes, std::size_t alignment) {
        pad(file_, alignment);
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names_.size());
        names_.append(name.c_str(), name.size() + 1);
        header.sh_type = type;
        header.sh_offset = file_.size();
        header.sh_addralign = alignment;
        // The section of names knows its own name by now.
        const std::string& content = type == SHT_STRTAB ? names_ : bytes;
        header.sh_size = content.size();
        file_ += content;
        table_.push_back(header);
    }

    std::string finish() {
        add(".shstrtab", SHT_STRTAB, {}, 1);
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
        file_.append(reinterpret_cast<const char*>(table_.data()), table_.size() * sizeof(Elf64_Shdr));
        return std::move(file_);
    }

private:
    std::string file_;
    std::string names_;
    std::vector<Elf64_Shdr> table_;
};

}  // namespace

std::string pack_image(const ImageContent& content) {
    Container container;
    container.add(CANOPY_NOTE_SECTION, SHT_NOTE, note_section(content), 4);
    for (const PackedTarget& target : content.targets)
        container.add(section_name(target), SHT_PROGBITS, target.object, 64);
    for (std::size_t index = 0; index < content.parts.size(); ++index)
        container.add(part_section(index), SHT_PROGBITS, content.parts[index], 64);
    return container.finish();
}

}  // namespace canopy_cc
