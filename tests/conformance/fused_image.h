// SPDX-License-Identifier: Apache-2.0
// Writes images of fused kernels as include/canopy/kernel_image.h describes them: a list of steps over the kernels of
// one image becomes a file in memory. What a test wants damaged it damages on the way.
#pragma once

#include <canopy/kernel_abi.h>
#include <canopy/kernel_image.h>
#include <elf.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace conformance {

inline std::string file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// One step: its kernel, blocks, and the values of its own argument block.
struct FusedStepText {
    std::string kernel;
    std::uint32_t blocks = 1;
    std::uint32_t slots = 1;
    std::string more;  // further members of the JSON object, each with a comma in front
};

class FusedImage {
public:
    std::string name = "fused";
    std::vector<std::string> parts;  // image files
    std::vector<FusedStepText> steps;
    std::string more;                  // further members of the kernel's object
    std::string json;                  // instead of what the steps say
    std::uint32_t arguments_size = 0;  // instead of what the steps need
    std::uint32_t architecture = 2201;
    std::uint32_t trailing_slots = 0;  // behind those of the steps
    bool second_fusion_note = false;
    bool damage_part = false;

    // Slot 0 is the control address; each step's slots follow.
    [[nodiscard]] std::uint32_t slots() const {
        std::uint32_t count = 1 + trailing_slots;
        for (const FusedStepText& step : steps) count += step.slots;
        return count;
    }

    [[nodiscard]] std::string text() const {
        if (!json.empty()) return json;
        std::ostringstream out;
        out << R"({"kernels":[{"name":")" << name << R"(","blocks":1,"slots":)" << slots() << more << R"(,"steps":[)";
        std::uint32_t slot = 1;
        for (std::size_t index = 0; index < steps.size(); ++index) {
            const FusedStepText& step = steps[index];
            out << (index ? "," : "") << R"({"part":0,"kernel":")" << step.kernel << R"(","blocks":)" << step.blocks
                << R"(,"slot":)" << slot << R"(,"slots":)" << step.slots << step.more << "}";
            slot += step.slots;
        }
        out << "]}]}";
        return out.str();
    }

    [[nodiscard]] std::string write() const {
        std::string notes;
        add_note(notes, CANOPY_NOTE_IMAGE,
                 number(CANOPY_IMAGE_FORMAT_VERSION) + number(CANOPY_KERNEL_ABI_VERSION) + number(1u) +
                     number(architecture) + short_text("a test"));
        const std::uint32_t size = arguments_size ? arguments_size : slots() * 8;
        add_note(notes, CANOPY_NOTE_KERNEL,
                 number(2u) + number(std::uint16_t{0}) + number(std::uint16_t{1}) + number(0u) + number(size) +
                     number(0u) + short_text(name) + short_text("") + short_text("") + short_text("") + number(0u) +
                     short_text(""));
        std::vector<std::pair<std::string, std::string>> sections;
        for (const std::string& part : parts) {
            const std::string section = CANOPY_PART_SECTION_PREFIX + std::to_string(sections.size());
            std::string bytes = part;
            add_note(notes, CANOPY_NOTE_PART,
                     short_text(section) + number(std::uint64_t{bytes.size()}) + number(checksum(bytes)));
            if (damage_part) bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
            sections.emplace_back(section, std::move(bytes));
        }
        for (int count = second_fusion_note ? 2 : 1; count > 0; --count)
            add_note(notes, CANOPY_NOTE_FUSION, number(static_cast<std::uint32_t>(text().size())) + text());
        add_seal(notes);
        sections.insert(sections.begin(), {CANOPY_NOTE_SECTION, notes});
        return container(sections);
    }

private:
    template <class T>
    static std::string number(T value) {
        return {reinterpret_cast<const char*>(&value), sizeof(value)};
    }
    static std::string short_text(const std::string& text) {
        return number(static_cast<std::uint16_t>(text.size())) + text;
    }
    static std::uint64_t checksum(const std::string& bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }
    static void add_note(std::string& notes, std::uint32_t type, const std::string& description) {
        const std::string owner(CANOPY_NOTE_OWNER, sizeof(CANOPY_NOTE_OWNER));
        const auto padded = [](std::string text) {
            text.resize((text.size() + 3) / 4 * 4);
            return text;
        };
        notes += number(static_cast<std::uint32_t>(owner.size()));
        notes += number(static_cast<std::uint32_t>(description.size()));
        notes += number(type) + padded(owner) + padded(description);
    }
    static void add_seal(std::string& notes) {
        std::string sealed = notes;
        add_note(sealed, CANOPY_NOTE_SEAL, number(std::uint64_t{0}));
        const std::uint64_t sum = checksum(sealed.substr(0, sealed.size() - 8));
        add_note(notes, CANOPY_NOTE_SEAL, number(sum));
    }
    static std::string container(const std::vector<std::pair<std::string, std::string>>& sections) {
        std::string names(1, '\0'), body;
        std::vector<Elf64_Shdr> headers(1);
        const auto add = [&](const std::string& name, const std::string& bytes, std::uint32_t type) {
            body.resize((body.size() + 15) / 16 * 16);
            Elf64_Shdr header{};
            header.sh_name = static_cast<Elf64_Word>(names.size());
            header.sh_type = type;
            header.sh_offset = sizeof(Elf64_Ehdr) + body.size();
            header.sh_size = bytes.size();
            header.sh_addralign = type == SHT_NOTE ? 4 : 1;
            headers.push_back(header);
            names += name + '\0';
            body += bytes;
        };
        for (const auto& [name, bytes] : sections)
            add(name, bytes, name == CANOPY_NOTE_SECTION ? SHT_NOTE : SHT_PROGBITS);
        names += std::string(".shstrtab") + '\0';
        const std::string all_names = names;
        names.resize(names.size() - 10);
        add(".shstrtab", all_names, SHT_STRTAB);
        body.resize((body.size() + 15) / 16 * 16);
        Elf64_Ehdr file{};
        std::memcpy(file.e_ident, ELFMAG, SELFMAG);
        file.e_ident[EI_CLASS] = ELFCLASS64;
        file.e_ident[EI_DATA] = ELFDATA2LSB;
        file.e_ident[EI_VERSION] = EV_CURRENT;
        file.e_type = ET_REL;
        file.e_machine = EM_X86_64;
        file.e_version = EV_CURRENT;
        file.e_ehsize = sizeof(file);
        file.e_shoff = sizeof(file) + body.size();
        file.e_shentsize = sizeof(Elf64_Shdr);
        file.e_shnum = static_cast<Elf64_Half>(headers.size());
        file.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
        std::string result = number(file) + body;
        for (const Elf64_Shdr& header : headers) result += number(header);
        return result;
    }
};

}  // namespace conformance
