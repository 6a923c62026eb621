// SPDX-License-Identifier: Apache-2.0
// Notifies between processes: one word in a page that all participants map, even while unset and odd while set. A
// record makes it odd, a wait takes it by adding one; each is one atomic operation, so a process may end at any
// instruction. A stream that is stopped at a wait has its fence, as with other notifies: what is taken from the word
// goes there. Any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/result.h"
#include "core/share/signals.h"
#include "device/device.h"
#include "foundation/clock.h"

namespace canopy {

class SharedNotify : public std::enable_shared_from_this<SharedNotify> {
public:
    static constexpr std::size_t page_bytes = 128;
    // Waits of this process end at `fence`, of which it keeps a reference.
    SharedNotify(std::shared_ptr<SharedSignal> signal, Fence* fence) noexcept;
    ~SharedNotify();

    // For handles, which hold a plain pointer: a reference, and its end.
    SharedNotify* keep();
    void drop() noexcept { const std::shared_ptr<SharedNotify> last = std::move(kept_); }
    // The program destroys its handle; tasks that use the notify go on.
    void end() noexcept;

    Status record(const void* stream);
    // 107000 unless the stream is on the device of the notify. timeout 0: no timeout.
    Status wait(const void* stream, Nanoseconds timeout);
    void reset() noexcept;
    [[nodiscard]] std::uint32_t number() const noexcept { return signal_->about(); }
    [[nodiscard]] const std::shared_ptr<SharedSignal>& signal() const noexcept { return signal_; }

    // Makes the word odd, and wakes who waits.
    void set() noexcept;
    // Takes a record from the word. False if there is none.
    bool take() noexcept;
    // Moves one from the word to the fence, unless the fence has one.
    void take_to_fence() noexcept;
    [[nodiscard]] bool pending() const noexcept;
    // Signals the fence: for one wait, whose stream goes on soon.
    void hand_over() noexcept;
    // That wait has not ended yet, so a wait of which nothing else is known may be the one that has its signal.
    [[nodiscard]] bool handed_over() const noexcept { return handed_over_.load(std::memory_order_acquire) != 0; }
    // False if nothing was handed over.
    bool wait_has_ended() noexcept;
    [[nodiscard]] Fence& fence() const noexcept { return *fence_; }

private:
    const std::shared_ptr<SharedSignal> signal_;
    Fence* const fence_;
    std::shared_ptr<SharedNotify> kept_;
    std::atomic<std::uint32_t> handed_over_{0};
};

}  // namespace canopy
