// SPDX-License-Identifier: Apache-2.0
// Events between processes: one page that all participants map. A record opens a slot in the ring of its own process
// and makes it the current one; reaching the record closes the slot. A wait binds to the slot that is current when it
// is called. A slot changes by single stores of one owner, so a process may end at any instruction: its open slots then
// become lost, and those who wait for one get 507010. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "core/process/runtime.h"
#include "core/share/signals.h"

namespace canopy {

class SharedEvent {
public:
    static Result<std::shared_ptr<SharedEvent>> create(DeviceRecord& record);
    static Result<std::shared_ptr<SharedEvent>> open(const SharedKey& key);

    // The handle's 64 bytes; the same every time.
    Result<SharedKey::Bytes> handle();
    // The program destroys its event; tasks that use it go on.
    void end() noexcept;

    enum class State : std::uint8_t { done, pending, lost };
    // The record that is current now: 0 if there was none.
    [[nodiscard]] std::uint64_t current() const noexcept;
    [[nodiscard]] State state(std::uint64_t record) const noexcept;
    [[nodiscard]] bool complete() const noexcept { return state(current()) == State::done; }
    [[nodiscard]] bool own(std::uint64_t record) const noexcept;

    // Waits while all slots of this process are pending. Without the lock of a stream: the slots are closed by streams.
    Status wait_for_slot();
    // Opens a slot and makes it current; 0 if all are pending. 507010 after the end of the process that created the
    // event.
    Result<std::uint64_t> begin();
    // The record has been reached.
    void reached(std::uint64_t record) noexcept;

    [[nodiscard]] const std::shared_ptr<SharedSignal>& signal() const noexcept { return signal_; }
    // 107017 in a forked process.
    [[nodiscard]] Status check_usable() const;

private:
    explicit SharedEvent(std::shared_ptr<SharedSignal> signal) noexcept : signal_(std::move(signal)) {}
    const std::shared_ptr<SharedSignal> signal_;
    Mutex mutex_;
};

}  // namespace canopy
