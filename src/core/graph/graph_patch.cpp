// SPDX-License-Identifier: Apache-2.0
#include "core/graph/graph_patch.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/check/host_check.h"
#include "core/graph/graph_build.h"
#include "core/graph/graph_edit.h"
#include "core/kernel/kernel.h"
#include "core/launch/launch.h"
#include "core/memory/copy.h"
#include "core/memory/memory.h"
#include "core/process/builtin_kernels.h"
#include "core/stream/stream.h"

namespace canopy {
namespace {

// A task found by its number in a stream.
struct Found {
    Handle graph = 0;
    GraphPlace place{};
    Command command;
    DeviceRecord* record = nullptr;
};

Result<Found> find_recorded(const void* handle, std::uint32_t number) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Result<Found> {
        const Recorder* const recorder = stream->recorder;
        if (recorder && recorder->kind() == RecorderKind::capture)
            return fail(code::stream_captured, "stream {} is being captured", stream->id);
        if (!recorder || recorder->kind() != RecorderKind::build ||
            !static_cast<const BuildRecorder*>(recorder)->bound())
            return fail(code::stream_model, "stream {} is not bound to a graph", stream->id);
        const RecorderTarget target = recorder->target();
        Result<Pin<Graph>> pinned = find_graph(opaque_of(target.graph), false);
        if (!pinned.ok()) return pinned.status();
        Graph& graph = **pinned;
        MutexLock lock(*graph.mutex);
        const std::deque<GraphTask>& tasks = graph.lanes[target.lane].tasks;
        const auto at =
            std::lower_bound(tasks.begin(), tasks.end(), number,
                             [](const GraphTask& task, std::uint32_t wanted) { return task.command.task < wanted; });
        if (at == tasks.end() || at->command.task != number)
            return fail(code::param_invalid, "stream {} has no task with the number {}", stream->id, number);
        Found found;
        found.graph = target.graph;
        found.place = {target.lane, static_cast<std::uint32_t>(at - tasks.begin())};
        found.command = at->command;
        found.record = graph.record;
        return found;
    });
}

// The argument of the command that applies a patch.
struct Patch {
    Handle stream = 0;
    Handle graph = 0;
    DeviceRecord* record = nullptr;
    GraphPlace place{};
    KernelPatch kernel;
    RandomPatch random;
    std::shared_ptr<Module> module;  // kernel patches only
};

// Replaces the task's command.
Status replace(Graph& graph, const Patch& patch, const Command& command) CANOPY_REQUIRES(*graph.mutex) {
    GraphTask& task = graph.lanes[patch.place.lane].tasks[patch.place.position];
    GraphChange change{patch.place, command};
    if (task.disabled) change.command.opcode = Opcode::nothing;
    if (Executable* const executable = retain_executable(graph)) {
        const Status status = change_commands(*executable, {&change, 1}, ChangeTime::untouched);
        executable->release();
        CANOPY_TRY(status);
    }
    task.command = command;
    return {};
}

// Calls body(Graph&, GraphTask&) with the graph of a patch locked. nullptr if the graph or the task no longer exists.
template <class Body>
const char* with_task(const Patch& patch, Body&& body) {
    const Pin<Graph> pinned = Runtime::instance().graphs.pin(patch.graph);
    if (!pinned) return nullptr;
    Graph& graph = *pinned;
    MutexLock lock(*graph.mutex);
    if (patch.place.lane >= graph.lanes.size()) return nullptr;
    std::deque<GraphTask>& tasks = graph.lanes[patch.place.lane].tasks;
    if (patch.place.position >= tasks.size()) return nullptr;
    return body.operator()(graph, tasks[patch.place.position]);  // explicit: clang 14 mixes up the arguments otherwise
}

const Kernel* find_kernel(Module& module, std::uint64_t entry) {
    const std::string suffix = "_" + std::to_string(entry);
    for (const KernelInfo& info : module.kernels())
        if (std::string_view(info.name).ends_with(suffix)) return module.kernel(info.name);
    return nullptr;
}

void keep_module(Graph& graph, const std::shared_ptr<Module>& module) CANOPY_REQUIRES(*graph.mutex) {
    if (std::find(graph.modules.begin(), graph.modules.end(), module) == graph.modules.end())
        graph.modules.push_back(module);
}

// nullptr, or an error message.
const char* apply_kernel(const Patch& patch) {
    if (!reachable(patch.kernel.entry, sizeof(std::uint64_t)) || !reachable(patch.kernel.blocks, sizeof(std::uint32_t)))
        return "the patch of a kernel found addresses that are not allocated";
    std::uint64_t entry = 0;
    std::uint32_t blocks = 0;
    if (!read_device(&entry, patch.kernel.entry, sizeof(entry)).ok() ||
        !read_device(&blocks, patch.kernel.blocks, sizeof(blocks)).ok())
        return "the patch of a kernel cannot be read from its device";
    if (blocks == 0 || blocks > max_blocks) return "the patch of a kernel found an invalid number of blocks";
    const Kernel* const kernel = find_kernel(*patch.module, entry);
    if (!kernel) return "the patch of a kernel found an entry that the binary does not have";
    return with_task(patch, [&](Graph& graph, GraphTask& task) CANOPY_REQUIRES(*graph.mutex) -> const char* {
        Command command = task.command;
        if (kernel->info->arguments_size > command.launch.arguments_size ||
            kernel->info->simt != command.launch.kernel->info->simt)
            return "the patch of a kernel found a kernel with different arguments";
        keep_module(graph, patch.module);
        command.launch.blocks = blocks;
        if (!complete(command, *kernel, *graph.record).ok())
            return "the patch of a kernel found a kernel that is not fused";
        if (!replace(graph, patch, command).ok()) return "the patch of a kernel does not fit its graph";
        task.function = handle_of(std::atomic_ref(const_cast<Kernel*>(kernel)->user).load(std::memory_order_acquire));
        return nullptr;
    });
}

const char* apply_random(const Patch& patch) {
    if (!reachable(patch.random.source, patch.random.size))
        return "the patch of a random-number task found addresses that are not allocated";
    std::vector<std::byte> bytes(patch.random.size);
    if (!read_device(bytes.data(), patch.random.source, bytes.size()).ok())
        return "the patch of a random-number task cannot be read from its device";
    Result<RandomTask> task = patch.random.read(bytes.data());
    if (!task.ok()) return "the patch of a random-number task found parameters that contradict each other";
    Result<Command> command = random_command(*task, *patch.record);
    if (!command.ok()) return "the patch of a random-number task found invalid parameters";
    return with_task(patch, [&](Graph& graph, GraphTask& present) CANOPY_REQUIRES(*graph.mutex) -> const char* {
        if (!same_kind(present.command, *command))
            return "the patch of a random-number task found another task in its place";
        command->task = present.command.task;
        // The graph's own copy has the same size. Executables have another.
        auto* const kept = const_cast<void*>(present.command.launch.host_arguments());
        if (!replace(graph, patch, *command).ok()) return "the patch of a random-number task does not fit its graph";
        std::memcpy(kept, command->launch.host_arguments(), command->launch.arguments_size);
        present.command.launch.set_arguments(kept);
        return nullptr;
    });
}

void run_patch(void* argument) {
    const Patch& patch = *static_cast<const Patch*>(argument);
    const char* wrong = nullptr;
    try {
        wrong = patch.module ? apply_kernel(patch) : apply_random(patch);
    } catch (...) {
        wrong = "out of host memory in the patch of a task";
    }
    if (wrong) fail_stream(patch.stream, code::param_invalid, wrong);
}

void dispose_patch(void* argument) { delete static_cast<Patch*>(argument); }

Status submit(std::unique_ptr<Patch> patch, const void* handle) {
    return with_stream(handle, [&](LockedStream& stream) CANOPY_REQUIRES(stream->lock) -> Status {
        if (const Recorder* recorder = stream->recorder) {
            if (recorder->kind() == RecorderKind::build)
                return fail(code::stream_model, "stream {} is persistent: patches run on ordinary streams only",
                            stream->id);
            return fail(code::stream_captured, "stream {} is being recorded: patches cannot be recorded", stream->id);
        }
        patch->stream = stream->self;
        Command command(Opcode::inline_call);
        command.call = {&run_patch, patch.get(), [](void*) {}, &dispose_patch};
        CANOPY_TRY(stream.submit(command));
        patch.release();
        return {};
    });
}

}  // namespace

Status patch_kernel(const void* task_stream, std::uint32_t task, const KernelPatch& kernel, const void* stream) {
    Result<Found> found = find_recorded(task_stream, task);
    if (!found.ok()) return found.status();
    if (found->command.opcode != Opcode::launch || builtin_of(found->command) != Builtin::none)
        return fail(code::param_invalid, "task {} is not a kernel", task);
    Result<Pin<Binary>> binary = find_binary(opaque_of(kernel.binary));
    if (!binary.ok()) return binary.status();
    Result<std::shared_ptr<Module>> module = (*binary)->module_for(*found->record);
    if (!module.ok()) return module.status();
    auto patch = std::make_unique<Patch>();
    patch->graph = found->graph;
    patch->record = found->record;
    patch->place = found->place;
    patch->kernel = kernel;
    patch->module = std::move(*module);
    return submit(std::move(patch), stream);
}

Status patch_random(const void* task_stream, std::uint32_t task, const RandomPatch& random, const void* stream) {
    Result<Found> found = find_recorded(task_stream, task);
    if (!found.ok()) return found.status();
    if (builtin_of(found->command) != Builtin::random)
        return fail(code::param_invalid, "task {} does not generate random numbers", task);
    auto patch = std::make_unique<Patch>();
    patch->graph = found->graph;
    patch->record = found->record;
    patch->place = found->place;
    patch->random = random;
    return submit(std::move(patch), stream);
}

}  // namespace canopy
