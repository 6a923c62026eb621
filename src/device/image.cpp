// SPDX-License-Identifier: Apache-2.0
// Reads the notes of a kernel image. A note is decoded by a cursor that never leaves the note's bytes and remembers
// where it ran out; counts are compared with fixed limits before anything is allocated for them.
#include "device/image.h"

#include <canopy/kernel_image.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <optional>
#include <unordered_set>

#include "base/elf.h"
#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

// Walks over one note. After the first read past its end everything reads as zero and `ok` is false.
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

    // Bytes with a length of 32 bits in front of them.
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

    // Whether the note goes on: what was added to the format later may be missing.
    [[nodiscard]] bool more() const noexcept { return ok_ && at_ < note_.description.size(); }

    [[nodiscard]] Status finish() const {
        if (ok_) return {};
        return fail(bad_image, "the {} note of the image is truncated at byte {} of the file", what_, offset());
    }
    // A value the format does not allow, at the place just read.
    template <class... Arguments>
    Status reject(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
        CANOPY_TRY(finish());
        return fail(bad_image, "the {} note of the image is damaged before byte {} of the file: {}", what_, offset(),
                    fmt::format(format, std::forward<Arguments>(arguments)...));
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

// Fuzzing wants to get past checksums; everything else never skips them.
bool checksum_matches(std::span<const std::byte> bytes, std::uint64_t expected) noexcept {
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    (void)bytes, (void)expected;
    return true;
#else
    return XXH3_64bits(bytes.data(), bytes.size()) == expected;
#endif
}

Status read_image_note(const ElfNote& note, Image& image) {
    Cursor cursor(note, "image");
    const auto version = cursor.number<std::uint32_t>();
    CANOPY_TRY(cursor.finish());
    if (version != CANOPY_IMAGE_FORMAT_VERSION)
        return fail(bad_image, "a kernel image of format version {}; this release reads version {}. Rebuild it: {}",
                    version, CANOPY_IMAGE_FORMAT_VERSION, rebuild_command(image, 0));
    image.kernel_abi = cursor.number<std::uint32_t>();
    const auto count = cursor.number<std::uint32_t>();
    if (count == 0 || count > CANOPY_IMAGE_MAX_ARCHITECTURES) return cursor.reject("{} architectures", count);
    for (std::uint32_t index = 0; index < count; ++index) image.architectures.push_back(cursor.number<std::uint32_t>());
    image.producer = cursor.text();
    return cursor.finish();
}

Status check_parameter(const Cursor& cursor, const ParameterInfo& parameter, const KernelInfo& info) {
    const std::uint32_t alignment = parameter.alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > CANOPY_IMAGE_MAX_ALIGNMENT)
        return cursor.reject("a parameter with alignment {}", alignment);
    if (parameter.offset % alignment != 0 || parameter.offset > info.arguments_size ||
        parameter.size > info.arguments_size - parameter.offset)
        return cursor.reject("a parameter of {} bytes at offset {} of {}", parameter.size, parameter.offset,
                             info.arguments_size);
    return {};
}

Status read_kernel_note(const ElfNote& note, Image& image) {
    Cursor cursor(note, "kernel");
    ImageKernel kernel;
    KernelInfo& info = kernel.info;
    const auto core = cursor.number<std::uint32_t>();
    if (core > static_cast<std::uint32_t>(CoreType::mix)) return cursor.reject("core type {}", core);
    info.core = static_cast<CoreType>(core);
    info.cube_ratio = cursor.number<std::uint16_t>();
    info.vector_ratio = cursor.number<std::uint16_t>();
    if (info.cube_ratio > CANOPY_IMAGE_MAX_RATIO || info.vector_ratio > CANOPY_IMAGE_MAX_RATIO)
        return cursor.reject("ratio {}:{}", info.cube_ratio, info.vector_ratio);
    const auto schedule = cursor.number<std::uint32_t>();
    if (schedule > 1) return cursor.reject("schedule mode {}", schedule);
    info.batch = schedule == 1;
    info.arguments_size = cursor.number<std::uint32_t>();
    if (info.arguments_size > CANOPY_IMAGE_MAX_ARGUMENTS)
        return cursor.reject("{} bytes of arguments", info.arguments_size);
    const auto count = cursor.number<std::uint32_t>();
    if (count > CANOPY_IMAGE_MAX_PARAMETERS) return cursor.reject("{} parameters", count);
    for (std::uint32_t index = 0; index < count; ++index) {
        ParameterInfo parameter;
        parameter.offset = cursor.number<std::uint32_t>();
        parameter.size = cursor.number<std::uint32_t>();
        parameter.alignment = cursor.number<std::uint32_t>();
        CANOPY_TRY(check_parameter(cursor, parameter, info));
        info.parameters.push_back(parameter);
    }
    info.name = cursor.text();
    kernel.entry = cursor.text();
    kernel.symbol = cursor.text();
    info.source = cursor.text();
    if (cursor.more()) {
        info.simt = (cursor.number<std::uint32_t>() & CANOPY_KERNEL_SIMT) != 0;
        info.key = cursor.text();
    }
    if (!is_name(info.name) || (!is_name(kernel.entry) && !kernel.entry.empty()))
        return cursor.reject("a kernel without a name");
    if (image.kernels.size() == CANOPY_IMAGE_MAX_KERNELS)
        return cursor.reject("more than {} kernels", static_cast<int>(CANOPY_IMAGE_MAX_KERNELS));
    CANOPY_TRY(cursor.finish());
    image.kernels.push_back(std::move(kernel));
    return {};
}

// A section that a note promises, whole. `what` it holds, for messages.
Result<std::span<const std::byte>> section_bytes(const ElfFile& elf, const std::string& name, std::uint64_t size,
                                                 std::uint64_t checksum, std::string_view what) {
    const ElfSection* section = elf.section(name);
    if (section == nullptr) return fail(bad_image, "the image has no section {} although it names {}", name, what);
    if (section->bytes.size() != size)
        return fail(bad_image, "section {} of the image has {} bytes instead of {}", name, section->bytes.size(), size);
    if (!checksum_matches(section->bytes, checksum))
        return fail(bad_image, "{} is damaged: bytes {} to {} of the file do not have their checksum", what,
                    section->offset, section->offset + size);
    return section->bytes;
}

Status read_target_note(const ElfNote& note, const ElfFile& elf, Image& image) {
    Cursor cursor(note, "target");
    ImageTarget target;
    target.name = cursor.text();
    const std::string section_name = cursor.text();
    const auto size = cursor.number<std::uint64_t>();
    const auto checksum = cursor.number<std::uint64_t>();
    CANOPY_TRY(cursor.finish());
    if (!is_name(target.name)) return cursor.reject("a target without a name");
    if (image.targets.size() == CANOPY_IMAGE_MAX_TARGETS)
        return cursor.reject("more than {} targets", static_cast<int>(CANOPY_IMAGE_MAX_TARGETS));
    Result<std::span<const std::byte>> bytes =
        section_bytes(elf, section_name, size, checksum, fmt::format("the code for target {}", target.name));
    if (!bytes.ok()) return bytes.status();
    target.object = *bytes;
    image.targets.push_back(std::move(target));
    return {};
}

Status read_part_note(const ElfNote& note, const ElfFile& elf, Image& image) {
    Cursor cursor(note, "part");
    const std::string section_name = cursor.text();
    const auto size = cursor.number<std::uint64_t>();
    const auto checksum = cursor.number<std::uint64_t>();
    CANOPY_TRY(cursor.finish());
    if (image.parts.size() == CANOPY_IMAGE_MAX_PARTS)
        return cursor.reject("more than {} parts", static_cast<int>(CANOPY_IMAGE_MAX_PARTS));
    Result<std::span<const std::byte>> bytes =
        section_bytes(elf, section_name, size, checksum, fmt::format("part {}", image.parts.size()));
    if (!bytes.ok()) return bytes.status();
    image.parts.push_back(*bytes);
    return {};
}

Result<std::string_view> read_fusion_note(const ElfNote& note) {
    Cursor cursor(note, "fusion");
    const std::string_view text = cursor.long_text(CANOPY_IMAGE_MAX_FUSION);
    CANOPY_TRY(cursor.finish());
    return text;
}

// Damage is found before any field is believed: the seal covers everything in front of it.
Status check_seal(const ElfSection& section, std::span<const ElfNote> notes) {
    if (notes.empty() || notes.back().owner != CANOPY_NOTE_OWNER || notes.back().type != CANOPY_NOTE_SEAL)
        return fail(bad_image, "the notes of the image end at byte {} of the file without their seal",
                    section.offset + section.bytes.size());
    Cursor cursor(notes.back(), "seal");
    const auto checksum = cursor.number<std::uint64_t>();
    CANOPY_TRY(cursor.finish());
    const std::size_t sealed = notes.back().description_offset - section.offset;
    if (!checksum_matches(section.bytes.first(sealed), checksum))
        return fail(bad_image,
                    "the notes of the image are damaged: bytes {} to {} of the file do not have their checksum",
                    section.offset, section.offset + sealed);
    return {};
}

Status foreign(const ElfFile& elf) {
    return fail(bad_image,
                "an ELF file for {} without a Canopy note, which this device cannot run. Compile the kernel's source "
                "for it: canopy-cc --image -o IMAGE SOURCE",
                elf_machine_name(elf.machine()));
}

// Every kernel is code or a list, and all kernels of an image are the same of both.
Status check_kernel(const Image& image, const ImageKernel& kernel) {
    if (image.fused.empty()) {
        if (kernel.entry.empty()) return fail(bad_image, "kernel {} of the image has no code", kernel.info.name);
        return {};
    }
    for (const FusedList& list : image.fused) {
        if (list.name != kernel.info.name) continue;
        if (std::uint64_t{list.slots} * 8 == kernel.info.arguments_size && kernel.entry.empty()) return {};
        return fail(bad_image, "fused kernel {} of the image has {} bytes of arguments and {} slots", list.name,
                    kernel.info.arguments_size, list.slots);
    }
    return fail(bad_image, "the fusion note of the image does not speak of kernel {}", kernel.info.name);
}

Status check_whole(const Image& image) {
    if (image.architectures.empty()) return fail(bad_image, "the notes of the image lack the image note");
    if (image.targets.empty() && image.fused.empty()) return fail(bad_image, "the image carries code for no target");
    std::unordered_set<std::string_view> names, keys;
    for (const ImageKernel& kernel : image.kernels) {
        if (!names.insert(kernel.info.name).second)
            return fail(bad_image, "the image holds two kernels named {}", kernel.info.name);
        CANOPY_TRY(check_kernel(image, kernel));
        if (!kernel.info.key.empty() && !keys.insert(kernel.info.key).second)
            return fail(bad_image, "the image holds two kernels with the key {}", kernel.info.key);
    }
    return {};
}

}  // namespace

Result<Image> read_image(std::span<const std::byte> file) {
    auto elf = ElfFile::read(file);
    if (!elf.ok()) return elf.status();
    const ElfSection* section = elf->section(CANOPY_NOTE_SECTION);
    if (section == nullptr) return foreign(*elf);
    auto notes = ElfFile::notes(*section);
    if (!notes.ok()) return notes.status();
    CANOPY_TRY(check_seal(*section, *notes));
    Image image;
    std::optional<std::string_view> fusion;
    for (const ElfNote& note : *notes) {
        if (note.owner != CANOPY_NOTE_OWNER) continue;
        switch (note.type) {
            case CANOPY_NOTE_IMAGE:
                if (!image.architectures.empty()) return fail(bad_image, "the image has two image notes");
                CANOPY_TRY(read_image_note(note, image));
                break;
            case CANOPY_NOTE_KERNEL:
                CANOPY_TRY(read_kernel_note(note, image));
                break;
            case CANOPY_NOTE_TARGET:
                CANOPY_TRY(read_target_note(note, *elf, image));
                break;
            case CANOPY_NOTE_PART:
                CANOPY_TRY(read_part_note(note, *elf, image));
                break;
            case CANOPY_NOTE_FUSION: {
                if (fusion) return fail(bad_image, "the image has two fusion notes");
                Result<std::string_view> text = read_fusion_note(note);
                if (!text.ok()) return text.status();
                fusion = *text;
                break;
            }
            default:
                break;
        }
    }
    if (fusion) {
        Result<std::vector<FusedList>> lists = read_fused_lists(*fusion, image.parts.size());
        if (!lists.ok()) return lists.status();
        image.fused = std::move(*lists);
    }
    CANOPY_TRY(check_whole(image));
    return image;
}

std::vector<std::uint32_t> image_architectures(std::span<const std::byte> file) {
    Image image;
    const auto elf = ElfFile::read(file);
    const ElfSection* section = elf.ok() ? elf.value().section(CANOPY_NOTE_SECTION) : nullptr;
    if (section == nullptr) return {};
    const auto notes = ElfFile::notes(*section);
    if (!notes.ok() || !check_seal(*section, notes.value()).ok()) return {};
    for (const ElfNote& note : notes.value())
        if (note.owner == CANOPY_NOTE_OWNER && note.type == CANOPY_NOTE_IMAGE && !read_image_note(note, image).ok())
            return {};
    return image.architectures;
}

std::string rebuild_command(const Image& image, std::uint32_t architecture) {
    const bool known = !image.kernels.empty() && !image.kernels.front().info.source.empty();
    const std::string_view source = known ? std::string_view(image.kernels.front().info.source) : "SOURCE";
    const std::string option = architecture == 0 ? "" : fmt::format(" --npu-arch=dav-{}", architecture);
    return fmt::format("canopy-cc --image{} -o IMAGE {}", option, source);
}

}  // namespace canopy
