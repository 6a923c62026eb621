// SPDX-License-Identifier: Apache-2.0
// Flags between the pipes of one core. An operation is complete when it returns, so flags need not order anything here.
// They are counted because misuse matters on a chip: waiting for a flag that was never set hangs, and a flag that is
// set but never waited for breaks the next kernel.
#ifndef CANOPY_KERNEL_FLAGS_H
#define CANOPY_KERNEL_FLAGS_H

#include "canopy_kernel/core/checking.h"

namespace canopy::kernel {

// Index of the pipe in the table of flags: S V M MTE1 MTE2 MTE3 FIX.
constexpr int pipe_index(pipe_t pipe) { return pipe == PIPE_FIX ? 6 : static_cast<int>(pipe); }

inline const char* pipe_name(int index) {
    constexpr const char* names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX"};
    return names[index];
}

struct PipePair {
    pipe_t source, destination;
};

constexpr PipePair pipes_of(AscendC::HardEvent event) {
    constexpr PipePair pairs[] = {
        {PIPE_MTE2, PIPE_MTE1}, {PIPE_MTE1, PIPE_MTE2}, {PIPE_MTE1, PIPE_M},  {PIPE_M, PIPE_MTE1},
        {PIPE_MTE2, PIPE_V},    {PIPE_V, PIPE_MTE2},    {PIPE_MTE3, PIPE_V},  {PIPE_V, PIPE_MTE3},
        {PIPE_M, PIPE_V},       {PIPE_V, PIPE_M},       {PIPE_V, PIPE_V},     {PIPE_MTE3, PIPE_MTE1},
        {PIPE_MTE1, PIPE_MTE3}, {PIPE_MTE1, PIPE_V},    {PIPE_MTE2, PIPE_M},  {PIPE_M, PIPE_MTE2},
        {PIPE_V, PIPE_MTE1},    {PIPE_M, PIPE_FIX},     {PIPE_FIX, PIPE_M},   {PIPE_MTE3, PIPE_MTE2},
        {PIPE_MTE2, PIPE_MTE3}, {PIPE_S, PIPE_V},       {PIPE_V, PIPE_S},     {PIPE_S, PIPE_MTE2},
        {PIPE_MTE2, PIPE_S},    {PIPE_S, PIPE_MTE3},    {PIPE_MTE3, PIPE_S},  {PIPE_MTE2, PIPE_FIX},
        {PIPE_FIX, PIPE_MTE2},  {PIPE_FIX, PIPE_S},     {PIPE_M, PIPE_S},     {PIPE_FIX, PIPE_MTE3},
        {PIPE_MTE1, PIPE_FIX},  {PIPE_FIX, PIPE_MTE1},  {PIPE_FIX, PIPE_FIX},
    };
    return pairs[static_cast<int>(event)];
}

inline void check_event_id(int id, Where where) {
    if (id < 0 || id > 7) fail(where, "event id %d: a flag has the ids 0 to 7", id);
}

inline void raise_flag(PipePair pipes, int id, Where where, const char* name = "SetFlag") {
    check_event_id(id, where);
    tell_flag(true, name, pipes.source, pipes.destination, id, where);
    CoreState& state = core_state();
    const int source = pipe_index(pipes.source), destination = pipe_index(pipes.destination);
    ++state.pipe.flag[source][destination][id];
    state.flag_line[source][destination][id] = where.line;
    state.pipe.flag_file = where.file;
    ++state.pipe.flags_up;
}

inline void lower_flag(PipePair pipes, int id, Where where, const char* name = "WaitFlag") {
    check_event_id(id, where);
    tell_flag(false, name, pipes.source, pipes.destination, id, where);
    finish_stores(core_state());
    auto& state = core_state().pipe;
    const int source = pipe_index(pipes.source), destination = pipe_index(pipes.destination);
    if (state.flag[source][destination][id] == 0)
        fail(where, "WaitFlag %s_%s, id %d without a preceding SetFlag; a chip would wait for ever", pipe_name(source),
             pipe_name(destination), id);
    --state.flag[source][destination][id];
    --state.flags_up;
}

// In the checking variant, a checker hears of all of them.
inline void tell_unpaired_flags(const CoreState& state) {
    for (int source = 0; source < 7; ++source)
        for (int destination = 0; destination < 7; ++destination)
            for (int id = 0; id < 8; ++id)
                if (state.pipe.flag[source][destination][id] != 0)
                    refuse("sync.set", {state.pipe.flag_file, state.flag_line[source][destination][id]},
                           "%s_%s, id %d, is set when the kernel ends: the next kernel finds it so", pipe_name(source),
                           pipe_name(destination), id);
}

[[noreturn]] __attribute__((cold, noinline)) inline void fail_unpaired_flag(const CoreState& state) {
    if constexpr (is_checking_variant) tell_unpaired_flags(state);
    for (int source = 0; source < 7; ++source)
        for (int destination = 0; destination < 7; ++destination)
            for (int id = 0; id < 8; ++id)
                if (state.pipe.flag[source][destination][id] != 0)
                    fail({state.pipe.flag_file, state.flag_line[source][destination][id]},
                         "SetFlag %s_%s, id %d, was never waited for when the kernel ended", pipe_name(source),
                         pipe_name(destination), id);
    fail({state.pipe.flag_file, 0}, "flags were set and never waited for");
}

// Called by the entry of every kernel after the kernel's function has returned.
inline void end_of_kernel() {
    CanopyCore* core = current_block().core;
    if (core == nullptr) return;
    auto& state = *reinterpret_cast<CoreState*>(core->registers);
    finish_stores(state);
    if (__builtin_expect(state.pipe.flags_up != 0, 0)) fail_unpaired_flag(state);
}

}  // namespace canopy::kernel

// Flags given by their pipes. The names are those of instructions, so these are plain functions.
template <class Event>
inline void set_flag(pipe_t source, pipe_t destination, Event id,
                     canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::raise_flag({source, destination}, static_cast<int>(id), where, "set_flag");
}
template <class Event>
inline void wait_flag(pipe_t source, pipe_t destination, Event id,
                      canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::lower_flag({source, destination}, static_cast<int>(id), where, "wait_flag");
}

namespace AscendC {

template <HardEvent event, bool unused = false>
inline void SetFlag(int32_t id, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::raise_flag(canopy::kernel::pipes_of(event), id, where);
}
template <HardEvent event, bool unused = false>
inline void WaitFlag(int32_t id, canopy::kernel::Where where = canopy::kernel::here()) {
    canopy::kernel::lower_flag(canopy::kernel::pipes_of(event), id, where);
}

}  // namespace AscendC

#endif
