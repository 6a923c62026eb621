// SPDX-License-Identifier: Apache-2.0
// Snapshots of the process.
#include "core/snapshot/snapshot.h"

#include <unistd.h>

#include "acl/acl_rt.h"
#include "api/api.h"

using namespace canopy;

namespace {

Status check(int pid, const void* reserved, const char* name) {
    if (pid != getpid())
        return fail(code::invalid_parameter,
                    "pid {} is not this process, which is {}: only its own devices can be saved", pid, getpid());
    if (reserved != nullptr) return fail(code::invalid_parameter, "{} must be null", name);
    return {};
}

Status check(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
    if (stage < ACL_RT_SNAPSHOT_LOCK_PRE || stage > ACL_RT_SNAPSHOT_UNLOCK_POST)
        return fail(code::param_invalid, "stage {} is not a stage of a snapshot", static_cast<int>(stage));
    if (callback == nullptr) return fail(code::param_invalid, "callback must not be null");
    return {};
}

}  // namespace

aclError aclrtSnapShotProcessLock(int pid, void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(check(pid, reserve, "reserve"));
        return lock_process();
    });
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args) {
    return api([&]() -> Status {
        CANOPY_TRY(check(pid, args, "args"));
        return back_up_process();
    });
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args) {
    return api([&]() -> Status {
        CANOPY_TRY(check(pid, args, "args"));
        return restore_process();
    });
}

aclError aclrtSnapShotProcessUnlock(int pid, void* reserve) {
    return api([&]() -> Status {
        CANOPY_TRY(check(pid, reserve, "reserve"));
        return unlock_process();
    });
}

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback, void* args) {
    return api([&]() -> Status {
        CANOPY_TRY(check(stage, callback));
        return register_snapshot_callback(static_cast<SnapshotStage>(stage), callback, args);
    });
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
    return api([&]() -> Status {
        CANOPY_TRY(check(stage, callback));
        return unregister_snapshot_callback(static_cast<SnapshotStage>(stage), callback);
    });
}
