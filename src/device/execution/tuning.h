// SPDX-License-Identifier: Apache-2.0
// Every tuning constant of the software NPU, each with the measurement behind it. bench/ prints the figures.
#pragma once

#include <cstddef>
#include <cstdint>

#include "foundation/clock.h"

namespace canopy::tuning {

// One segment of a stream's command ring. A stream holds two in steady state: 64 KiB.
inline constexpr std::size_t ring_segment_bytes = 32 * 1024;
// Arguments up to this size travel inside the ring; larger ones are allocated.
inline constexpr std::size_t ring_payload_limit = 8 * 1024;

// How long a worker polls a stream it has just drained before it releases it. Waking a parked thread costs 2 to 40 us,
// so polling for a comparable time never costs more than twice the optimum.
inline constexpr Nanoseconds linger_time = 30 * microsecond;
// Pauses between two checks of a polling worker, doubled and halved so that it finds batches of this size. If every
// command crosses between the caches separately, a launch costs 115 ns with cores 40 ns apart and 220 ns with cores 170
// ns apart; in batches it costs 75 ns.
inline constexpr std::uint32_t fewest_watch_pauses = 16;
inline constexpr std::uint32_t most_watch_pauses = 512;
inline constexpr std::uint64_t smallest_batch = 32;
inline constexpr std::uint64_t largest_batch = 128;
// How long an idle worker looks for other work before it parks. Only one worker does so at a time. Longer than a
// wake-up takes, up to 85 us on a virtual machine: if two streams wait for each other in turn and each sleeps before
// the other has woken up, every hop between them costs a wake-up.
inline constexpr Nanoseconds idle_spin_time = 150 * microsecond;
// How long a waiting host thread polls the stream before it sleeps.
inline constexpr Nanoseconds host_spin_time = 20 * microsecond;

// How long a thread watches the fence its stream waits for, before it parks the stream and looks for other work. Taking
// over a parked stream costs 10 cache line transfers, and waking a thread more than this time. After this many looks it
// checks whether another stream is ready.
inline constexpr Nanoseconds fence_watch_time = 20 * microsecond;
inline constexpr int fence_looks = 32;

// Most pauses between two checks of a waiting host thread. A host that polls without pauses forces a cache line
// transfer on the owner for every command (170 ns with cores far apart).
inline constexpr std::uint32_t most_host_pauses = 32;
// How many commands of another queue a waiting host thread runs before it checks its own again.
inline constexpr std::uint64_t help_at_a_time = 64;
// How many commands the owner and how many cache lines the submitter prefetches: moving a line from one core's cache to
// another's takes 46 to 175 ns, an empty kernel 40 ns.
inline constexpr std::uint64_t commands_ahead = 5;
inline constexpr std::size_t lines_ahead = 10;

// A thread offers the graph lanes it has made ready to idle workers if they take at least this long: taking one over
// costs ten cache line transfers, 1 us. With 32 branches of 0.2 us each, sharing made a replay ten times slower. Waking
// a parked worker costs the waker 1 to 2 us, so that needs more work. Before a segment this long, a thread also hands
// out the lanes it has kept.
inline constexpr Nanoseconds time_worth_sharing = 2 * microsecond;
inline constexpr Nanoseconds time_worth_waking = 5 * microsecond;
// Segments this long may be measured on another thread: its cold cache does not distort the result much.
inline constexpr Nanoseconds time_surely_long = 5 * microsecond;
// Segment times are measured in the second replay of a graph, when its memory has been touched, and periodically
// afterwards. Until then every segment counts as long.
inline constexpr std::uint64_t first_measured_replay = 2;
inline constexpr std::uint64_t replays_per_measurement = 64;

// After this many tasks in a row a worker checks whether another stream of the same priority is waiting for its turn.
inline constexpr std::uint32_t tasks_per_turn = 256;

// A launch whose blocks take less than this together runs on one thread. With several, each block costs two cache line
// transfers to claim and to finish (200 ns on 16 cores, 48 empty blocks 10 us; on one thread 2 us).
inline constexpr Nanoseconds launch_time_worth_sharing = 12 * microsecond;
// Blocks shorter than this are not worth waking a parked worker for (a wake-up costs the waker 1 to 2 us).
inline constexpr Nanoseconds block_time_worth_waking = 2 * microsecond;
// Exception: there are enough of them to give each woken worker this much work.
inline constexpr Nanoseconds share_worth_waking = 50 * microsecond;

// A step of a fused kernel that waits for a word checks it this many times before it lets others run. If nothing else
// needs its thread, it starts to sleep after this many rounds (1 us of checks each), each time for as long as a wake-up
// may take.
inline constexpr std::uint32_t word_looks = 64;
inline constexpr std::uint32_t word_rounds = 64;
inline constexpr Nanoseconds word_sleep = 50 * microsecond;
// Bytes that the loops of a fused kernel claim at a time: about 20 us at a core's share of the memory bandwidth, so the
// claim itself (up to 0.2 us when the counter comes from another core) is negligible.
inline constexpr std::uint64_t loop_chunk_bytes = 128 * 1024;

// Copies and fills from these sizes on are cut into pieces that several threads make: 0.6 ms on one thread, where
// waking another costs 2 to 40 us. With two threads on a busy machine, copies of 4 MiB were as fast as before, those of
// 8 MiB 1.1 to 1.5 times; fills of 8 MiB, which stay in the caches of one core, 0.8 times, and those of 16 MiB 1.2
// to 1.3.
inline constexpr std::uint64_t large_copy = std::uint64_t{8} << 20;
inline constexpr std::uint64_t large_fill = std::uint64_t{16} << 20;
// Pieces of 0.5 to 4 MiB were equally fast; a short piece lets a thread leave soon when a stream is ready, and ends
// well within a tick of the monitor.
inline constexpr std::uint64_t copy_piece = std::uint64_t{1} << 20;
// Waking a thread costs the waker 1 to 2 us, so this bounds its delay to 5 % of a copy of 8 MiB.
inline constexpr std::uint32_t most_copy_threads = 16;
// Copies and fills from this size on are stored past the caches. The C library decides by the size of each piece, so it
// would not do so: one thread copied 256 MiB in pieces of 1 MiB at 7 bytes/ns with memcpy, at 10 with one memcpy for
// all, and at 16 past the caches. At 64 MiB it was 8.4, 9.0 and 11.6, and at 4 MiB, in the caches, 29, 30 and 27.
inline constexpr std::uint64_t copy_past_caches = std::uint64_t{32} << 20;
// How far ahead such a copy prefetches its source: 13.6 bytes/ns instead of 13.1 with small pages, 17.6 instead of 16.3
// with huge ones. 1 KiB ahead was as fast with huge pages and slower with small ones.
inline constexpr std::uint64_t copy_bytes_ahead = 512;

// The monitor's period: it notices stalls, time-outs and timers within two ticks.
inline constexpr Nanoseconds monitor_tick = 2 * millisecond;
// Ticks without any activity before the monitor sleeps until it is woken.
inline constexpr int monitor_idle_ticks = 50;
// How often the monitor of a device that works tells programs that watch this one; each time takes some 10 us.
inline constexpr Nanoseconds figures_interval = 100 * millisecond;
// If blocks wait for a thread and none has ended for this many ticks, threads are added: the running blocks may be
// polling for those that have not begun. After one tick, as it was, blocks of a few milliseconds counted as polling.
inline constexpr std::uint32_t ticks_before_more_threads = 4;
// A worker added because blocks stopped finishing exits after this long without work.
inline constexpr Nanoseconds extra_worker_idle = 200 * millisecond;
// How often a parked worker checks the memory words that streams wait for.
inline constexpr Nanoseconds value_poll_interval = 100 * microsecond;

// How many waits of a millisecond quiesce makes while no work finishes: a kernel may be polling memory that the waiting
// host is about to write.
inline constexpr std::uint32_t quiesce_patience = 2000;

// Stack of a block. Chips have 32 KiB by default; compiled for a CPU the same code needs several times that.
inline constexpr std::size_t default_block_stack = 256 * 1024;
inline constexpr std::size_t stack_scale = 8;
// Stack of a SIMT thread that waits in a barrier. A block may have 2048 of them; only touched pages use memory.
inline constexpr std::size_t thread_stack = 64 * 1024;
// This many of them get guard pages, each of which costs two of the 65,530 mappings a process may have.
inline constexpr std::uint32_t guarded_thread_stacks = 8192;
// A worker whose launch always has released blocks runs a polling one every this many turns.
inline constexpr std::uint32_t turns_per_poll = 16;

}  // namespace canopy::tuning
