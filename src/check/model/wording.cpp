// SPDX-License-Identifier: Apache-2.0
#include "check/model/wording.h"

#include <fmt/core.h>

namespace canopy::check {

namespace {

// Where `pipe` last waited for `from`. What the scalar unit waits for holds for all pipes.
std::string last_wait(const Order& order, unsigned pipe, unsigned from) {
    if (const CanopyCheckSite* site = order.waited(pipe, from))
        return fmt::format("{} has last waited for {} at {}", pipe_name(pipe), pipe_name(from), text_of(*site));
    if (const CanopyCheckSite* site = order.waited(CANOPY_CHECK_S, from))
        return fmt::format("PIPE_S has last waited for {} at {}", pipe_name(from), text_of(*site));
    return fmt::format("{} has not waited for {}", pipe_name(pipe), pipe_name(from));
}

bool by_compiler(const Accessor& access) {
    return access.pipe == CANOPY_CHECK_V || access.pipe == CANOPY_CHECK_MTE2 || access.pipe == CANOPY_CHECK_MTE3;
}

bool scalar_by_compiler(const Accessor& access) {
    return access.pipe == CANOPY_CHECK_S && (access.flags & CANOPY_CHECK_AUTO_ORDERED) != 0;
}

Verdict in_pipe(const Accessor& earlier, const Accessor& later, const Order& order) {
    const unsigned pipe = later.pipe;
    Verdict verdict;
    verdict.missing = fmt::format("PipeBarrier<{}>", pipe_name(pipe));
    verdict.explanation = fmt::format("no order inside {}: needs {} between them", pipe_name(pipe), verdict.missing);
    if (const CanopyCheckSite* site = order.waited(pipe, pipe))
        verdict.explanation += fmt::format("; the last one was at {}", text_of(*site));
    // The documents say of MTE2 and MTE3 that two writes need the barrier, and of V that dependent instructions do; of
    // the others only that there is one.
    const bool documented = pipe == CANOPY_CHECK_V || pipe == CANOPY_CHECK_M ||
                            ((pipe == CANOPY_CHECK_MTE2 || pipe == CANOPY_CHECK_MTE3) && earlier.wrote && later.wrote);
    if (!documented) verdict.level = Level::warning;
    return verdict;
}

}  // namespace

const char* hazard_kind(bool earlier_wrote, bool later_wrote) {
    if (!later_wrote) return "RAW";
    return earlier_wrote ? "WAW" : "WAR";
}

bool ordered_by_compiler(const Launch& launch, const Accessor& earlier, const Accessor& later) {
    if (!launch.autosync() || earlier.core->facts.cube) return false;
    if (earlier.pipe == CANOPY_CHECK_V && later.pipe == CANOPY_CHECK_V) return true;
    return (scalar_by_compiler(earlier) && by_compiler(later)) || (by_compiler(earlier) && scalar_by_compiler(later));
}

Verdict verdict_in_core(const Launch& launch, const Order& order, const Accessor& earlier, const Accessor& later) {
    Verdict verdict;
    if (earlier.pipe == later.pipe) {
        verdict = in_pipe(earlier, later, order);
    } else {
        verdict.missing = fmt::format("{}_{}", short_pipe_name(earlier.pipe), short_pipe_name(later.pipe));
        verdict.explanation = fmt::format("no order: needs {} behind the {}; {}", verdict.missing,
                                          earlier.wrote ? "write" : "read", last_wait(order, later.pipe, earlier.pipe));
    }
    if (ordered_by_compiler(launch, earlier, later)) {
        verdict.level = Level::note;
        verdict.explanation += ". The compiler's automatic synchronisation orders them";
    }
    return verdict;
}

Verdict verdict_in_group(const Accessor& earlier, const Accessor& later) {
    Verdict verdict;
    verdict.missing = fmt::format("CrossCoreSetFlag<4, {}>", pipe_name(earlier.pipe));
    verdict.explanation =
        fmt::format("no order: needs {} on {} behind the {}, and {} of {} to wait for it", verdict.missing,
                    earlier.core->name(), earlier.wrote ? "write" : "read", pipe_name(later.pipe), later.core->name());
    return verdict;
}

Verdict verdict_between_cores(const Accessor& earlier, const Accessor& later, const KnownCores& known) {
    const std::string a = earlier.core->name(), b = later.core->name();
    const char* what = earlier.wrote ? "write" : "read";
    Verdict verdict;
    if (earlier.core->facts.cube == later.core->facts.cube) {
        verdict.missing = "SyncAll";
        verdict.explanation = fmt::format("no order between the cores: needs a SyncAll behind the {} of {}", what, a);
    } else {
        verdict.missing =
            fmt::format("CrossCoreSetFlag<{}, {}>", earlier.core->facts.block == later.core->facts.block ? 2 : 0,
                        pipe_name(earlier.pipe));
        verdict.explanation = fmt::format("no order between the cores: needs {} behind the {} of {}, and a wait of {}",
                                          verdict.missing, what, a, b);
    }
    if (has_heard_of(known, earlier.core->index)) {
        verdict.explanation += fmt::format("; what {} has last heard of {} does not cover this {} by {}", b, a, what,
                                           pipe_name(earlier.pipe));
    } else {
        verdict.explanation += fmt::format("; {} has not waited for {}", b, a);
    }
    return verdict;
}

}  // namespace canopy::check
