// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace canopy::profile {

namespace {

// Without a signal when the file grows beyond the limit of the process: a profile must not end the program. `write`
// then fails with EFBIG.
class NoSizeSignal {
public:
    NoSizeSignal() noexcept {
        sigemptyset(&signal_);
        sigaddset(&signal_, SIGXFSZ);
        sigset_t pending;
        was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
        pthread_sigmask(SIG_BLOCK, &signal_, &before_);
    }
    ~NoSizeSignal() {
        constexpr timespec at_once{};
        if (raised && !was_pending_) sigtimedwait(&signal_, nullptr, &at_once);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    NoSizeSignal(const NoSizeSignal&) = delete;
    NoSizeSignal& operator=(const NoSizeSignal&) = delete;

    bool raised = false;

private:
    sigset_t signal_;
    sigset_t before_;
    bool was_pending_ = false;
};

// Writers lock their file, so that another one does not replace it. Looking for a lock takes none. A child made by fork
// shares the lock. On a file system without locks no file counts as locked.
int lock_operation(int file, int command, struct flock& lock, short type) noexcept {
    lock = {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    int result = 0;
    while ((result = ::fcntl(file, command, &lock)) != 0 && errno == EINTR) {
    }
    return result;
}

void lock_new(int file) noexcept {
    struct flock lock;
    lock_operation(file, F_OFD_SETLKW, lock, F_WRLCK);
}

void unlock(int file) noexcept {
    struct flock lock;
    lock_operation(file, F_OFD_SETLK, lock, F_UNLCK);
}

// False if somebody else writes or replaces it.
bool lock_old(int file) noexcept {
    struct flock lock;
    return lock_operation(file, F_OFD_SETLK, lock, F_WRLCK) == 0 || (errno != EAGAIN && errno != EACCES);
}

bool is_locked(int file) noexcept {
    struct flock lock;
    return lock_operation(file, F_OFD_GETLK, lock, F_WRLCK) == 0 && lock.l_type != F_UNLCK;
}

bool same_file(int file, const std::string& path) noexcept {
    struct stat one {
    }, other{};
    return ::fstat(file, &one) == 0 && ::lstat(path.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

Problem remove_old(const std::string& path) {
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0)
        return errno == ENOENT ? Problem{} : Problem{path, ": ", std::strerror(errno)};
    if (!S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode)) return {path, ": not a regular file"};
    const int old = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (old < 0 && errno == ENOENT) return {};  // another process has removed it meanwhile
    Problem problem;
    if (old >= 0 && !lock_old(old))
        problem = {path, ": another profile is being written to it"};
    else if ((old < 0 || same_file(old, path)) && ::unlink(path.c_str()) != 0 && errno != ENOENT)
        problem = {path, ": ", std::strerror(errno)};
    if (old >= 0) ::close(old);
    return problem;
}

}  // namespace

Expected<ProfileWriter> ProfileWriter::create(const std::string& path, const FileHead& head) {
    constexpr int tries = 16;  // other processes may create and replace the file at the same time
    for (int i = 0; i < tries; ++i) {
        // Another user's file, or a link of theirs, is not written to.
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0) {
            ProfileWriter writer(path, file);
            lock_new(file);
            if (!same_file(file, path)) continue;  // another process found it before it was locked
            writer.write_raw(std::as_bytes(std::span(&head, 1)));
            if (!writer.problem_) return writer;
            ::unlink(path.c_str());
            return std::move(writer.problem_);
        }
        if (errno != EEXIST) return Problem{path, ": ", std::strerror(errno)};
        if (Problem problem = remove_old(path)) return problem;
    }
    return Problem{path, ": another profile is being written to it"};
}

bool ProfileWriter::in_use(const std::string& path) noexcept {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    const bool used = is_locked(file);
    ::close(file);
    return used;
}

ProfileWriter::ProfileWriter(ProfileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      bytes_(std::move(other.bytes_)),
      problem_(std::move(other.problem_)),
      size_(other.size_) {}

ProfileWriter::~ProfileWriter() {
    if (file_ >= 0) ::close(file_);
}

void ProfileWriter::write_raw(std::span<const std::byte> first, std::span<const std::byte> second) {
    NoSizeSignal no_signal;
    while (first.size() + second.size() != 0 && !problem_) {
        const iovec parts[] = {{const_cast<std::byte*>(first.data()), first.size()},
                               {const_cast<std::byte*>(second.data()), second.size()}};
        const ssize_t written = ::writev(file_, parts, 2);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            no_signal.raised = errno == EFBIG;
            problem_ = Problem{path_, ": ", std::strerror(errno)};
            return;
        }
        size_ += static_cast<std::uint64_t>(written);
        const std::size_t of_first = std::min(static_cast<std::size_t>(written), first.size());
        first = first.subspan(of_first);
        second = second.subspan(static_cast<std::size_t>(written) - of_first);
    }
}

void ProfileWriter::write(Chunk type) {
    const auto number = static_cast<std::uint32_t>(type);
    const ChunkHead head{number, static_cast<std::uint32_t>(bytes_.size()), chunk_hash(number, bytes_.span())};
    write_raw(std::as_bytes(std::span(&head, 1)), bytes_.span());
    bytes_.clear();
}

void ProfileWriter::text(std::uint32_t number, std::string_view text) {
    bytes_.number(number);
    bytes_.text(text);
    write(Chunk::texts);
}

void ProfileWriter::thread(std::uint32_t number, std::uint32_t system_id, ThreadRole role, std::uint32_t index,
                           std::string_view name) {
    bytes_.number(number);
    bytes_.number(system_id);
    bytes_.number(static_cast<std::uint32_t>(role));
    bytes_.number(index);
    bytes_.text(name);
    write(Chunk::thread);
}

void ProfileWriter::records(std::uint32_t thread, std::span<const Record> records) {
    while (!records.empty()) {
        const std::size_t count = std::min(records.size(), most_records_in_chunk);
        put_records(bytes_, thread, records.first(count));
        write(Chunk::records);
        records = records.subspan(count);
    }
}

void ProfileWriter::clock(std::uint64_t ticks, std::int64_t monotonic_time) {
    bytes_.number(ticks);
    bytes_.number(static_cast<std::uint64_t>(monotonic_time));
    write(Chunk::clock);
}

void ProfileWriter::device(std::uint32_t number, std::string_view kind, std::string_view chip, std::uint32_t cube_cores,
                           std::uint32_t vector_cores, std::uint32_t cpu_cores, std::uint32_t workers,
                           std::uint64_t memory) {
    bytes_.number(number);
    bytes_.text(kind);
    bytes_.text(chip);
    bytes_.number(cube_cores);
    bytes_.number(vector_cores);
    bytes_.number(cpu_cores);
    bytes_.number(workers);
    bytes_.number(memory);
    write(Chunk::device);
}

void ProfileWriter::stream(std::uint32_t number, std::uint32_t device, std::uint32_t priority) {
    bytes_.number(number);
    bytes_.number(device);
    bytes_.number(priority);
    write(Chunk::stream);
}

void ProfileWriter::lost(std::uint32_t thread, std::uint64_t count) {
    bytes_.number(thread);
    bytes_.number(count);
    write(Chunk::lost);
}

void ProfileWriter::fact(std::string_view key, std::string_view value) {
    bytes_.text(key);
    bytes_.text(value);
    write(Chunk::fact);
}

void* ProfileWriter::ring(std::uint64_t& place) {
    constexpr std::uint64_t largest_chunk_of_place = sizeof(ChunkHead) + 10;
    if (problem_) return nullptr;
    const std::uint64_t end = size_;
    place = (end + largest_chunk_of_place + ring_head_size - 1) / ring_head_size * ring_head_size;
    NoSizeSignal no_signal;
    // Room on the disk for all of it: a page that is missing later would end the program.
    const int error = ::posix_fallocate(file_, static_cast<off_t>(place), static_cast<off_t>(ring_size));
    no_signal.raised = error == EFBIG;
    void* memory = MAP_FAILED;
    if (error == 0)
        memory = ::mmap(nullptr, ring_size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(place));
    if (memory == MAP_FAILED) {
        static_cast<void>(::ftruncate(file_, static_cast<off_t>(end)) == 0);
        return nullptr;
    }
    bytes_.number(place);
    write(Chunk::ring);
    size_ = place + ring_size;
    if (!problem_ && ::lseek(file_, static_cast<off_t>(size_), SEEK_SET) >= 0) return memory;
    if (!problem_) problem_ = Problem{path_, ": ", std::strerror(errno)};
    ::munmap(memory, ring_size);
    return nullptr;
}

void ProfileWriter::owner(std::uint64_t place, std::uint32_t thread, std::uint64_t first) {
    bytes_.number(place);
    bytes_.number(thread);
    bytes_.number(first);
    write(Chunk::owner);
}

void ProfileWriter::copy(int from, std::uint64_t offset, std::uint64_t size) {
    auto next = static_cast<off_t>(offset);
    const std::uint64_t end = offset + size;
    while (!problem_ && static_cast<std::uint64_t>(next) < end) {
        const ssize_t copied = ::sendfile(file_, from, &next, end - static_cast<std::uint64_t>(next));
        if (copied < 0 && errno == EINTR) continue;
        if (copied < 0) problem_ = Problem{path_, ": ", std::strerror(errno)};
        if (copied <= 0) break;
        size_ += static_cast<std::uint64_t>(copied);
    }
}

void ProfileWriter::close() {
    if (file_ < 0) return;
    write(Chunk::end);
    struct stat facts {};
    if (!problem_ && ::fstat(file_, &facts) == 0 && facts.st_nlink == 0)
        problem_ = Problem{path_, ": the file was removed while it was written"};
    // A child made by fork may have it open, too, and would keep it locked.
    unlock(file_);
    if (::close(std::exchange(file_, -1)) != 0 && !problem_) problem_ = Problem{path_, ": ", std::strerror(errno)};
}

}  // namespace canopy::profile
