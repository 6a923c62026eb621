// SPDX-License-Identifier: Apache-2.0
// Page-locked memory of the program while copies of streams use it. The program's pages are protected until it has
// ordered itself behind the copy; the copy itself goes through a second mapping of the same file. The first touch that
// comes too early is caught by a handler for SIGSEGV, which notes it, lifts the protection and lets the program go on.
//
// A system call into such memory fails with EFAULT. Threads: every function from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/device_address.h"
#include "base/mapping.h"
#include "base/memory_range.h"
#include "base/spin_lock.h"
#include "check/host/host_order.h"

namespace canopy {

class GuardedPages {
public:
    struct Copy {
        std::uint64_t begin = 0, end = 0;
        bool written = false;  // by the copy
        check::HostOrder::Agent* stream = nullptr;
        std::uint32_t stream_number = 0;
        unsigned device = 0;
        std::uint64_t number = 0;  // of the command in its stream
        check::HostCall call;
    };
    // An access of the program under a copy.
    struct Touch {
        Copy copy;
        bool write = false;
        std::uint64_t address = 0;
        std::array<std::uintptr_t, 24> stack{};  // return addresses, the innermost first
        std::size_t depth = 0;
    };

    // The memory is `range` of the file, from its beginning. Called once, before any of it is guarded.
    bool begin(const MemoryRange& range, int file);
    // Where this library accesses memory of the program; other addresses stay as they are.
    [[nodiscard]] DeviceAddress own(DeviceAddress address) const noexcept;
    [[nodiscard]] bool holds(DeviceAddress address) const noexcept;

    void guard(const Copy& copy);
    // Ends the copies that are over, as far as the program knows.
    void release(const std::function<bool(const Copy&)>& over);
    // What was touched since the last call.
    std::vector<Touch> take_touches();

    // For the handler of signals.
    bool handle(std::uintptr_t address, bool write, std::uintptr_t instruction) noexcept;

private:
    static constexpr std::size_t most_touches = 64, most_copies = 512;
    struct Pages {
        std::uintptr_t begin, end;
    };
    [[nodiscard]] static Pages pages_of(const Copy& copy) noexcept;
    void protect_again(const Pages& pages) noexcept CANOPY_REQUIRES(lock_);

    std::uintptr_t base_ = 0;
    std::size_t size_ = 0;
    std::uintptr_t own_ = 0;
    std::atomic<bool> ready_{false};
    std::atomic<std::size_t> guarded_{0};
    SpinLock lock_;
    std::vector<Copy> copies_ CANOPY_GUARDED_BY(lock_);
    std::array<Touch, most_touches> touches_ CANOPY_GUARDED_BY(lock_);
    std::size_t touched_ CANOPY_GUARDED_BY(lock_) = 0;
};

}  // namespace canopy
