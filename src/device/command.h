// SPDX-License-Identifier: Apache-2.0
// Command: one piece of device work as data. Streams submit it, graphs store it, backends run it, profilers name it.
// Fixed size (one cache line), trivially copyable. The memory a command points at (arguments, placeholders) is read
// during Queue::submit and may be freed afterwards, unless a field says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/device_address.h"
#include "foundation/kernel_info.h"

namespace canopy {

class Executable;
class Fence;
class OutsideWait;
struct Kernel;

enum class Opcode : std::uint8_t {
    launch,       // a kernel on AI cores
    cpu_kernel,   // a kernel on the device's CPU cores; described as a launch
    copy,         // bytes, optionally rows with pitches
    fill,         // a repeated 1- or 4-byte pattern
    signal,       // changes a fence and stamps the time
    wait,         // holds the queue until a fence satisfies a condition
    write_value,  // one 64-bit word in memory
    wait_value,   // holds the queue until a 64-bit word in memory satisfies a condition
    host_call,    // user code on a thread of the runtime; later work of the queue waits for it
    inline_call,  // a short function of the runtime itself, run by the thread that drains the queue
    brief_call,   // the same, so short and simple that it may run between two launches in their guard; not in graphs
    replay,       // a prepared graph
    // In graphs only:
    nothing,      // has a place and edges, but no effect
    condition,    // runs one of several other graphs, or one of them in a loop
    jump,         // continues at one of several places, chosen by a word in memory
    switch_lane,  // compares two words in memory: starts another lane and ends this one, or continues
    start_lane,   // starts another lane beside this one
    end_graph,    // completes the replay of a graph whose lanes start each other
};

constexpr bool is_kernel(Opcode code) noexcept { return code == Opcode::launch || code == Opcode::cpu_kernel; }

// A pointer slot of an argument block, and the data in the same block that it must point at.
struct Placeholder {
    std::uint32_t address_offset;
    std::uint32_t data_offset;
};

struct LaunchWork {
    const Kernel* kernel;
    const Placeholder* placeholders;
    std::uint64_t timeout;  // nanoseconds; 0: the device's default, UINT64_MAX: none
    std::uint32_t arguments_size;
    std::uint32_t blocks;
    std::uint32_t block_offset;
    std::uint32_t dynamic_size;
    std::uint16_t placeholder_count;
    std::uint16_t
        single_block;  // if `single`: of `blocks`, at least 2, only this one runs; barriers do not wait for others
    bool batch;        // all blocks resident at once, or the task waits
    bool single;

    // Memory of this process, copied during submit; or memory that stays valid, usually of the device: not copied, read
    // when the kernel starts.
    void set_arguments(const void* bytes) noexcept {
        arguments_ = device_address(bytes);
        arguments_in_place_ = false;
    }
    void set_arguments_in_place(DeviceAddress address) noexcept {
        arguments_ = address;
        arguments_in_place_ = true;
    }
    // The bytes are elsewhere now.
    void move_arguments(DeviceAddress to) noexcept { arguments_ = to; }
    [[nodiscard]] bool arguments_in_place() const noexcept { return arguments_in_place_; }
    [[nodiscard]] DeviceAddress arguments() const noexcept { return arguments_; }
    // nullptr if they are in place: this process may be unable to read them.
    [[nodiscard]] const void* host_arguments() const noexcept {
        return arguments_in_place_ ? nullptr : reinterpret_cast<const void*>(arguments_.value());
    }

private:
    bool arguments_in_place_;
    DeviceAddress arguments_;
};

// With `Command::snapshot` the source bytes are copied during submit, and `source` may be freed on return.
struct CopyWork {
    DeviceAddress destination;
    DeviceAddress source;
    std::uint64_t width;   // bytes of a row; all bytes when height is 1
    std::uint64_t height;  // rows
    std::uint64_t destination_pitch;
    std::uint64_t source_pitch;
};

struct FillWork {
    DeviceAddress destination;
    std::uint64_t count;  // elements
    std::uint32_t value;
    std::uint32_t element_size;  // 1 or 4
};

enum class SignalMode : std::uint8_t { raise, set, add, bit_or, bit_and };  // raise: to the larger of old and new
// mask: every bit of the wait's value is set
enum class WaitMode : std::uint8_t { at_least, equal, less, greater, mask };

// The value of a fence after a signal. Counting notifies use `add` and are 32 bits wide.
constexpr std::uint64_t signalled(SignalMode mode, std::uint64_t old, std::uint64_t operand) noexcept {
    switch (mode) {
        case SignalMode::raise:
            return operand > old ? operand : old;
        case SignalMode::set:
            return operand;
        case SignalMode::add:
            return static_cast<std::uint32_t>(old + operand);
        case SignalMode::bit_or:
            return old | operand;
        case SignalMode::bit_and:
            return old & operand;
    }
    return old;
}

struct SignalWork {
    Fence* fence;  // kept alive by the queue until the command is done
    std::uint64_t value;
    SignalMode mode;
};

struct WaitWork {
    Fence* fence;  // kept alive by the queue until the command is done
    std::uint64_t value;
    std::uint64_t timeout;  // nanoseconds; 0: none
    WaitMode mode;
    bool clear;            // set the fence to 0 once satisfied
    OutsideWait* outside;  // null, or what the wait is for when another process does it; ends with the command
};

enum class ValueCondition : std::uint8_t { at_least, equal, bits_and, bits_nor };

struct ValueWork {
    DeviceAddress address;
    std::uint64_t value;
    ValueCondition condition;  // of wait_value
};

// In a graph, `function` may run any number of times, so it must not free anything.
struct CallWork {
    void (*function)(void*);
    void* argument;
    // Runs instead of `function` when the command is dropped by an abort. Null: a dropped host_call is skipped, a
    // dropped inline_call still runs `function`.
    void (*dropped)(void*);
    // Frees the argument; called once, when the command leaves its queue. Null: nothing to free. In a graph, the
    // arguments belong to the graph's builder.
    void (*dispose)(void*);
};

// Binds a wait or signal of a graph to a fence for one replay.
struct FenceBinding {
    Fence* fence;  // kept alive by the queue until the replay is done
    std::uint64_t value;
};

struct ReplayWork {
    Executable* executable;  // kept alive by the queue until the replay is done
    const FenceBinding* bindings;
    std::uint32_t binding_count;
    std::uint64_t ticket;  // taken from the executable; replays run in ticket order
};

enum class ConditionKind : std::uint8_t { branch, loop, choice };

// branch: runs bodies[0] if the selector is not 0, else bodies[1] if there is one. loop: repeats bodies[0] while the
// selector is not 0. choice: runs bodies[selector], or nothing if that is out of range.
struct ConditionWork {
    DeviceAddress selector;     // a 64-bit word
    Executable* const* bodies;  // kept alive by the executable they are part of
    std::uint32_t count;
    ConditionKind kind;
};

// A command of a graph: its lane, and its position in that lane.
struct GraphPlace {
    std::uint32_t lane;
    std::uint32_t position;
};

struct JumpWork {
    DeviceAddress index;  // a 32-bit word; clamped to the last target
    const GraphPlace* targets;
    std::uint32_t count;
};

enum class Comparison : std::uint8_t { equal, not_equal, greater, greater_or_equal, less, less_or_equal };

struct SwitchWork {
    DeviceAddress left;
    DeviceAddress right;
    Comparison comparison;
    bool wide;           // 64 bits instead of 32
    std::uint32_t lane;  // started when the comparison holds
};

struct StartWork {
    std::uint32_t lane;
};

// If set, the device hands host_call work to this object instead of its own threads.
class CallRouter;

struct alignas(64) Command {
    Opcode opcode = Opcode::inline_call;
    bool snapshot = false;            // copy: take the source bytes during submit
    std::uint16_t payload_lines = 0;  // private to the queue: cache lines of copied bytes after the command
    std::uint32_t task = 0;           // its number in the stream; shown by callbacks and profilers
    union {
        LaunchWork launch;
        CopyWork copy;
        FillWork fill;
        SignalWork signal;
        WaitWork wait;
        ValueWork value;
        CallWork call;
        ReplayWork replay;
        ConditionWork condition;
        JumpWork jump;
        SwitchWork switch_lane;
        StartWork start;
    };

    Command() : call{} {}
    explicit Command(Opcode code) : opcode(code), call{} {}
};

static_assert(sizeof(Command) == 64);
static_assert(std::is_trivially_copyable_v<Command>);

}  // namespace canopy
