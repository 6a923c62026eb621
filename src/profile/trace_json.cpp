// SPDX-License-Identifier: Apache-2.0
#include "profile/trace_json.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/json.h"
#include "profile/details.h"
#include "profile/text_output.h"
#include "profile/trace_arrows.h"
#include "profile/words.h"

namespace canopy::profile {
namespace {

// The processes of a trace, as the field's tools number them; those from `workers` on are ours.
enum class Layer : std::uint32_t { program = 6, cann = 7, hardware = 13, memory = 16, workers = 24, copies = 25 };
constexpr std::uint32_t host_device = 31;

// Rows of a stream besides its own, which has the number of the stream. Viewers take 32 bits.
constexpr std::uint64_t rows_of_lane = 1'000'000;  // times the lane, up to 999
constexpr std::uint64_t rows_of_marks = 1'000'000'000;
constexpr std::size_t most_rows = std::size_t{1} << 16;  // of damaged files; later ones have no names

std::string quoted(std::string_view text) { return Json(text).dump(); }

class Writing {
public:
    Writing(ProfileFile& file, TextOutput& out) : file_(file), out_(out), arrows_(file), names_(first_free_text) {}
    TraceCounts run() {
        out_.text("[");
        visit_detailed(file_, [this](const Thread& thread, const Detailed& one) { take(thread, one); });
        write_rows();
        write_facts();
        out_.text("\n]\n");
        counts_.bytes = out_.size();
        return counts_;
    }

private:
    struct Row {
        std::uint64_t process, thread;
    };
    struct RowHash {
        std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& row) const noexcept {
            return (row.first * 0x9E3779B97F4A7C15u) ^ (row.second * 0xC2B2AE3D27D4EB4Fu);
        }
    };

    void take(const Thread& thread, const Detailed& one);
    void call(const Thread& thread, const Record& record);
    void task(const Thread& thread, const Detailed& one);
    void task_arrows(const Detailed& one, Row row);
    void node(const Thread& thread, const Detailed& one);
    void copy(const Detailed& one);
    void part(const Thread& thread, const Record& record);
    void mark(const Thread& thread, const Record& record);
    void range(const Record& record, Row row);
    void step_point(const Detailed& one);
    void memory(const Record& record);
    void counter(const Record& record);
    void idle(const Thread& thread, const Record& record);
    void write_rows();
    void write_process(std::uint64_t process);
    void write_facts();

    // Events: begin with `event`, then members, then `end_event`.
    void event(std::string_view name_in_quotes, std::string_view phase, Row row);
    void time(std::uint64_t ticks);
    void duration(const Record& record);
    void end_event(bool arguments);
    void arrow(std::string_view category, std::string_view phase, std::uint64_t number, Row row, std::uint64_t ticks);
    void task_event(const Record& record, Row row);
    void task_arguments(const Detailed& one);

    void text(std::string_view text) { out_.text(text); }
    template <class Number>
    void number(std::string_view before, Number value) {
        out_.text(before);
        out_.number(value);
    }
    const std::string& name_of(std::uint32_t number);
    [[nodiscard]] std::uint64_t process_of(Layer layer, std::uint32_t device) const noexcept {
        return file_.process() * 1024 + static_cast<std::uint32_t>(layer) * 32 + std::min(device, host_device);
    }
    // Remembers the row, to name it at the end.
    template <class Name>
    Row row(Layer layer, std::uint32_t device, std::uint64_t thread, Name&& name) {
        const Row row{process_of(layer, device), thread};
        if (row.process == last_.process && row.thread == last_.thread) return row;
        last_ = row;
        if (rows_.size() < most_rows && !rows_.contains({row.process, thread}))
            rows_.emplace(std::pair(row.process, thread), name());
        return row;
    }
    Row host_row(Layer layer, const Thread& thread);
    Row stream_row(std::uint32_t device, std::uint32_t stream);
    Row worker_row(const Thread& thread);
    [[nodiscard]] std::uint32_t device_of_stream(std::uint32_t stream) const noexcept {
        const auto found = file_.streams().find(stream);
        return found == file_.streams().end() ? 0 : found->second.device;
    }

    ProfileFile& file_;
    TextOutput& out_;
    TraceArrows arrows_;
    TraceCounts counts_;
    std::vector<std::string> names_;  // in quotes, by number; empty: not made yet
    std::string uncached_;
    std::unordered_map<std::pair<std::uint64_t, std::uint64_t>, std::string, RowHash> rows_;
    Row last_{};
    bool first_ = true;
    std::uint64_t ranges_ = 0;
};

const std::string& Writing::name_of(std::uint32_t number) {
    if (number >= names_.size()) return uncached_ = quoted(file_.text(number));
    std::string& name = names_[number];
    if (name.empty()) name = quoted(file_.text(number));
    return name;
}

Writing::Row Writing::host_row(Layer layer, const Thread& thread) {
    return row(layer, host_device, thread.system_id != 0 ? thread.system_id : thread.number, [&] {
        std::string name = "Thread " + std::to_string(thread.system_id);
        return thread.name.empty() ? name : name + " (" + thread.name + ")";
    });
}

Writing::Row Writing::stream_row(std::uint32_t device, std::uint32_t stream) {
    return row(Layer::hardware, device, stream, [&] { return "Stream " + std::to_string(stream); });
}

Writing::Row Writing::worker_row(const Thread& thread) {
    return row(Layer::workers, host_device, thread.number,
               [&] { return thread.name.empty() ? "Thread " + std::to_string(thread.number) : thread.name; });
}

void Writing::event(std::string_view name_in_quotes, std::string_view phase, Row row) {
    text(first_ ? "\n{\"name\":" : ",\n{\"name\":");
    first_ = false;
    text(name_in_quotes);
    text(",\"ph\":\"");
    text(phase);
    number("\",\"pid\":", row.process);
    number(",\"tid\":", row.thread);
}

void Writing::time(std::uint64_t ticks) {
    text(",\"ts\":\"");
    out_.microseconds(file_.unix_time(ticks));
    text("\"");
}

void Writing::duration(const Record& record) {
    text(",\"dur\":");
    out_.microseconds(elapsed_nanoseconds(file_, record));
}

void Writing::end_event(bool arguments) { text(arguments ? "}}" : "}"); }

void Writing::arrow(std::string_view category, std::string_view phase, std::uint64_t number_of_arrow, Row row,
                    std::uint64_t ticks) {
    const std::string name = '"' + std::string(category) + std::to_string(number_of_arrow << 32) + '"';
    event(name, phase, row);
    number(",\"id\":", number_of_arrow << 32);
    text(",\"cat\":\"");
    text(category);
    text(phase == "f" ? "\",\"bp\":\"e\"" : "\"");
    time(ticks);
    end_event(false);
}

void Writing::take(const Thread& thread, const Detailed& one) {
    switch (one.record.what()) {
        case Kind::call:
            return call(thread, one.record);
        case Kind::task:
            return task(thread, one);
        case Kind::node:
            return node(thread, one);
        case Kind::block:
        case Kind::step:
        case Kind::piece:
            return part(thread, one.record);
        case Kind::memory:
            return memory(one.record);
        case Kind::mark:
            return mark(thread, one.record);
        case Kind::counter:
            return counter(one.record);
        case Kind::step_point:
            return step_point(one);
        case Kind::idle:
            return idle(thread, one.record);
        default:
            return;
    }
}

void Writing::call(const Thread& thread, const Record& record) {
    ++counts_.calls;
    const auto number_of_name = static_cast<std::uint32_t>(record.name);
    const std::string_view level = level_of(file_.text(number_of_name));
    const std::string& name = name_of(number_of_name);
    const Row row = host_row(Layer::cann, thread);
    const std::string_view prefix = level == "runtime" ? "Runtime@"
                                    : level == "node"  ? "Node@"
                                    : level == "model" ? "Model@"
                                                       : "AscendCL@";
    std::string shown;
    shown.reserve(prefix.size() + name.size() + 1);
    shown.append(1, '"').append(prefix).append(name, 1);
    event(shown, "X", row);
    time(record.begin);
    duration(record);
    number(",\"args\":{\"Thread Id\":", row.thread);
    text(",\"Mode\":");
    text(name);
    text(",\"level\":\"");
    text(level);
    text("\",\"id\":");
    text(name);
    text(",\"item_id\":\"N/A\"");
    const std::uint64_t launched = record.link != 0 ? arrows_.launch(record.link) : 0;
    if (launched != 0) number(",\"connection_id\":", launched);
    if (record.object != 0) number(",\"code\":", record.object);
    end_event(true);
    if (launched != 0 && arrows_.first_call(record.link)) {
        arrow("HostToDevice", "s", launched, row, record.begin);
        ++counts_.launch_arrows;
    }
}

// Only kernels are shown by their names.
void Writing::task_event(const Record& record, Row row) {
    const TaskObject object = TaskObject::of(record.object);
    const auto name = static_cast<std::uint32_t>(record.name);
    if (is_kernel(object.type) && !file_.text(name).empty())
        event(name_of(name), "X", row);
    else
        event('"' + std::string(task_type_word(object)) + '"', "X", row);
    time(record.begin);
    duration(record);
}

void Writing::task_arguments(const Detailed& one) {
    const Record& record = one.record;
    const TaskObject object = TaskObject::of(record.object);
    text(",\"args\":{\"Model Id\":4294967295,\"Task Type\":\"");
    text(task_type_word(object));
    number("\",\"Physic Stream Id\":", stream_of(record.link));
    number(",\"Task Id\":", task_of(record.link));
    text(",\"Batch Id\":0,\"Subtask Id\":");
    if (record.what() == Kind::node && one.has(Detail::place))
        out_.number(one.get(Detail::place) & UINT32_MAX);
    else
        text("4294967295");
    if (is_kernel(object.type)) number(",\"Block Num\":", record.argument);
    if (object.type == TaskType::copy || object.type == TaskType::fill) {
        number(",\"size(B)\":", one.bytes());
        const double time = file_.duration(record.duration);
        if (time > 0) {
            text(",\"bandwidth(GB/s)\":");
            // Thousandths of a GB/s, written as a number with three decimals.
            out_.microseconds(
                static_cast<std::int64_t>(std::min(static_cast<double>(one.bytes()) / time * 1000, 1e15)));
        }
    }
    if (object.type == TaskType::copy) {
        text(",\"operation\":\"");
        text(copy_word(copy_kind(object)));
        text("\"");
    }
    if (one.has(Detail::waits_for)) number(",\"waits for\":", one.get(Detail::waits_for));
    if (one.has(Detail::released_by)) {
        const std::uint64_t by = one.get(Detail::released_by);
        if (by == 0) {
            text(",\"released by\":\"host\"");
        } else {
            number(",\"released by\":\"stream ", stream_of(by));
            number(" task ", task_of(by));
            text("\"");
        }
    }
    if (one.has(Detail::submitted)) {
        text(",\"submitted\":\"");
        out_.microseconds(file_.unix_time(one.get(Detail::submitted)));
        text("\"");
    }
    if ((object.flags & task_fused) != 0) text(",\"fused\":true");
    if ((object.flags & task_built_in) != 0) text(",\"built in\":true");
    if ((object.flags & task_dropped) != 0) text(",\"dropped\":true");
    if ((object.flags & task_failed) != 0) number(",\"failed\":true,\"code\":", one.get(Detail::code));
}

void Writing::task(const Thread& thread, const Detailed& one) {
    ++counts_.tasks;
    const Record& record = one.record;
    const TaskObject object = TaskObject::of(record.object);
    const Row row = stream_row(object.device, stream_of(record.link));
    task_event(record, row);
    task_arguments(one);
    if (const std::uint64_t launched = arrows_.launch(record.link); launched != 0)
        number(",\"connection_id\":", launched);
    end_event(true);
    task_arrows(one, row);
    if (object.type == TaskType::copy) copy(one);
    if (is_its_block(record)) part(thread, record);
}

void Writing::task_arrows(const Detailed& one, Row row) {
    const Record& record = one.record;
    if (!arrows_.first_task(record.link)) return;
    if (const std::uint64_t launched = arrows_.launch(record.link); launched != 0)
        arrow("HostToDevice", "f", launched, row, record.begin);
    arrows_.leaving(record.link, [&](std::uint64_t number) { arrow("EventWait", "s", number, row, record.begin); });
    if (!is_wait(TaskObject::of(record.object).type)) return;
    if (const std::uint64_t number = arrows_.arriving(one.get(Detail::released_by), record.link); number != 0) {
        arrow("EventWait", "f", number, row, record_end(record));
        ++counts_.wait_arrows;
    }
}

// The first lane lies below the replay in the row of the stream, each other lane in a separate row.
void Writing::node(const Thread& thread, const Detailed& one) {
    ++counts_.nodes;
    const Record& record = one.record;
    const TaskObject object = TaskObject::of(record.object);
    const std::uint32_t stream = stream_of(record.link);
    const std::uint64_t lane = one.get(Detail::place) >> 32;
    const Row at = lane == 0 ? stream_row(object.device, stream)
                             : row(Layer::hardware, object.device, lane % 1000 * rows_of_lane + stream, [&] {
                                   return "Stream " + std::to_string(stream) + ", lane " + std::to_string(lane);
                               });
    task_event(record, at);
    task_arguments(one);
    number(",\"lane\":", lane);
    end_event(true);
    if (is_its_block(record)) part(thread, record);
}

void Writing::copy(const Detailed& one) {
    const Record& record = one.record;
    const TaskObject object = TaskObject::of(record.object);
    const std::uint32_t stream = stream_of(record.link);
    const Row at = row(Layer::copies, object.device, stream, [&] { return "Stream " + std::to_string(stream); });
    event(quoted(copy_word(copy_kind(object))), "X", at);
    time(record.begin);
    duration(record);
    number(",\"args\":{\"size(B)\":", one.bytes());
    end_event(true);
}

// Blocks, also those that are their task, steps and pieces of copies, on the thread that ran them.
void Writing::part(const Thread& thread, const Record& record) {
    const Row at = worker_row(thread);
    const std::uint32_t number_of_name = static_cast<std::uint32_t>(record.name);
    const bool unnamed = file_.text(number_of_name).empty();
    const Kind kind = record.what();
    event(unnamed ? (kind == Kind::piece  ? "\"copy\""
                     : kind == Kind::step ? "\"step\""
                                          : "\"block\"")
                  : std::string_view(name_of(number_of_name)),
          "X", at);
    time(record.begin);
    duration(record);
    if (kind == Kind::block) {
        ++counts_.blocks;
        number(",\"args\":{\"block\":", record.object & ~block_vector_core);
        if ((record.object & block_vector_core) != 0) text(",\"core\":\"vector\"");
        if (record.argument != 0) number(",\"piece\":", record.argument);
    } else if (kind == Kind::step) {
        ++counts_.steps;
        number(",\"args\":{\"step\":", record.object);
    } else if (kind == Kind::piece) {
        ++counts_.pieces;
        number(",\"args\":{\"size(B)\":", record.argument);
    } else {
        ++counts_.blocks;
        text(",\"args\":{\"block\":0");
    }
    number(",\"Physic Stream Id\":", stream_of(record.link));
    number(",\"Task Id\":", task_of(record.link));
    end_event(true);
}

void Writing::mark(const Thread& thread, const Record& record) {
    ++counts_.marks;
    const MarkArgument about = MarkArgument::of(record.argument);
    const std::uint32_t stream = stream_of(record.link);
    const Row at = about.on_device ? row(Layer::hardware, device_of_stream(stream), rows_of_marks + stream,
                                         [&] { return "Stream " + std::to_string(stream) + ", marks"; })
                                   : host_row(Layer::program, thread);
    const std::uint64_t pair = arrows_.mark(record.link);
    if (about.form == MarkForm::range) {
        range(record, at);
    } else {
        const bool lasts = about.form == MarkForm::pushed;
        event(name_of(record.object), lasts ? "X" : "i", at);
        time(record.begin);
        if (lasts)
            duration(record);
        else
            text(",\"s\":\"t\"");
        text(",\"args\":{\"domain\":");
        text(name_of(static_cast<std::uint32_t>(record.name)));
        text(",\"event_type\":\"");
        text(mark_form_word(about.form));
        number("\",\"category\":", about.category);
        end_event(true);
    }
    if (pair == 0 || !(about.on_device ? arrows_.first_device_mark(record.link) : arrows_.first_mark(record.link)))
        return;
    arrow("MsTx", about.on_device ? "f" : "s", pair, at, record.begin);
    counts_.mark_arrows += about.on_device;
}

// Ranges of one thread may cross, which slices of one row cannot.
void Writing::range(const Record& record, Row row) {
    ++ranges_;
    for (const char* phase : {"b", "e"}) {
        event(name_of(record.object), phase, row);
        number(",\"cat\":\"range\",\"id\":", ranges_);
        time(*phase == 'b' ? record.begin : record_end(record));
        text(",\"args\":{\"domain\":");
        text(name_of(static_cast<std::uint32_t>(record.name)));
        end_event(true);
    }
}

void Writing::step_point(const Detailed& one) {
    const Record& record = one.record;
    const StepObject object = StepObject::of(record.object);
    const std::uint32_t stream = stream_of(record.link);
    const Row at = row(Layer::hardware, object.device, rows_of_marks + stream,
                       [&] { return "Stream " + std::to_string(stream) + ", marks"; });
    const char* const form = object.form == StepForm::start ? " begins" : object.form == StepForm::end ? " ends" : "";
    event('"' + std::string("Step ") + std::to_string(record.argument) + form + '"', "i", at);
    time(record.begin);
    number(",\"s\":\"t\",\"args\":{\"step\":", record.argument);
    number(",\"tag\":", object.tag);
    number(",\"model\":", one.get(Detail::model));
    end_event(true);
}

void Writing::memory(const Record& record) {
    ++counts_.memory;
    const MemoryObject object = MemoryObject::of(record.object);
    event("\"Memory in use\"", "C", {process_of(Layer::memory, object.device), 0});
    last_ = {};
    row(Layer::memory, object.device, 0, [] { return std::string("Memory"); });
    time(record.begin);
    number(",\"args\":{\"bytes\":", record.link);
    end_event(true);
}

void Writing::counter(const Record& record) {
    const bool of_all = record.object == all_devices;
    const Row at = row(of_all ? Layer::cann : Layer::hardware, of_all ? host_device : record.object, 0,
                       [] { return std::string("Counters"); });
    event(name_of(static_cast<std::uint32_t>(record.name)), "C", at);
    time(record.begin);
    number(",\"args\":{\"value\":", record.link);
    end_event(true);
}

void Writing::idle(const Thread& thread, const Record& record) {
    const bool host = thread.role == ThreadRole::host;
    const Row at = host ? host_row(Layer::cann, thread) : worker_row(thread);
    event(host ? "\"waits\"" : "\"no work\"", "X", at);
    time(record.begin);
    duration(record);
    end_event(false);
}

void Writing::write_process(std::uint64_t process) {
    const auto layer = static_cast<Layer>(process % 1024 / 32);
    const std::uint64_t device = process % 32;
    std::string name, label = device == host_device ? "CPU" : "NPU " + std::to_string(device);
    switch (layer) {
        case Layer::program:
            name = file_.fact("program").empty() ? "program" : file_.fact("program");
            name = name.substr(name.rfind('/') + 1);
            break;
        case Layer::cann:
            name = "CANN";
            break;
        case Layer::hardware:
            name = "Ascend Hardware";
            break;
        case Layer::memory:
            name = "NPU MEM";
            break;
        case Layer::workers:
            name = "Workers";
            break;
        case Layer::copies:
            name = "Copies";
            break;
    }
    const Row row{process, 0};
    event("\"process_name\"", "M", row);
    text(",\"args\":{\"name\":" + quoted(name));
    end_event(true);
    event("\"process_labels\"", "M", row);
    text(",\"args\":{\"labels\":" + quoted(label));
    end_event(true);
    event("\"process_sort_index\"", "M", row);
    number(",\"args\":{\"sort_index\":", static_cast<std::uint32_t>(layer));
    end_event(true);
}

void Writing::write_rows() {
    std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::string>> rows(rows_.begin(), rows_.end());
    std::sort(rows.begin(), rows.end());
    std::uint64_t process = UINT64_MAX;
    for (const auto& [key, name] : rows) {
        if (key.first != process) write_process(process = key.first);
        const Row row{key.first, key.second};
        event("\"thread_name\"", "M", row);
        text(",\"args\":{\"name\":" + quoted(name));
        end_event(true);
        // A stream's other rows lie below its own.
        const std::uint64_t stream = key.second % rows_of_lane;
        const std::uint64_t below = key.second / rows_of_lane;
        event("\"thread_sort_index\"", "M", row);
        number(",\"args\":{\"sort_index\":",
               below == 0 ? stream * 16 : stream * 16 + std::min<std::uint64_t>(below, 15));
        end_event(true);
    }
}

// What the profile is, and what is missing in it.
void Writing::write_facts() {
    const Row row{process_of(Layer::cann, host_device), 0};
    const std::uint64_t lost = file_.lost();
    const std::string& damage = file_.damage();
    event("\"canopy_profile\"", "M", row);
    text(",\"args\":{");
    for (const char* key : {"program", "arguments", "host", "processor", "version", "cost_of_a_record_ns"})
        if (!file_.fact(key).empty()) text(quoted(key) + ":" + quoted(file_.fact(key)) + ",");
    number("\"records\":", file_.record_count());
    number(",\"lost_records\":", lost);
    text(",\"damage\":" + quoted(damage));
    end_event(true);
    if (lost == 0 && damage.empty()) return;
    std::string words = lost != 0 ? std::to_string(lost) + " records were lost" : "";
    if (!damage.empty()) words += (words.empty() ? "damaged: " : "; damaged: ") + damage;
    event("\"process_labels\"", "M", row);
    text(",\"args\":{\"labels\":" + quoted("CPU, " + words));
    end_event(true);
}

}  // namespace

Problem write_trace_json(ProfileFile& file, const std::string& path, TraceCounts* counts) {
    Expected<TextOutput> out = TextOutput::create(path);
    if (!out.ok()) return out.problem();
    const TraceCounts written = Writing(file, *out).run();
    if (counts != nullptr) *counts = written;
    return out->finish();
}

}  // namespace canopy::profile
