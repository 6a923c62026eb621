// SPDX-License-Identifier: Apache-2.0
#include "check/rules.h"

#include <string>
#include <string_view>
#include <vector>

namespace canopy::check {

Rules::Rules(Core& core, LaunchRules& launch_rules)
    : core_(core),
      launch_(launch_rules),
      allocations_(core.launch.facts),
      ids_(core),
      flags_(core, ids_),
      queues_(core, buffers_, ids_),
      mutexes_(core),
      memory_(core, buffers_, allocations_),
      cache_(core, launch_rules.cache_lines) {
    if (core.launch.options.classes.init) init_.emplace(core, allocations_);
}

void Rules::operation(const Told& told) {
    if (core_.launch.options.classes.memory) memory_.operation(told);
    if (init_) init_->operation(told);
    if (core_.launch.options.classes.cache) cache_.operation(told);
}

void Rules::buffer(const CanopyCheckBuffer& event) {
    if (event.event == CANOPY_CHECK_TENSOR_PLACED) {
        const auto begin = reinterpret_cast<std::uint64_t>(event.address);
        buffers_.add_tensor(begin, begin + event.bytes);
        if (core_.launch.options.classes.memory) memory_.placed(event);
        return;
    }
    const Queues::Taken taken = queues_.buffer(event);
    if (init_ && taken.begin != taken.end) init_->taken(taken.begin, taken.end);
}

void Rules::core_flag(bool set, std::uint32_t mode, std::uint32_t id, const CanopyCheckSite& site) {
    if (core_.launch.options.classes.sync) launch_.meetings.flag(core_, set, mode, id, site);
}

void Rules::meet(std::uint32_t kind, std::uint32_t scope, bool begin, const CanopyCheckSite& site) {
    if (core_.launch.options.classes.sync) launch_.meetings.meet(core_, kind, scope, begin, site);
}

void Rules::misuse(const char* id, const char* text, const CanopyCheckSite& site) {
    if (std::string_view(id) == "sync.set")
        report_sync(core_, Level::error, id, "Unpaired set_flag", text, "WaitFlag", {{.site = site, .core = &core_}});
    else if (core_.launch.options.classes.memory)
        memory_.misuse(id, text, site);
}

void Rules::end(bool complete) {
    launch_.meetings.core_ended(core_, complete);
    if (!complete) return;
    check_completion();
    queues_.end();
    flags_.end();
    mutexes_.end();
}

// The next kernel may begin while instructions that nothing waits for still run.
void Rules::check_completion() {
    std::string pipes;
    std::vector<Reports::Side> sides;
    for (unsigned pipe = CANOPY_CHECK_V; pipe < CANOPY_CHECK_PIPES; ++pipe) {
        const Number last = core_.order.last(pipe);
        if (core_.order.complete(pipe, last, CANOPY_CHECK_S)) continue;
        const Line* line = core_.lines.at(last);
        pipes += (pipes.empty() ? "" : ", ") + pipe_name(pipe);
        sides.push_back({.site = line == nullptr ? CanopyCheckSite{} : line->site,
                         .pipe = static_cast<int>(pipe),
                         .core = &core_,
                         .number = last});
    }
    if (!sides.empty() && core_.launch.options.classes.sync)
        core_.launch.reports.add(Level::warning, "sync.end", nullptr, -1, "kernel ends before its instructions",
                                 "the kernel ends and has not waited for " + pipes, "PipeBarrier<PIPE_ALL>", sides);
}

}  // namespace canopy::check
