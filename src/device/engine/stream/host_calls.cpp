// SPDX-License-Identifier: Apache-2.0
#include "device/engine/stream/host_calls.h"

#include <pthread.h>

#include <thread>

namespace canopy {

HostCalls::~HostCalls() {
    MutexLock lock(mutex_);
    stopping_ = true;
    news_.notify_all();
    while (threads_ != 0) ended_.wait(mutex_);
}

bool HostCalls::run(const CallWork& call, void (*done)(void*), void* token) noexcept {
    MutexLock lock(mutex_);
    try {
        entries_.push_back({call, done, token});
    } catch (...) {
        return false;
    }
    if (idle_ >= entries_.size()) {
        news_.notify_one();
        return true;
    }
    try {
        std::thread([this] { thread_main(); }).detach();
        ++threads_;
    } catch (...) {
        if (threads_ == 0) {
            entries_.pop_back();
            return false;
        }
        news_.notify_one();
    }
    return true;
}

void HostCalls::thread_main() noexcept {
    pthread_setname_np(pthread_self(), "canopy-call");
    MutexLock lock(mutex_);
    for (;;) {
        ++idle_;
        while (!stopping_ && entries_.empty()) news_.wait(mutex_);
        --idle_;
        if (entries_.empty()) break;
        const Entry entry = entries_.front();
        entries_.pop_front();
        lock.unlock();
        entry.call.function(entry.call.argument);
        entry.done(entry.token);
        lock.lock();
    }
    --threads_;
    ended_.notify_all();
}

}  // namespace canopy
