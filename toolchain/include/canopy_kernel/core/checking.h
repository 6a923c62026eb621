// SPDX-License-Identifier: Apache-2.0
// How operations tell a checker what they do, in the checking variant (canopy_kernel/target/checking.h). In all other
// code the functions below are empty.
//
// An operation opens an Instruction and names its operands:
//
//     const Instruction instruction(PIPE_V, "Add", where);
//     check_count(dst, count, "Add", "dst", where);    // adds an operand; one called "dst..." is written
//     instruction.reads("src", src, bytes);            // the first bytes of a tensor
//
// It is told to the checker when it ends. Operations inside another one are parts of it and tell nothing: the outermost
// one names all that they touch. Flags, barriers and the like inside an instruction are not told either.
#ifndef CANOPY_KERNEL_CORE_CHECKING_H
#define CANOPY_KERNEL_CORE_CHECKING_H

#include "canopy_kernel/core/core.h"
#include "canopy_kernel/target/checking.h"

namespace AscendC {

template <class T>
class LocalTensor;
template <class T>
class GlobalTensor;

}  // namespace AscendC

namespace canopy::kernel {

// ---- the open instruction ------------------------------------------------------------------------------------------

// At the end of a core's registers, in the checking variant only.
struct CheckState {
    uint32_t depth;       // open instructions, one inside the other
    uint32_t joined;      // of them, the outermost ones that are one instruction
    void* register_call;  // what loads and stores of the running register function are collected in
    uint32_t capacity, growths;
    CanopyCheckAccess* accesses;
    uint64_t (*lanes)[2];  // the masks of the accesses that have one
    CanopyCheckOperation operation;
};
static_assert(sizeof(CoreState) + sizeof(CheckState) <= CANOPY_CORE_REGISTERS, "there is room for both");

inline CheckState& check_state_of(CanopyCore& core) {
    return *reinterpret_cast<CheckState*>(core.registers + CANOPY_CORE_REGISTERS - sizeof(CheckState));
}

inline void begin_checking(CanopyCore& core) { __builtin_memset(&check_state_of(core), 0, sizeof(CheckState)); }

inline CheckState& check_state() {
    core_state();
    return check_state_of(core());
}

// True where operands of the open instruction are named, not those of its parts.
inline bool names_operands(const CheckState& state) { return state.depth != 0 && state.depth <= state.joined; }

// True inside an instruction.
inline bool is_part_of_instruction() {
    CanopyCore* core = current_block().core;
    if (core == nullptr || reinterpret_cast<CoreState*>(core->registers)->at_end == nullptr) return false;
    return check_state_of(*core).depth != 0;
}

constexpr uint8_t checked_pipe(pipe_t pipe) {
    return pipe == PIPE_FIX   ? uint8_t{CANOPY_CHECK_FIX}
           : pipe == PIPE_ALL ? uint8_t{CANOPY_CHECK_ALL}
                              : static_cast<uint8_t>(pipe);
}

constexpr CanopyCheckSite check_site(const char* operation, Where where) { return {operation, where.file, where.line}; }

__attribute__((noinline)) inline void open_instruction(pipe_t pipe, const char* name, Where where, uint8_t flow) {
    CheckState& state = check_state();
    CanopyCheckOperation& operation = state.operation;
    if (state.depth++ != 0) {
        if (names_operands(state)) operation.flow = flow;
        return;
    }
    state.joined = 1;
    operation = CanopyCheckOperation{};
    operation.site = check_site(name, where);
    operation.pipe = checked_pipe(pipe);
    operation.flow = flow;
}

__attribute__((noinline)) inline void tell_instruction(CheckState& state) {
    CanopyCheckOperation& operation = state.operation;
    if (operation.access_count == 0) return;
    for (uint32_t i = 0; i < operation.access_count; ++i)
        if (state.accesses[i].lanes != nullptr) state.accesses[i].lanes = state.lanes[i];
    operation.accesses = state.accesses;
    canopy_image_checker->operation(&operation);
    operation.access_count = 0;
}

inline void close_instruction() {
    CheckState& state = check_state();
    if (--state.depth != 0) return;
    state.joined = 0;
    tell_instruction(state);
}

__attribute__((noinline)) inline void grow_accesses(CheckState& state) {
    const uint32_t capacity = state.capacity == 0 ? 32 : state.capacity * 4;
    // Each size has separate memory, because memory that grows may lose what it holds.
    const char* key = reinterpret_cast<const char*>(&canopy_image_checker) + state.growths++;
    auto* memory =
        static_cast<unsigned char*>(block_memory(key, capacity * (sizeof(CanopyCheckAccess) + sizeof(uint64_t[2]))));
    auto* accesses = reinterpret_cast<CanopyCheckAccess*>(memory);
    auto* lanes = reinterpret_cast<uint64_t(*)[2]>(memory + capacity * sizeof(CanopyCheckAccess));
    for (uint32_t i = 0; i < state.capacity; ++i) {
        accesses[i] = state.accesses[i];
        lanes[i][0] = state.lanes[i][0];
        lanes[i][1] = state.lanes[i][1];
    }
    state.accesses = accesses;
    state.lanes = lanes;
    state.capacity = capacity;
}

// ---- operands ------------------------------------------------------------------------------------------------------

// What an access touches: `repeats` times `pieces` pieces of `bytes` bytes; distances in bytes.
struct Walk {
    uint64_t bytes;
    uint64_t step = 0;
    uint32_t pieces = 1;
    uint64_t repeat_step = 0;
    uint32_t repeats = 1;
    bool apart = false;  // pieces are rows that stay separate, even if they follow one another
};

// The tensor of an operand.
struct OperandPlace {
    const void* tensor;
    uint64_t bytes;  // 0: not known
    Hardware memory;
    uint16_t element;
};

template <class T>
inline constexpr uint16_t checked_element = packing<T> == 1 ? sizeof(T) : 1;

template <class T>
inline OperandPlace place_of(const AscendC::LocalTensor<T>& tensor) {
    return {tensor.GetPhyAddr(), bytes_of<T>(tensor.GetSize()), memory_of(tensor.position()), checked_element<T>};
}

// What SetGlobalBuffer was given, kept by tensors that are made of others. Without effect outside of the checking
// variant.
template <bool kept>
struct GlobalOrigin {
    void set(const void*, uint64_t) {}
    void move(const void*, const void*) {}
    void tell(const void*, OperandPlace&) const {}
};
template <>
struct GlobalOrigin<true> {
    void set(const void* address, uint64_t size) {
        begin = now = address;
        bytes = size;
    }
    // Programs may give a tensor another address; its origin is not known then.
    void move(const void* from, const void* to) { now = now == from ? to : nullptr; }
    void tell(const void* address, OperandPlace& place) const {
        if (now == nullptr || now != address) return;
        place.tensor = begin;
        place.bytes = bytes;
    }

    const void* begin = nullptr;
    const void* now = nullptr;  // the address of the tensor that keeps this
    uint64_t bytes = 0;
};
template <class T>
inline OperandPlace place_of(const AscendC::GlobalTensor<T>& tensor) {
    OperandPlace place = {tensor.GetPhyAddr(), bytes_of<T>(tensor.GetSize()), Hardware::GM, checked_element<T>};
    tensor.tell_origin(place);
    return place;
}

constexpr bool begins_with(const char* text, const char* start) {
    while (*start != 0)
        if (*text++ != *start++) return false;
    return true;
}

// The memory of the core that an address is in.
inline Hardware memory_holding(const void* address) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    for (int i = 1; i < CANOPY_MEMORY_COUNT; ++i) {
        const auto& memory = core().memory[i];
        const auto base = reinterpret_cast<uintptr_t>(memory.base);
        if (memory.size != 0 && at >= base && at < base + memory.size) return static_cast<Hardware>(i);
    }
    return Hardware::GM;
}

// Operands called "dst", "dstLocal", "destination", "the destination", "output" and so on are written, all others read.
constexpr uint8_t access_kind(const char* operand) {
    if (begins_with(operand, "the ")) operand += 4;
    const bool written = begins_with(operand, "dst") || begins_with(operand, "dest") || begins_with(operand, "out");
    return written ? CANOPY_CHECK_WRITE : CANOPY_CHECK_READ;
}

// Adds an operand to the open instruction, if there is one and this is not inside a part of it. The result may be
// changed until the next call; null: nothing was added.
__attribute__((noinline)) inline CanopyCheckAccess* add_access(uint8_t kind, const char* operand,
                                                               const OperandPlace& place, const void* address,
                                                               const Walk& walk) {
    CheckState& state = check_state();
    if (!names_operands(state) || walk.bytes == 0 || walk.pieces == 0 || walk.repeats == 0) return nullptr;
    if (state.operation.access_count == state.capacity) grow_accesses(state);
    CanopyCheckAccess& access = state.accesses[state.operation.access_count++];
    const bool contiguous = !walk.apart && (walk.pieces == 1 || walk.step == walk.bytes);
    access = CanopyCheckAccess{};
    access.address = address;
    access.bytes = contiguous ? walk.bytes * walk.pieces : walk.bytes;
    access.step = contiguous ? 0 : walk.step;
    access.pieces = contiguous ? 1 : walk.pieces;
    access.repeat_step = walk.repeat_step;
    access.repeats = walk.repeats;
    access.kind = kind;
    access.memory = static_cast<uint8_t>(place.memory);
    access.element = place.element;
    access.operand = begins_with(operand, "the ") ? operand + 4 : operand;
    access.tensor = place.tensor;
    access.tensor_bytes = place.bytes;
    return &access;
}

// The same for elements selected by bits.
inline void add_selected(uint8_t kind, const char* operand, const OperandPlace& place, const void* address,
                         const Walk& walk, const uint64_t* bits, uint32_t lanes_per_bit) {
    CanopyCheckAccess* access = add_access(kind, operand, place, address, walk);
    if (access == nullptr) return;
    CheckState& state = check_state();
    uint64_t* lanes = state.lanes[access - state.accesses];
    lanes[0] = bits[0];
    lanes[1] = bits[1];
    access->lanes = lanes;
    access->lanes_per_bit = static_cast<uint8_t>(lanes_per_bit);
}

// The first bytes of a tensor, as an operand of the open instruction.
template <class Tensor>
inline void add_operand(uint8_t kind, const char* operand, const Tensor& tensor, uint64_t bytes) {
    if constexpr (is_checking_variant) add_access(kind, operand, place_of(tensor), tensor.GetPhyAddr(), {bytes});
}
// A walk from `address` on, in a tensor.
template <class Tensor>
inline void add_walk(uint8_t kind, const char* operand, const Tensor& tensor, const void* address, const Walk& walk) {
    if constexpr (is_checking_variant) add_access(kind, operand, place_of(tensor), address, walk);
}
// Memory without a tensor.
inline void add_memory(uint8_t kind, const char* operand, Hardware memory, const void* address, const Walk& walk,
                       uint16_t element) {
    if constexpr (is_checking_variant) add_access(kind, operand, {address, 0, memory, element}, address, walk);
}

// Bases of classes that do something at their end in the checking variant. In other code these have no destructors, so
// that the compiler has nothing to remove.
struct ClosesInstruction {
    ~ClosesInstruction() { close_instruction(); }
};
struct EndsUntold {
    ~EndsUntold() { --check_state().depth; }
};
template <class Base>
struct NoEnd {};
template <class Base>
using InVariant = choose<is_checking_variant, Base, NoEnd<Base>>;

class Instruction : InVariant<ClosesInstruction> {
public:
    // `flow` says what becomes of bytes that nobody has written.
    Instruction(pipe_t pipe, const char* name, Where where, CanopyCheckFlow flow = CANOPY_CHECK_CARRY) {
        if constexpr (is_checking_variant) open_instruction(pipe, name, where, static_cast<uint8_t>(flow));
    }
    Instruction(const Instruction&) = delete;
    Instruction& operator=(const Instruction&) = delete;

    // The first bytes of a tensor.
    template <class Tensor>
    void reads(const char* operand, const Tensor& tensor, uint64_t bytes) const {
        add_operand(CANOPY_CHECK_READ, operand, tensor, bytes);
    }
    template <class Tensor>
    void writes(const char* operand, const Tensor& tensor, uint64_t bytes) const {
        add_operand(CANOPY_CHECK_WRITE, operand, tensor, bytes);
    }
    // A walk from an address in a tensor on.
    template <class Tensor>
    void reads(const char* operand, const Tensor& tensor, const void* address, const Walk& walk) const {
        add_walk(CANOPY_CHECK_READ, operand, tensor, address, walk);
    }
    template <class Tensor>
    void writes(const char* operand, const Tensor& tensor, const void* address, const Walk& walk) const {
        add_walk(CANOPY_CHECK_WRITE, operand, tensor, address, walk);
    }

    // Tells the checker now, so that it knows before the operation accesses its operands. No operand may follow.
    void tell() const {
        if constexpr (is_checking_variant) {
            CheckState& state = check_state();
            if (names_operands(state)) tell_instruction(state);
        }
    }

    // CanopyCheckOperationFlags.
    void set(uint32_t flags) const {
        if constexpr (is_checking_variant)
            if (CheckState& state = check_state(); names_operands(state)) state.operation.flags |= flags;
    }
    // Of products and Fixpipe.
    void product(uint32_t m, uint32_t n, uint32_t k, uint8_t unit_flag) const {
        if constexpr (is_checking_variant) {
            CheckState& state = check_state();
            if (!names_operands(state)) return;
            state.operation.m = m;
            state.operation.n = n;
            state.operation.k = k;
            state.operation.unit_flag |= unit_flag;
        }
    }
};

// An instruction that is one with the next one inside it: for calls that have an operand more than those they call.
class JoinedInstruction : public Instruction {
public:
    JoinedInstruction(pipe_t pipe, const char* name, Where where) : Instruction(pipe, name, where) {
        if constexpr (is_checking_variant)
            if (CheckState& state = check_state(); names_operands(state)) state.joined = state.depth + 1;
    }
};

// While one lives, nothing is told: for what the language does on its own account.
class Untold : InVariant<EndsUntold> {
public:
    Untold() {
        if constexpr (is_checking_variant) ++check_state().depth;
    }
    Untold(const Untold&) = delete;
    Untold& operator=(const Untold&) = delete;
};

// ---- scalar accesses -----------------------------------------------------------------------------------------------

// An access by the scalar unit to one element of a tensor.
__attribute__((noinline)) inline void tell_scalar(const char* name, uint8_t kind, const OperandPlace& place,
                                                  const void* address, uint32_t flags, Where where,
                                                  AtomicKind atomic = AtomicKind::none,
                                                  ElementKind type = ElementKind::as_copied) {
    if (is_part_of_instruction()) return;
    CanopyCheckAccess access{};
    access.address = address;
    access.bytes = access.element = place.element;
    access.pieces = access.repeats = 1;
    access.kind = kind;
    access.memory = static_cast<uint8_t>(place.memory);
    access.atomic = static_cast<uint8_t>(atomic);
    access.element_type = static_cast<uint8_t>(type);
    access.tensor = place.tensor;
    access.tensor_bytes = place.bytes;
    CanopyCheckOperation operation{};
    operation.site = check_site(name, where);
    operation.pipe = CANOPY_CHECK_S;
    operation.flow = kind == CANOPY_CHECK_WRITE ? CANOPY_CHECK_FILL : CANOPY_CHECK_USE;
    operation.flags = flags;
    operation.access_count = 1;
    operation.accesses = &access;
    canopy_image_checker->operation(&operation);
}

// The same for an element of a tensor.
template <class Tensor>
inline void tell_element(const char* name, uint8_t kind, const Tensor& tensor, uint64_t offset, uint32_t flags,
                         Where where) {
    if constexpr (is_checking_variant)
        tell_scalar(name, kind, place_of(tensor), advance(tensor.GetPhyAddr(), offset), flags, where);
}
// operator() of a tensor.
template <class Tensor>
inline void tell_reference(const Tensor& tensor, uint64_t offset, Where where) {
    tell_element("operator()", CANOPY_CHECK_READ_WRITE, tensor, offset,
                 CANOPY_CHECK_AUTO_ORDERED | CANOPY_CHECK_REFERENCE, where);
}
// The same for a word of global memory, past the scalar data cache.
template <class T>
inline void tell_bypass(const char* name, uint8_t kind, const T* address, Where where,
                        AtomicKind atomic = AtomicKind::none, ElementKind type = ElementKind::as_copied) {
    if constexpr (is_checking_variant)
        tell_scalar(name, kind, {address, 0, Hardware::GM, sizeof(T)}, address, CANOPY_CHECK_BYPASS, where, atomic,
                    type);
}

// ---- events --------------------------------------------------------------------------------------------------------

inline void tell_flag(bool set, const char* name, pipe_t from, pipe_t to, int64_t id, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->flag(set, checked_pipe(from), checked_pipe(to), static_cast<int32_t>(id), &site);
    }
}

inline void tell_barrier(const char* name, pipe_t pipe, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->barrier(checked_pipe(pipe), &site);
    }
}

// A call of a library orders pipes by itself.
inline void tell_order(const char* name, pipe_t from, pipe_t to, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->order(checked_pipe(from), checked_pipe(to), &site);
    }
}

inline void tell_data_barrier(const char* name, uint32_t kind, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->data_barrier(kind, &site);
    }
}

// Part of a core's memory changes its use. `buffer` has everything except the site.
inline void tell_buffer(CanopyCheckBuffer buffer, const char* name, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        buffer.site = check_site(name, where);
        canopy_image_checker->buffer(&buffer);
    }
}

// A tensor at an address that the program chose.
template <class T>
inline void tell_placed(const AscendC::LocalTensor<T>& tensor, Where where) {
    if constexpr (is_checking_variant) {
        CanopyCheckBuffer buffer{};
        buffer.event = CANOPY_CHECK_TENSOR_PLACED;
        buffer.buffers = 1;
        buffer.address = tensor.GetPhyAddr();
        buffer.bytes = tensor.GetLength();
        buffer.source = buffer.destination = static_cast<uint8_t>(tensor.position());
        buffer.memory = static_cast<uint8_t>(memory_of(tensor.position()));
        tell_buffer(buffer, "LocalTensor", where);
    }
}

inline void tell_event_id(CanopyCheckIdEvent event, const char* name, pipe_t from, pipe_t to, int32_t id, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->event_id(event, checked_pipe(from), checked_pipe(to), id, &site);
    }
}

inline void tell_mutex(bool lock, const char* name, pipe_t pipe, uint32_t id, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->mutex(lock, checked_pipe(pipe), id, &site);
    }
}

// Before a set, after a wait.
inline void tell_core_flag(bool set, const char* name, uint32_t mode, pipe_t pipe, uint32_t id, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->core_flag(set, mode, checked_pipe(pipe), id, &site);
    }
}

// Before (`begin`) and after a meeting.
inline void tell_meeting(CanopyCheckMeeting kind, const char* name, CanopySyncScope scope, bool begin, pipe_t trigger,
                         pipe_t wait, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->meet(kind, scope, begin, checked_pipe(trigger), checked_pipe(wait), &site);
    }
}

// Before publishing, after taking.
inline void tell_word(CanopyCheckWord event, const char* name, const void* address, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->word(event, address, &site);
    }
}

inline void tell_cache(CanopyCheckCacheEvent event, const char* name, const void* address, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->cache(event, address, &site);
    }
}

// Parameters that checked builds refuse. The checking variant tells the checker, where `id` is "memory.limit",
// "memory.align" or "sync.set", and goes on.
__attribute__((cold, noinline, format(printf, 3, 4))) inline void refuse([[maybe_unused]] const char* id, Where where,
                                                                         const char* format, ...) {
    char text[400];
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    __builtin_vsnprintf(text, sizeof text, format, arguments);
    __builtin_va_end(arguments);
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction() && !names_operands(check_state())) return;
        const CanopyCheckSite site = check_site(nullptr, where);
        canopy_image_checker->misuse(id, text, &site);
    } else {
        fail(where, "%s", text);
    }
}

// An operation that has no model.
inline void tell_not_modelled(const char* name, Where where) {
    if constexpr (is_checking_variant) {
        if (is_part_of_instruction()) return;
        const CanopyCheckSite site = check_site(name, where);
        canopy_image_checker->not_modelled(name, &site);
    }
}

}  // namespace canopy::kernel

#endif
