// SPDX-License-Identifier: Apache-2.0
// The null device: accepts everything and computes nothing. It shows the cost of the interface itself, and it is the
// template for a new kind of device. Work counts as completed when it is submitted; fences are signalled and host calls
// are made, so that every wait ends; memory is real, but no command writes to it.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "base/heap.h"
#include "device/backend.h"
#include "device/fused_module.h"
#include "device/image.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr DeviceKind null_kind{"null"};

class NullFence final : public Fence {
public:
    NullFence() noexcept : Fence(null_kind) {}
    [[nodiscard]] std::uint64_t value() const noexcept override { return value_.load(std::memory_order_acquire); }
    [[nodiscard]] Nanoseconds signalled_at() const noexcept override { return at_.load(std::memory_order_acquire); }
    void signal(SignalMode mode, std::uint64_t value) noexcept override {
        at_.store(now(), std::memory_order_release);
        std::uint64_t old = value_.load(std::memory_order_relaxed);
        while (!value_.compare_exchange_weak(old, signalled(mode, old, value), std::memory_order_acq_rel)) {
        }
    }

private:
    std::atomic<std::uint64_t> value_{0};
    std::atomic<Nanoseconds> at_{0};
};

// Replays only the signals and calls of a graph; nothing else has an effect here. Bodies of conditions are not run,
// because their selectors are computed by kernels.
class NullExecutable final : public Executable {
public:
    explicit NullExecutable(const GraphPlan& plan) : Executable(null_kind), kept_(plan.kept) {
        for (const GraphLane& lane : plan.lanes) {
            lanes_.emplace_back(lane.commands.begin(), lane.commands.end());
            for (const Command& command : lane.commands) retain_fence(command);
        }
    }
    ~NullExecutable() override { for_each(release_fence); }
    Status change(std::span<const GraphChange> changes, ChangeTime) noexcept override {
        MutexLock guard(mutex_);
        for (const GraphChange& change : changes) {
            Command& command = lanes_[change.place.lane][change.place.position];
            retain_fence(change.command);
            release_fence(command);
            command = change.command;
        }
        return {};
    }
    [[nodiscard]] std::uint64_t unfinished() const noexcept override { return 0; }
    void abort() noexcept override {}
    void set_label(std::string) override {}

    template <class Run>
    void for_each(Run&& run) {
        MutexLock guard(mutex_);
        for (const auto& lane : lanes_)
            for (const Command& command : lane) run(command);
    }

private:
    // Only signals use theirs.
    static void retain_fence(const Command& command) noexcept {
        if (command.opcode == Opcode::signal && command.signal.fence) command.signal.fence->retain();
    }
    static void release_fence(const Command& command) noexcept {
        if (command.opcode == Opcode::signal && command.signal.fence) command.signal.fence->release();
    }

    Mutex mutex_;
    std::vector<std::vector<Command>> lanes_ CANOPY_GUARDED_BY(mutex_);
    const std::shared_ptr<const void> kept_;  // what arguments of calls point to
};

class NullQueue final : public Queue {
public:
    Result<std::uint64_t> submit(std::span<const Command> commands) noexcept override {
        for (const Command& command : commands) {
            if (command.opcode == Opcode::replay && &command.replay.executable->kind() != &null_kind)
                return fail(107000, "the graph was prepared for a device of kind {}, not for a null device",
                            command.replay.executable->kind().name);
            if (command.opcode == Opcode::replay)
                replay(command.replay);
            else
                run(command, true);
        }
        const std::uint64_t last = completed_.load(std::memory_order_relaxed) + commands.size();
        completed_.store(last, std::memory_order_release);
        return last;
    }
    [[nodiscard]] std::uint64_t completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    WaitOutcome wait(std::uint64_t, Deadline) noexcept override { return WaitOutcome::done; }
    void help_drain(std::uint64_t) noexcept override {}
    void abort() noexcept override {}
    void stop_running() noexcept override {}
    void set_priority(std::uint32_t) noexcept override {}
    void set_router(CallRouter* router) noexcept override { router_.store(router, std::memory_order_release); }

private:
    void replay(const ReplayWork& work) noexcept {
        static_cast<NullExecutable*>(work.executable)->for_each([&](Command command) {
            if (command.opcode == Opcode::signal && !command.signal.fence) {
                const FenceBinding& binding = work.bindings[command.signal.value];
                command.signal.fence = binding.fence;
                command.signal.value = binding.value;
            }
            run(command, false);
        });
    }
    void run(const Command& command, bool last_time) noexcept {
        if (command.opcode == Opcode::signal) command.signal.fence->signal(command.signal.mode, command.signal.value);
        if (command.opcode != Opcode::host_call && command.opcode != Opcode::inline_call) return;
        void (*dispose)(void*) = [](void*) {};
        if (last_time && command.call.dispose) dispose = command.call.dispose;
        CallRouter* router = command.opcode == Opcode::host_call ? router_.load(std::memory_order_acquire) : nullptr;
        if (router) return router->route(command.call, dispose, command.call.argument);
        command.call.function(command.call.argument);
        dispose(command.call.argument);
    }
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<CallRouter*> router_{nullptr};
};

class NullModule final : public Module {
public:
    explicit NullModule(const Image& image) : kernels_(image.kernels.size()) {
        infos_.reserve(kernels_.size());
        for (const ImageKernel& kernel : image.kernels) {
            infos_.push_back(kernel);
            kernels_[infos_.size() - 1].info = &infos_.back();
            kernels_[infos_.size() - 1].kind = &null_kind;
        }
    }
    [[nodiscard]] std::span<const KernelInfo> kernels() const override { return infos_; }
    [[nodiscard]] Kernel* kernel(std::string_view name) override {
        for (Kernel& kernel : kernels_)
            if (kernel.info->name == name) return &kernel;
        return nullptr;
    }
    [[nodiscard]] Kernel* kernel_by_key(std::string_view key) override {
        for (Kernel& kernel : kernels_)
            if (!key.empty() && kernel.info->key == key) return &kernel;
        return nullptr;
    }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view) override { return std::nullopt; }
    [[nodiscard]] SymbolInfo code() const override { return {}; }
    [[nodiscard]] void* kernel_address(const Kernel&) const override { return nullptr; }

private:
    std::vector<KernelInfo> infos_;
    std::vector<Kernel> kernels_;
};

class NullDevice final : public Device {
public:
    NullDevice(const DeviceOptions& options, std::unique_ptr<Heap> heap) : heap_(std::move(heap)) {
        info_.chip = options.chip;
        info_.name = std::string(options.chip->name);
        info_.heap = heap_->range();
    }
    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] MemoryUsage memory_usage() const noexcept override { return heap_->usage(); }
    [[nodiscard]] Utilisation utilisation() noexcept override { return {0, 0, 0}; }
    Result<void*> allocate(std::size_t size, std::uint32_t flags) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        return heap_->allocate(size, flags);
    }
    Status release(void* address) noexcept override {
        allocations.fetch_add(1, std::memory_order_relaxed);
        return heap_->release(address);
    }
    [[nodiscard]] std::optional<MemoryRange> find(const void* address) const noexcept override {
        return heap_->find(address);
    }
    [[nodiscard]] VirtualMemory* virtual_memory() noexcept override { return nullptr; }
    Result<void*> register_host(void* address, std::size_t) noexcept override { return address; }
    Status unregister_host(void*) noexcept override { return {}; }
    Status enable_peer(Device&) noexcept override { return {}; }
    Result<std::unique_ptr<Queue>> create_queue(const QueueOptions&) override {
        return std::unique_ptr<Queue>(new NullQueue);
    }
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image) override {
        Result<Image> read = read_image(image);
        if (!read.ok()) return read.status();
        if (!read->fused.empty())
            return load_fused_module(*read, [&](std::span<const std::byte> part) { return load(part); });
        return std::unique_ptr<Module>(new NullModule(*read));
    }
    Result<std::unique_ptr<Module>> load_cpu(std::span<const std::byte>, std::string_view name) override {
        return fail(207000, "the null device has no CPU cores for {}", name);
    }
    Result<std::unique_ptr<FusedKernel>> fuse(FusionPlan plan) override {
        auto kernel = std::make_unique<FusedKernel>(null_kind);
        kernel->own_info.name = std::move(plan.name);
        kernel->own_info.arguments_size = plan.arguments_size;
        kernel->info = &kernel->own_info;
        return kernel;
    }
    Result<std::shared_ptr<const Code>> load_code(std::span<const std::byte>, std::string_view name) override {
        return fail(207000, "the null device runs no code of {}", name);
    }
    Result<Fence*> create_fence() override { return static_cast<Fence*>(new NullFence); }
    Result<Executable*> prepare(const GraphPlan& plan) override {
        return static_cast<Executable*>(new NullExecutable(plan));
    }
    void quiesce() noexcept override {}
    void set_kernel_timeout(std::uint64_t) noexcept override {}
    [[nodiscard]] Nanoseconds now() const noexcept override { return canopy::now(); }

private:
    DeviceInfo info_;
    std::unique_ptr<Heap> heap_;
};

class NullBackend final : public Backend {
public:
    [[nodiscard]] std::string_view name() const noexcept override { return "null"; }
    [[nodiscard]] bool probe() noexcept override { return true; }
    Result<std::unique_ptr<Device>> open(const DeviceOptions& options) override {
        Result<std::unique_ptr<Heap>> heap =
            Heap::create({fmt::format("canopy-null-{}", options.index), options.memory, false});
        if (!heap.ok()) return heap.status();
        return std::unique_ptr<Device>(new NullDevice(options, std::move(*heap)));
    }
};

}  // namespace

Backend& null_backend() noexcept {
    static NullBackend backend;
    return backend;
}

}  // namespace canopy
