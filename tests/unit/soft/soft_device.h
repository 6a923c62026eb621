// SPDX-License-Identifier: Apache-2.0
// Opens a separate software NPU for a unit test through the device interface, with streams as the core would make them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "base/spin_lock.h"
#include "device/device.h"
#include "device/engine/stream/queue.h"

namespace canopy::test {

inline std::unique_ptr<Device> open_device(const char* kind, std::uint32_t workers, bool checking = false) {
    DeviceOptions options;
    options.chip = &default_chip();
    options.memory = std::uint64_t{64} << 20;
    options.workers = workers;
    options.checking = checking;
    Result<std::unique_ptr<Device>> device = canopy::open_device(*find_kind(kind), options);
    EXPECT_TRUE(device.ok());
    return std::move(*device);
}

inline std::unique_ptr<Device> open_soft_device(std::uint32_t workers, bool checking = false) {
    return open_device("soft", workers, checking);
}

// A queue with its lock, and the failures reported to it.
class TestQueue final : public QueueObserver {
public:
    explicit TestQueue(Device& device, std::uint32_t priority = 0) {
        QueueOptions options;
        options.priority = priority;
        options.submit_lock = &lock_;
        options.observer = this;
        Result<std::unique_ptr<Queue>> queue = device.create_queue(options);
        EXPECT_TRUE(queue.ok());
        queue_ = std::move(*queue);
    }

    Result<std::uint64_t> try_submit(const Command& command) {
        SpinGuard guard(lock_);
        return queue_->submit(std::span(&command, 1));
    }
    std::uint64_t submit(const Command& command) {
        Result<std::uint64_t> sequence = try_submit(command);
        EXPECT_TRUE(sequence.ok());
        return *sequence;
    }
    std::uint64_t call(void (*function)(void*), void* argument) {
        Command command(Opcode::inline_call);
        command.call = {function, argument, nullptr};
        return submit(command);
    }
    // counter += 1, in the order of the queue
    std::uint64_t count(std::atomic<std::uint64_t>& counter) {
        return call([](void* target) { static_cast<std::atomic<std::uint64_t>*>(target)->fetch_add(1); }, &counter);
    }
    std::uint64_t signal(Fence& fence, std::uint64_t value, SignalMode mode = SignalMode::raise) {
        Command command(Opcode::signal);
        command.signal = {&fence, value, mode};
        return submit(command);
    }
    std::uint64_t wait_for(Fence& fence, std::uint64_t value, std::uint64_t timeout = 0,
                           WaitMode mode = WaitMode::at_least, bool clear = false) {
        Command command(Opcode::wait);
        command.wait = {&fence, value, timeout, mode, clear};
        return submit(command);
    }
    void finish(std::uint64_t sequence) { EXPECT_EQ(queue_->wait(sequence, Deadline::never()), WaitOutcome::done); }
    // True if the queue waits for something outside it.
    [[nodiscard]] bool blocked() const { return static_cast<const EngineQueue&>(*queue_).blocked(); }
    Queue& operator*() { return *queue_; }
    Queue* operator->() { return queue_.get(); }
    void end() { queue_.reset(); }

    AfterFailure task_failed(const TaskFailure& failure) noexcept override {
        std::lock_guard guard(mutex_);
        failures_.push_back(failure.kind);
        last_ = {failure.kind,   failure.core,
                 failure.opcode, failure.kernel ? failure.kernel->info->name : "",
                 failure.block,  failure.address,
                 failure.result, std::string(failure.what),
                 failure.step,   failure.fused ? failure.fused->info->name : ""};
        return after_;
    }
    // The details of the last failure.
    struct Failure {
        FaultKind kind = FaultKind::none;
        CoreType core = CoreType::vector;
        Opcode opcode = Opcode::launch;
        std::string kernel;
        std::uint32_t block = 0;
        std::uintptr_t address = 0;
        std::uint32_t result = 0;
        std::string what;
        std::int32_t step = -1;  // of a fused kernel
        std::string fused;
    };
    Failure last_failure() {
        std::lock_guard guard(mutex_);
        return last_;
    }
    std::vector<FaultKind> failures() {
        std::lock_guard guard(mutex_);
        return failures_;
    }
    void set_after(AfterFailure after) { after_ = after; }

private:
    SpinLock lock_;
    std::unique_ptr<Queue> queue_;
    std::mutex mutex_;
    std::vector<FaultKind> failures_;
    Failure last_;
    AfterFailure after_ = AfterFailure::go_on;
};

}  // namespace canopy::test
