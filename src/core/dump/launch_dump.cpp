// SPDX-License-Identifier: Apache-2.0
#include "core/dump/launch_dump.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/dump/dump_output.h"
#include "core/dump/dumping.h"
#include "core/dump/kernel_arguments.h"
#include "core/process/variables.h"
#include "dump/dump_format.h"
#include "dump/elements.h"

namespace canopy {
namespace {

// ---- one launch -----------------------------------------------------------------------------------------------------

class LaunchDump {
public:
    LaunchDump(const Stream& stream, const Command& command, std::vector<PointedBuffer> buffers)
        : stream_(stream),
          stream_id_(stream.id),
          device_(stream.record->index),
          task_(command.task),
          kernel_(command.launch.kernel->info->name),
          blocks_(command.launch.blocks),
          buffers_(std::move(buffers)) {}
    ~LaunchDump();

    std::shared_ptr<DumpSession> session;  // writes a file; may be null
    bool keeps = false;                    // for a failure

    void before() noexcept;
    void after() noexcept;
    [[nodiscard]] bool is(const Stream& stream, std::uint32_t task) const noexcept {
        return &stream == &stream_ && task == task_;
    }
    [[nodiscard]] const std::shared_ptr<KeptMemories>& kept() const noexcept { return kept_; }

private:
    void copy_inputs();
    void report_unreadable(const PointedBuffer& buffer) const;
    void keep_allocations();
    [[nodiscard]] dump::Tensor describe(const PointedBuffer& buffer) const;
    void write() const;
    void write_statistics(const std::string& name) const;
    void add_rows(std::string& table, const char* kind, bool before) const;
    [[nodiscard]] DumpSource source(std::size_t index, bool before) const;

    const Stream& stream_;
    const std::int32_t stream_id_;
    const std::uint32_t device_;
    const std::uint32_t task_;
    const std::string kernel_;
    const std::uint32_t blocks_;
    const std::vector<PointedBuffer> buffers_;
    std::vector<std::vector<std::byte>> inputs_;  // the buffers before the launch
    std::shared_ptr<KeptMemories> kept_;
};

// Launches that run now and keep memory for a failure.
struct Running {
    Mutex mutex;
    std::vector<const LaunchDump*> all CANOPY_GUARDED_BY(mutex);
};
Running& running() { return process_state<Running>(); }

LaunchDump::~LaunchDump() {
    if (!keeps) return;
    MutexLock guard(running().mutex);
    std::erase(running().all, this);
}

void LaunchDump::copy_inputs() {
    for (const PointedBuffer& buffer : buffers_) {
        std::vector<std::byte>& copy = inputs_.emplace_back(static_cast<std::size_t>(buffer.size()));
        if (!read_dumped(copy.data(), buffer.address, copy.size())) report_unreadable(buffer);
    }
}

void LaunchDump::report_unreadable(const PointedBuffer& buffer) const {
    report_dump_problem(
        fmt::format("the dump of a launch of {} is without {} bytes of memory at {} that cannot be read", kernel_,
                    buffer.size(), buffer.address));
}

void LaunchDump::keep_allocations() {
    auto kept = std::make_shared<KeptMemories>();
    for (const PointedBuffer& buffer : buffers_) {
        const auto same = [&](const KeptMemory& each) { return each.allocation.base == buffer.allocation.base; };
        if (std::any_of(kept->begin(), kept->end(), same)) continue;
        kept->push_back({buffer.allocation, std::vector<std::byte>(buffer.allocation.size)});
        KeptMemory& copy = kept->back();
        if (!read_dumped(copy.bytes.data(), copy.allocation.base, copy.bytes.size())) kept->pop_back();
    }
    MutexLock guard(running().mutex);
    kept_ = std::move(kept);
    running().all.push_back(this);
}

void LaunchDump::before() noexcept {
    try {
        if (session && session->configuration.inputs) copy_inputs();
        if (keeps) keep_allocations();
    } catch (...) {
        inputs_.clear();
        report_dump_problem("out of memory: the inputs of a launch are not dumped");
    }
}

void LaunchDump::after() noexcept {
    try {
        if (session) write();
    } catch (...) {
        report_dump_problem("out of memory: the dump of a launch is missing");
    }
}

// ---- its file -------------------------------------------------------------------------------------------------------

dump::Tensor LaunchDump::describe(const PointedBuffer& buffer) const {
    dump::Tensor tensor;
    const dump::ElementType* type = dump::element_type(buffer.data_type);
    tensor.data_type = buffer.data_type;
    tensor.size = buffer.size();
    tensor.shape = {tensor.size / (type ? type->size : 1)};
    tensor.original_shape = tensor.shape;
    tensor.address = buffer.address.value();
    tensor.offset = buffer.address - buffer.allocation.base;
    tensor.argument_index = buffer.argument_index;
    return tensor;
}

DumpSource LaunchDump::source(std::size_t index, bool before) const {
    if (before) return {device_address(inputs_[index].data()), inputs_[index].size()};
    return {buffers_[index].address, buffers_[index].size()};
}

void LaunchDump::write() const {
    const std::string kernel = dump_name_part(kernel_);
    const std::string name = fmt::format("{}.{}.{}.{}.{}", kernel, kernel, task_, stream_id_, dump_time_microseconds());
    if (session->configuration.statistics) return write_statistics(name);
    dump::DumpHead head;
    head.time = dump_time_microseconds();
    head.operator_name = kernel_;
    head.attributes = {{"blocks", std::to_string(blocks_)}};
    std::vector<DumpSource> sources;
    for (std::size_t index = 0; index < inputs_.size(); ++index) {
        head.inputs.push_back(describe(buffers_[index]));
        sources.push_back(source(index, true));
    }
    for (std::size_t index = 0; index < buffers_.size() && session->configuration.outputs; ++index) {
        head.outputs.push_back(describe(buffers_[index]));
        sources.push_back(source(index, false));
    }
    write_dump({fmt::format("{}/{}", session->folder, device_), name}, dump::encode(head), sources);
}

struct Column {
    const char* wanted;  // in dump_stats
    const char* title;
    std::string (*text)(const dump::Statistics&);
};
std::string real(const dump::Statistics& all, double value) {
    return all.has_values() ? fmt::format("{:.9g}", value) : "nan";
}
constexpr Column columns[] = {
    {"Max", "Max Value", [](const dump::Statistics& all) { return real(all, all.largest()); }},
    {"Min", "Min Value", [](const dump::Statistics& all) { return real(all, all.smallest()); }},
    {"Avg", "Avg Value", [](const dump::Statistics& all) { return real(all, all.average()); }},
    {"", "Count", [](const dump::Statistics& all) { return std::to_string(all.count()); }},
    {"Nan", "Nan Count", [](const dump::Statistics& all) { return std::to_string(all.nan_count()); }},
    {"Negative Inf", "Negative Inf Count",
     [](const dump::Statistics& all) { return std::to_string(all.negative_infinities()); }},
    {"Positive Inf", "Positive Inf Count",
     [](const dump::Statistics& all) { return std::to_string(all.positive_infinities()); }},
    {"L2norm", "l2norm", [](const dump::Statistics& all) { return real(all, all.norm()); }},
};

bool has_column(const DumpConfiguration& configuration, const Column& column) {
    const std::vector<std::string>& wanted = configuration.statistics_wanted;
    if (*column.wanted == '\0') return true;
    if (wanted.empty()) return std::string_view(column.wanted) != "L2norm";
    return std::find(wanted.begin(), wanted.end(), column.wanted) != wanted.end();
}

void LaunchDump::add_rows(std::string& table, const char* kind, bool before) const {
    for (std::size_t index = 0; index < buffers_.size(); ++index) {
        const dump::Tensor tensor = describe(buffers_[index]);
        const dump::ElementType* type = dump::element_type(tensor.data_type);
        const DumpSource from = source(index, before);
        dump::Statistics statistics(tensor.data_type);
        std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(dump_piece, from.size)));
        bool whole = true;
        for (std::uint64_t at = 0; at < from.size && whole; at += dump_piece) {
            const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(dump_piece, from.size - at));
            whole = read_dumped(bytes.data(), from.address + at, count);
            if (whole) statistics.add({bytes.data(), count});
        }
        if (!whole) report_unreadable(buffers_[index]);
        table += fmt::format("{},{},{},{},ND,{}", kind, index, tensor.size, type ? type->name : "uint8",
                             tensor.shape.front());
        for (const Column& column : columns)
            if (has_column(session->configuration, column)) table += "," + column.text(statistics);
        table += "\n";
    }
}

void LaunchDump::write_statistics(const std::string& name) const {
    std::string table = "Input/Output,Index,Data Size,Data Type,Format,Shape";
    for (const Column& column : columns)
        if (has_column(session->configuration, column)) table += std::string(",") + column.title;
    table += "\n";
    if (!inputs_.empty()) add_rows(table, "Input", true);
    if (session->configuration.outputs) add_rows(table, "Output", false);
    write_dump({fmt::format("{}/{}", session->folder, device_), name + ".csv"}, table, {});
}

// ---- submitting -----------------------------------------------------------------------------------------------------

bool keeps_memory_of(const std::string& kernel) {
    const auto pattern = environment_variable("CANOPY_DUMP_EXCEPTION_BEFORE");
    return pattern && fnmatch(std::string(*pattern).c_str(), kernel.c_str(), 0) == 0;
}

std::unique_ptr<LaunchDump> dump_of(const Stream& stream, const Command& command) {
    const LaunchWork& work = command.launch;
    const KernelInfo& kernel = *work.kernel->info;
    if (work.kernel->built_in != 0) return nullptr;
    std::shared_ptr<DumpSession> session = dump_session();
    if (session && !session->takes_launch(kernel.name)) session = nullptr;
    const bool keeps = keeps_memory_of(kernel.name);
    if (!session && !keeps) return nullptr;
    std::vector<std::byte> block(work.arguments_size);
    if (!read_device(block.data(), work.arguments(), block.size()).ok()) return nullptr;
    auto launch = std::make_unique<LaunchDump>(stream, command, pointed_buffers(kernel, block, *stream.device));
    launch->session = std::move(session);
    launch->keeps = keeps;
    return launch;
}

Command call(void (*function)(void*), LaunchDump* launch, const Command& of, bool last) {
    Command command(Opcode::inline_call);
    command.task = of.task;
    command.call = {function, launch, [](void*) {}, nullptr};
    if (last) command.call.dispose = [](void* each) { delete static_cast<LaunchDump*>(each); };
    return command;
}

Result<std::uint64_t> submit_with(Stream& stream, const Command& command, std::unique_ptr<LaunchDump> launch) {
    const Command three[] = {
        call([](void* each) { static_cast<LaunchDump*>(each)->before(); }, launch.get(), command, false), command,
        call([](void* each) { static_cast<LaunchDump*>(each)->after(); }, launch.get(), command, true)};
    Result<std::uint64_t> sequence = stream.queue->submit(three);
    if (sequence.ok()) launch.release();  // the last call deletes it
    return sequence;
}

}  // namespace

Result<std::uint64_t> submit_dumped(Stream& stream, std::span<Command> commands) noexcept {
    Result<std::uint64_t> sequence = stream.last_sequence;
    for (const Command& command : commands) {
        std::unique_ptr<LaunchDump> launch;
        try {
            if (is_kernel(command.opcode)) launch = dump_of(stream, command);
        } catch (...) {
            report_dump_problem("out of memory: a launch is not dumped");
        }
        sequence = launch ? submit_with(stream, command, std::move(launch)) : stream.queue->submit({&command, 1});
        if (!sequence.ok()) break;
    }
    return sequence;
}

std::shared_ptr<const KeptMemories> kept_before(const Stream& stream, std::uint32_t task) {
    MutexLock guard(running().mutex);
    for (const LaunchDump* launch : running().all)
        if (launch->is(stream, task)) return launch->kept();
    return nullptr;
}

}  // namespace canopy
