// SPDX-License-Identifier: Apache-2.0
#include "core/profile/record_pipe.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace canopy {
namespace {

// Fits into PIPE_BUF, so a pipe that can be written takes it as a whole.
constexpr std::size_t most_at_once = 4096 / sizeof(OperatorRecord);
constexpr int look_every = 50;  // milliseconds, whether the subscription ends
constexpr Nanoseconds patience = second;

}  // namespace

RecordPipe::RecordPipe(int file) : file_(file) {
    // Neither signals of the program nor the SIGPIPE of a closed pipe belong to this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (...) {
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(thread_.native_handle(), "canopy-pipe");
}

void RecordPipe::send(const OperatorRecord& record) {
    MutexLock guard(mutex_);
    if (broken_ || waiting_.size() >= most_waiting)
        ++lost_;
    else
        waiting_.push_back(record);
    if (waiting_.size() == 1) changed_.notify_one();
}

std::size_t RecordPipe::end() noexcept {
    if (!ended_) {
        {
            MutexLock guard(mutex_);
            ending_.store(true, std::memory_order_relaxed);
            changed_.notify_one();
        }
        thread_.join();
        close(file_);
        ended_ = true;
    }
    MutexLock guard(mutex_);
    return lost_;
}

void RecordPipe::run() noexcept {
    std::array<OperatorRecord, most_at_once> batch;
    MutexLock guard(mutex_);
    for (;;) {
        while (waiting_.empty() && !ending_.load(std::memory_order_relaxed)) changed_.wait(mutex_);
        if (waiting_.empty()) return;
        const std::size_t count = std::min(batch.size(), waiting_.size());
        const auto last = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(waiting_.begin(), last, batch.begin());
        waiting_.erase(waiting_.begin(), last);
        guard.unlock();
        const bool written = write_some(batch.data(), count);
        guard.lock();
        if (written) continue;
        broken_ = true;
        lost_ += count + waiting_.size();
        waiting_.clear();
    }
}

bool RecordPipe::write_some(const OperatorRecord* records, std::size_t count) noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(records);
    std::size_t left = count * sizeof *records;
    Deadline deadline = Deadline::never();
    while (left != 0) {
        pollfd writable{file_, POLLOUT, 0};
        const int ready = poll(&writable, 1, look_every);
        if (ready == 0) {
            if (!ending_.load(std::memory_order_relaxed)) continue;
            if (deadline.is_never()) deadline = Deadline::after(patience);
            if (deadline.passed()) return false;
            continue;
        }
        if (ready < 0 && errno != EINTR) return false;
        if (ready < 0) continue;
        if ((writable.revents & (POLLERR | POLLNVAL)) != 0) return false;
        const ssize_t written = write(file_, bytes, left);
        if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (written <= 0) continue;
        bytes += written;
        left -= static_cast<std::size_t>(written);
        deadline = Deadline::never();
    }
    return true;
}

}  // namespace canopy
