// SPDX-License-Identifier: Apache-2.0
// A listener that keeps what it is told, for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy::record {

class KeepingListener : public Listener {
public:
    void records(std::uint32_t thread, std::span<const Record> records) override {
        MutexLock lock(mutex_);
        EXPECT_TRUE(threads_.count(thread) != 0) << "records of a thread that was not told";
        for (const Record& record : records) {
            EXPECT_TRUE(record.name == 0 || texts_.count(static_cast<std::uint32_t>(record.name)) != 0);
            by_thread_[thread].push_back(record);
        }
    }
    void text(std::uint32_t number, std::string_view text) override {
        MutexLock lock(mutex_);
        texts_[number] = text;
    }
    void thread(const profile::Thread& thread) override {
        MutexLock lock(mutex_);
        threads_[thread.number] = thread;
    }
    void device(const profile::DeviceFacts& device) override {
        MutexLock lock(mutex_);
        devices_[device.number] = device;
    }
    void stream(const profile::StreamFacts& stream) override {
        MutexLock lock(mutex_);
        streams_[stream.number] = stream;
    }
    void lost(std::uint32_t thread, std::uint64_t count) override {
        MutexLock lock(mutex_);
        lost_[thread] += count;
    }

    [[nodiscard]] std::vector<Record> all() {
        MutexLock lock(mutex_);
        std::vector<Record> all;
        for (const auto& [thread, records] : by_thread_) all.insert(all.end(), records.begin(), records.end());
        return all;
    }
    [[nodiscard]] std::map<std::uint32_t, std::vector<Record>> by_thread() {
        MutexLock lock(mutex_);
        return by_thread_;
    }
    [[nodiscard]] std::uint64_t lost() {
        MutexLock lock(mutex_);
        std::uint64_t sum = 0;
        for (const auto& [thread, count] : lost_) sum += count;
        return sum;
    }
    [[nodiscard]] std::string text_of(std::uint32_t number) {
        MutexLock lock(mutex_);
        return texts_.count(number) != 0 ? texts_[number] : "(not told)";
    }
    [[nodiscard]] std::map<std::uint32_t, profile::Thread> threads() {
        MutexLock lock(mutex_);
        return threads_;
    }
    [[nodiscard]] std::map<std::uint32_t, profile::StreamFacts> streams() {
        MutexLock lock(mutex_);
        return streams_;
    }

private:
    Mutex mutex_;
    std::map<std::uint32_t, std::vector<Record>> by_thread_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, std::string> texts_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, profile::Thread> threads_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, profile::DeviceFacts> devices_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, profile::StreamFacts> streams_ CANOPY_GUARDED_BY(mutex_);
    std::map<std::uint32_t, std::uint64_t> lost_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::record
