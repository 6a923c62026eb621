// SPDX-License-Identifier: Apache-2.0
// Writes x86-64 object files: sections in the order they are added, then their names and the section table. Used for
// kernel images and for the objects that embed images in programs.
//
// Threads: a value.
#pragma once

#include <elf.h>

#include <string>
#include <string_view>
#include <vector>

namespace canopy {

class ElfWriter {
public:
    ElfWriter() : file_(sizeof(Elf64_Ehdr), '\0'), names_(1, '\0'), table_(1) {}

    // The caller may complete the header (flags, link, info) until the next section is added. The first section is
    // number 1.
    Elf64_Shdr& add(std::string_view name, std::uint32_t type, std::string_view content, std::size_t alignment);
    // Returns the bytes of the file.
    std::string finish();

private:
    std::string file_;
    std::string names_;
    std::vector<Elf64_Shdr> table_;
};

// Appends a value in its in-memory form.
template <class T>
void append_bytes(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void pad(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

}  // namespace canopy
