// SPDX-License-Identifier: Apache-2.0
#include "image_notes.h"

#include <canopy/kernel_image.h>
#include <elf.h>

#include <cstring>
#include <string_view>

namespace canopy_cc {
namespace {

// Reads from the front of some bytes; what is not there reads as zero and is remembered.
class Reader {
public:
    explicit Reader(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    T number() {
        T value{};
        const std::string_view source = take(sizeof value);
        if (source.size() == sizeof value) std::memcpy(&value, source.data(), sizeof value);
        return value;
    }
    std::string_view text() { return take(number<std::uint16_t>()); }
    std::string_view take(std::size_t size) {
        if (size > bytes_.size()) {
            complete_ = false;
            bytes_ = {};
            return {};
        }
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }
    void skip_padding(std::size_t size) { take(std::min((4 - size % 4) % 4, bytes_.size())); }
    [[nodiscard]] bool empty() const { return bytes_.empty(); }
    [[nodiscard]] bool complete() const { return complete_; }

private:
    std::string_view bytes_;
    bool complete_ = true;
};

std::string_view find_section(std::string_view file, std::string_view wanted) {
    if (file.size() < sizeof(Elf64_Ehdr)) return {};
    Elf64_Ehdr header{};
    std::memcpy(&header, file.data(), sizeof header);
    const std::uint64_t table = header.e_shoff;
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || table > file.size() ||
        header.e_shnum > (file.size() - table) / sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
        return {};
    const auto section = [&](std::size_t index) {
        Elf64_Shdr found{};
        std::memcpy(&found, file.data() + table + index * sizeof found, sizeof found);
        return found;
    };
    const auto content = [&](const Elf64_Shdr& found) {
        if (found.sh_offset > file.size() || found.sh_size > file.size() - found.sh_offset) return std::string_view();
        return file.substr(found.sh_offset, found.sh_size);
    };
    const std::string_view names = content(section(header.e_shstrndx));
    for (std::size_t index = 1; index < header.e_shnum; ++index) {
        const Elf64_Shdr found = section(index);
        if (found.sh_name >= names.size()) continue;
        const std::string_view name = names.substr(found.sh_name, names.find('\0', found.sh_name) - found.sh_name);
        if (name == wanted) return content(found);
    }
    return {};
}

void read_architectures(Reader note, ImageNotes& notes) {
    note.take(8);
    const auto count = note.number<std::uint32_t>();
    for (std::uint32_t index = 0; index < count && index < CANOPY_IMAGE_MAX_ARCHITECTURES; ++index)
        notes.architectures.push_back(note.number<std::uint32_t>());
}

bool read_kernel(Reader note, ImageNotes& notes) {
    NotedKernel kernel;
    kernel.core_type = note.number<std::uint32_t>();
    kernel.cube_ratio = note.number<std::uint16_t>();
    kernel.vector_ratio = note.number<std::uint16_t>();
    note.take(4);
    kernel.arguments_size = note.number<std::uint32_t>();
    note.take(std::size_t{note.number<std::uint32_t>()} * 12);
    kernel.name = note.text();
    if (!note.complete() || kernel.name.empty()) return false;
    notes.kernels.push_back(std::move(kernel));
    return true;
}

}  // namespace

bool read_image_notes(const std::string& file, ImageNotes& notes) {
    Reader section(find_section(file, CANOPY_NOTE_SECTION));
    while (!section.empty()) {
        const auto header = section.number<Elf64_Nhdr>();
        const std::string_view owner = section.take(header.n_namesz);
        section.skip_padding(header.n_namesz);
        const Reader note(section.take(header.n_descsz));
        section.skip_padding(header.n_descsz);
        if (!section.complete()) return false;
        if (owner != std::string_view(CANOPY_NOTE_OWNER, sizeof CANOPY_NOTE_OWNER)) continue;
        if (header.n_type == CANOPY_NOTE_IMAGE) read_architectures(note, notes);
        if (header.n_type == CANOPY_NOTE_KERNEL && !read_kernel(note, notes)) return false;
    }
    return !notes.kernels.empty() && !notes.architectures.empty();
}

}  // namespace canopy_cc
