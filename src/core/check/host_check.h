// SPDX-License-Identifier: Apache-2.0
// What is checked about the host and its streams in this process: the order of memory accesses, early touches of
// page-locked memory, frees, and what was never freed. It stands between the runtime and its devices: a checked process
// has devices and queues that tell it what passes, and others have not.
//
// Made before the first device is opened, and never destroyed. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/device_address.h"
#include "check/host/host_order.h"
#include "core/check/call_lines.h"
#include "core/check/guarded_pages.h"
#include "core/check/process_check.h"
#include "device/device.h"
#include "foundation/mutex.h"

namespace canopy {

class HostCheck {
public:
    // nullptr: the process is not checked.
    static HostCheck* present() noexcept;
    // Begins if the process is checked.
    static void begin();
    // For CheckHooks.
    static void take_launch(const CheckedLaunch& launch, std::vector<check::TouchedRange> touched) noexcept;
    static std::string origin_of(unsigned device, std::uint64_t address);
    // False: only origins of memory are of interest.
    [[nodiscard]] bool checks_order() const noexcept { return process_.options().classes.host; }

    [[nodiscard]] check::HostOrder& order() noexcept { return order_; }
    [[nodiscard]] GuardedPages& pages() noexcept { return pages_; }

    // ---- memory
    static constexpr unsigned no_device = ~0u;  // page-locked memory of the host
    void allocated(unsigned device, DeviceAddress address, std::size_t size);
    // Memory that is freed, unmapped or reset by the call that the thread is in.
    void freed(DeviceAddress address, std::size_t size);
    // Memory of a pool has a new owner.
    void handed_over(DeviceAddress address, std::size_t size);
    [[nodiscard]] std::optional<check::AllocationFacts> allocation(std::uint64_t address) const;

    // ---- what the calling thread does
    void used_memory(std::span<const check::CommandUse> uses);
    // An asynchronous call has waited for its copy, because the memory is pageable.
    void waited_for_copy();
    // A query has said that a command of that stream is complete; the stream's queue knows itself by its number.
    void seen_complete(std::uint32_t stream, std::uint64_t number);

    // ---- streams and graphs
    check::HostOrder::Agent* add_stream(std::uint32_t number, unsigned device,
                                        std::function<std::uint64_t()> completed);
    // `submitted`: its commands.
    void remove_stream(std::uint32_t number, check::HostOrder::Agent* stream, std::uint64_t submitted);
    // The host has waited for that command.
    void synchronised(check::HostOrder::Agent& stream, std::uint64_t number);
    // A recorder has taken the command: remembers the call, for its replays.
    void recorded(std::uint32_t stream, std::uint32_t task);
    [[nodiscard]] check::HostCall recorded_by(std::uint32_t stream, std::uint32_t task) const;
    void prepared(const Executable& executable, std::shared_ptr<const check::GraphModel> graph);
    // Commands of a prepared graph are replaced.
    void changed(const Executable& executable, std::span<const GraphChange> changes);
    [[nodiscard]] std::shared_ptr<const check::GraphModel> graph(const Executable& executable) const;

    // ---- leaks
    // An object of the interface, by its handle.
    void created(std::string_view kind, std::uint64_t handle);
    void destroyed(std::uint64_t handle);
    // The program has finalised the interface.
    void finalised();

private:
    struct Allocation {
        std::uint64_t size = 0, serial = 0;
        unsigned device = 0;
        check::HostCall call;
    };
    struct Object {
        std::string_view kind;
        check::HostCall call;
    };
    struct Stream {
        check::HostOrder::Agent* agent = nullptr;
        check::HostCall call;
    };
    // Findings while no part of the program is checked are dropped.
    class Sink final : public check::FindingSink {
    public:
        explicit Sink(ProcessCheck& process) noexcept : process_(process) {}
        void add(check::Finding finding) override {
            if (process_.in_part()) process_.sink().add(std::move(finding));
        }

    private:
        ProcessCheck& process_;
    };
    explicit HostCheck(ProcessCheck& process);
    void tell_touches();
    void tell_leaks(const std::map<std::string, std::vector<Allocation>>& by_line);

    ProcessCheck& process_;
    Sink sink_;
    CallLines lines_;
    GuardedPages pages_;
    check::HostOrder order_;
    mutable Mutex mutex_;
    std::map<std::uint64_t, Allocation> live_ CANOPY_GUARDED_BY(mutex_);   // by address
    std::map<std::uint64_t, Allocation> freed_ CANOPY_GUARDED_BY(mutex_);  // the last ones
    std::uint64_t next_serial_ CANOPY_GUARDED_BY(mutex_) = 1;
    std::unordered_map<std::uint64_t, Object> objects_ CANOPY_GUARDED_BY(mutex_);  // by handle
    std::unordered_map<std::uint32_t, Stream> streams_ CANOPY_GUARDED_BY(mutex_);  // by number
    std::unordered_map<std::uint64_t, check::HostCall> recorded_ CANOPY_GUARDED_BY(mutex_);
    std::unordered_map<const Executable*, std::shared_ptr<const check::GraphModel>> graphs_ CANOPY_GUARDED_BY(mutex_);
};

// Replaces commands of a prepared graph.
inline Status change_commands(Executable& executable, std::span<const GraphChange> changes, ChangeTime time) {
    if (HostCheck* const check = HostCheck::present()) [[unlikely]]
        check->changed(executable, changes);
    return executable.change(changes, time);
}

}  // namespace canopy
