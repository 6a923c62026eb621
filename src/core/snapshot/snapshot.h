// SPDX-License-Identifier: Apache-2.0
// Snapshots of this process's devices:
//
//   running --lock--> locked --back_up--> backed up --restore--> locked
//      ^-----------------unlock--------------'----'
//
// While it is not running, calls that change devices wait (core/base/gate.h). Each step has callbacks, run in order of
// registration, once for each device that is set; one that does not return 0 ends the step with 507912 before it
// changes the state. A thread that runs a callback may make calls that change devices. While a step is under way, every
// other one is refused with the code of its wrong state. Any thread.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace canopy {

// Values of aclrtSnapShotStage.
enum class SnapshotStage : std::int32_t {
    lock_before,
    backup_before,
    backup_after,
    restore_before,
    restore_after,
    unlock_after
};
using SnapshotFunction = std::uint32_t (*)(std::int32_t device, void* argument);

// 507913 if it is registered for that stage.
Status register_snapshot_callback(SnapshotStage stage, SnapshotFunction function, void* argument);
// 107000 if it is not registered.
Status unregister_snapshot_callback(SnapshotStage stage, SnapshotFunction function);

// 507906 unless running. 507905 if calls that change devices do not end within a minute.
Status lock_process();
// 507908 unless locked, or if the state cannot be saved; 207000 if a device is of a kind that cannot be saved. Waits
// for everything that can run; streams that wait for something stay as they are.
Status back_up_process();
// 507909 unless backed up, or if the state cannot be restored.
Status restore_process();
// 507907 unless locked or backed up.
Status unlock_process();
// The process or its use of the runtime ends: unlocks it without callbacks.
void end_snapshot() noexcept;

}  // namespace canopy
