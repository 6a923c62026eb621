// SPDX-License-Identifier: Apache-2.0
// Short names for the error codes the runtime returns; the numbers are those of the public headers.
#pragma once

namespace canopy::code {

inline constexpr int ok = 0;
// the ACL layer itself
inline constexpr int invalid_parameter = 100000;
inline constexpr int uninitialised = 100001;
inline constexpr int repeat_initialise = 100002;
inline constexpr int invalid_file = 100003;
inline constexpr int parse_file = 100006;
inline constexpr int invalid_dump_configuration = 100009;
inline constexpr int invalid_profiling_configuration = 100010;
inline constexpr int invalid_model = 100011;
inline constexpr int invalid_queue = 100032;
inline constexpr int repeat_finalise = 100037;
inline constexpr int profiling_runs = 100042;
inline constexpr int profiling_stopped = 100043;
inline constexpr int dump_running = 100044;
inline constexpr int dump_not_running = 100045;
inline constexpr int repeat_subscription = 148046;
inline constexpr int profiling_conflict = 148047;
inline constexpr int invalid_operator_queue_limit = 148048;
inline constexpr int bad_alloc = 200000;
inline constexpr int feature_unsupported = 200006;
inline constexpr int profiling_unsupported = 200007;
inline constexpr int internal = 500000;
inline constexpr int profiling_failure = 500005;
// the runtime: user errors
inline constexpr int param_invalid = 107000;
inline constexpr int invalid_device = 107001;
inline constexpr int context_null = 107002;
inline constexpr int stream_context = 107003;
inline constexpr int model_context = 107004;
inline constexpr int stream_model = 107005;
inline constexpr int event_timestamp = 107006;
inline constexpr int timestamp_reversal = 107007;
inline constexpr int file_open = 107009;
inline constexpr int file_write = 107010;
inline constexpr int stream_subscribe = 107011;
inline constexpr int thread_subscribe = 107012;
inline constexpr int no_callback = 107015;
inline constexpr int invalid_memory_type = 107016;
inline constexpr int invalid_handle = 107017;
inline constexpr int wait_timeout = 107019;
inline constexpr int option_not_set = 107021;
inline constexpr int device_task_abort = 107022;
inline constexpr int stream_abort = 107023;
inline constexpr int capture_dependency = 107024;
inline constexpr int stream_unjoined = 107025;
inline constexpr int model_captured = 107026;
inline constexpr int stream_captured = 107027;
inline constexpr int event_captured = 107028;
inline constexpr int stream_not_captured = 107029;
inline constexpr int capture_mode = 107030;
inline constexpr int capture_implicit = 107031;
inline constexpr int capture_conflict = 107032;
inline constexpr int task_group_status = 107033;
inline constexpr int task_group_interrupted = 107034;
inline constexpr int capture_unmatched = 107036;
inline constexpr int model_running = 107037;
inline constexpr int capture_wrong_thread = 107038;
inline constexpr int array_too_short = 107039;
inline constexpr int model_update = 107040;
inline constexpr int capture_blocking_copy = 107041;
inline constexpr int symbol_not_found = 107042;
inline constexpr int invalid_symbol = 107043;
inline constexpr int invalid_device_function = 107044;
inline constexpr int body_unfinished = 107045;
// the runtime: resources
inline constexpr int not_supported = 207000;
inline constexpr int memory_allocation = 207001;
inline constexpr int no_device = 207004;
inline constexpr int resource_alloc = 207005;
inline constexpr int not_permitted = 207006;
inline constexpr int no_event = 207007;
inline constexpr int no_stream = 207008;
inline constexpr int no_notify = 207009;
inline constexpr int no_model = 207010;
inline constexpr int over_limit = 207012;
inline constexpr int queue_empty = 207013;
inline constexpr int queue_full = 207014;
inline constexpr int update_not_supported = 207019;
inline constexpr int no_link = 207021;
// the runtime: the device
inline constexpr int runtime_internal = 507000;
inline constexpr int end_of_sequence = 507005;
inline constexpr int context_release = 507007;
inline constexpr int soc_version = 507008;
inline constexpr int lost_heartbeat = 507010;
inline constexpr int model_execute = 507011;
inline constexpr int report_timeout = 507012;
inline constexpr int aicore_timeout = 507014;
inline constexpr int aicore_exception = 507015;
inline constexpr int cpu_timeout = 507017;
inline constexpr int cpu_exception = 507018;
inline constexpr int kernel_lookup = 507027;
inline constexpr int kernel_duplicate = 507028;
inline constexpr int label_context = 507031;
inline constexpr int device_setup = 507033;
inline constexpr int vector_timeout = 507034;
inline constexpr int vector_exception = 507035;
inline constexpr int stream_sync_timeout = 507046;
inline constexpr int event_sync_timeout = 507047;
inline constexpr int driver_internal = 507899;
inline constexpr int capture_invalidated = 507903;
inline constexpr int snapshot_lock_timeout = 507905;
inline constexpr int snapshot_lock = 507906;
inline constexpr int snapshot_unlock = 507907;
inline constexpr int snapshot_backup = 507908;
inline constexpr int snapshot_restore = 507909;
inline constexpr int host_already_registered = 507910;
inline constexpr int host_not_registered = 507911;
inline constexpr int snapshot_callback = 507912;
inline constexpr int snapshot_registered = 507913;

}  // namespace canopy::code
