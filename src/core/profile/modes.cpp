// SPDX-License-Identifier: Apache-2.0
#include "core/profile/modes.h"

#include <unistd.h>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Modes {
    Mutex mutex;
    ProfilingMode mode CANOPY_GUARDED_BY(mutex) = ProfilingMode::none;
    pid_t owner CANOPY_GUARDED_BY(mutex) = 0;  // the process that entered it
};

Modes& modes() { return process_state<Modes>(); }

ProfilingMode current(const Modes& all) noexcept CANOPY_REQUIRES(all.mutex) {
    return all.owner == getpid() ? all.mode : ProfilingMode::none;
}

}  // namespace

Result<bool> enter_profiling(ProfilingMode wanted) {
    Modes& all = modes();
    MutexLock guard(all.mutex);
    const ProfilingMode mode = current(all);
    if (mode == wanted) return false;
    if (mode == ProfilingMode::configuration)
        return fail(code::profiling_runs, "profiling was switched on by the file of aclInit");
    if (mode != ProfilingMode::none)
        return fail(code::profiling_conflict, "{}",
                    mode == ProfilingMode::session ? "a profiling session is open: call aclprofFinalize first"
                                                   : "models are subscribed: call aclprofModelUnSubscribe first");
    all.mode = wanted;
    all.owner = getpid();
    return true;
}

void leave_profiling() noexcept {
    Modes& all = modes();
    MutexLock guard(all.mutex);
    all.mode = ProfilingMode::none;
}

ProfilingMode profiling_mode() noexcept {
    Modes& all = modes();
    MutexLock guard(all.mutex);
    return current(all);
}

}  // namespace canopy
