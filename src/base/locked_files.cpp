// SPDX-License-Identifier: Apache-2.0
#include "base/locked_files.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "foundation/mutex.h"

namespace canopy {
namespace {

using FileNumber = std::pair<dev_t, ino_t>;

struct LockedFile {
    int users = 0;
    std::vector<int> kept;  // descriptors that were to be closed
};
struct LockedFiles {
    Mutex mutex;
    std::map<FileNumber, LockedFile> all CANOPY_GUARDED_BY(mutex);
};

// A child of fork has none of its parent's locks, and another thread may have had the mutex: it begins anew.
std::atomic<LockedFiles*> current_files{nullptr};

LockedFiles& files() {
    [[maybe_unused]] static const int registered =
        ::pthread_atfork(nullptr, nullptr, [] { current_files.store(nullptr); });
    LockedFiles* known = current_files.load(std::memory_order_acquire);
    if (known != nullptr) return *known;
    auto fresh = std::make_unique<LockedFiles>();
    if (current_files.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel)) return *fresh.release();
    return *known;
}

bool number_of(int descriptor, FileNumber& number) noexcept {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0) return false;
    number = {status.st_dev, status.st_ino};
    return true;
}

void close_all(const std::vector<int>& descriptors) noexcept {
    for (const int each : descriptors) ::close(each);
}

}  // namespace

// Without memory a descriptor stays open, or a file is not known.

void remember_locked(int descriptor) noexcept {
    FileNumber number;
    if (!number_of(descriptor, number)) return;
    try {
        MutexLock guard(files().mutex);
        ++files().all[number].users;
    } catch (...) {
    }
}

void close_locked(int descriptor) noexcept {
    FileNumber number;
    if (!number_of(descriptor, number)) return;
    std::vector<int> closed;
    try {
        MutexLock guard(files().mutex);
        const auto found = files().all.find(number);
        if (found != files().all.end() && --found->second.users > 0) {
            found->second.kept.push_back(descriptor);
            return;
        }
        if (found != files().all.end()) {
            closed = std::move(found->second.kept);
            files().all.erase(found);
        }
        ::close(descriptor);  // before another thread locks the file again
        close_all(closed);
    } catch (...) {
    }
}

void close_received(int descriptor) noexcept {
    FileNumber number;
    if (!number_of(descriptor, number)) return;
    try {
        MutexLock guard(files().mutex);
        const auto found = files().all.find(number);
        if (found == files().all.end())
            ::close(descriptor);
        else
            found->second.kept.push_back(descriptor);
    } catch (...) {
    }
}

}  // namespace canopy
