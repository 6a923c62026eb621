// SPDX-License-Identifier: Apache-2.0
// Reads the notes of a kernel image. A cursor decodes each note; it never reads outside the note's bytes and remembers
// where it ran out. Counts are checked against fixed limits before anything is allocated for them.
#include "foundation/image_file.h"

#include <canopy/kernel_image.h>

#include <cstring>
#include <unordered_set>

#include "foundation/elf.h"
#include "foundation/hash.h"

namespace canopy {
namespace {

// Reads one note from front to back. After the first read past its end every number reads as zero and `ok_` is false.
class Cursor {
public:
    Cursor(const ElfNote& note, std::string_view what) : note_(note), what_(what) {}

    template <class T>
    T number() noexcept {
        T value{};
        if (!room(sizeof(T))) return value;
        std::memcpy(&value, note_.description.data() + at_, sizeof(T));
        at_ += sizeof(T);
        return value;
    }

    std::string text() {
        const auto length = number<std::uint16_t>();
        if (!ok_ || !room(length)) return {};
        if (length > CANOPY_IMAGE_MAX_TEXT) {
            ok_ = false;
            return {};
        }
        std::string value(reinterpret_cast<const char*>(note_.description.data()) + at_, length);
        at_ += length;
        return value;
    }

    // Bytes preceded by a 32-bit length.
    std::string_view long_text(std::size_t most) noexcept {
        const auto length = number<std::uint32_t>();
        if (!ok_ || !room(length)) return {};
        if (length > most) {
            ok_ = false;
            return {};
        }
        const std::string_view value(reinterpret_cast<const char*>(note_.description.data()) + at_, length);
        at_ += length;
        return value;
    }

    // True if more data follows: fields added to the format later may be missing.
    [[nodiscard]] bool more() const noexcept { return ok_ && at_ < note_.description.size(); }

    [[nodiscard]] Problem finish() const {
        if (ok_) return {};
        return {"the ", what_, " note of the image is truncated at byte ", offset(), " of the file"};
    }
    // Reports a value that the format does not allow, at the position just read.
    [[nodiscard]] Problem reject(std::initializer_list<MessagePart> reason) const {
        if (Problem problem = finish()) return problem;
        return {"the ", what_, " note of the image is damaged before byte ", offset(), " of the file: ", join(reason)};
    }

private:
    bool room(std::size_t size) noexcept {
        if (ok_ && size > note_.description.size() - at_) ok_ = false;
        return ok_;
    }
    [[nodiscard]] std::size_t offset() const noexcept { return note_.description_offset + at_; }

    const ElfNote& note_;
    std::string_view what_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

bool is_name(const std::string& text) noexcept { return !text.empty() && text.find('\0') == std::string::npos; }

// Only fuzzing builds skip checksums.
bool checksum_matches(std::span<const std::byte> bytes, std::uint64_t expected) noexcept {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)bytes, (void)expected;
    return true;
#else
    return hash_of(bytes) == expected;
#endif
}

Problem read_image_note(const ElfNote& note, ImageFile& image) {
    Cursor cursor(note, "image");
    const auto version = cursor.number<std::uint32_t>();
    if (Problem problem = cursor.finish()) return problem;
    if (version != CANOPY_IMAGE_FORMAT_VERSION)
        return Problem{"a kernel image of format version ", version,          "; this release reads version ",
                       CANOPY_IMAGE_FORMAT_VERSION,         ". Rebuild it: ", rebuild_command(image, 0)};
    image.kernel_abi = cursor.number<std::uint32_t>();
    const auto count = cursor.number<std::uint32_t>();
    if (count == 0 || count > CANOPY_IMAGE_MAX_ARCHITECTURES) return cursor.reject({count, " architectures"});
    for (std::uint32_t index = 0; index < count; ++index) image.architectures.push_back(cursor.number<std::uint32_t>());
    image.producer = cursor.text();
    return cursor.finish();
}

Problem check_parameter(const Cursor& cursor, const ParameterInfo& parameter, const KernelInfo& info) {
    const std::uint32_t alignment = parameter.alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > CANOPY_IMAGE_MAX_ALIGNMENT)
        return cursor.reject({"a parameter with alignment ", alignment});
    if (parameter.offset % alignment != 0 || parameter.offset > info.arguments_size ||
        parameter.size > info.arguments_size - parameter.offset)
        return cursor.reject(
            {"a parameter of ", parameter.size, " bytes at offset ", parameter.offset, " of ", info.arguments_size});
    return {};
}

Problem read_kernel_note(const ElfNote& note, ImageFile& image) {
    Cursor cursor(note, "kernel");
    ImageKernel kernel;
    const auto core = cursor.number<std::uint32_t>();
    if (core > static_cast<std::uint32_t>(CoreType::mix)) return cursor.reject({"core type ", core});
    kernel.core = static_cast<CoreType>(core);
    kernel.cube_ratio = cursor.number<std::uint16_t>();
    kernel.vector_ratio = cursor.number<std::uint16_t>();
    if (kernel.cube_ratio > CANOPY_IMAGE_MAX_RATIO || kernel.vector_ratio > CANOPY_IMAGE_MAX_RATIO)
        return cursor.reject({"ratio ", kernel.cube_ratio, ":", kernel.vector_ratio});
    const auto schedule = cursor.number<std::uint32_t>();
    if (schedule > 1) return cursor.reject({"schedule mode ", schedule});
    kernel.batch = schedule == 1;
    kernel.arguments_size = cursor.number<std::uint32_t>();
    if (kernel.arguments_size > CANOPY_IMAGE_MAX_ARGUMENTS)
        return cursor.reject({kernel.arguments_size, " bytes of arguments"});
    const auto count = cursor.number<std::uint32_t>();
    if (count > CANOPY_IMAGE_MAX_PARAMETERS) return cursor.reject({count, " parameters"});
    for (std::uint32_t index = 0; index < count; ++index) {
        ParameterInfo parameter;
        parameter.offset = cursor.number<std::uint32_t>();
        parameter.size = cursor.number<std::uint32_t>();
        parameter.alignment = cursor.number<std::uint32_t>();
        if (Problem problem = check_parameter(cursor, parameter, kernel)) return problem;
        kernel.parameters.push_back(parameter);
    }
    kernel.name = cursor.text();
    kernel.entry = cursor.text();
    kernel.symbol = cursor.text();
    kernel.source = cursor.text();
    if (cursor.more()) {
        kernel.simt = (cursor.number<std::uint32_t>() & CANOPY_KERNEL_SIMT) != 0;
        kernel.key = cursor.text();
    }
    if (!is_name(kernel.name) || (!is_name(kernel.entry) && !kernel.entry.empty()))
        return cursor.reject({"a kernel without a name"});
    if (image.kernels.size() == CANOPY_IMAGE_MAX_KERNELS)
        return cursor.reject({"more than ", static_cast<int>(CANOPY_IMAGE_MAX_KERNELS), " kernels"});
    if (Problem problem = cursor.finish()) return problem;
    image.kernels.push_back(std::move(kernel));
    return {};
}

// The bytes of a section that a note refers to, checked for size and checksum. `what` names its contents in messages.
Expected<std::span<const std::byte>> section_bytes(const ElfFile& elf, const std::string& name, std::uint64_t size,
                                                   std::uint64_t checksum, std::string_view what) {
    const ElfSection* section = elf.section(name);
    if (section == nullptr) return Problem{"the image has no section ", name, " although it names ", what};
    if (section->bytes.size() != size)
        return Problem{"section ", name, " of the image has ", section->bytes.size(), " bytes instead of ", size};
    if (!checksum_matches(section->bytes, checksum))
        return Problem{what,   " is damaged: bytes ",  section->offset,
                       " to ", section->offset + size, " of the file do not have their checksum"};
    return section->bytes;
}

Problem read_target_note(const ElfNote& note, const ElfFile& elf, ImageFile& image) {
    Cursor cursor(note, "target");
    ImageTarget target;
    target.name = cursor.text();
    const std::string section_name = cursor.text();
    const auto size = cursor.number<std::uint64_t>();
    const auto checksum = cursor.number<std::uint64_t>();
    if (Problem problem = cursor.finish()) return problem;
    if (!is_name(target.name)) return cursor.reject({"a target without a name"});
    if (image.targets.size() == CANOPY_IMAGE_MAX_TARGETS)
        return cursor.reject({"more than ", static_cast<int>(CANOPY_IMAGE_MAX_TARGETS), " targets"});
    Expected<std::span<const std::byte>> bytes =
        section_bytes(elf, section_name, size, checksum, join({"the code for target ", target.name}));
    if (!bytes.ok()) return bytes.problem();
    target.object = *bytes;
    image.targets.push_back(std::move(target));
    return {};
}

Problem read_part_note(const ElfNote& note, const ElfFile& elf, ImageFile& image) {
    Cursor cursor(note, "part");
    const std::string section_name = cursor.text();
    const auto size = cursor.number<std::uint64_t>();
    const auto checksum = cursor.number<std::uint64_t>();
    if (Problem problem = cursor.finish()) return problem;
    if (image.parts.size() == CANOPY_IMAGE_MAX_PARTS)
        return cursor.reject({"more than ", static_cast<int>(CANOPY_IMAGE_MAX_PARTS), " parts"});
    Expected<std::span<const std::byte>> bytes =
        section_bytes(elf, section_name, size, checksum, join({"part ", image.parts.size()}));
    if (!bytes.ok()) return bytes.problem();
    image.parts.push_back(*bytes);
    return {};
}

Problem read_fusion_note(const ElfNote& note, ImageFile& image) {
    Cursor cursor(note, "fusion");
    if (!image.fusion.empty()) return {"the image has two fusion notes"};
    image.fusion = cursor.long_text(CANOPY_IMAGE_MAX_FUSION);
    return image.fusion.empty() ? cursor.reject({"it is empty"}) : cursor.finish();
}

// The name becomes part of a path.
bool is_text_name(std::string_view name) {
    return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Problem read_check_note(const ElfNote& note, ImageFile& image) {
    Cursor cursor(note, "check");
    image.autosync = (cursor.number<std::uint32_t>() & CANOPY_CHECK_NO_AUTOSYNC) == 0;
    image.check_text = cursor.text();
    return is_text_name(image.check_text) ? cursor.finish() : cursor.reject({"a text with a name of other letters"});
}

// Checked before any field is trusted: the seal covers everything before it.
Problem check_seal(const ElfSection& section, std::span<const ElfNote> notes) {
    if (notes.empty() || notes.back().owner != CANOPY_NOTE_OWNER || notes.back().type != CANOPY_NOTE_SEAL)
        return Problem{"the notes of the image end at byte ", section.offset + section.bytes.size(),
                       " of the file without their seal"};
    Cursor cursor(notes.back(), "seal");
    const auto checksum = cursor.number<std::uint64_t>();
    if (Problem problem = cursor.finish()) return problem;
    const std::size_t sealed = notes.back().description_offset - section.offset;
    if (!checksum_matches(section.bytes.first(sealed), checksum))
        return Problem{"the notes of the image are damaged: bytes ", section.offset, " to ", section.offset + sealed,
                       " of the file do not have their checksum"};
    return {};
}

Problem foreign(const ElfFile& elf) {
    return Problem{"an ELF file for ", elf_machine_name(elf.machine()),
                   " without a Canopy note, which this device cannot run. Compile the kernel's source for it: "
                   "canopy-cc --image -o IMAGE SOURCE"};
}

// Either all kernels of an image have code, or all are fused.
Problem check_kernel(const ImageFile& image, const ImageKernel& kernel) {
    if (image.fusion.empty() && kernel.entry.empty()) return {"kernel ", kernel.name, " of the image has no code"};
    if (!image.fusion.empty() && !kernel.entry.empty())
        return {"fused kernel ", kernel.name, " of the image has an entry function"};
    return {};
}

Problem check_whole(const ImageFile& image) {
    if (image.architectures.empty()) return Problem{"the notes of the image lack the image note"};
    if (image.targets.empty() && image.fusion.empty()) return Problem{"the image has no code for any target"};
    std::unordered_set<std::string_view> names, keys;
    for (const ImageKernel& kernel : image.kernels) {
        if (!names.insert(kernel.name).second) return Problem{"the image has two kernels named ", kernel.name};
        if (Problem problem = check_kernel(image, kernel)) return problem;
        if (!kernel.key.empty() && !keys.insert(kernel.key).second)
            return Problem{"the image has two kernels with the key ", kernel.key};
    }
    return {};
}

}  // namespace

Expected<ImageFile> read_image_file(std::span<const std::byte> file) {
    auto elf = ElfFile::read(file);
    if (!elf.ok()) return elf.problem();
    const ElfSection* section = elf->section(CANOPY_NOTE_SECTION);
    if (section == nullptr) return foreign(*elf);
    auto notes = ElfFile::notes(*section);
    if (!notes.ok()) return notes.problem();
    if (Problem problem = check_seal(*section, *notes)) return problem;
    ImageFile image;
    for (const ElfNote& note : *notes) {
        if (note.owner != CANOPY_NOTE_OWNER) continue;
        switch (note.type) {
            case CANOPY_NOTE_IMAGE:
                if (!image.architectures.empty()) return Problem{"the image has two image notes"};
                if (Problem problem = read_image_note(note, image)) return problem;
                break;
            case CANOPY_NOTE_KERNEL:
                if (Problem problem = read_kernel_note(note, image)) return problem;
                break;
            case CANOPY_NOTE_TARGET:
                if (Problem problem = read_target_note(note, *elf, image)) return problem;
                break;
            case CANOPY_NOTE_PART:
                if (Problem problem = read_part_note(note, *elf, image)) return problem;
                break;
            case CANOPY_NOTE_FUSION:
                if (Problem problem = read_fusion_note(note, image)) return problem;
                break;
            case CANOPY_NOTE_CHECK:
                if (Problem problem = read_check_note(note, image)) return problem;
                break;
            default:
                break;
        }
    }
    if (Problem problem = check_whole(image)) return problem;
    return image;
}

std::vector<std::uint32_t> image_architectures(std::span<const std::byte> file) {
    ImageFile image;
    const auto elf = ElfFile::read(file);
    const ElfSection* section = elf.ok() ? elf.value().section(CANOPY_NOTE_SECTION) : nullptr;
    if (section == nullptr) return {};
    const auto notes = ElfFile::notes(*section);
    if (!notes.ok() || check_seal(*section, notes.value())) return {};
    for (const ElfNote& note : notes.value())
        if (note.owner == CANOPY_NOTE_OWNER && note.type == CANOPY_NOTE_IMAGE && read_image_note(note, image))
            return {};
    return image.architectures;
}

std::string rebuild_command(const ImageFile& image, std::uint32_t architecture) {
    const bool known = !image.kernels.empty() && !image.kernels.front().source.empty();
    const std::string_view source = known ? std::string_view(image.kernels.front().source) : "SOURCE";
    const std::string option = architecture == 0 ? "" : join({" --npu-arch=dav-", architecture});
    return join({"canopy-cc --image", option, " -o IMAGE ", source});
}

}  // namespace canopy
