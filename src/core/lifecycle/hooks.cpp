// SPDX-License-Identifier: Apache-2.0
// Calls from lower folders of core to higher ones. The tables are constants, so no entry is ever missing.
#include "core/check/host_check.h"
#include "core/check/process_check.h"
#include "core/dump/failure_dump.h"
#include "core/dump/launch_dump.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph.h"
#include "core/graph/graph_build.h"
#include "core/kernel/checking_code.h"
#include "core/kernel/kernel_hooks.h"
#include "core/kernel/program/registered_images.h"
#include "core/launch/exceptions.h"
#include "core/lifecycle/contexts.h"
#include "core/memory/host_memory.h"
#include "core/memory/memory_pool.h"
#include "core/process/process_hooks.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream_hooks.h"

namespace canopy {
namespace {

void dump_and_fire(Stream& stream, const TaskFailure& failure, int code) noexcept {
    dump_failure(stream, failure, code);
    fire_exception(stream, failure, code);
}

}  // namespace

constinit const ProcessHooks process_hooks = {
    .chip_of_kernels = chip_of_registered_images,
    .device_opened = share_host_memory,
    .tell_facts = tell_recorded_facts,
    .set_device = set_device,
};

constinit const StreamHooks stream_hooks = {
    .first_recorder = first_recorder,
    .synchronised = pools_after_synchronise,
    .submit_dumped = submit_dumped,
    .describe_failure = describe_failure,
    .fire_exception = dump_and_fire,
};

constinit const CaptureRules capture_rules = {
    .refuse_unsafe = refuse_unsafe,
    .refuse_synchronise = refuse_synchronise,
    .refuse_stream = refuse_stream,
    .refuse_locked_stream = refuse_locked_stream,
    .refuse_event = refuse_event,
    .refuse_blocking_copy = refuse_blocking_copy,
    .join = join_capture_of,
    .drop_ownerless = free_ownerless_captures,
    .graph_ended = invalidate_capture_of,
};

constinit const CheckHooks check_hooks = {
    .launch_touched = HostCheck::take_launch,
    .checking_code = checking_code,
    .origin = HostCheck::origin_of,
};

constinit const KernelHooks kernel_hooks = {
    .keep_for_graphs = keep_for_graphs,
};

}  // namespace canopy
