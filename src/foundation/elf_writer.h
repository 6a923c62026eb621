// SPDX-License-Identifier: Apache-2.0
// Writes x86-64 object files: sections in the order they are added, the names, the section table. Kernel images and the
// objects that carry images into programs are such files.
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

    // The header may be completed by the caller (flags, link, info) until the next section is added. The first section
    // has number 1.
    Elf64_Shdr& add(std::string_view name, std::uint32_t type, std::string_view content, std::size_t alignment);
    // The bytes of the file.
    std::string finish();

private:
    std::string file_;
    std::string names_;
    std::vector<Elf64_Shdr> table_;
};

// Numbers as they lie in the file.
template <class T>
void append_bytes(std::string& bytes, const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline void pad(std::string& bytes, std::size_t alignment) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

}  // namespace canopy
