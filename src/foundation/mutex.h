// SPDX-License-Identifier: Apache-2.0
// The standard library's locks, annotated so that clang's thread-safety analysis checks who holds them. For sections
// that may block or take long; use SpinLock for short ones. Any thread.
//
// The analysis does not look into the predicate of a condition variable, so Condition takes none: wait in a loop that
// checks the condition.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "foundation/annotations.h"
#include "foundation/clock.h"

namespace canopy {

class CANOPY_CAPABILITY("mutex") Mutex {
public:
    void lock() CANOPY_ACQUIRE() { mutex_.lock(); }
    bool try_lock() CANOPY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() noexcept CANOPY_RELEASE() { mutex_.unlock(); }

private:
    friend class Condition;
    std::mutex mutex_;
};

// A thread that holds it may lock it again.
class CANOPY_CAPABILITY("recursive mutex") RecursiveMutex {
public:
    void lock() CANOPY_ACQUIRE() { mutex_.lock(); }
    void unlock() noexcept CANOPY_RELEASE() { mutex_.unlock(); }

private:
    std::recursive_mutex mutex_;
};

class CANOPY_SCOPED_CAPABILITY RecursiveLock {
public:
    explicit RecursiveLock(RecursiveMutex& mutex) CANOPY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~RecursiveLock() CANOPY_RELEASE() { mutex_.unlock(); }
    RecursiveLock(const RecursiveLock&) = delete;
    RecursiveLock& operator=(const RecursiveLock&) = delete;

private:
    RecursiveMutex& mutex_;
};

// Holds a mutex for a scope; can be unlocked early and locked again.
class CANOPY_SCOPED_CAPABILITY MutexLock {
public:
    explicit MutexLock(Mutex& mutex) CANOPY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~MutexLock() CANOPY_RELEASE() {
        if (held_) mutex_.unlock();
    }
    MutexLock(const MutexLock&) = delete;
    MutexLock& operator=(const MutexLock&) = delete;

    void unlock() noexcept CANOPY_RELEASE() {
        mutex_.unlock();
        held_ = false;
    }
    void lock() CANOPY_ACQUIRE() {
        mutex_.lock();
        held_ = true;
    }

private:
    Mutex& mutex_;
    bool held_ = true;
};

// Waits with a Mutex held, which is released during the wait. May wake without a notification.
class Condition {
public:
    void wait(Mutex& mutex) CANOPY_REQUIRES(mutex) {
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        condition_.wait(lock);
        lock.release();
    }
    // False if the deadline has passed.
    bool wait(Mutex& mutex, Deadline deadline) CANOPY_REQUIRES(mutex) {
        if (deadline.is_never()) {
            wait(mutex);
            return true;
        }
        // Deadlines count nanoseconds of the monotonic clock, as steady_clock does.
        const std::chrono::steady_clock::time_point time{std::chrono::nanoseconds(deadline.at)};
        std::unique_lock lock(mutex.mutex_, std::adopt_lock);
        const std::cv_status status = condition_.wait_until(lock, time);
        lock.release();
        return status == std::cv_status::no_timeout;
    }
    void notify_one() noexcept { condition_.notify_one(); }
    void notify_all() noexcept { condition_.notify_all(); }

private:
    std::condition_variable condition_;
};

// One writer, or any number of readers.
class CANOPY_CAPABILITY("shared mutex") SharedMutex {
public:
    void lock() CANOPY_ACQUIRE() { mutex_.lock(); }
    bool try_lock() CANOPY_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
    void unlock() noexcept CANOPY_RELEASE() { mutex_.unlock(); }
    void lock_shared() CANOPY_ACQUIRE_SHARED() { mutex_.lock_shared(); }
    void unlock_shared() noexcept CANOPY_RELEASE_SHARED() { mutex_.unlock_shared(); }

private:
    std::shared_mutex mutex_;
};

class CANOPY_SCOPED_CAPABILITY WriterLock {
public:
    explicit WriterLock(SharedMutex& mutex) CANOPY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
    ~WriterLock() CANOPY_RELEASE() { mutex_.unlock(); }
    WriterLock(const WriterLock&) = delete;
    WriterLock& operator=(const WriterLock&) = delete;

private:
    SharedMutex& mutex_;
};

class CANOPY_SCOPED_CAPABILITY ReaderLock {
public:
    explicit ReaderLock(SharedMutex& mutex) CANOPY_ACQUIRE_SHARED(mutex) : mutex_(mutex) { mutex_.lock_shared(); }
    ~ReaderLock() CANOPY_RELEASE_GENERIC() { mutex_.unlock_shared(); }
    ReaderLock(const ReaderLock&) = delete;
    ReaderLock& operator=(const ReaderLock&) = delete;

private:
    SharedMutex& mutex_;
};

}  // namespace canopy
