// SPDX-License-Identifier: Apache-2.0
// What the scheduler tells programs that watch this one (watch/figures.h). The monitor takes a sample now and then
// while the device works, and one before it sleeps; nothing is counted for it where work runs.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "device/engine/stream/scheduler.h"
#include "device/execution/kernel_names.h"
#include "watch/figures_file.h"

namespace canopy {
namespace {

using watch::Unit;

Unit unit_of(CoreType core) noexcept {
    switch (core) {
        case CoreType::cube:
            return Unit::cube;
        case CoreType::vector:
            return Unit::vector;
        case CoreType::cpu:
            return Unit::cpu;
        default:
            return Unit::mix;
    }
}

}  // namespace

// What a busy thread works with.
Unit Scheduler::unit_of_work(Executor& executor) noexcept {
    if (executor.is_cpu_core.load(std::memory_order_relaxed)) return Unit::cpu;
    const Kernel* kernel = executor.kernel();
    if (kernel == nullptr) return Unit::copy;
    if (kernel != executor.seen_kernel) {
        executor.seen_kernel = kernel;
        executor.seen_core = CoreType::mix;
        find_known_kernel(kernel, executor.seen_core, nullptr);
    }
    return unit_of(executor.seen_core);
}

struct Scheduler::Sample {
    watch::DeviceFigures device;
    struct Running {
        watch::RunningFigures figures;
        const TaskOwner* owner = nullptr;
    };
    std::vector<Running> running;
    std::vector<watch::StreamFigures> streams;
    std::vector<watch::RunningFigures> running_figures;
};

void Scheduler::sample_running(Sample& sample) {
    for_each_executor([&](Executor& executor) {
        if (executor.works_for.load(std::memory_order_relaxed) != this) return;
        if (!Executor::inside(executor.step()) || !executor.has_task()) return;
        if (sample.running.size() == watch::most_running) return;
        Sample::Running running;
        running.owner = executor.owner();
        running.figures.thread = static_cast<std::uint32_t>(executor.thread);
        running.figures.unit = unit_of_work(executor);
        running.figures.since = executor.seen_at;
        CoreType core{};
        std::string name;
        if (const Kernel* kernel = executor.kernel(); kernel && find_known_kernel(kernel, core, &name))
            watch::set_text(running.figures.name, name.data(), name.size());
        sample.running.push_back(running);
    });
}

// Streams with work first, then as many idle ones as there is room for.
void Scheduler::sample_streams(Sample& sample) {
    SpinGuard guard(lock_);
    sample.device.submitted = sample.device.completed = removed_commands_;
    for (CountedQueue* queue = all_; queue; queue = queue->all_next) {
        watch::StreamFigures stream = queue->figures();
        sample.device.submitted += stream.submitted;
        sample.device.completed += stream.completed;
        ++sample.device.streams;
        const bool busy = stream.submitted != stream.completed;
        if (!busy || queue->sampled_completed != stream.completed) queue->sampled_at = sample.device.time;
        queue->sampled_completed = stream.completed;
        if (busy) stream.since = queue->sampled_at;
        for (Sample::Running& running : sample.running)
            if (busy && running.owner == queue->task_owner()) {
                running.figures.stream = stream.id;
                stream.since = std::min(stream.since, running.figures.since);
            }
        if (sample.streams.size() < watch::most_streams) {
            sample.streams.push_back(stream);
        } else if (busy) {
            const auto idle = std::find_if(sample.streams.begin(), sample.streams.end(),
                                           [](const auto& one) { return one.submitted == one.completed; });
            if (idle != sample.streams.end()) *idle = stream;
        }
    }
}

void Scheduler::sample_times(watch::DeviceFigures& device) noexcept {
    std::copy(busy_times_.total().begin(), busy_times_.total().end(), device.busy);
    const BusyTimes::Kept& earlier = busy_times_.earlier(device.time);
    const Nanoseconds time = device.time - earlier.time;
    if (earlier.time == 0 || time <= 0) return;
    device.recent_time = static_cast<std::uint32_t>(time / millisecond);
    for (std::size_t unit = 0; unit < watch::units; ++unit) {
        const bool cpu = unit == static_cast<std::size_t>(Unit::cpu);
        const double all = static_cast<double>(time) * std::max(cpu ? device.cpu_cores : device.workers, 1u);
        const auto busy = static_cast<double>(busy_times_.total()[unit] - earlier.total[unit]);
        device.share[unit] = static_cast<std::uint16_t>(std::min(1000.0, busy * 1000 / all));
    }
}

// The caller is the monitor, or there is none yet.
void Scheduler::publish_figures(bool asleep, bool monitor) noexcept {
    watch::DevicePage* page = page_.load(std::memory_order_acquire);
    if (page == nullptr) return;
    try {
        Sample sample;
        sample.running.reserve(watch::most_running);  // not while locks are held
        sample.streams.reserve(watch::most_streams);
        watch::DeviceFigures& device = sample.device;
        device.time = now();
        if (!asleep) sample_running(sample);
        sample_streams(sample);
        const DeviceInfo& info = driver_.info();
        watch::set_text(device.kind, info.kind.data(), info.kind.size());
        watch::set_text(device.chip, info.chip->name.data(), info.chip->name.size());
        device.cube_cores = info.chip->cube_cores;
        device.vector_cores = info.chip->vector_cores;
        device.cpu_cores = options_.cpu.cores;
        device.workers = options_.workers;
        device.asleep = asleep;
        if (monitor) sample_times(device);
        const MemoryUsage memory = driver_.memory_usage();
        device.memory = memory.total;
        for (const Sample::Running& running : sample.running) sample.running_figures.push_back(running.figures);
        page->set_memory(memory.total - std::min(memory.free, memory.total), memory.peak, memory.allocations);
        page->publish(device, sample.streams, sample.running_figures);
    } catch (...) {  // no memory: readers see the older figures
    }
}

void Scheduler::set_page(watch::DevicePage* page) noexcept {
    page_.store(page, std::memory_order_release);
    tell_figures();
}

// Figures that change while the monitor sleeps: it tells them and sleeps again. Before there is a monitor the caller
// does that.
void Scheduler::tell_figures() noexcept {
    if (page_.load(std::memory_order_acquire) == nullptr) return;
    if (started_.load(std::memory_order_acquire))
        wake_monitor();
    else
        publish_figures(true, false);
}

void Scheduler::tell_memory() noexcept {
    watch::DevicePage* page = page_.load(std::memory_order_acquire);
    if (page == nullptr ||
        (started_.load(std::memory_order_relaxed) && !monitor_sleeps_.load(std::memory_order_relaxed)))
        return;
    const MemoryUsage memory = driver_.memory_usage();
    page->set_memory(memory.total - std::min(memory.free, memory.total), memory.peak, memory.allocations);
}

}  // namespace canopy
