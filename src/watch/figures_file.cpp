// SPDX-License-Identifier: Apache-2.0
#include "watch/figures_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "foundation/hash.h"
#include "foundation/run_folder.h"
#include "watch/file_names.h"

namespace canopy::watch {
namespace {

std::atomic<std::uint32_t> forks{0};

bool lock_whole(int descriptor) noexcept {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor, F_SETLK, &lock) == 0;
}

bool write_header(int descriptor, std::string_view name) noexcept {
    ProcessHeader header;
    header.signature = signature;
    header.version = version;
    header.process = getpid();
    header.started = now();
    set_text(header.name, name.data(), name.size());
    header.checksum = hash_of(std::as_bytes(std::span(&header, 1)).first(offsetof(ProcessHeader, checksum)));
    // Room on the disk for all of it, so that no page is missing later.
    return posix_fallocate(descriptor, 0, header_size) == 0 &&
           pwrite(descriptor, &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header);
}

}  // namespace

Expected<std::unique_ptr<FiguresFile>> FiguresFile::create(std::string_view name) {
    [[maybe_unused]] static const int counted = pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    Expected<std::string> folder = run_folder();
    if (!folder.ok()) return folder.problem();
    // Readers look at names without the ending only, and remove files that nobody has locked.
    const std::string path = join({*folder, "/", file_prefix, getpid(), ".", now()});
    const std::string part = join({path, unfinished_suffix});
    const int descriptor = open(part.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return Problem{"cannot create ", part, ": ", std::strerror(errno)};
    if (!lock_whole(descriptor) || !write_header(descriptor, name) || rename(part.c_str(), path.c_str()) != 0) {
        Problem problem{"cannot write ", part, ": ", std::strerror(errno)};
        unlink(part.c_str());
        close(descriptor);
        return problem;
    }
    return std::unique_ptr<FiguresFile>(new FiguresFile(descriptor, path));
}

FiguresFile::FiguresFile(int descriptor, std::string path) noexcept
    : descriptor_(descriptor), path_(std::move(path)), process_(getpid()) {}

FiguresFile::~FiguresFile() {
    remove();
    close(descriptor_);
}

void FiguresFile::remove() noexcept {
    if (process_ == getpid()) unlink(path_.c_str());
}

DevicePage* FiguresFile::add_device(std::uint32_t index, std::uint32_t physical) noexcept {
    if (devices_ == most_devices) return nullptr;
    const auto offset = static_cast<off_t>(header_size + devices_ * page_size);
    if (posix_fallocate(descriptor_, offset, page_size) != 0) return nullptr;
    void* memory = mmap(nullptr, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, offset);
    if (memory == MAP_FAILED) return nullptr;
    madvise(memory, page_size, MADV_DONTFORK);  // a child must not write into its parent's figures
    ++devices_;
    return new (std::nothrow) DevicePage(memory, index, physical);
}

DevicePage::DevicePage(void* memory, std::uint32_t index, std::uint32_t physical) noexcept
    : page_(static_cast<char*>(memory)),
      index_(index),
      physical_(physical),
      forks_(forks.load(std::memory_order_relaxed)) {}

bool DevicePage::is_here() const noexcept { return forks.load(std::memory_order_relaxed) == forks_; }

void DevicePage::publish(DeviceFigures& device, std::span<const StreamFigures> streams,
                         std::span<const RunningFigures> running) noexcept {
    device.index = index_;
    device.physical = physical_;
    device.streams_listed = static_cast<std::uint32_t>(std::min<std::size_t>(streams.size(), most_streams));
    device.running_listed = static_cast<std::uint32_t>(std::min<std::size_t>(running.size(), most_running));
    if (!is_here()) return;
    MutexLock guard(mutex_);
    PageHeader& head = header();
    const std::uint64_t sequence = head.sequence.load(std::memory_order_relaxed);
    head.sequence.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    char* const body = page_ + sizeof(PageHeader);
    char* end = body;
    const auto append = [&](const void* from, std::size_t size) {
        if (size != 0) std::memcpy(end, from, size);  // an empty list has no address
        end += size;
    };
    append(&device, sizeof device);
    append(streams.data(), device.streams_listed * sizeof(StreamFigures));
    append(running.data(), device.running_listed * sizeof(RunningFigures));
    head.length = static_cast<std::uint32_t>(end - body);
    head.checksum = hash_of({reinterpret_cast<const std::byte*>(body), head.length});
    head.sequence.store(sequence + 2, std::memory_order_release);
}

void DevicePage::set_memory(std::uint64_t used, std::uint64_t peak, std::uint64_t allocations) noexcept {
    if (!is_here()) return;
    PageHeader& head = header();
    head.memory_used.store(used, std::memory_order_relaxed);
    head.memory_peak.store(peak, std::memory_order_relaxed);
    head.allocations.store(allocations, std::memory_order_relaxed);
}

}  // namespace canopy::watch
