// SPDX-License-Identifier: Apache-2.0
#include "profile/summary.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "profile/block_balance.h"
#include "profile/details.h"
#include "profile/duration_sums.h"
#include "profile/findings.h"
#include "profile/interval_union.h"
#include "profile/wait_causes.h"

namespace canopy::profile {
namespace {

constexpr std::size_t most_entries = std::size_t{1} << 16;  // streams, for example, of damaged files

// The entry of a key; nullptr if it is a new one and there are too many.
template <class Map>
typename Map::mapped_type* entry_of(Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    if (found != map.end()) return &found->second;
    return map.size() < most_entries ? &map[key] : nullptr;
}

double number_of(std::string_view text) noexcept {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && value >= 0 && value < 1e9 ? value : 0;
}

struct KernelSums {
    KernelSummary shown;
    DurationSums runs;
};
struct CallSums {
    CallSummary shown;
    DurationSums runs;
    std::uint64_t idle = 0;
};
struct StreamSums {
    StreamSummary shown;
    std::uint64_t busy = 0, waiting = 0;
};
struct DeviceSums {
    DeviceSummary shown;
    IntervalUnion busy;
    std::uint64_t in_blocks = 0;
    bool knows_blocks = false;  // some of them
    bool lacks_blocks = false;  // there were some that have a record if blocks are recorded
    bool has_blocks = false;    // such a record
};
struct CopySums {
    CopySummary shown;
    DurationSums runs;
};
struct ReplaySums {
    ReplaySummary shown;
    DurationSums runs;
};

class Summing {
public:
    explicit Summing(ProfileFile& file) : file_(file) {}
    Summary run();

private:
    void first(const Thread& thread, const Detailed& one);
    void second(const Thread& thread, const Detailed& one);
    void add_call(const Thread& thread, const Record& record);
    void add_task(const Thread& thread, const Detailed& one);
    void add_kernel(const Thread& thread, const Record& record);
    void add_block(const Thread& thread, const Record& record);
    DeviceSums* add_in_blocks(const Thread& thread, const Record& record);
    void add_memory(const Thread& thread, const Record& record);
    void finish_kernels();
    void finish_calls();
    void finish_streams();
    void finish_devices();
    void finish_rest();
    DeviceSums& device(std::uint32_t number);
    static Place place_of(const Thread& thread, const Record& record) {
        return {record.begin, record_end(record), thread.number, record.what() == Kind::call ? 0 : record.link};
    }

    ProfileFile& file_;
    Summary summary_;
    bool any_time_ = false;
    std::unordered_map<std::uint32_t, KernelSums> kernels_;
    std::unordered_map<std::uint32_t, DurationSums> steps_;
    std::unordered_map<std::uint32_t, CallSums> calls_;
    std::map<std::uint32_t, StreamSums> streams_;
    std::map<std::uint32_t, DeviceSums> devices_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, CopySums> copies_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, ReplaySums> replays_;
    std::unordered_map<std::uint32_t, std::uint64_t> nodes_;  // by stream
    IntervalUnion busy_;                                      // of all devices
    BlockBalance balance_;
    WaitCauses causes_;
};

DeviceSums& Summing::device(std::uint32_t number) {
    DeviceSums& one = devices_[number];
    one.shown.number = number;
    return one;
}

void Summing::first(const Thread& thread, const Detailed& one) {
    const Record& record = one.record;
    ++summary_.records;
    if (has_time(record.what())) {
        const std::uint64_t end = record_end(record);
        summary_.begin = any_time_ ? std::min<std::uint64_t>(summary_.begin, record.begin) : record.begin;
        summary_.end = any_time_ ? std::max(summary_.end, end) : end;
        any_time_ = true;
    }
    switch (record.what()) {
        case Kind::call:
            return add_call(thread, record);
        case Kind::task:
            return add_task(thread, one);
        case Kind::node:
            if (std::uint64_t* const nodes = entry_of(nodes_, stream_of(record.link))) ++*nodes;
            if (is_kernel(TaskObject::of(record.object).type)) add_kernel(thread, record);
            return;
        case Kind::block:
            return add_block(thread, record);
        case Kind::step:
            steps_[static_cast<std::uint32_t>(record.name)].add(record.duration);
            add_in_blocks(thread, record);
            return;
        case Kind::memory:
            return add_memory(thread, record);
        default:
            return;
    }
}

void Summing::add_call(const Thread& thread, const Record& record) {
    CallSums& call = calls_[static_cast<std::uint32_t>(record.name)];
    if (call.runs.add(record.duration)) call.shown.longest = place_of(thread, record);
    call.shown.failed += record.object != 0;
    call.shown.submitted += record.argument;
}

void Summing::add_task(const Thread& thread, const Detailed& one) {
    const Record& record = one.record;
    const TaskObject object = TaskObject::of(record.object);
    ++summary_.tasks;
    const std::uint32_t number = stream_of(record.link);
    const bool wait = is_wait(object.type);
    if (StreamSums* const stream = entry_of(streams_, number)) {
        stream->shown.number = number;
        stream->shown.device = object.device;
        ++stream->shown.tasks;
        stream->shown.kernels += is_kernel(object.type);
        (wait ? stream->waiting : stream->busy) += record.duration;
    }
    DeviceSums& on = device(object.device);
    ++on.shown.tasks;
    if (wait) {
        causes_.add_wait(thread, one);
    } else {
        on.busy.add(record.begin, record_end(record));
        busy_.add(record.begin, record_end(record));
    }
    if (is_kernel(object.type)) add_kernel(thread, record);
    if (object.type == TaskType::copy) {
        CopySums& copy = copies_[{object.how, object.device}];
        copy.shown.kind = copy_kind(object);
        copy.shown.device = object.device;
        copy.shown.bytes += one.bytes();
        copy.runs.add(record.duration);
    }
    if (object.type != TaskType::replay) return;
    if (ReplaySums* const replay = entry_of(replays_, {number, static_cast<std::uint32_t>(record.name)})) {
        const std::string_view name = file_.name(record);
        replay->shown.stream = number;
        replay->shown.name = name.empty() ? task_type_word(object) : name;
        replay->runs.add(record.duration);
    }
}

void Summing::add_kernel(const Thread& thread, const Record& record) {
    const TaskObject object = TaskObject::of(record.object);
    KernelSums& kernel = kernels_[static_cast<std::uint32_t>(record.name)];
    KernelSummary& shown = kernel.shown;
    if (kernel.runs.count() == 0) {
        shown.name = task_name(file_, record);
        shown.core = core_kind(object);
        shown.cpu_kernel = object.type == TaskType::cpu_kernel;
        shown.built_in = (object.flags & task_built_in) != 0;
        shown.least_blocks = record.argument;
    }
    if (kernel.runs.add(record.duration)) shown.longest = place_of(thread, record);
    shown.in_graphs += record.what() == Kind::node;
    shown.blocks += record.argument;
    shown.least_blocks = std::min<std::uint64_t>(shown.least_blocks, record.argument);
    shown.most_blocks = std::max<std::uint64_t>(shown.most_blocks, record.argument);
    shown.failed += (object.flags & task_failed) != 0;
    if (is_its_block(record))
        add_in_blocks(thread, record);
    else if (object.type == TaskType::kernel && (object.flags & (task_fused | task_dropped)) == 0)
        device(object.device).lacks_blocks = true;
}

void Summing::add_block(const Thread& thread, const Record& record) {
    if (DeviceSums* const on = add_in_blocks(thread, record)) on->has_blocks = true;
    balance_.add(record, thread.number);
}

// Time in which a worker ran blocks; those of CPU kernels ran on other threads.
DeviceSums* Summing::add_in_blocks(const Thread& thread, const Record& record) {
    if (thread.role == ThreadRole::cpu_core) return nullptr;
    const auto stream = file_.streams().find(stream_of(record.link));
    const auto known = streams_.find(stream_of(record.link));
    std::uint32_t number = 0;
    if (stream != file_.streams().end())
        number = stream->second.device;
    else if (known != streams_.end())
        number = known->second.shown.device;
    if (number > UINT8_MAX) return nullptr;
    DeviceSums& on = device(number);
    on.knows_blocks = true;
    on.in_blocks += record.duration;
    return &on;
}

void Summing::add_memory(const Thread& thread, const Record& record) {
    DeviceSummary& on = device(MemoryObject::of(record.object).device).shown;
    on.memory_at_end = record.link;
    if (on.memory_peak && *on.memory_peak >= record.link) return;
    on.memory_peak = record.link;
    on.peak = {record.begin, record.begin, thread.number, 0};
}

void Summing::second(const Thread&, const Detailed& one) {
    const Record& record = one.record;
    const auto name = static_cast<std::uint32_t>(record.name);
    if (record.what() == Kind::task) causes_.add_work(record);
    if (record.what() == Kind::call) {
        const std::uint64_t end = record_end(record);
        calls_[name].idle += end - record.begin - busy_.covered(record.begin, end);
    }
    if (record.what() != Kind::task && record.what() != Kind::node) return;
    if (!is_kernel(TaskObject::of(record.object).type)) return;
    const double length = static_cast<double>(summary_.end - summary_.begin);
    const double since = static_cast<double>(record.begin - summary_.begin);
    constexpr auto last = static_cast<double>(spark_bins - 1);
    const double bin = length > 0 ? std::clamp(since / length * static_cast<double>(spark_bins), 0.0, last) : 0;
    kernels_[name].shown.spark[static_cast<std::size_t>(bin)] += static_cast<float>(file_.duration(record.duration));
}

void Summing::finish_kernels() {
    std::uint64_t all = 0;
    for (const auto& [name, kernel] : kernels_) all += kernel.runs.total();
    for (auto& [name, kernel] : kernels_) {
        kernel.shown.name_number = name;
        kernel.shown.runs = kernel.runs.durations(file_);
        if (all > 0) kernel.shown.share = static_cast<double>(kernel.runs.total()) / static_cast<double>(all);
        summary_.kernels.push_back(std::move(kernel.shown));
    }
    for (auto& [name, step] : steps_) summary_.steps.push_back({std::string(file_.text(name)), step.durations(file_)});
}

void Summing::finish_calls() {
    for (auto& [name, call] : calls_) {
        call.shown.name_number = name;
        call.shown.name = file_.text(name);
        call.shown.runs = call.runs.durations(file_);
        call.shown.device_idle = file_.duration(call.idle);
        summary_.calls.push_back(std::move(call.shown));
    }
}

void Summing::finish_streams() {
    auto waits = causes_.by_stream(file_);
    for (auto& [number, stream] : streams_) {
        StreamSummary& shown = stream.shown;
        shown.busy = file_.duration(stream.busy);
        shown.waiting = file_.duration(stream.waiting);
        shown.idle = std::max(0.0, summary_.time - shown.busy - shown.waiting);
        if (const auto found = waits.find(number); found != waits.end()) shown.waits = std::move(found->second);
        summary_.streams.push_back(std::move(shown));
    }
}

void Summing::finish_devices() {
    for (const auto& [number, facts] : file_.devices())
        if (devices_.size() < most_entries) device(number);
    for (auto& [number, one] : devices_) {
        DeviceSummary& shown = one.shown;
        if (const auto facts = file_.devices().find(number); facts != file_.devices().end()) {
            const DeviceFacts& about = facts->second;
            shown.kind = about.kind;
            shown.chip = about.chip;
            shown.cores = std::max(about.cube_cores, about.vector_cores);
            shown.workers = about.workers;
        }
        one.busy.settle();
        shown.busy = file_.duration(one.busy.total());
        if (one.knows_blocks && (one.has_blocks || !one.lacks_blocks)) {
            shown.worker_time = file_.duration(one.in_blocks);
            if (shown.workers > 0 && summary_.time > 0)
                shown.utilisation = std::min(1.0, *shown.worker_time / (shown.workers * summary_.time));
        }
        summary_.devices.push_back(std::move(shown));
    }
}

void Summing::finish_rest() {
    for (auto& [key, copy] : copies_) {
        copy.shown.runs = copy.runs.durations(file_);
        summary_.copies.push_back(copy.shown);
    }
    for (auto& [key, replay] : replays_) {
        replay.shown.runs = replay.runs.durations(file_);
        // Nodes are counted by stream: a stream that replays several graphs shows them with the first.
        if (const auto nodes = nodes_.find(key.first); nodes != nodes_.end())
            replay.shown.nodes = std::exchange(nodes->second, 0);
        summary_.replays.push_back(std::move(replay.shown));
    }
    const auto by_total = [](auto& list) {
        std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
            return a.runs.total != b.runs.total ? a.runs.total > b.runs.total : a.runs.count > b.runs.count;
        });
    };
    const auto by_name = [](auto& list) {
        std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    };
    by_name(summary_.kernels);
    by_name(summary_.steps);
    by_name(summary_.calls);
    by_total(summary_.kernels);
    by_total(summary_.steps);
    by_total(summary_.calls);
    by_total(summary_.copies);
    by_total(summary_.replays);
}

Summary Summing::run() {
    visit_detailed(file_, [this](const Thread& thread, const Detailed& one) { first(thread, one); });
    busy_.settle();
    causes_.sort();
    summary_.time = file_.duration(summary_.end - summary_.begin);
    visit_detailed(file_, [this](const Thread& thread, const Detailed& one) { second(thread, one); });
    summary_.lost = file_.lost();
    summary_.damage = file_.damage();
    summary_.cost_of_a_record = number_of(file_.fact("cost_of_a_record_ns"));
    const double cost = summary_.cost_of_a_record * static_cast<double>(summary_.records);
    const auto threads = static_cast<double>(std::max<std::size_t>(1, file_.threads().size()));
    if (summary_.time > 0) summary_.cost_share = std::min(1.0, cost / (summary_.time * threads));
    finish_kernels();
    finish_calls();
    finish_streams();
    finish_devices();
    finish_rest();
    std::uint32_t workers = 0;
    for (const DeviceSummary& one : summary_.devices) workers = std::max(workers, one.workers);
    summary_.findings = findings_of(summary_, balance_.kernels(workers), file_.duration(1));
    return std::move(summary_);
}

}  // namespace

Summary summarise(ProfileFile& file) { return Summing(file).run(); }

}  // namespace canopy::profile
