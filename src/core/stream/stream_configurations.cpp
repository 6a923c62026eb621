// SPDX-License-Identifier: Apache-2.0
#include "core/stream/stream_configurations.h"

#include <memory>
#include <set>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Configurations {
    Mutex mutex;
    std::set<const aclrtStreamConfigHandle*> live CANOPY_GUARDED_BY(mutex);

    static Configurations& instance() { return process_state<Configurations>(); }
};

Status no_such_configuration(const aclrtStreamConfigHandle* handle) {
    return fail(code::invalid_handle, "handle {} was not made by aclrtCreateStreamConfigHandle, or has been destroyed",
                as_address(handle));
}

}  // namespace

aclrtStreamConfigHandle* make_stream_configuration() {
    auto made = std::make_unique<aclrtStreamConfigHandle>();
    Configurations& all = Configurations::instance();
    MutexLock guard(all.mutex);
    all.live.insert(made.get());
    return made.release();
}

Status destroy_stream_configuration(aclrtStreamConfigHandle* handle) {
    Configurations& all = Configurations::instance();
    MutexLock guard(all.mutex);
    if (all.live.erase(handle) == 0) return no_such_configuration(handle);
    delete handle;
    return {};
}

Status check_stream_configuration(const aclrtStreamConfigHandle* handle) {
    Configurations& all = Configurations::instance();
    MutexLock guard(all.mutex);
    if (all.live.count(handle) == 0) return no_such_configuration(handle);
    return {};
}

}  // namespace canopy
