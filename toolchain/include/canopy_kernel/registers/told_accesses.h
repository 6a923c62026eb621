// SPDX-License-Identifier: Apache-2.0
// What loads and stores of registers tell a checker, in the checking variant. Inside a call of a register function they
// are collected and told when it ends: one instruction for each line of the function. A chip runs the vector
// instructions of these architectures in order, so that is the same as telling them one by one.
#ifndef CANOPY_KERNEL_REGISTER_TOLD_ACCESSES_H
#define CANOPY_KERNEL_REGISTER_TOLD_ACCESSES_H

#include "canopy_kernel/core/check.h"

namespace canopy::kernel::registers {

// One line's accesses of one kind, as far as they are one walk.
struct LineAccess {
    CanopyCheckSite site;
    CanopyCheckAccess access;
    uint64_t lanes[2];

    void tell() {
        CanopyCheckOperation operation{};
        operation.site = site;
        operation.pipe = CANOPY_CHECK_V;
        operation.flow = CANOPY_CHECK_FILL;
        operation.access_count = 1;
        if (access.lanes != nullptr) access.lanes = lanes;
        operation.accesses = &access;
        canopy_image_checker->operation(&operation);
    }
    bool is_at(const LineAccess& other) const {
        return site.line == other.site.line && site.file == other.site.file && access.kind == other.access.kind &&
               site.operation == other.site.operation;
    }
    // Takes the next access of the line, if it goes on where this one ends, repeats it, or keeps its distance.
    bool takes(const LineAccess& next) {
        if (access.lanes != nullptr || next.access.lanes != nullptr) return false;
        const auto first = reinterpret_cast<uintptr_t>(access.address);
        const auto at = reinterpret_cast<uintptr_t>(next.access.address);
        const uint64_t bytes = next.access.bytes;
        if (at < first) return false;
        if (access.pieces == 1) {
            if (at + bytes <= first + access.bytes) return true;
            if (at == first + access.bytes) {
                access.bytes += bytes;
                return true;
            }
            // Loads of whole registers end with the buffer that they start in, so one walk has one buffer.
            if (bytes != access.bytes || at < first + bytes || access.whole_register != 0) return false;
            access.step = at - first;
            access.pieces = 2;
            return true;
        }
        if (bytes != access.bytes || (at - first) % access.step != 0 || (at - first) / access.step > access.pieces)
            return false;
        if ((at - first) / access.step == access.pieces) ++access.pieces;
        return true;
    }
};

// Accesses through pointers inside a call are the language's own: its functions are part of the program's there. So a
// region of the checker is as long as the call, except while this lives.
class OutsideOfCall {
public:
    OutsideOfCall() : inside_(check_state().register_call != nullptr) { move(0); }
    OutsideOfCall(const OutsideOfCall&) = delete;
    OutsideOfCall& operator=(const OutsideOfCall&) = delete;
    ~OutsideOfCall() { move(1); }

private:
    void move(uint32_t begin) const {
        if (inside_) canopy_image_checker->region(CANOPY_CHECK_REGION_INTERNAL, begin, nullptr);
    }
    bool inside_;
};

// The accesses of a call. Lives as long as the call.
class CallAccesses {
public:
    void add(const LineAccess& access) {
        for (uint32_t i = count_; i-- > 0;)
            if (lines_[i].is_at(access)) {
                if (lines_[i].takes(access)) return;
                break;
            }
        if (count_ == most) tell();
        lines_[count_++] = access;
    }
    // Adds an access that goes on where the last one of its line ended. Lines of a loop come in turns.
    bool extend(uint8_t kind, const char* operation, const void* address, uint64_t bytes, const Where& where) {
        if (next_ >= count_) next_ = 0;
        if (count_ == 0) return false;
        LineAccess& line = lines_[next_];
        CanopyCheckAccess& access = line.access;
        if (line.site.line != where.line || access.kind != kind || line.site.operation != operation ||
            line.site.file != where.file || access.pieces != 1 || access.lanes != nullptr ||
            static_cast<const unsigned char*>(access.address) + access.bytes != address)
            return false;
        access.bytes += bytes;
        ++next_;
        return true;
    }
    void tell() {
        const OutsideOfCall outside;
        for (uint32_t i = 0; i < count_; ++i) lines_[i].tell();
        count_ = 0;
    }

private:
    static constexpr uint32_t most = 64;
    LineAccess lines_[most];
    uint32_t count_ = 0;
    uint32_t next_ = 0;  // the line that is expected next
};

template <bool checking>
class RegisterCall {
public:
    RegisterCall() {}
};
template <>
class RegisterCall<true> {
public:
    RegisterCall() : outermost_(check_state().register_call == nullptr) {
        if (!outermost_) return;
        check_state().register_call = &accesses_;
        canopy_image_checker->region(CANOPY_CHECK_REGION_INTERNAL, 1, nullptr);
    }
    RegisterCall(const RegisterCall&) = delete;
    RegisterCall& operator=(const RegisterCall&) = delete;
    ~RegisterCall() {
        if (!outermost_) return;
        canopy_image_checker->region(CANOPY_CHECK_REGION_INTERNAL, 0, nullptr);
        check_state().register_call = nullptr;
        if (!is_part_of_instruction()) accesses_.tell();
    }

private:
    CallAccesses accesses_;
    bool outermost_;
};
using RegisterScope = RegisterCall<is_checking_variant>;

__attribute__((noinline)) inline void tell_lanes(uint8_t kind, const char* operation, const void* address,
                                                 uint64_t bytes, uint32_t element, const uint64_t* lanes, Where where) {
    auto* const call = static_cast<CallAccesses*>(check_state().register_call);
    if (call != nullptr && lanes == nullptr && call->extend(kind, operation, address, bytes, where)) return;
    if (bytes == 0 || is_part_of_instruction()) return;
    LineAccess line{};
    line.site = check_site(operation, where);
    line.access.address = line.access.tensor = address;
    line.access.bytes = bytes;
    line.access.pieces = line.access.repeats = 1;
    line.access.kind = kind;
    line.access.memory = CANOPY_MEMORY_UB;
    line.access.element = static_cast<uint16_t>(element);
    line.access.lanes_per_bit = 1;
    line.access.whole_register = kind == CANOPY_CHECK_READ && bytes >= 64;
    if (lanes != nullptr) {
        line.lanes[0] = lanes[0];
        line.lanes[1] = lanes[1];
        line.access.lanes = line.lanes;
    }
    if (call != nullptr)
        call->add(line);
    else
        line.tell();
}

inline void tell_access(uint8_t kind, const char* operation, const void* address, uint64_t bytes, Where where) {
    if constexpr (is_checking_variant) tell_lanes(kind, operation, address, bytes, 1, nullptr, where);
}

// A store of `size` bytes for each element whose bit in `bits` is set. Two elements of a mask are `width` bits apart.
template <uint32_t width, uint32_t size>
inline void tell_store_by_bits(const char* operation, void* to, const uint64_t (&bits)[4], Where where) {
    constexpr uint32_t in_word = 64 / width, elements = 128 < 4 * in_word ? 128 : 4 * in_word;
    for (uint32_t first = 0; first < 4 * in_word; first += elements) {
        uint64_t lanes[2] = {};
        for (uint32_t i = 0; i < elements; ++i) {
            const uint32_t element = first + i;
            lanes[i / 64] |= (bits[element / in_word] >> element % in_word * width & 1) << i % 64;
        }
        if ((lanes[0] | lanes[1]) != 0)
            tell_lanes(CANOPY_CHECK_WRITE, operation, static_cast<unsigned char*>(to) + first * size, elements * size,
                       size, lanes, where);
    }
}

}  // namespace canopy::kernel::registers

#endif
