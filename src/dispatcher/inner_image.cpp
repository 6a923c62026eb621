// SPDX-License-Identifier: Apache-2.0
#include "dispatcher/inner_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "canopy/dispatcher_abi.h"

namespace canopy::dispatcher {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t own_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t own_machine = EM_AARCH64;
#endif

Outcome refused(std::string reason) { return {CANOPY_DISPATCHER_BAD_IMAGE, std::move(reason)}; }

// The sanitizers cannot work when an object looks for the C library's functions in front of them.
bool sanitizer_active() noexcept {
    for (const char* name : {"__asan_init", "__tsan_init", "__msan_init"})
        if (dlsym(RTLD_DEFAULT, name)) return true;
    return false;
}

template <class T>
bool read_at(std::span<const std::byte> bytes, std::uint64_t offset, T& into) noexcept {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
    std::memcpy(&into, bytes.data() + offset, sizeof(T));
    return true;
}

Outcome check_header(std::span<const std::byte> bytes, Elf64_Ehdr& header) {
    const std::string size = std::to_string(bytes.size());
    if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return refused("the image (" + size + " bytes) is not an ELF file: an inner runtime is a shared object");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != own_machine)
        return refused("the image is code for ELF machine " + std::to_string(header.e_machine) +
                       "; the CPU cores of this device run machine " + std::to_string(own_machine));
    if (header.e_type != ET_DYN)
        return refused("the image is not a shared object (ELF type " + std::to_string(header.e_type) +
                       "): link it with -shared");
    // The loader trusts the program headers; bytes that are missing would end the process when they are touched.
    for (std::uint16_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        if (!read_at(bytes, header.e_phoff + std::uint64_t{i} * sizeof segment, segment))
            return refused("the image is cut off: its program headers lie behind its " + size + " bytes");
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset > bytes.size() || bytes.size() - segment.p_offset < segment.p_filesz)
            return refused("the image is cut off: a segment lies behind its " + size + " bytes");
    }
    return {};
}

// Variables that are to exist once in a process (STB_GNU_UNIQUE) would join images that must be apart, and keep them
// from being closed: they become ordinary ones. Empty when there are none.
std::vector<std::byte> without_unique_symbols(std::span<const std::byte> bytes, const Elf64_Ehdr& header) {
    std::vector<std::byte> changed;
    for (std::uint16_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        if (!read_at(bytes, header.e_shoff + std::uint64_t{i} * sizeof section, section)) break;
        if (section.sh_type != SHT_DYNSYM) continue;
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            if (!read_at(bytes, section.sh_offset + at, symbol)) break;
            if (ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE) continue;
            if (changed.empty()) changed.assign(bytes.begin(), bytes.end());
            changed[section.sh_offset + at + offsetof(Elf64_Sym, st_info)] =
                static_cast<std::byte>(ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(symbol.st_info)));
        }
    }
    return changed;
}

// A descriptor, or -1 with errno.
int sealed_file(std::span<const std::byte> bytes) noexcept {
    const int file = memfd_create("canopy-inner-runtime", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    for (std::size_t done = 0; done < bytes.size();) {
        const ssize_t part = write(file, bytes.data() + done, bytes.size() - done);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) {
            const int reason = errno;
            close(file);
            errno = reason;
            return -1;
        }
        done += static_cast<std::size_t>(part);
    }
    fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return file;
}

}  // namespace

ContentKey content_key(std::span<const std::byte> bytes) noexcept {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64, bytes.size()};
}

// The process is named: "self" would be the same text for two images whose descriptors have the same number in turn.
std::string InnerImage::path() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(descriptor_);
}

Outcome InnerImage::open(std::span<const std::byte> bytes) {
    Elf64_Ehdr header;
    if (Outcome wrong = check_header(bytes, header); !wrong.ok()) return wrong;
    const std::vector<std::byte> changed = without_unique_symbols(bytes, header);
    descriptor_ = sealed_file(changed.empty() ? bytes : std::span<const std::byte>(changed));
    if (descriptor_ < 0)
        return {CANOPY_DISPATCHER_INTERNAL, std::string("no memory file for the image: ") + std::strerror(errno)};
    library_ = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL | (sanitizer_active() ? 0 : RTLD_DEEPBIND));
    if (library_) return {};
    const char* reason = dlerror();
    return refused(std::string("the image does not load: ") + (reason ? reason : "no reason given"));
}

Entry InnerImage::function(std::initializer_list<const char*> names) const noexcept {
    for (const char* name : names)
        if (void* found = dlsym(library_, name)) return reinterpret_cast<Entry>(found);
    return nullptr;
}

InnerImage::~InnerImage() {
    if (library_) {
        const std::string name = path();
        dlclose(library_);
        // Code that asked to stay (DF_1_NODELETE) keeps its path to itself.
        if (void* still_there = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
            dlclose(still_there);
            return;
        }
    }
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace canopy::dispatcher
