// SPDX-License-Identifier: Apache-2.0
// Record: one thing that happened, as the ring of a thread and the file of a profile hold it. Two lie in a cache line.
// Times are ticks (base/ticks.h); a profile says how to convert them.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <type_traits>

namespace canopy::profile {

// What `object`, `argument` and `link` mean is said beside each kind. `task` below is the link of a task: the number of
// its stream in the upper 32 bits, its number in the stream in the lower ones.
enum class Kind : std::uint8_t {
    none,
    // A function of the interface. name: the function. object: the code it returned. link: the last task it submitted,
    // 0 if none; argument: how many it submitted.
    call,
    // A task, from its start to its end on the device, waits included. name: the kernel, or what the task does.
    // object: TaskObject. argument: blocks of a kernel, bytes of a copy or fill (saturated; `detail` has the rest).
    task,
    // A task of a replayed graph. object, argument: as in `task`. link: the task that replays it. Followed by a detail
    // `place`.
    node,
    // A block of a kernel, or a piece of one if it was suspended, on the thread that ran it. A kernel with one block
    // has none: the thread that wrote its task ran it. object: its number, with BlockObject's bits. argument: pieces
    // before this one. link: the task.
    block,
    // A step of a fused launch, on the thread that ran it. name: its kernel. object: its number. link: the task.
    step,
    // Part of a large copy that a worker took over. argument: bytes. link: the task.
    piece,
    // More about a record with the same `link`, written just before by the same thread. `begin` is the value. object: a
    // Detail.
    detail,
    // A change of the memory in use. name: what it was for. object: MemoryObject. argument: unused. duration: the size
    // of the block in bytes. link: bytes in use afterwards.
    memory,
    // A moment or a period that the program marked. name: the domain. object: the number of its text. argument:
    // MarkArgument. link: the task that carries its beginning on a stream, the same in both halves of the mark; without
    // a stream, the number of the range.
    mark,
    // A figure at one moment. name: what it is. object: the device, or all_devices. link: the value.
    counter,
    // A step of training or inference (aclrtProfTrace, aclprofGetStepTimestamp), when a stream came to it. object:
    // StepObject. argument: its number. link: the task that took the time. A detail `model` may follow.
    step_point,
    // A thread did nothing of the above from here to there: host threads that wait, workers that sleep. object: reason.
    idle,
    count_
};

enum class TaskType : std::uint8_t {
    kernel,
    cpu_kernel,
    copy,
    fill,
    signal,
    wait,
    write_value,
    wait_value,
    host_call,
    runtime_call,
    replay,
    condition,
    control,  // jumps and ends of graphs
    mark,
    count_
};

enum class CoreKind : std::uint8_t { none, cube, vector, mix, cpu };
enum class CopyKind : std::uint8_t {
    unknown,
    host_to_host,
    host_to_device,
    device_to_host,
    device_to_device,
    between_devices
};

// The object of a task: type, core (of kernels) or kind of copy, device, flags.
inline constexpr std::uint32_t task_failed = 1;
inline constexpr std::uint32_t task_dropped = 2;
inline constexpr std::uint32_t task_fused = 4;
inline constexpr std::uint32_t task_built_in = 8;  // a kernel of the runtime itself

struct TaskObject {
    TaskType type = TaskType::kernel;
    std::uint8_t how = 0;  // a CoreKind for kernels, a CopyKind for copies
    std::uint8_t device = 0;
    std::uint8_t flags = 0;
    [[nodiscard]] constexpr std::uint32_t packed() const noexcept {
        return static_cast<std::uint32_t>(type) | std::uint32_t{how} << 8 | std::uint32_t{device} << 16 |
               std::uint32_t{flags} << 24;
    }
    static constexpr TaskObject of(std::uint32_t packed) noexcept {
        return {static_cast<TaskType>(packed & 0xFF), static_cast<std::uint8_t>(packed >> 8),
                static_cast<std::uint8_t>(packed >> 16), static_cast<std::uint8_t>(packed >> 24)};
    }
};

inline constexpr std::uint32_t block_vector_core = 1u << 31;  // in a mix kernel: a vector core of the group
inline constexpr std::uint32_t all_devices = UINT32_MAX;

enum class Detail : std::uint32_t {
    bytes = 1,        // of a copy or fill that is larger than `argument` can say
    place = 2,        // of a node: lane << 32 | position
    waits_for = 3,    // of a wait: the number of the event or notify
    released_by = 4,  // of a wait that was not over at once: the link of the task that ended it; 0: the host
    submitted = 5,    // of a task: ticks when it was submitted
    code = 6,         // of a task that failed: the error code
    model = 7,        // of a step_point: the number of the model it belongs to, as the program gave it
};

enum class MemoryChange : std::uint8_t { allocated, freed };
struct MemoryObject {
    MemoryChange change = MemoryChange::allocated;
    std::uint8_t device = 0;
    [[nodiscard]] constexpr std::uint32_t packed() const noexcept {
        return static_cast<std::uint32_t>(change) | std::uint32_t{device} << 8;
    }
    static constexpr MemoryObject of(std::uint32_t packed) noexcept {
        return {static_cast<MemoryChange>(packed & 0xFF), static_cast<std::uint8_t>(packed >> 8)};
    }
};

// The numbers are those of the output files.
enum class MarkForm : std::uint8_t { moment = 0, pushed = 1, range = 2, moment_on_stream = 3 };
enum class MarkSource : std::uint8_t { stamp, mstx, canopy };
struct MarkArgument {
    MarkForm form = MarkForm::moment;
    MarkSource source = MarkSource::stamp;
    bool on_device = false;  // the half of a mark that the stream wrote
    std::uint8_t category = 0;
    [[nodiscard]] constexpr std::uint32_t packed() const noexcept {
        return static_cast<std::uint32_t>(form) | static_cast<std::uint32_t>(source) << 8 |
               std::uint32_t{on_device} << 16 | std::uint32_t{category} << 24;
    }
    static constexpr MarkArgument of(std::uint32_t packed) noexcept {
        return {static_cast<MarkForm>(packed & 0xFF), static_cast<MarkSource>((packed >> 8) & 0xFF),
                ((packed >> 16) & 1) != 0, static_cast<std::uint8_t>(packed >> 24)};
    }
};

// start, end: aclprofGetStepTimestamp. trace: aclrtProfTrace, with the program's tag.
enum class StepForm : std::uint8_t { start = 0, end = 1, trace = 2 };
struct StepObject {
    StepForm form = StepForm::start;
    std::uint8_t device = 0;
    std::uint16_t tag = 0;
    [[nodiscard]] constexpr std::uint32_t packed() const noexcept {
        return static_cast<std::uint32_t>(form) | std::uint32_t{device} << 8 | std::uint32_t{tag} << 16;
    }
    static constexpr StepObject of(std::uint32_t packed) noexcept {
        return {static_cast<StepForm>(packed & 0xFF), static_cast<std::uint8_t>(packed >> 8),
                static_cast<std::uint16_t>(packed >> 16)};
    }
};

enum class IdleReason : std::uint32_t { no_work, host_waits };

struct Record {
    std::uint64_t begin;
    std::uint64_t duration : 44;
    std::uint64_t kind : 6;
    std::uint64_t name : 14;  // a text of the profile, below first_free_text
    std::uint32_t object;
    std::uint32_t argument;
    std::uint64_t link;

    [[nodiscard]] Kind what() const noexcept { return static_cast<Kind>(kind); }
};
static_assert(sizeof(Record) == 32 && std::is_trivially_copyable_v<Record>);

inline constexpr std::uint64_t longest_duration = (std::uint64_t{1} << 44) - 1;  // longer ones are cut to it
inline constexpr std::uint32_t no_text = 0;                                      // the empty text
inline constexpr std::uint32_t last_name = (1u << 14) - 1;  // stands for all names that found no room
inline constexpr std::uint32_t first_free_text = 1u << 14;  // texts of marks have larger numbers

// Never 0, which says that there is no task, because streams count from 1.
constexpr std::uint64_t link_of(std::uint32_t stream, std::uint32_t task) noexcept {
    return std::uint64_t{stream} << 32 | task;
}
constexpr std::uint32_t stream_of(std::uint64_t link) noexcept { return static_cast<std::uint32_t>(link >> 32); }
constexpr std::uint32_t task_of(std::uint64_t link) noexcept { return static_cast<std::uint32_t>(link); }

enum class ThreadRole : std::uint32_t { host, worker, cpu_core, runtime };

}  // namespace canopy::profile
