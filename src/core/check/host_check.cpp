// SPDX-License-Identifier: Apache-2.0
#include "core/check/host_check.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "base/process_state.h"
#include "core/check/calling.h"
#include "record/recorder.h"

namespace canopy {
namespace {

constexpr std::size_t most_freed = 4096;  // allocations that are remembered after their end

std::atomic<HostCheck*> the_host_check{nullptr};

std::uint64_t task_key(std::uint32_t stream, std::uint32_t task) { return std::uint64_t{stream} << 32 | task; }

}  // namespace

HostCheck* HostCheck::present() noexcept { return the_host_check.load(std::memory_order_acquire); }

void HostCheck::begin() {
    static const bool begun = [] {
        ProcessCheck* const process = ProcessCheck::present();
        if (process == nullptr) return false;
        the_host_check.store(new HostCheck(*process), std::memory_order_release);
        record::want_call_sites();
        return true;
    }();
    static_cast<void>(begun);
}

HostCheck::HostCheck(ProcessCheck& process)
    : process_(process),
      sink_(process),
      order_(sink_, {[this](const check::HostCall& call) { return lines_.place(call.from); },
                     [this](std::uint64_t address) { return allocation(address); }}) {}

// ---- memory --------------------------------------------------------------------------------------------------------

void HostCheck::allocated(unsigned device, DeviceAddress address, std::size_t size) {
    MutexLock lock(mutex_);
    live_[address.value()] = {size, next_serial_++, device, calling};
}

void HostCheck::freed(DeviceAddress address, std::size_t size) {
    if (checks_order()) {
        pages_.release([&](const GuardedPages::Copy& copy) {
            return copy.begin < address.value() + size && address.value() < copy.end;
        });
        order_.freed(address.value(), size, calling);
        tell_touches();
    }
    MutexLock lock(mutex_);
    const auto found = live_.find(address.value());
    if (found == live_.end()) return;
    freed_[address.value()] = found->second;
    live_.erase(found);
    if (freed_.size() > most_freed)
        freed_.erase(std::min_element(freed_.begin(), freed_.end(), [](const auto& one, const auto& other) {
            return one.second.serial < other.second.serial;
        }));
}

void HostCheck::handed_over(DeviceAddress address, std::size_t size) {
    if (checks_order()) order_.handed_over(address.value(), size);
}

std::optional<check::AllocationFacts> HostCheck::allocation(std::uint64_t address) const {
    MutexLock lock(mutex_);
    for (const auto* table : {&live_, &freed_}) {
        auto after = table->upper_bound(address);
        if (after == table->begin()) continue;
        --after;
        const Allocation& found = after->second;
        if (address - after->first >= found.size || found.device == no_device) continue;
        return check::AllocationFacts{after->first, found.size, found.serial, table == &freed_,
                                      const_cast<CallLines&>(lines_).text(found.call)};
    }
    return std::nullopt;
}

std::string HostCheck::origin_of(unsigned, std::uint64_t address) {
    HostCheck* const check = present();
    const auto found = check ? check->allocation(address) : std::nullopt;
    return found ? found->origin : std::string();
}

// ---- what the calling thread does ----------------------------------------------------------------------------------

void HostCheck::used_memory(std::span<const check::CommandUse> uses) {
    if (checks_order()) order_.used_by_host(calling, uses);
}

void HostCheck::waited_for_copy() {
    if (!checks_order()) return;
    check::Finding finding;
    finding.id = "host.pageable";
    finding.level = check::Level::note;
    finding.headline = "asynchronous copy of pageable memory";
    finding.explanation = "the call returns when the copy is done; memory of aclrtMallocHost makes it asynchronous";
    finding.places.push_back(lines_.place(calling.from));
    finding.places.back().operation = calling.function ? calling.function : "";
    sink_.add(std::move(finding));
}

// ---- streams and graphs --------------------------------------------------------------------------------------------

check::HostOrder::Agent* HostCheck::add_stream(std::uint32_t number, unsigned device,
                                               std::function<std::uint64_t()> completed) {
    check::HostOrder::Agent* const agent = order_.add_stream(number, device, std::move(completed));
    MutexLock lock(mutex_);
    streams_[number] = {agent, calling};
    return agent;
}

void HostCheck::remove_stream(std::uint32_t number, check::HostOrder::Agent* stream, std::uint64_t submitted) {
    pages_.release([&](const GuardedPages::Copy& copy) { return copy.stream == stream; });
    tell_touches();
    const std::string_view function = calling.function ? calling.function : "";
    if (function.starts_with("aclrtReset") && !order_.known_complete(*stream, submitted)) {
        check::Finding finding;
        finding.id = "host.free";
        finding.headline = "illegal reset of a device";
        finding.explanation = fmt::format("the device is reset while stream {} may still have work under way", number);
        finding.missing = "synchronisation";
        finding.places.push_back(lines_.place(calling.from));
        finding.places.back().operation = function;
        sink_.add(std::move(finding));
    }
    order_.synchronised(*stream, submitted);  // nothing of it is left
    {
        MutexLock lock(mutex_);
        streams_.erase(number);
    }
    order_.remove_stream(stream);
}

void HostCheck::synchronised(check::HostOrder::Agent& stream, std::uint64_t number) {
    order_.synchronised(stream, number);
    pages_.release([this](const GuardedPages::Copy& copy) { return order_.known_complete(*copy.stream, copy.number); });
    tell_touches();
}

void HostCheck::seen_complete(std::uint32_t stream, std::uint64_t number) {
    check::HostOrder::Agent* agent = nullptr;
    {
        MutexLock lock(mutex_);
        const auto found = streams_.find(stream);
        if (found == streams_.end()) return;
        agent = found->second.agent;
    }
    synchronised(*agent, number);
}

void HostCheck::recorded(std::uint32_t stream, std::uint32_t task) {
    MutexLock lock(mutex_);
    recorded_[task_key(stream, task)] = calling;
}

check::HostCall HostCheck::recorded_by(std::uint32_t stream, std::uint32_t task) const {
    MutexLock lock(mutex_);
    const auto found = recorded_.find(task_key(stream, task));
    return found == recorded_.end() ? check::HostCall{} : found->second;
}

void HostCheck::prepared(const Executable& executable, std::shared_ptr<const check::GraphModel> graph) {
    MutexLock lock(mutex_);
    graphs_[&executable] = std::move(graph);
}

// Their new work is not followed.
void HostCheck::changed(const Executable& executable, std::span<const GraphChange> changes) {
    MutexLock lock(mutex_);
    const auto found = graphs_.find(&executable);
    if (found == graphs_.end() || !found->second) return;
    auto changed = std::make_shared<check::GraphModel>(*found->second);
    for (const GraphChange& change : changes) {
        if (change.place.lane >= changed->lanes.size()) continue;
        auto& lane = changed->lanes[change.place.lane];
        if (change.place.position >= lane.size()) continue;
        check::HostCommand& command = lane[change.place.position];
        command.use_count = 0;
        command.reachable.clear();
    }
    found->second = std::move(changed);
}

std::shared_ptr<const check::GraphModel> HostCheck::graph(const Executable& executable) const {
    MutexLock lock(mutex_);
    const auto found = graphs_.find(&executable);
    return found == graphs_.end() ? nullptr : found->second;
}

void HostCheck::take_launch(const CheckedLaunch& launch, std::vector<check::TouchedRange> touched) noexcept {
    try {
        HostCheck* const check = present();
        if (check == nullptr || !check->checks_order()) return;
        check::HostOrder& order = check->order_;
        const CommandPlace& place = launch.place;
        if (place.graph != nullptr)
            order.kernel_ended(place.graph, {place.in_graph.lane, place.in_graph.position}, touched);
        else
            order.kernel_ended(place.stream, place.task, touched);
    } catch (...) {  // no memory
    }
}

// ---- early touches -------------------------------------------------------------------------------------------------

void HostCheck::tell_touches() {
    for (const GuardedPages::Touch& touch : pages_.take_touches()) {
        const std::optional<check::Place> from = lines_.place({touch.stack.data(), touch.depth});
        if (!from) continue;  // a kernel: the order of streams knows what it does
        check::Finding finding;
        finding.id = "host.access";
        finding.kind = !touch.write ? "RAW" : touch.copy.written ? "WAW" : "WAR";
        finding.device = touch.copy.device;
        finding.memory = "host";
        finding.headline = fmt::format("Potential {} hazard between a stream and the host", finding.kind);
        finding.explanation = fmt::format("no order: the host did not wait for {} on stream {}, which {} the memory",
                                          touch.copy.call.function ? touch.copy.call.function : "a copy",
                                          touch.copy.stream_number, touch.copy.written ? "writes" : "reads");
        finding.missing = "synchronisation";
        check::Place copy = lines_.place(touch.copy.call.from);
        copy.operation = touch.copy.call.function ? touch.copy.call.function : "copy";
        copy.access = touch.copy.written ? "write" : "read";
        copy.pipe = fmt::format("stream {}", touch.copy.stream_number);
        copy.address = touch.copy.begin;
        copy.bytes = touch.copy.end - touch.copy.begin;
        check::Place host = *from;
        host.operation = "host code";
        host.access = touch.write ? "write" : "read";
        host.pipe = "host";
        host.address = touch.address;
        finding.places = {std::move(copy), std::move(host)};
        sink_.add(std::move(finding));
    }
}

// ---- leaks ---------------------------------------------------------------------------------------------------------

void HostCheck::created(std::string_view kind, std::uint64_t handle) {
    MutexLock lock(mutex_);
    objects_[handle] = {kind, calling};
}

void HostCheck::destroyed(std::uint64_t handle) {
    MutexLock lock(mutex_);
    objects_.erase(handle);
}

void HostCheck::finalised() {
    tell_touches();
    if (!process_.options().classes.leaks) return;
    struct Leak {
        std::string what;
        check::HostCall call;
        std::uint64_t address = 0, bytes = 0;
        unsigned device = 0;
    };
    std::vector<Leak> leaks;
    {
        MutexLock lock(mutex_);
        for (const auto& [address, allocation] : live_)
            leaks.push_back({"allocation", allocation.call, address, allocation.size, allocation.device});
        for (const auto& [handle, object] : objects_) leaks.push_back({std::string(object.kind), object.call, 0, 0, 0});
    }
    for (const Leak& leak : leaks) {
        const std::string_view function = leak.call.function ? leak.call.function : "";
        const auto says = [&](std::string_view part) { return function.find(part) != std::string_view::npos; };
        if (leak.bytes != 0 && (!says("Malloc") || says("Pool"))) continue;  // of the runtime itself
        check::Finding finding;
        finding.id = "host.leak";
        finding.level = check::Level::warning;
        if (leak.device != no_device) finding.device = leak.device;
        finding.headline = "LeakCheck: detected memory leaks";
        finding.explanation =
            leak.bytes != 0 ? fmt::format("{} bytes were not freed when the program called aclFinalize", leak.bytes)
                            : fmt::format("the {} was not destroyed when the program called aclFinalize", leak.what);
        if (leak.bytes != 0) finding.memory = leak.device == no_device ? "host" : "GM";
        check::Place place = lines_.place(leak.call.from);
        place.operation = function;
        place.address = leak.address;
        place.bytes = leak.bytes;
        finding.places.push_back(std::move(place));
        sink_.add(std::move(finding));
    }
}

}  // namespace canopy
