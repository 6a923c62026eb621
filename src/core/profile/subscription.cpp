// SPDX-License-Identifier: Apache-2.0
#include "core/profile/subscription.h"

#include <fcntl.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "base/ticks.h"
#include "core/base/error_codes.h"
#include "core/graph/graph.h"
#include "core/graph/replay_notes.h"
#include "core/process/profiler_section.h"
#include "core/process/runtime.h"
#include "core/profile/modes.h"
#include "core/profile/operator_records.h"
#include "core/profile/record_pipe.h"
#include "foundation/mutex.h"
#include "record/recorder.h"

namespace canopy {
namespace {

using profile::Kind;
using profile::Record;

struct SubscriptionConfig {
    bool with_times = false;
    int pipe = -1;
    void recycle() noexcept { *this = {}; }
};

// Turns the records of a model's tasks into those of its pipe. Called by the collector, one call at a time.
class ModelListener final : public record::Listener {
public:
    ModelListener(std::uint32_t model, bool with_times, std::shared_ptr<RecordPipe> pipe)
        : model_(model), with_times_(with_times), pipe_(std::move(pipe)) {}

    void records(std::uint32_t thread, std::span<const Record> records) override {
        Pending& pending = pending_[thread];
        for (const Record& record : records) {
            // A node is followed by the detail that says its place.
            if (pending.open && record.what() == Kind::detail && record.link == pending.node.link &&
                record.object == static_cast<std::uint32_t>(profile::Detail::place)) {
                pending.place = record.begin;
                continue;
            }
            send(pending);
            if (record.what() == Kind::node && graph_of_replay(record.link) == model_)
                pending = {record, std::nullopt, true};
        }
    }
    void text(std::uint32_t number, std::string_view text) override {
        if (number < profile::first_free_text) names_[number] = text;
    }
    void thread(const profile::Thread&) override {}
    void device(const profile::DeviceFacts&) override {}
    void stream(const profile::StreamFacts&) override {}
    void lost(std::uint32_t, std::uint64_t count) override { lost_ += count; }

    // After the last call of the collector.
    void finish() {
        for (auto& [thread, pending] : pending_) send(pending);
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] const std::shared_ptr<RecordPipe>& pipe() const noexcept { return pipe_; }

private:
    struct Pending {
        Record node{};
        std::optional<std::uint64_t> place;
        bool open = false;
    };

    void send(Pending& pending) {
        if (!pending.open) return;
        pending.open = false;
        const Record& node = pending.node;
        const std::string& type = names_[static_cast<std::uint32_t>(node.name)];
        std::string name = type;
        if (pending.place) name += fmt::format("_{}_{}", *pending.place >> 32, *pending.place & UINT32_MAX);
        OperatorRecord record;
        record.model = model_;
        record.operation = number_operation(type, name);
        record.device = profile::TaskObject::of(node.object).device;
        if (with_times_) {
            record.start = static_cast<std::uint64_t>(time_of(node.begin));
            record.end = static_cast<std::uint64_t>(time_of(node.begin + node.duration));
            record.duration = record.execution_time = record.end - record.start;
        }
        record.sign();
        pipe_->send(record);
    }

    const std::uint32_t model_;
    const bool with_times_;
    const std::shared_ptr<RecordPipe> pipe_;
    std::unordered_map<std::uint32_t, std::string> names_;
    std::unordered_map<std::uint32_t, Pending> pending_;  // by thread
    std::uint64_t lost_ = 0;
};

struct Subscriptions {
    HandleTable<SubscriptionConfig> configs{HandleKind::profile_subscription};
    Mutex mutex;
    std::map<std::uint32_t, std::shared_ptr<ModelListener>> active CANOPY_GUARDED_BY(mutex);
    pid_t owner CANOPY_GUARDED_BY(mutex) = 0;
};

Subscriptions& subscriptions() { return process_state<Subscriptions>(); }

// The threads behind the subscriptions of a parent do not exist here, so nothing of them can be ended.
void forget_parents(Subscriptions& all) CANOPY_REQUIRES(all.mutex) {
    if (all.owner == getpid()) return;
    if (!all.active.empty()) {
        static_cast<void>(new auto(std::move(all.active)));
        all.active.clear();
        replays_are_noted.store(false, std::memory_order_relaxed);
    }
    all.owner = getpid();
}

bool model_exists(std::uint32_t model) {
    bool found = false;
    Runtime::instance().graphs.for_each(
        [&](const Pin<Graph>& graph) { found = found || (graph->id == model && graph->parent == 0); });
    return found;
}

// Two subscriptions may use one pipe.
std::shared_ptr<RecordPipe> pipe_for(Subscriptions& all, int file) CANOPY_REQUIRES(all.mutex) {
    for (const auto& [model, listener] : all.active)
        if (listener->pipe()->file() == file) return listener->pipe();
    return std::make_shared<RecordPipe>(file);
}

Status refuse_pipe(int pipe) { return fail(code::invalid_parameter, "{} is not an open file descriptor", pipe); }

}  // namespace

Result<Handle> create_subscription(bool with_times, std::uint32_t metrics, int pipe) {
    if (!known_core_metrics(metrics)) return fail(code::invalid_parameter, "aicoreMetrics {} is not known", metrics);
    if (fcntl(pipe, F_GETFD) < 0) return refuse_pipe(pipe);
    const Handle handle = subscriptions().configs.open([&](SubscriptionConfig& config, Handle) {
        config.with_times = with_times;
        config.pipe = pipe;
    });
    if (handle == 0) return fail(code::bad_alloc, "too many descriptions of subscriptions");
    return handle;
}

Status destroy_subscription(const void* config) {
    if (config == nullptr) return fail_null("profSubscribeConfig");
    if (subscriptions().configs.close(handle_of(config))) return {};
    return fail(code::invalid_parameter, "profSubscribeConfig {} is not a description of a subscription", config);
}

Status subscribe_model(std::uint32_t model, const void* handle) {
    if (handle == nullptr) return fail_null("profSubscribeConfig");
    Subscriptions& all = subscriptions();
    const Pin<SubscriptionConfig> config = all.configs.pin(handle_of(handle));
    if (!config)
        return fail(code::invalid_parameter, "profSubscribeConfig {} is not a description of a subscription", handle);
    if (fcntl(config->pipe, F_GETFD) < 0) return refuse_pipe(config->pipe);
    MutexLock guard(all.mutex);
    forget_parents(all);
    if (!model_exists(model)) return fail(code::invalid_model, "there is no graph with the number {}", model);
    if (all.active.contains(model)) return fail(code::repeat_subscription, "graph {} is subscribed already", model);
    const Result<bool> entered = enter_profiling(ProfilingMode::subscription);
    if (!entered.ok()) return entered.status();
    const auto listener = std::make_shared<ModelListener>(model, config->with_times, pipe_for(all, config->pipe));
    all.active.emplace(model, listener);
    replays_are_noted.store(true, std::memory_order_relaxed);
    record::listen(listener, record::nodes);
    return {};
}

Status unsubscribe_model(std::uint32_t model) {
    Subscriptions& all = subscriptions();
    MutexLock guard(all.mutex);
    forget_parents(all);
    const auto found = all.active.find(model);
    if (found == all.active.end()) return fail(code::invalid_model, "graph {} is not subscribed", model);
    const std::shared_ptr<ModelListener> listener = found->second;
    all.active.erase(found);
    bool last_of_pipe = true;
    for (const auto& [other, each] : all.active) last_of_pipe = last_of_pipe && each->pipe() != listener->pipe();
    record::stop_listening(listener);
    listener->finish();
    const std::size_t lost = last_of_pipe ? listener->pipe()->end() : 0;
    if (all.active.empty()) {
        replays_are_noted.store(false, std::memory_order_relaxed);
        forget_replays();
        leave_profiling();
    }
    if (lost + listener->lost() == 0) return {};
    return fail(code::profiling_failure, "{} records of graph {} were lost", lost + listener->lost(), model);
}

}  // namespace canopy
