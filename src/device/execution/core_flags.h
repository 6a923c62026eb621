// SPDX-License-Identifier: Apache-2.0
// Synchronisation between the cores of a launch: cross-core flags, which are counters of each core, and the barrier of
// a group's vector cores. Each part of a launch has one such table, made when a core first uses it.
//
// Threads: guarded by the owner's lock.
#pragma once

#include <cstdint>
#include <vector>

#include "canopy/kernel_abi.h"
#include "foundation/kernel_info.h"

namespace canopy {

// Cores of one group of a kernel; those of a launch are numbered group by group, cube cores first.
struct CoreGroup {
    std::uint32_t cube = 0;
    std::uint32_t vector = 1;
    [[nodiscard]] constexpr std::uint32_t size() const noexcept { return cube + vector; }
};

// The cores that run each block of a kernel.
[[nodiscard]] constexpr CoreGroup core_group(const KernelInfo& info) noexcept {
    if (info.core == CoreType::cube) return {1, 0};
    if (info.core != CoreType::mix || info.cube_ratio + info.vector_ratio == 0) return {0, 1};
    return {info.cube_ratio, info.vector_ratio};
}
// Of its cores other than cube cores.
[[nodiscard]] constexpr CanopyCoreType core_type(const KernelInfo& info) noexcept {
    return info.core == CoreType::aicore ? CANOPY_CORE_AICORE : CANOPY_CORE_VECTOR;
}

// Cores a launch takes.
struct CoreNeed {
    std::uint32_t cube = 0;
    std::uint32_t vector = 0;
};

// What a suspended block waits for.
enum class WaitKind : std::uint8_t { none, yielded, meeting, flag };
struct CoreWait {
    WaitKind kind = WaitKind::none;
    std::uint8_t scope = 0;  // meeting: a CanopySyncScope
    std::uint8_t mode = 0;   // flag
    std::uint8_t id = 0;
};

// A core whose block is suspended.
struct ParkedCore {
    CoreWait wait;             // what it waits for
    std::uint32_t number = 0;  // of the core in its part of the launch
    ParkedCore* next = nullptr;
};

// Parked cores in order of arrival.
class ParkedCores {
public:
    void push(ParkedCore* core) noexcept;
    ParkedCore* pop() noexcept;
    void append(ParkedCores& other) noexcept;  // takes them all
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] ParkedCore* first() const noexcept { return first_; }

private:
    ParkedCore* first_ = nullptr;
    ParkedCore* last_ = nullptr;
    std::uint32_t count_ = 0;
};

// True if a core of that kind may use the flag at all.
bool flag_exists(bool cube, std::uint32_t mode, std::uint32_t id) noexcept;

class CoreFlags {
public:
    // Resets all counters to 0; no core waits. False: no memory.
    bool begin(CoreGroup group, std::uint32_t groups) noexcept;
    void end() noexcept { cores_.clear(); }
    [[nodiscard]] bool in_use() const noexcept { return !cores_.empty(); }

    // As CanopyServices::set_flag; cores whose wait this ends are added to `released`. False: a counter is full.
    bool set(std::uint32_t core, std::uint32_t mode, std::uint32_t id, ParkedCores& released) noexcept;
    // Decrements the core's counter; false if it is 0.
    bool take(std::uint32_t core, std::uint32_t mode, std::uint32_t id) noexcept;
    // Makes the parked core wait as its `wait` says; releases it at once if that has happened meanwhile.
    void wait(std::uint32_t core, ParkedCore* parked, ParkedCores& released) noexcept;
    // Takes all waiting cores, lowest first; none waits afterwards.
    ParkedCores take_waiting() noexcept;
    [[nodiscard]] ParkedCore* first_waiting() const noexcept;
    [[nodiscard]] std::uint32_t waiting() const noexcept;

private:
    static constexpr std::uint32_t direct = 16;  // where the counters of mode 4 begin
    struct Core {
        std::uint8_t counter[48] = {};
        std::uint8_t pending[3][16] = {};  // own sets of modes 0 to 2 that the others have not matched yet
        ParkedCore* waiting = nullptr;
    };
    // Cores of one kind: `count` of them from `first` on in every group.
    struct Kind {
        std::uint32_t first, count;
    };

    [[nodiscard]] bool is_cube(std::uint32_t core) const noexcept { return core % group_.size() < group_.cube; }
    [[nodiscard]] Kind cubes() const noexcept { return {0, group_.cube}; }
    [[nodiscard]] Kind vectors() const noexcept { return {group_.cube, group_.vector}; }
    bool set_for_all(std::uint32_t core, std::uint32_t id, ParkedCores& released) noexcept;
    bool set_in_group(std::uint32_t core, std::uint32_t mode, std::uint32_t id, Kind setters, Kind targets,
                      ParkedCores& released) noexcept;
    bool set_direct(std::uint32_t core, std::uint32_t id, ParkedCores& released) noexcept;
    bool count(Core& target, std::uint32_t counter, ParkedCores& released) noexcept;
    static std::uint32_t counter_of(std::uint32_t mode, std::uint32_t id) noexcept {
        return mode == 4 ? direct + id : id;
    }

    CoreGroup group_;
    std::uint32_t groups_ = 0;
    std::vector<Core> cores_;
    std::uint32_t ready_[2][16] = {};  // mode 0: cube and vector cores with something pending
};

}  // namespace canopy
