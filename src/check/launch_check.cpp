// SPDX-License-Identifier: Apache-2.0
// Passes what a core is told on to the parts of the checker.
#include "check/launch_check.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <unordered_map>

#include "check/model/core.h"
#include "check/model/core_order.h"
#include "check/model/signals.h"
#include "check/model/walk.h"
#include "check/race/races.h"
#include "check/race/stretches.h"
#include "check/race/sweep.h"
#include "check/rules.h"
#include "check/trace.h"
#include "foundation/mutex.h"

namespace canopy::check {

namespace {

// The parts of one core.
class CheckedCore final : public CoreCheck {
public:
    CheckedCore(Launch& launch, CoreOrder& core_order, LaunchRules& launch_rules, std::atomic<std::uint64_t>& entries,
                const CoreFacts& facts, Group& group, Races::Group& races)
        : launch_(launch),
          core_order_(core_order),
          core_(launch, facts, group),
          rules_(core_, launch_rules),
          races_(core_),
          stretches_(core_, entries),
          signals_(core_, core_order) {
        races_.join_group(races);
    }

    [[nodiscard]] const Stretches& stretches() const { return stretches_; }
    [[nodiscard]] std::uint64_t order_events() const { return core_.order.events(); }

    void operation(const CanopyCheckOperation& operation) override {
        if (silent_ != 0 || operation.pipe >= CANOPY_CHECK_PIPES) return;
        if ((operation.flags & CANOPY_CHECK_REFERENCE) != 0) {
            reference_flags_ = operation.flags & CANOPY_CHECK_AUTO_ORDERED;
            return;
        }
        tell(operation);
    }

    void flag(bool set, std::uint32_t from, std::uint32_t to, std::int32_t id, const CanopyCheckSite& site) override {
        if (silent_ == 0) rules_.flag(set, from, to, id, site);
    }

    void barrier(std::uint32_t pipe, const CanopyCheckSite& site) override {
        if (silent_ == 0) core_.order.barrier(pipe, site);
    }

    void data_barrier(std::uint32_t kind, const CanopyCheckSite& site) override {
        if (silent_ != 0) return;
        rules_.data_barrier(kind);
        if (launch_.options.data_barrier_all) {
            core_.order.barrier(CANOPY_CHECK_ALL, site);
        } else {
            core_.order.data_barrier(kind, site);
        }
    }

    void buffer(const CanopyCheckBuffer& buffer) override {
        if (silent_ == 0) rules_.buffer(buffer);
    }
    void event_id(std::uint32_t event, std::uint32_t from, std::uint32_t to, std::int32_t id,
                  const CanopyCheckSite& site) override {
        if (silent_ == 0) rules_.event_id(event, from, to, id, site);
    }
    void mutex(bool lock, std::uint32_t pipe, std::uint32_t id, const CanopyCheckSite& site) override {
        if (silent_ == 0) rules_.mutex(lock, pipe, id, site);
    }
    void core_flag(bool set, std::uint32_t mode, std::uint32_t pipe, std::uint32_t id,
                   const CanopyCheckSite& site) override {
        signals_.settle();
        rules_.core_flag(set, mode, id, site);
        if (set) {
            core_order_.set_flag(core_, mode, pipe, id);
        } else {
            core_order_.wait_flag(core_, mode, pipe, id);
        }
    }

    void meet(std::uint32_t kind, std::uint32_t scope, bool begin, std::uint32_t trigger, std::uint32_t wait,
              const CanopyCheckSite& site) override {
        signals_.settle();
        rules_.meet(kind, scope, begin, site);
        if (begin) {
            if (trigger >= CANOPY_CHECK_PIPES) core_.order.barrier(CANOPY_CHECK_ALL, site);
            core_order_.arrive(core_, kind, scope, trigger);
        } else {
            core_order_.leave(core_, kind, scope, wait);
        }
    }

    void word(std::uint32_t event, const void* address, const CanopyCheckSite&) override {
        signals_.settle();
        if (event == CANOPY_CHECK_WORD_PUBLISH) {
            core_order_.publish(core_, reinterpret_cast<std::uint64_t>(address));
        } else {
            core_order_.take(core_, reinterpret_cast<std::uint64_t>(address));
        }
    }

    void cache(std::uint32_t event, const void* address, const CanopyCheckSite&) override {
        signals_.settle();
        rules_.cache(event, address);
        if (event == CANOPY_CHECK_CACHE_CLEAN_LINE) {
            signals_.clean(address);
        } else {
            signals_.clean_all();
        }
    }

    void region(std::uint32_t kind, bool begin, const CanopyCheckOperation* operation) override {
        if (kind == CANOPY_CHECK_REGION_THREADS) {
            in_threads_ = begin;
            return;
        }
        if (!begin) {
            if (silent_ != 0) --silent_;
            return;
        }
        if (silent_ == 0 && kind == CANOPY_CHECK_REGION_CALL && operation != nullptr) tell(*operation);
        ++silent_;
    }

    void not_modelled(const char* what, const CanopyCheckSite& site) override {
        if (!launch_.reports.first(what)) return;
        launch_.reports.add(Level::note, "check.not-modelled", nullptr, -1, std::string(what) + " is not checked",
                            "the checker has no model of it", "", {{.site = site, .core = &core_}});
    }

    void misuse(const char* id, const char* text, const CanopyCheckSite& site) override {
        if (silent_ == 0) rules_.misuse(id, text, site);
    }

    void raw(const void* address, std::uint32_t bytes, std::uint32_t kind, const void* instruction) override {
        const std::uint32_t flags = std::exchange(reference_flags_, 0);
        if (silent_ != 0) return;
        CanopyCheckAccess access{};
        access.address = address;
        access.bytes = bytes;
        access.element = static_cast<std::uint16_t>(bytes);
        access.pieces = access.repeats = 1;
        access.kind = static_cast<std::uint8_t>(kind & CANOPY_CHECK_READ_WRITE);
        const auto located = core_.locate(reinterpret_cast<std::uint64_t>(address));
        if (!located && !in_allocation(reinterpret_cast<std::uint64_t>(address))) return;
        access.memory = static_cast<std::uint8_t>(located ? located->memory : CANOPY_MEMORY_GLOBAL);
        CanopyCheckOperation operation{};
        operation.site = line_of(instruction);
        operation.pipe = in_threads_ ? CANOPY_CHECK_V : CANOPY_CHECK_S;
        operation.flow = (kind & CANOPY_CHECK_READ) != 0 ? CANOPY_CHECK_USE : CANOPY_CHECK_FILL;
        operation.flags = in_threads_ ? flags : flags | CANOPY_CHECK_RAW;
        if ((kind & CANOPY_CHECK_ATOMIC_ACCESS) != 0) operation.flags |= CANOPY_CHECK_BYPASS;
        operation.access_count = 1;
        operation.accesses = &access;
        tell(operation);
    }

    void order(std::uint32_t from, std::uint32_t to, const CanopyCheckSite& site) override {
        if (!launch_.options.portable) core_.order.order(from, to, site);
    }

    void end(bool complete) override {
        rules_.end(complete);
        if (complete) races_.end();
    }

private:
    // Loads of whole registers go beyond the end of their buffer; what is read there is not used.
    void tell(const CanopyCheckOperation& operation) {
        if (operation.access_count != 1 || operation.accesses[0].whole_register == 0) return tell_all(operation);
        const CanopyCheckAccess& load = operation.accesses[0];
        const std::uint64_t end = rules_.end_of_buffer(reinterpret_cast<std::uint64_t>(load.address));
        if (end == 0) return tell_all(operation);
        CanopyCheckAccess parts[2];
        CanopyCheckOperation inside = operation;
        inside.access_count = cut(load, end, parts);
        inside.accesses = parts;
        tell_all(inside);
    }

    void tell_all(const CanopyCheckOperation& operation) {
        signals_.settle();
        // The accesses of threads are in order.
        if (in_threads_) core_.order.stay_in_order(CANOPY_CHECK_V);
        const Told told{operation, core_.order.hand_out(operation.pipe), core_.lines.of(operation.site)};
        core_.lines.told(told.number, told.line, operation);
        rules_.operation(told);
        if (launch_.options.classes.race || launch_.options.classes.sync) races_.operation(told);
        touch_global(told);
        signals_.operation(operation);
        if ((operation.flags & CANOPY_CHECK_RETURNS_SCALAR) != 0) return_scalar(operation.site);
    }

    void touch_global(const Told& told) {
        const CanopyCheckOperation& operation = told.operation;
        for (const bool write : {false, true}) {
            for (std::uint32_t i = 0; i < operation.access_count; ++i) {
                const CanopyCheckAccess& access = operation.accesses[i];
                if (access.memory == CANOPY_MEMORY_GLOBAL &&
                    (access.kind & (write ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ)) != 0)
                    stretches_.access(told, access, write);
            }
        }
    }

    // The library waits for the result, and reads it.
    void return_scalar(const CanopyCheckSite& site) {
        if (launch_.options.portable) return;
        core_.order.order(CANOPY_CHECK_V, CANOPY_CHECK_S, site);
        core_.order.order(CANOPY_CHECK_S, CANOPY_CHECK_V, site);
        core_.order.order(CANOPY_CHECK_S, CANOPY_CHECK_MTE3, site);
    }

    // Raw accesses to stacks and constants are no accesses to memory of the device.
    bool in_allocation(std::uint64_t address) {
        if (!launch_.facts.allocation) return true;
        const std::uint64_t page = address >> 12;
        Range& allocation = allocations_[page % allocations_.size()];
        if (address - allocation.begin < allocation.size) return true;
        std::uint64_t& other = elsewhere_[page % elsewhere_.size()];
        if (other == page + 1) return false;
        const auto found = launch_.facts.allocation(address);
        if (!found) {
            other = page + 1;
            return false;
        }
        allocation = {found->address, found->size};
        return true;
    }

    CanopyCheckSite line_of(const void* instruction) {
        if (!launch_.facts.line) return {};
        auto& [last, site] = latest_[reinterpret_cast<std::uintptr_t>(instruction) % latest_.size()];
        if (last == instruction) return site;
        last = instruction;
        return site = look_up(instruction);
    }
    CanopyCheckSite look_up(const void* instruction) {
        const auto [at, added] = instructions_.try_emplace(instruction);
        if (added) at->second = launch_.facts.line(instruction);
        return at->second;
    }

    Launch& launch_;
    CoreOrder& core_order_;
    Core core_;
    Rules rules_;
    Races races_;
    Stretches stretches_;
    Signals signals_;
    unsigned silent_ = 0;      // regions inside which nothing is checked
    bool in_threads_ = false;  // raw accesses are those of SIMT threads
    std::uint32_t reference_flags_ = 0;
    struct Range {
        std::uint64_t begin = 0, size = 0;
    };
    std::array<Range, 61> allocations_;          // that were found, by a page; programs use several in turn
    std::array<std::uint64_t, 64> elsewhere_{};  // pages outside of device memory, one more than their number
    std::unordered_map<const void*, CanopyCheckSite> instructions_;  // their lines
    std::array<std::pair<const void*, CanopyCheckSite>, 61> latest_{};
};

class CheckedLaunch final : public LaunchCheck {
public:
    CheckedLaunch(LaunchFacts facts, const CheckOptions& options, FindingSink& sink)
        : launch_(std::move(facts), options, sink), core_order_(launch_), launch_rules_(launch_) {}

    CoreCheck& core(const CoreFacts& facts) override {
        const MutexLock lock(mutex_);
        Members& group = groups_[facts.block];
        return cores_.emplace_back(launch_, core_order_, launch_rules_, entries_, facts, group.cores, group.races);
    }

    std::vector<TouchedRange> end() override {
        const MutexLock lock(mutex_);
        std::vector<const Stretches*> lists;
        for (const CheckedCore& core : cores_) lists.push_back(&core.stretches());
        std::ranges::sort(lists, {}, [](const Stretches* list) { return list->core().index; });
        if (launch_.options.classes.race && lists.size() > 1) find_hazards_between_cores(launch_, core_order_, lists);
        launch_rules_.end();
        launch_.reports.flush();
        return touched_ranges(lists);
    }

    [[nodiscard]] std::uint64_t order_events() const override {
        const MutexLock lock(mutex_);
        std::uint64_t events = 0;
        for (const CheckedCore& core : cores_) events = std::max(events, core.order_events());
        return events;
    }

private:
    struct Members {
        Group cores;
        Races::Group races{};
    };

    Launch launch_;
    CoreOrder core_order_;
    LaunchRules launch_rules_;
    std::atomic<std::uint64_t> entries_{0};  // in the lists of all cores
    mutable Mutex mutex_;
    std::unordered_map<std::uint32_t, Members> groups_ CANOPY_GUARDED_BY(mutex_);
    std::deque<CheckedCore> cores_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<LaunchCheck> make_launch_check(LaunchFacts facts, const CheckOptions& options, FindingSink& sink) {
    if (options.trace == nullptr) return std::make_unique<CheckedLaunch>(std::move(facts), options, sink);
    return traced(std::make_unique<CheckedLaunch>(facts, options, sink), facts, options.trace);
}

}  // namespace canopy::check
