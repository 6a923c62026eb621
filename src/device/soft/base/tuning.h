// SPDX-License-Identifier: Apache-2.0
// Every tuning constant of the software NPU, each with the measurement behind it. bench/ prints the figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace canopy::tuning {

// One segment of a stream's command ring. Two are alive in steady state: 64 KiB a stream.
inline constexpr std::size_t ring_segment_bytes = 32 * 1024;
// Arguments up to this size travel inside the ring; larger ones are allocated.
inline constexpr std::size_t ring_payload_limit = 8 * 1024;

// How long a worker watches an empty stream it has just drained before it lets go of it. Waking a parked thread costs
// 2 to 40 us, so watching for a comparable time never costs more than twice the best choice.
inline constexpr Nanoseconds linger_time = 30 * microsecond;
// Pauses between two looks of a watching worker, doubled and halved so that it finds batches of this size. When every
// command crosses between the caches by itself a launch costs 115 ns with cores 40 ns apart and 220 ns with cores
// 170 ns apart; in batches 75 ns.
inline constexpr std::uint32_t fewest_watch_pauses = 16;
inline constexpr std::uint32_t most_watch_pauses = 512;
inline constexpr std::uint64_t smallest_batch = 32;
inline constexpr std::uint64_t largest_batch = 128;
// How long an idle worker looks for other work before it parks. One worker at a time does so.
inline constexpr Nanoseconds idle_spin_time = 50 * microsecond;
// How long a host thread that waits watches the stream before it sleeps.
inline constexpr Nanoseconds host_spin_time = 20 * microsecond;

// Pauses between two looks of a host thread that waits. A host that looks all the time slows the owner down to one
// transfer of the line a command (170 ns with cores far apart).
inline constexpr std::uint32_t most_host_pauses = 32;
// How many commands of another queue a waiting host thread runs before it looks at its own again.
inline constexpr std::uint64_t help_at_a_time = 64;
// Commands the owner asks for ahead of time, and lines the submitter does: a line takes 46 to 175 ns from one core's
// cache to the other's, an empty kernel 40 ns.
inline constexpr std::uint64_t commands_ahead = 5;
inline constexpr std::size_t lines_ahead = 10;

// A lane of a graph that a thread has made ready is offered to idle workers when it takes so long: taking one over
// costs ten transfers of a cache line, 1 us. With 32 branches of 0.2 us each sharing made a replay ten times slower.
// Waking a parked worker costs the waker 1 to 2 us, so it is done for more only, and what is kept goes to others before
// so long a segment.
inline constexpr Nanoseconds time_worth_sharing = 2 * microsecond;
inline constexpr Nanoseconds time_worth_waking = 5 * microsecond;
// So long that a measurement on another thread, with a cold cache, tells enough.
inline constexpr Nanoseconds time_surely_long = 5 * microsecond;
// How long segments take is measured in the second replay of a graph, when its memory has been touched, and now and
// then afterwards. Before, all count as long.
inline constexpr std::uint64_t first_measured_replay = 2;
inline constexpr std::uint64_t replays_per_measurement = 64;

// After so many tasks in a row a worker looks whether another stream of the same priority waits for its turn.
inline constexpr std::uint32_t tasks_per_turn = 256;

// Blocks shorter than this are not worth waking a parked worker for (a wake-up costs the waker 1 to 2 us).
inline constexpr Nanoseconds block_time_worth_waking = 2 * microsecond;
// Unless there are so many that each worker that is woken finds this much to do.
inline constexpr Nanoseconds share_worth_waking = 50 * microsecond;

// A step of a fused kernel that waits for a word looks so often before it lets others run, and when nobody else needs
// its thread it sleeps after so many rounds: 1 us of looking each, for as long as a wake-up may take.
inline constexpr std::uint32_t word_looks = 64;
inline constexpr std::uint32_t word_rounds = 64;
inline constexpr Nanoseconds word_sleep = 50 * microsecond;
// Data of the loops of a fused kernel that are claimed at a time: about 20 us of a core's share of memory, so that the
// claim (up to 0.2 us when the counter comes from another core) is nothing beside it.
inline constexpr std::uint64_t loop_chunk_bytes = 128 * 1024;

// The monitor's beat: stalls, time-outs and timers are noticed within two of them.
inline constexpr Nanoseconds monitor_tick = 2 * millisecond;
// Beats without any activity before the monitor sleeps until it is called.
inline constexpr int monitor_idle_ticks = 50;
// A worker added because blocks stopped finishing goes away after so long without work.
inline constexpr Nanoseconds extra_worker_idle = 200 * millisecond;
// A parked worker looks at memory words that streams wait for this often.
inline constexpr Nanoseconds value_poll_interval = 100 * microsecond;

// How long quiesce waits while nothing ends: a kernel may be polling memory that the waiting host is about to write.
inline constexpr Nanoseconds quiesce_patience = 2 * second;

// Stack of a block. Chips have 32 KiB by default; compiled for a CPU the same code needs several times that.
inline constexpr std::size_t default_block_stack = 256 * 1024;
inline constexpr std::size_t stack_scale = 8;
// Stack of a SIMT thread that waits in a barrier. A block may have 2048 of them; only touched pages count.
inline constexpr std::size_t thread_stack = 64 * 1024;
// So many of them have guard pages, which cost two mappings each of the 65,530 a process may have.
inline constexpr std::uint32_t guarded_thread_stacks = 8192;
// A worker whose launch always has released blocks takes one that polls every so many turns.
inline constexpr std::uint32_t turns_per_poll = 16;

}  // namespace canopy::tuning
