// SPDX-License-Identifier: Apache-2.0
// Mapping and MemoryFile, based on mmap and memfd_create. A fixed address is forced only inside our own reservations:
// sanitizers keep shadow memory at addresses a program cannot know.
#include "base/mapping.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error_text.h"
#include "base/locked_files.h"

namespace canopy {

namespace {

constexpr int out_of_memory = 207001;

std::string system_reason() { return std::generic_category().message(errno); }

int protection_of(Access access) noexcept { return access == Access::none ? PROT_NONE : PROT_READ | PROT_WRITE; }

// nullptr if refused.
void* map_anonymous(std::uintptr_t wanted, std::size_t size, int protection) noexcept {
    void* base =
        ::mmap(reinterpret_cast<void*>(wanted), size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
}

// Unmaps the excess of an aligned reservation and returns the aligned base.
void* cut_to_alignment(void* base, std::size_t mapped, std::size_t size, std::size_t alignment) noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(base);
    const std::uintptr_t aligned = round_up(begin, alignment);
    if (aligned > begin) ::munmap(base, aligned - begin);
    const std::uintptr_t end = aligned + size;
    if (begin + mapped > end) ::munmap(reinterpret_cast<void*>(end), begin + mapped - end);
    return reinterpret_cast<void*>(aligned);
}

}  // namespace

std::size_t page_size() noexcept {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}

Mapping::~Mapping() {
    if (base_ != nullptr) ::munmap(base_, size_);
}

Result<Mapping> Mapping::reserve(std::size_t size, std::size_t alignment, std::uintptr_t wanted) {
    size = round_up(size, page_size());
    if (wanted != 0) {
        void* base = map_anonymous(wanted, size, PROT_NONE);
        if (reinterpret_cast<std::uintptr_t>(base) == wanted) return Mapping(base, size);
        if (base != nullptr) ::munmap(base, size);
    }
    const std::size_t excess = alignment > page_size() ? alignment - page_size() : 0;
    void* base = size + excess < size ? nullptr : map_anonymous(0, size + excess, PROT_NONE);
    if (base == nullptr) return fail(out_of_memory, "cannot reserve {} bytes of addresses: {}", size, system_reason());
    if (excess != 0) base = cut_to_alignment(base, size + excess, size, alignment);
    return Mapping(base, size);
}

Result<Mapping> Mapping::sparse(std::size_t size) {
    size = round_up(size, page_size());
    void* base = map_anonymous(0, size, PROT_READ | PROT_WRITE);
    if (base == nullptr) return fail(out_of_memory, "cannot map a table of {} bytes: {}", size, system_reason());
    return Mapping(base, size);
}

bool Mapping::protect(std::size_t offset, std::size_t size, Access access) noexcept {
    return ::mprotect(base_ + offset, size, protection_of(access)) == 0;
}

bool Mapping::clear(std::size_t offset, std::size_t size) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return ::mmap(base_ + offset, size, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

MemoryFile::~MemoryFile() {
    if (descriptor_ >= 0) close_received(descriptor_);  // it may be a copy
}

Result<MemoryFile> MemoryFile::create(const std::string& name, std::uint64_t size) {
    MemoryFile file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.descriptor_ < 0 || ::ftruncate(file.descriptor_, static_cast<off_t>(size)) != 0)
        return fail(out_of_memory, "cannot create a memory file of {} bytes: {}", size, system_reason());
    // Prevents another process that shares the file from shrinking it. Harmless on kernels without seals.
    ::fcntl(file.descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return file;
}

Result<MemoryFile> MemoryFile::copy(int descriptor) {
    MemoryFile file(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
    if (file.descriptor_ < 0) return fail(207005, "no descriptor for a memory file: {}", system_reason());
    return file;
}

bool file_holds(int descriptor, std::uint64_t offset, std::uint64_t size) noexcept {
    struct stat status {};
    struct statfs system {};
    const int seals = ::fcntl(descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(descriptor, &status) != 0) return false;
    // Of huge pages there may be too few, and touching one that is missing ends the process.
    if (::fstatfs(descriptor, &system) != 0 || static_cast<std::uint64_t>(system.f_type) == HUGETLBFS_MAGIC)
        return false;
    const auto length = static_cast<std::uint64_t>(status.st_size);
    return offset <= length && size <= length - offset;
}

bool MemoryFile::map(Mapping& into, std::size_t offset, std::size_t size, std::uint64_t file_offset,
                     Access access) noexcept {
    void* base = ::mmap(into.base() + offset, size, protection_of(access), MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
                        descriptor_, static_cast<off_t>(file_offset));
    if (base == MAP_FAILED) return false;
    // A hint: systems without huge pages for shared memory refuse or ignore it.
    ::madvise(base, size, MADV_HUGEPAGE);
    return true;
}

void MemoryFile::discard(std::uint64_t offset, std::uint64_t size) noexcept {
    const std::uint64_t begin = round_up(offset, page_size());
    const std::uint64_t end = round_down(offset + size, page_size());
    if (begin >= end) return;
    ::fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                static_cast<off_t>(end - begin));
}

std::uint64_t MemoryFile::resident() const noexcept {
    constexpr std::uint64_t block = 512;  // the unit of st_blocks
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * block : 0;
}

}  // namespace canopy
