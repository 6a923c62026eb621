// SPDX-License-Identifier: Apache-2.0
#include "profile/csv.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "foundation/json.h"
#include "profile/details.h"
#include "profile/duration_sums.h"
#include "profile/text_output.h"
#include "profile/words.h"

namespace canopy::profile {
namespace {

constexpr std::string_view no_figure = "N/A";

// A line of a table.
class Line {
public:
    explicit Line(TextOutput& out) : out_(out) {}
    ~Line() { out_.text("\n"); }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;
    Line& text(std::string_view value) {
        if (value.empty()) value = no_figure;
        next();
        if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
            out_.text(value);
            return *this;
        }
        out_.text("\"");
        for (std::size_t quote; (quote = value.find('"')) != std::string_view::npos; value.remove_prefix(quote + 1)) {
            out_.text(value.substr(0, quote));
            out_.text("\"\"");
        }
        out_.text(value);
        out_.text("\"");
        return *this;
    }
    Line& number(std::uint64_t value) {
        next();
        out_.number(value);
        return *this;
    }
    Line& time(std::int64_t nanoseconds) {
        next();
        out_.microseconds(nanoseconds);
        return *this;
    }
    Line& real(double value, int digits = 3) {
        next();
        char text[400];
        const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits).ptr;
        out_.text({text, static_cast<std::size_t>(end - text)});
        return *this;
    }
    Line& nothing(int cells = 1) {
        for (; cells > 0; --cells) text(no_figure);
        return *this;
    }

private:
    void next() {
        if (!first_) out_.text(",");
        first_ = false;
    }
    TextOutput& out_;
    bool first_ = true;
};

struct Task {
    Record record;
    std::uint32_t position = UINT32_MAX;  // of a node in its lane
    std::uint64_t wait = 0;               // ticks since the task before it in its stream, or since it was submitted
    bool has_wait = false;
};
struct Memory {
    std::uint64_t begin, bytes, in_use;
    std::uint32_t name, object;
};
struct Mark {
    Record record;
    std::uint32_t thread;
};
struct StepPoint {
    Record record;
    std::uint64_t model;
    bool has_model;
};

class Tables {
public:
    Tables(ProfileFile& file, const Summary& summary, std::string folder, std::string suffix)
        : file_(file), summary_(summary), folder_(std::move(folder)), suffix_(std::move(suffix)) {}
    WrittenTables run() {
        visit_detailed(file_, [this](const Thread& thread, const Detailed& one) { take(thread, one); });
        order();
        op_summary();
        op_statistic();
        api_statistic();
        task_time();
        step_trace();
        marks();
        marks_json();
        memory_record();
        npu_mem();
        return std::move(written_);
    }

private:
    void take(const Thread& thread, const Detailed& one);
    void order();
    void op_summary();
    void op_statistic();
    void api_statistic();
    void task_time();
    void step_trace();
    void marks();
    void marks_json();
    void memory_record();
    void npu_mem();

    template <class Fill>
    void table(std::string_view name, std::string_view header, Fill&& fill, std::string_view ending = ".csv") {
        const std::string path = folder_ + "/" + std::string(name) + "_" + suffix_ + std::string(ending);
        Expected<TextOutput> out = TextOutput::create(path);
        Problem problem = out.ok() ? Problem() : out.problem();
        if (out.ok()) {
            out->text(header);
            fill(*out);
            problem = out->finish();
        }
        if (!problem)
            written_.files.push_back(path);
        else if (!written_.problem)
            written_.problem = std::move(problem);
    }
    [[nodiscard]] std::int64_t when(std::uint64_t ticks) const { return file_.unix_time(ticks); }
    [[nodiscard]] double microseconds(std::uint64_t ticks) const { return file_.duration(ticks) / 1000; }
    // What the device did for a mark of a stream.
    [[nodiscard]] const Record* on_device(const Record& mark) const {
        const auto found = device_marks_.find(mark.link);
        return mark.link >> 32 != 0 && found != device_marks_.end() ? &found->second : nullptr;
    }

    ProfileFile& file_;
    const Summary& summary_;
    std::string folder_, suffix_;
    WrittenTables written_;
    std::vector<Task> tasks_;
    std::vector<Memory> memory_;
    std::vector<Mark> marks_;
    std::vector<StepPoint> steps_;
    std::unordered_map<std::uint64_t, Record> device_marks_;
};

void Tables::take(const Thread& thread, const Detailed& one) {
    const Record& record = one.record;
    switch (record.what()) {
        case Kind::task:
        case Kind::node: {
            Task task{record};
            if (record.what() == Kind::node) task.position = static_cast<std::uint32_t>(one.get(Detail::place));
            if (one.has(Detail::submitted) && one.get(Detail::submitted) <= record.begin) {
                task.wait = record.begin - one.get(Detail::submitted);
                task.has_wait = true;
            }
            tasks_.push_back(task);
            return;
        }
        case Kind::memory:
            memory_.push_back(
                {record.begin, record.duration, record.link, static_cast<std::uint32_t>(record.name), record.object});
            return;
        case Kind::mark:
            if (MarkArgument::of(record.argument).on_device)
                device_marks_.insert_or_assign(record.link, record);
            else
                marks_.push_back({record, thread.system_id});
            return;
        case Kind::step_point:
            steps_.push_back({record, one.get(Detail::model), one.has(Detail::model)});
            return;
        default:
            return;
    }
}

// By time; the wait of a task is what passed since the one before it in its stream.
void Tables::order() {
    const auto by_begin = [](const auto& a, const auto& b) { return a.record.begin < b.record.begin; };
    std::stable_sort(tasks_.begin(), tasks_.end(), by_begin);
    std::stable_sort(marks_.begin(), marks_.end(), by_begin);
    std::stable_sort(steps_.begin(), steps_.end(), by_begin);
    std::stable_sort(memory_.begin(), memory_.end(),
                     [](const Memory& a, const Memory& b) { return a.begin < b.begin; });
    std::unordered_map<std::uint32_t, std::uint64_t> ends;
    for (Task& task : tasks_) {
        if (task.record.what() != Kind::task) continue;
        const std::uint32_t stream = stream_of(task.record.link);
        const auto before = ends.find(stream);
        if (before != ends.end()) {
            task.wait = task.record.begin > before->second ? task.record.begin - before->second : 0;
            task.has_wait = true;
        }
        ends[stream] = record_end(task.record);
    }
}

void Tables::op_summary() {
    const auto is_operator = [](const Task& task) { return is_kernel(TaskObject::of(task.record.object).type); };
    if (std::none_of(tasks_.begin(), tasks_.end(), is_operator)) return;
    table("op_summary",
          "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,"
          "Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num,HF32 Eligible,Mix Block Num,Input Shapes,"
          "Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,Context ID,aicore_time(us),"
          "aic_total_cycles,aiv_time(us),aiv_total_cycles\n",
          [&](TextOutput& out) {
              for (const Task& task : tasks_) {
                  if (!is_operator(task)) continue;
                  const Record& record = task.record;
                  const TaskObject object = TaskObject::of(record.object);
                  Line line(out);
                  line.number(object.device).nothing().number(UINT32_MAX).number(task_of(record.link));
                  line.number(stream_of(record.link)).nothing();
                  line.text(task_name(file_, record)).text(task_name(file_, record)).nothing();
                  line.text(task_type_word(object)).time(when(record.begin)).real(microseconds(record.duration));
                  if (task.has_wait)
                      line.real(microseconds(task.wait));
                  else
                      line.nothing();
                  line.number(record.argument).nothing(8);
                  if (record.what() == Kind::node)
                      line.number(task.position);
                  else
                      line.nothing();
                  line.nothing(4);
              }
          });
}

void Tables::op_statistic() {
    // Device, name, word of the core.
    std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, DurationSums> operators;
    std::map<std::uint32_t, std::uint64_t> all;
    for (const Task& task : tasks_) {
        const TaskObject object = TaskObject::of(task.record.object);
        if (!is_kernel(object.type)) continue;
        operators[{object.device, task_name(file_, task.record), task_type_word(object)}].add(task.record.duration);
        all[object.device] += task.record.duration;
    }
    if (operators.empty()) return;
    std::vector<std::pair<std::tuple<std::uint32_t, std::string_view, std::string_view>, const DurationSums*>> rows;
    for (const auto& [key, sums] : operators) rows.emplace_back(key, &sums);
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
        return std::get<0>(a.first) != std::get<0>(b.first) ? std::get<0>(a.first) < std::get<0>(b.first)
                                                            : a.second->total() > b.second->total();
    });
    table(
        "op_statistic",
        "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)\n",
        [&](TextOutput& out) {
            for (const auto& [key, sums] : rows) {
                const Durations times = sums->durations(file_);
                const std::uint64_t of_device = all[std::get<0>(key)];
                const double share =
                    of_device == 0 ? 0 : static_cast<double>(sums->total()) / static_cast<double>(of_device);
                Line line(out);
                line.number(std::get<0>(key)).nothing().text(std::get<1>(key)).text(std::get<2>(key));
                line.number(times.count).real(times.total / 1000).real(times.least / 1000);
                line.real(times.average() / 1000).real(times.most / 1000).real(100 * share);
            }
        });
}

void Tables::api_statistic() {
    if (summary_.calls.empty()) return;
    table("api_statistic", "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n",
          [&](TextOutput& out) {
              for (const CallSummary& call : summary_.calls) {
                  Line line(out);
                  line.text("host").text(level_of(call.name)).text(call.name).real(call.runs.total / 1000);
                  line.number(call.runs.count).real(call.runs.average() / 1000).real(call.runs.least / 1000);
                  line.real(call.runs.most / 1000).real(call.runs.variance / 1e6);
              }
          });
}

void Tables::task_time() {
    if (tasks_.empty()) return;
    table("task_time",
          "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)\n",
          [&](TextOutput& out) {
              for (const Task& task : tasks_) {
                  const Record& record = task.record;
                  const TaskObject object = TaskObject::of(record.object);
                  Line line(out);
                  line.number(object.device).text(task_name(file_, record)).text(task_type_word(object));
                  line.number(stream_of(record.link)).number(task_of(record.link)).real(microseconds(record.duration));
                  line.time(when(record.begin)).time(when(record_end(record)));
              }
          });
}

// A step is from its begin to its end on one stream; its time is not known if the begin was not recorded.
void Tables::step_trace() {
    struct Step {
        std::optional<std::uint64_t> begin;
        std::uint64_t end = 0;
        std::uint32_t device = 0, number = 0;
        std::optional<std::uint64_t> model;
    };
    std::vector<Step> steps;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> begun;  // stream, number
    for (const StepPoint& point : steps_) {
        const StepObject object = StepObject::of(point.record.object);
        const std::pair<std::uint32_t, std::uint32_t> key{stream_of(point.record.link), point.record.argument};
        if (object.form == StepForm::start) begun[key] = point.record.begin;
        if (object.form != StepForm::end) continue;
        Step step;
        step.end = point.record.begin;
        step.device = object.device;
        step.number = point.record.argument;
        if (point.has_model) step.model = point.model;
        if (const auto found = begun.find(key); found != begun.end()) {
            step.begin = found->second;
            begun.erase(found);
        }
        steps.push_back(step);
    }
    if (steps.empty()) return;
    table("step_trace",
          "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
          "Iteration Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us)\n",
          [&](TextOutput& out) {
              for (const Step& step : steps) {
                  Line line(out);
                  line.number(step.device).number(step.number).nothing(2).time(when(step.end));
                  if (step.begin)
                      line.real(microseconds(step.end - *step.begin));
                  else
                      line.nothing();
                  line.nothing(3).number(step.model.value_or(UINT32_MAX)).nothing(2);
              }
          });
}

void Tables::marks() {
    if (marks_.empty()) return;
    table("msprof_tx",
          "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,"
          "message,domain,Device Start_time(us),Device End_time(us)\n",
          [&](TextOutput& out) {
              for (const Mark& mark : marks_) {
                  const Record& record = mark.record;
                  const MarkArgument about = MarkArgument::of(record.argument);
                  const Record* const device = on_device(record);
                  Line line(out);
                  if (device != nullptr && file_.streams().contains(stream_of(record.link)))
                      line.number(file_.streams().at(stream_of(record.link)).device);
                  else
                      line.text("host");
                  line.number(file_.process()).number(mark.thread).number(about.category);
                  line.text(mark_form_word(about.form))
                      .nothing(2)
                      .time(when(record.begin))
                      .time(when(record_end(record)));
                  line.nothing().text(file_.text(record.object)).text(file_.name(record));
                  if (device != nullptr)
                      line.time(when(device->begin)).time(when(record_end(*device)));
                  else
                      line.nothing(2);
              }
          });
}

void Tables::marks_json() {
    if (marks_.empty()) return;
    table(
        "msprof_tx", "[",
        [&](TextOutput& out) {
            const char* separator = "\n";
            for (const Mark& mark : marks_) {
                const Record& record = mark.record;
                out.text(std::exchange(separator, ",\n"));
                out.text("{\"name\":" + Json(file_.text(record.object)).dump() + ",\"ph\":\"X\",\"pid\":");
                out.number(file_.process());
                out.text(",\"tid\":");
                out.number(mark.thread);
                out.text(",\"ts\":\"");
                out.microseconds(when(record.begin));
                out.text("\",\"dur\":");
                out.microseconds(elapsed_nanoseconds(file_, record));
                out.text(",\"args\":{\"event_type\":\"");
                out.text(mark_form_word(MarkArgument::of(record.argument).form));
                out.text("\",\"domain\":" + Json(file_.name(record)).dump() + "}}");
            }
            out.text("\n]\n");
        },
        ".json");
}

void Tables::memory_record() {
    if (memory_.empty()) return;
    table(
        "memory_record", "Component,Timestamp(us),Total Allocated(KB),Total Reserved(KB),Device\n",
        [&](TextOutput& out) {
            for (const Memory& change : memory_) {
                Line line(out);
                line.text("RUNTIME").time(when(change.begin)).real(static_cast<double>(change.in_use) / 1024).nothing();
                line.text("NPU:" + std::to_string(MemoryObject::of(change.object).device));
            }
        });
}

void Tables::npu_mem() {
    if (memory_.empty()) return;
    table("npu_mem", "Device_id,event,ddr(KB),hbm(KB),memory(KB),timestamp(us)\n", [&](TextOutput& out) {
        for (const Memory& change : memory_) {
            Line line(out);
            line.number(MemoryObject::of(change.object).device).text("APP").real(0);
            line.real(static_cast<double>(change.in_use) / 1024).real(static_cast<double>(change.in_use) / 1024);
            line.time(when(change.begin));
        }
    });
}

}  // namespace

WrittenTables write_tables(ProfileFile& file, const Summary& summary, const std::string& folder,
                           const std::string& suffix) {
    return Tables(file, summary, folder, suffix).run();
}

}  // namespace canopy::profile
