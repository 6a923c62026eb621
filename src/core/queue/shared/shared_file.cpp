// SPDX-License-Identifier: Apache-2.0
#include "core/queue/shared/shared_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/locked_files.h"
#include "base/mapping.h"

namespace canopy {
namespace {

ProcessNumber draw_number() noexcept {
    static const int registered = ::pthread_atfork(nullptr, nullptr, [] { process_number::drawn.store(0); });
    static_cast<void>(registered);
    ProcessNumber drawn = 0;
    if (::getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) drawn = static_cast<ProcessNumber>(::getpid());
    drawn &= 0x7FFFFFFFu;
    if (drawn == 0) drawn = 1;
    ProcessNumber none = 0;
    return process_number::drawn.compare_exchange_strong(none, drawn) ? drawn : none;
}

// The byte lies behind every file, where nothing else locks.
struct flock byte_of(ProcessNumber process) noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t{1} << 60) + process;
    lock.l_len = 1;
    return lock;
}

}  // namespace

ProcessNumber own_process_number() noexcept {
    const ProcessNumber known = known_process_number();
    return known != 0 ? known : draw_number();
}

SharedMemoryFile::~SharedMemoryFile() {
    if (base_ != nullptr) ::munmap(base_, size_);
    if (descriptor_ >= 0) process_ != 0 ? close_locked(descriptor_) : close_received(descriptor_);
}

void SharedMemoryFile::swap(SharedMemoryFile& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(process_, other.process_);
}

bool SharedMemoryFile::create(const char* name, std::size_t size) noexcept {
    descriptor_ = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return false;
    if (::fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return false;
    return map(size);
}

bool SharedMemoryFile::adopt(int descriptor, std::size_t size) noexcept {
    descriptor_ = descriptor;
    struct stat status {};
    if (!file_holds(descriptor, 0, size) || ::fstat(descriptor, &status) != 0 ||
        static_cast<std::size_t>(status.st_size) != size) {
        errno = EINVAL;
        return false;
    }
    return map(size);
}

bool SharedMemoryFile::map(std::size_t size) noexcept {
    process_ = own_process_number();
    remember_locked(descriptor_);
    struct flock lock = byte_of(process_);
    if (::fcntl(descriptor_, F_SETLK, &lock) != 0) return false;
    void* base = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
    if (base == MAP_FAILED) return false;
    base_ = static_cast<std::byte*>(base);
    size_ = size;
    return true;
}

bool SharedMemoryFile::alive(ProcessNumber process) const noexcept {
    if (process == process_) return true;  // the kernel does not report a process's own locks to it
    struct flock lock = byte_of(process);
    return process != 0 && ::fcntl(descriptor_, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace canopy
