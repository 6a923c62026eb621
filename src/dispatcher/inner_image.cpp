// SPDX-License-Identifier: Apache-2.0
#include "dispatcher/inner_image.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <utility>
#include <vector>

#include "canopy/dispatcher_abi.h"
#include "foundation/elf.h"

namespace canopy::dispatcher {
namespace {

Outcome refused(std::initializer_list<MessagePart> reason) { return {CANOPY_DISPATCHER_BAD_IMAGE, join(reason)}; }

// The loader trusts the program headers: accessing missing bytes would kill the process.
Outcome check(std::span<const std::byte> bytes, const Expected<ElfFile>& file) {
    if (bytes.size() < SELFMAG || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
        return refused(
            {"the image (", bytes.size(), " bytes) is not an ELF file: an inner runtime is a shared object"});
    if (!file.ok()) return refused({"the image is cut off or damaged: ", file.message()});
    if (file->machine() != own_elf_machine)
        return refused({"the image is code for ", elf_machine_name(file->machine()),
                        "; the CPU cores of this device run ", elf_machine_name(own_elf_machine)});
    if (file->type() != ET_DYN)
        return refused({"the image is not a shared object (ELF type ", file->type(), "): link it with -shared"});
    return {};
}

}  // namespace

Outcome InnerImage::open(std::span<const std::byte> bytes) {
    const Expected<ElfFile> elf = ElfFile::read(bytes);
    if (Outcome wrong = check(bytes, elf); !wrong.ok()) return wrong;
    const std::vector<std::byte> changed = without_unique_symbols(*elf, bytes);
    auto file = CodeFile::create("canopy-inner-runtime", changed.empty() ? bytes : std::span<const std::byte>(changed));
    if (!file.ok()) return {CANOPY_DISPATCHER_INTERNAL, file.message()};
    file_ = std::move(*file);
    if (file_.load_apart()) return {};
    return refused({"the image does not load: ", loader_message()});
}

Entry InnerImage::function(std::initializer_list<const char*> names) const noexcept {
    for (const char* name : names)
        if (void* found = dlsym(file_.library(), name)) return reinterpret_cast<Entry>(found);
    return nullptr;
}

}  // namespace canopy::dispatcher
