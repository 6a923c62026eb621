// SPDX-License-Identifier: Apache-2.0
#include "foundation/image_writer.h"

#include <canopy/kernel_abi.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "foundation/elf_writer.h"
#include "foundation/hash.h"

namespace canopy {
namespace {

using Bytes = std::span<const std::byte>;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Encodes numbers and strings for a note.
class Description {
public:
    template <class T>
    Description& number(T value) {
        append_bytes(bytes_, value);
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

void add_note(std::string& notes, std::uint32_t type, const Description& description) {
    Elf64_Nhdr header{};
    header.n_namesz = sizeof CANOPY_NOTE_OWNER;
    header.n_descsz = static_cast<Elf64_Word>(description.bytes().size());
    header.n_type = type;
    append_bytes(notes, header);
    notes.append(CANOPY_NOTE_OWNER, sizeof CANOPY_NOTE_OWNER);
    pad(notes, 4);
    notes += description.bytes();
    pad(notes, 4);
}

Description image_note(const ImageFile& image, std::uint32_t format_version) {
    Description note;
    note.number(format_version);
    note.number(image.kernel_abi != 0 ? image.kernel_abi : CANOPY_KERNEL_ABI_VERSION);
    note.number(static_cast<std::uint32_t>(image.architectures.size()));
    for (const std::uint32_t architecture : image.architectures) note.number(architecture);
    note.text(image.producer);
    return note;
}

Description kernel_note(const ImageKernel& kernel) {
    Description note;
    note.number(static_cast<std::uint32_t>(kernel.core)).number(kernel.cube_ratio).number(kernel.vector_ratio);
    note.number(std::uint32_t{kernel.batch}).number(kernel.arguments_size);
    note.number(static_cast<std::uint32_t>(kernel.parameters.size()));
    for (const ParameterInfo& parameter : kernel.parameters)
        note.number(parameter.offset).number(parameter.size).number(parameter.alignment);
    note.text(kernel.name).text(kernel.entry).text(kernel.symbol).text(kernel.source);
    note.number(static_cast<std::uint32_t>(kernel.simt ? CANOPY_KERNEL_SIMT : 0)).text(kernel.key);
    return note;
}

std::string section_name(const ImageTarget& target) { return CANOPY_TARGET_SECTION_PREFIX + target.name; }

Description target_note(const ImageTarget& target) {
    Description note;
    note.text(target.name).text(section_name(target));
    note.number(static_cast<std::uint64_t>(target.object.size()));
    note.number(hash_of(target.object));
    return note;
}

std::string part_section(std::size_t index) { return CANOPY_PART_SECTION_PREFIX + std::to_string(index); }

Description part_note(Bytes part, std::size_t index) {
    Description note;
    note.text(part_section(index));
    note.number(static_cast<std::uint64_t>(part.size()));
    note.number(hash_of(part));
    return note;
}

Description check_note(const ImageFile& image) {
    Description note;
    note.number(static_cast<std::uint32_t>(image.autosync ? 0 : CANOPY_CHECK_NO_AUTOSYNC)).text(image.check_text);
    return note;
}

std::string note_section(const ImageFile& image, std::uint32_t format_version) {
    std::string notes;
    add_note(notes, CANOPY_NOTE_IMAGE, image_note(image, format_version));
    for (const ImageKernel& kernel : image.kernels) add_note(notes, CANOPY_NOTE_KERNEL, kernel_note(kernel));
    for (const ImageTarget& target : image.targets) add_note(notes, CANOPY_NOTE_TARGET, target_note(target));
    for (std::size_t index = 0; index < image.parts.size(); ++index)
        add_note(notes, CANOPY_NOTE_PART, part_note(image.parts[index], index));
    if (!image.fusion.empty()) add_note(notes, CANOPY_NOTE_FUSION, Description().long_text(image.fusion));
    if (!image.autosync || !image.check_text.empty()) add_note(notes, CANOPY_NOTE_CHECK, check_note(image));
    // The seal is the last number in the section and covers everything before it.
    std::uint64_t seal = 0;
    add_note(notes, CANOPY_NOTE_SEAL, Description().number(seal));
    const std::size_t sealed = notes.size() - sizeof seal;
    seal = hash_of(std::string_view(notes).substr(0, sealed));
    std::memcpy(notes.data() + sealed, &seal, sizeof seal);
    return notes;
}

}  // namespace

std::string write_image(const ImageFile& image, std::uint32_t format_version) {
    ElfWriter writer;
    writer.add(CANOPY_NOTE_SECTION, SHT_NOTE, note_section(image, format_version), 4);
    for (const ImageTarget& target : image.targets)
        writer.add(section_name(target), SHT_PROGBITS, text_of(target.object), 64);
    for (std::size_t index = 0; index < image.parts.size(); ++index)
        writer.add(part_section(index), SHT_PROGBITS, text_of(image.parts[index]), 64);
    return writer.finish();
}

}  // namespace canopy
