// SPDX-License-Identifier: Apache-2.0
// Writes the folder from which a block can be run again.
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/error_text.h"
#include "core/dump/failed_launch.h"
#include "core/kernel/kernel.h"
#include "dump/dump_format.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr std::size_t searched = std::size_t{1} << 20;  // bytes of an allocation, for addresses in it
constexpr std::size_t most_listed = 16;

std::string why_not_replayable(const FailedLaunch& launch) {
    const TaskFailure& failure = launch.failure;
    if (failure.opcode == Opcode::cpu_kernel) return "it is a CPU kernel";
    if (failure.fused) return "it is a step of a fused kernel; run the program with CANOPY_FUSION=off";
    if (launch.arguments.empty() && failure.arguments_size != 0) return "its arguments could not be read";
    if (!launch.stream.device->abilities().placement)
        return "the device was not a software NPU in the program's process";
    return {};
}

// Words of the argument block that point into the block itself.
Json placeholders(const FailedLaunch& launch) {
    Json list = Json::array();
    const std::uintptr_t begin = launch.failure.arguments.value();
    for (std::size_t offset = 0; offset + 8 <= launch.arguments.size(); offset += 8) {
        const std::uint64_t word = argument_word(launch.arguments, offset);
        if (word - begin < launch.arguments.size())
            list.push_back(Json(std::vector<std::uint64_t>{offset, word - begin}));
    }
    return list;
}

bool is_written(const FailedLaunch& launch, DeviceAddress base) {
    return std::any_of(launch.memories.begin(), launch.memories.end(),
                       [&](const FailedMemory& memory) { return memory.range.base == base; });
}

// Addresses inside the written memory that lead to other allocations, which are not written.
Json not_followed(const FailedLaunch& launch) {
    Json list = Json::array();
    for (const FailedMemory& memory : launch.memories) {
        std::vector<std::byte> bytes(std::min<std::size_t>(memory.range.size, searched));
        if (!read_dumped(bytes.data(), memory.source.address, bytes.size())) continue;
        for (std::size_t offset = 0; offset + 8 <= bytes.size() && list.size() < most_listed; offset += 8) {
            const DeviceAddress address(argument_word(bytes, offset));
            if (!address || !launch.stream.device->owns(address)) continue;
            const auto found = launch.stream.device->find(address);
            if (!found || is_written(launch, found->base)) continue;
            list.push_back(
                {{"allocation", memory.range.base.value()}, {"offset", offset}, {"address", address.value()}});
        }
    }
    return list;
}

Json describe(const FailedLaunch& launch) {
    const TaskFailure& failure = launch.failure;
    const LaunchWork& work = *failure.launch;
    const Settings& settings = Runtime::instance().settings();
    Json root;
    root["version"] = 1;
    root["kernel"] = launch.kernel.name;
    root["source"] = launch.kernel.source;
    root["simt"] = launch.kernel.simt;
    root["block"] = failure.block - std::min(work.block_offset, failure.block);
    root["blocks"] = work.blocks;
    root["block_offset"] = work.block_offset;
    root["dynamic_size"] = work.dynamic_size;
    root["time_limit"] = failure.kind == FaultKind::timeout ? work.timeout : 0;
    root["timed_out"] = failure.kind == FaultKind::timeout;
    root["arguments"] = hexadecimal(launch.arguments);
    root["placeholders"] = placeholders(launch);
    root["chip"] = std::string(launch.stream.record->chip->name);
    root["device_memory"] = settings.memory;
    root["checking"] = launch.stream.device->info().checking;
    root["stack_size"] = settings.stack_size;
    if (const Placement* placement = launch.stream.device->abilities().placement) {
        root["place"] = placement->addresses().base.value();
        root["place_size"] = placement->addresses().size;
    }
    root["code"] = launch.code;
    root["message"] = launch.text;
    root["what"] = std::string(failure.what);
    root["address"] = failure.address;
    root["memory_as_of"] = launch.kept ? "before the launch" : "failure";
    root["not_followed"] = not_followed(launch);
    const std::string reason = why_not_replayable(launch);
    root["replayable"] = reason.empty();
    if (!reason.empty()) root["reason"] = reason;
    return root;
}

// The bytes of the image that holds the kernel; empty if it is unloaded.
Pin<Binary> binary_of(const FailedLaunch& launch) {
    const Kernel* kernel = launch.failure.fused ? launch.failure.fused : launch.failure.kernel;
    void* user = std::atomic_ref(const_cast<Kernel*>(kernel)->user).load(std::memory_order_acquire);
    Runtime& runtime = Runtime::instance();
    const Pin<Function> function = runtime.functions.pin(handle_of(user));
    return function ? runtime.binaries.pin(function->binary) : Pin<Binary>();
}

}  // namespace

void write_replay_folder(const FailedLaunch& launch, const std::string& parent) {
    static std::atomic<std::uint32_t> next{0};
    const std::string folder =
        fmt::format("{}/{}.{}.{}.{}.{}.{}", parent, dump_name_part(launch.kernel.name), getpid(), launch.stream.id,
                    launch.failure.task, unique_dump_time(), next.fetch_add(1, std::memory_order_relaxed));
    Json facts = describe(launch);
    const Pin<Binary> binary = binary_of(launch);
    if (!binary && facts.at("replayable").get<bool>()) {
        facts["replayable"] = false;
        facts["reason"] = "its image was unloaded";
    }
    dump::DumpHead head;
    head.time = dump_time_microseconds();
    head.operator_name = launch.kernel.name;
    head.message = launch.text;
    std::vector<DumpSource> sources;
    for (const FailedMemory& memory : launch.memories) {
        head.inputs.push_back(tensor_of(memory));
        sources.push_back(memory.source);
    }
    if (!write_dump_file({folder, "memory"}, dump::encode(head), sources)) return;
    if (binary && !write_dump_file({folder, "image"},
                                   {reinterpret_cast<const char*>(binary->image.data()), binary->image.size()}, {}))
        return;
    // Written last: a folder without it is not complete.
    if (write_dump_file({folder, "replay.json"}, facts.dump(2) + "\n", {}))
        report_dump_problem(
            fmt::format("the failed launch is in {}; \"canopy replay {}\" runs its block again", folder, folder));
}

}  // namespace canopy
