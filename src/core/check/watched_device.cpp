// SPDX-License-Identifier: Apache-2.0
#include "core/check/watched_device.h"

#include <atomic>
#include <utility>
#include <vector>

#include "core/check/calling.h"
#include "core/check/host_check.h"
#include "core/check/host_commands.h"

namespace canopy {
namespace {

// A function of the program or of the runtime in a stream, with what has to be told around it.
struct WatchedCall {
    CallWork work;
    check::HostOrder& order;
    check::HostOrder::Agent& stream;
    std::uint64_t number;

    static void run(void* given) {
        auto& call = *static_cast<WatchedCall*>(given);
        call.order.function_begins(call.stream, call.number);
        call.work.function(call.work.argument);
        call.order.function_ends(call.stream, call.number);
    }
    static void drop(void* given) {
        auto& call = *static_cast<WatchedCall*>(given);
        call.work.dropped(call.work.argument);
    }
    static void dispose(void* given) {
        const std::unique_ptr<WatchedCall> call(static_cast<WatchedCall*>(given));
        if (call->work.dispose) call->work.dispose(call->work.argument);
    }
};

class WatchedQueue final : public Queue {
public:
    WatchedQueue(HostCheck& check, const Device& device, unsigned index, std::uint32_t number,
                 std::unique_ptr<Queue> queue)
        : check_(check),
          device_(device),
          index_(index),
          number_(number),
          queue_(std::move(queue)),
          agent_(*check.add_stream(number, index, [this] { return queue_->completed() + refused_; })) {}
    ~WatchedQueue() override {
        check_.remove_stream(number_, &agent_, told_);
        queue_.reset();
    }

    Result<std::uint64_t> submit(std::span<const Command> commands) noexcept override {
        try {
            return submit_watched(commands);
        } catch (...) {  // no memory to describe them
            return queue_->submit(commands);
        }
    }
    [[nodiscard]] std::uint64_t completed() const noexcept override { return queue_->completed(); }
    WaitOutcome wait(std::uint64_t sequence, Deadline deadline) noexcept override {
        const WaitOutcome outcome = queue_->wait(sequence, deadline);
        if (outcome == WaitOutcome::done) check_.synchronised(agent_, sequence + refused_);
        return outcome;
    }
    void help_drain(std::uint64_t sequence) noexcept override { queue_->help_drain(sequence); }
    void abort() noexcept override { queue_->abort(); }
    void stop_running() noexcept override { queue_->stop_running(); }
    void set_priority(std::uint32_t priority) noexcept override { queue_->set_priority(priority); }
    void set_router(CallRouter* router) noexcept override { queue_->set_router(router); }

private:
    Result<std::uint64_t> submit_watched(std::span<const Command> commands) {
        std::vector<Command> passed(commands.begin(), commands.end());
        std::vector<check::HostCommand> told;
        told.reserve(commands.size());
        std::uint64_t number = told_;
        for (Command& command : passed) {
            ++number;
            told.push_back(describe(command, calling, device_));
            check::HostCommand& described = told.back();
            if (described.kind == check::HostCommand::Kind::function) wrap(command, number);
            if (command.opcode == Opcode::replay) described.graph = check_.graph(*command.replay.executable);
            if (command.opcode == Opcode::copy) guard(command, number);
            if (command.opcode == Opcode::fill)
                command.fill.destination =
                    guarded(command.fill.destination, command.fill.count * command.fill.element_size, true, number);
        }
        check_.order().submit(agent_, told);
        told_ = number;
        Result<std::uint64_t> sequence = queue_->submit(passed);
        if (sequence.ok()) return sequence;
        refused_ += passed.size();
        for (std::size_t index = 0; index < passed.size(); ++index)
            if (told[index].kind == check::HostCommand::Kind::function)
                delete static_cast<WatchedCall*>(passed[index].call.argument);
        return sequence;
    }
    void wrap(Command& command, std::uint64_t number) {
        CallWork& work = command.call;
        auto* const call = new WatchedCall{work, check_.order(), agent_, number};
        work.function = &WatchedCall::run;
        work.argument = call;
        if (work.dropped) work.dropped = &WatchedCall::drop;
        work.dispose = &WatchedCall::dispose;
    }
    // Page-locked memory of the program, through this library's own mapping.
    DeviceAddress guarded(DeviceAddress address, std::uint64_t bytes, bool written, std::uint64_t number) {
        // A device in another process knows one mapping only.
        if (!check_.pages().holds(address) || !device_.info().addressable) return address;
        check_.pages().guard(
            {address.value(), address.value() + bytes, written, &agent_, number_, index_, number, calling});
        return check_.pages().own(address);
    }
    void guard(Command& command, std::uint64_t number) {
        CopyWork& copy = command.copy;
        const auto extent = [&](std::uint64_t pitch) { return (copy.height - 1) * pitch + copy.width; };
        if (!command.snapshot) copy.source = guarded(copy.source, extent(copy.source_pitch), false, number);
        copy.destination = guarded(copy.destination, extent(copy.destination_pitch), true, number);
    }

    HostCheck& check_;
    const Device& device_;
    const unsigned index_;
    const std::uint32_t number_;
    std::unique_ptr<Queue> queue_;
    check::HostOrder::Agent& agent_;
    std::uint64_t told_ = 0;                 // commands, under the lock of the stream
    std::atomic<std::uint64_t> refused_{0};  // of them, by the queue
};

class WatchedDevice final : public Device {
public:
    WatchedDevice(HostCheck& check, std::unique_ptr<Device> device, unsigned index)
        : check_(check), device_(std::move(device)), index_(index) {}

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_->info(); }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return device_->memory_usage(); }
    [[nodiscard]] Utilisation utilisation() noexcept override { return device_->utilisation(); }
    void show_on(watch::DevicePage& page) noexcept override { device_->show_on(page); }

    Result<DeviceAddress> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        Result<DeviceAddress> memory = device_->allocate(size, flags);
        if (memory.ok()) tell([&] { check_.allocated(index_, *memory, size); });
        return memory;
    }
    Status release(DeviceAddress address) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        const std::optional<DeviceRange> range = device_->find(address);
        if (range && range->base == address) tell([&] { check_.freed(address, range->size); });
        return device_->release(address);
    }
    [[nodiscard]] std::optional<DeviceRange> find(DeviceAddress address) const noexcept override {
        return device_->find(address);
    }
    [[nodiscard]] bool owns(DeviceAddress address) const noexcept override { return device_->owns(address); }
    [[nodiscard]] const Abilities& abilities() const noexcept override { return device_->abilities(); }
    Result<DeviceAddress> map_host(const HostMemory& memory) noexcept override { return device_->map_host(memory); }
    void unmap_host(const HostMemory& memory) noexcept override { device_->unmap_host(memory); }

    Result<std::unique_ptr<Queue>> create_queue(const QueueOptions& options) override {
        Result<std::unique_ptr<Queue>> queue = device_->create_queue(options);
        if (!queue.ok() || !check_.checks_order()) return queue;
        return std::unique_ptr<Queue>(new WatchedQueue(check_, *device_, index_, options.number, std::move(*queue)));
    }
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) override { return device_->load(image); }
    Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte> image, std::string_view name) override {
        return device_->load_cpu(image, name);
    }
    Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) override { return device_->fuse(std::move(plan)); }
    Result<Fence*> create_fence() override {
        Result<Fence*> fence = device_->create_fence();
        if (fence.ok()) check_.order().add_fence(fence_name(*fence));
        return fence;
    }
    Result<Executable*> prepare(const GraphPlan& plan) override {
        Result<Executable*> executable = device_->prepare(plan);
        if (executable.ok() && check_.checks_order())
            check_.prepared(**executable, plan.flow ? nullptr : model_of(**executable, plan));
        return executable;
    }

    Status copy(const CopyWork& work) noexcept override { return device_->copy(work); }
    Status fill(const FillWork& work) noexcept override { return device_->fill(work); }
    // True: what callers do after a wait is told, too.
    bool quiesce() noexcept override { return device_->quiesce() || check_.checks_order(); }
    bool settle(Deadline deadline) noexcept override { return device_->settle(deadline); }
    void set_kernel_timeout(std::uint64_t timeout) noexcept override { device_->set_kernel_timeout(timeout); }
    Status revive() noexcept override { return device_->revive(); }

private:
    template <class Body>
    static void tell(Body&& body) noexcept {
        try {
            body();
        } catch (...) {  // no memory: it is not told
        }
    }
    std::shared_ptr<const check::GraphModel> model_of(const Executable& executable, const GraphPlan& plan) const {
        auto graph = std::make_shared<check::GraphModel>();
        graph->executable = &executable;
        for (const GraphLane& lane : plan.lanes) {
            auto& tasks = graph->lanes.emplace_back();
            graph->streams.push_back(static_cast<std::uint32_t>(lane.stream));
            for (const Command& command : lane.commands) {
                const auto stream = static_cast<std::uint32_t>(lane.stream);
                tasks.push_back(describe(command, check_.recorded_by(stream, command.task), *device_));
                tasks.back().kernel = check_.order().kept_name(tasks.back().kernel);
            }
        }
        for (const GraphEdge& edge : plan.edges)
            graph->edges.push_back({{edge.before.lane, edge.before.position}, {edge.after.lane, edge.after.position}});
        for (const Fence* fence : plan.cleared) graph->cleared.push_back(fence_name(fence));
        return graph;
    }

    HostCheck& check_;
    const std::unique_ptr<Device> device_;
    const unsigned index_;
};

}  // namespace

std::unique_ptr<Device> watch_device(HostCheck& check, std::unique_ptr<Device> device, unsigned index) {
    return std::make_unique<WatchedDevice>(check, std::move(device), index);
}

}  // namespace canopy
