// SPDX-License-Identifier: Apache-2.0
// Writes what a kernel tells a checker into memory, one line of text an event:
//
//     17 Add V: W dst UB+0x400 1024, R src0 UB+0x0 1024, R src1 UB+0x0 1024
//
// An access is its kind, its operand, where it starts, and its walk: bytes, then `xPIECES/STEP` if there is more than
// one piece and `*REPEATS/STEP` if there is more than one repeat. Lines count from the one with the kernel's function.
#ifndef CANOPY_TESTS_CHECKING_RECORDER_H
#define CANOPY_TESTS_CHECKING_RECORDER_H

#include <acl/acl.h>
#include <gtest/gtest.h>
#include <kernel_operator.h>

#include <string>
#include <vector>

struct Record {
    uint32_t length;
    char text[1 << 16];
};

namespace recorder {

inline Record* record = nullptr;
inline const unsigned char* memory = nullptr;  // global memory of the kernel
inline unsigned first_line = 0;

__attribute__((format(printf, 1, 2))) inline void add(const char* format, ...) {
    if (record == nullptr) return;
    const uint32_t room = sizeof record->text - record->length;
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    const int written = __builtin_vsnprintf(record->text + record->length, room, format, arguments);
    __builtin_va_end(arguments);
    if (written > 0) record->length += static_cast<uint32_t>(written) < room ? static_cast<uint32_t>(written) : 0;
}

inline const char* pipe(uint32_t number) {
    constexpr const char* names[] = {"S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX", "ALL"};
    return names[number];
}

inline void place(uint32_t memory_number, const void* address) {
    constexpr const char* names[] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};
    const unsigned char* base = memory_number == 0 ? memory : canopy::kernel::core().memory[memory_number].base;
    if (address == nullptr)
        add(" %s null", names[memory_number]);
    else
        add(" %s+0x%llx", names[memory_number],
            static_cast<unsigned long long>(static_cast<const unsigned char*>(address) - base));
}

inline void site(const CanopyCheckSite& where) {
    const bool known = where.file != nullptr && __builtin_strstr(where.file, "_test.asc") != nullptr;
    if (known)
        add("%u %s", where.line - first_line, where.operation == nullptr ? "" : where.operation);
    else
        add("? %s", where.operation == nullptr ? "" : where.operation);
}

inline void access(const CanopyCheckAccess& it) {
    constexpr const char* kinds[] = {"?", "R", "W", "RW"};
    constexpr const char* atomics[] = {"", " add", " max", " min"};
    add("%s%s%s%s", kinds[it.kind & 3], atomics[it.atomic], it.operand != nullptr ? " " : "",
        it.operand != nullptr ? it.operand : "");
    place(it.memory, it.address);
    add(" %llu", static_cast<unsigned long long>(it.bytes));
    if (it.pieces != 1) add("x%u/%llu", it.pieces, static_cast<unsigned long long>(it.step));
    if (it.repeats != 1) add("*%u/%llu", it.repeats, static_cast<unsigned long long>(it.repeat_step));
    if (it.lanes != nullptr)
        add(" lanes %llx:%llx/%u", static_cast<unsigned long long>(it.lanes[1]),
            static_cast<unsigned long long>(it.lanes[0]), it.lanes_per_bit);
    if (it.atomic != 0) add(" type %u", it.element_type);
}

inline void operation(const CanopyCheckOperation* it) {
    constexpr const char* flows[] = {"", " use", " fill"};
    site(it->site);
    add(" %s%s", pipe(it->pipe), it->pipe == CANOPY_CHECK_S ? "" : flows[it->flow]);
    if ((it->flags & CANOPY_CHECK_AUTO_ORDERED) != 0) add(" auto");
    if ((it->flags & CANOPY_CHECK_BYPASS) != 0) add(" bypass");
    if ((it->flags & CANOPY_CHECK_RETURNS_SCALAR) != 0) add(" scalar");
    if ((it->flags & CANOPY_CHECK_REFERENCE) != 0) add(" reference");
    if ((it->flags & CANOPY_CHECK_ACCUMULATES) != 0) add(" adds");
    if (it->m != 0) add(" %ux%ux%u", it->m, it->n, it->k);
    if (it->unit_flag != 0) add(" unit %u", it->unit_flag);
    for (uint32_t i = 0; i < it->access_count; ++i) {
        add(i == 0 ? ": " : ", ");
        access(it->accesses[i]);
    }
    add("\n");
}

inline void flag(uint32_t, uint32_t from, uint32_t to, int32_t id, const CanopyCheckSite* where) {
    site(*where);
    add(" %s_%s %d\n", pipe(from), pipe(to), id);
}
inline void barrier(uint32_t number, const CanopyCheckSite* where) {
    site(*where);
    add(" %s\n", pipe(number));
}
inline void data_barrier(uint32_t kind, const CanopyCheckSite* where) {
    site(*where);
    add(" %u\n", kind);
}
inline void buffer(const CanopyCheckBuffer* it) {
    site(it->site);
    if (it->event == CANOPY_CHECK_BUFFER_INIT)
        add(" %u x %llu", it->buffers, static_cast<unsigned long long>(it->bytes));
    if (it->event == CANOPY_CHECK_TENSOR_PLACED) add(" %llu", static_cast<unsigned long long>(it->bytes));
    if (it->event < CANOPY_CHECK_PIPE_INIT || it->event == CANOPY_CHECK_TENSOR_PLACED) {
        place(it->memory, it->address);
        add(" %u-%u depth %d%s", it->source, it->destination, it->depth, it->bound != 0 ? " bound" : "");
    }
    add("\n");
}
inline void event_id(uint32_t, uint32_t from, uint32_t to, int32_t id, const CanopyCheckSite* where) {
    flag(0, from, to, id, where);
}
inline void mutex(uint32_t, uint32_t number, uint32_t id, const CanopyCheckSite* where) {
    site(*where);
    add(" %s %u\n", pipe(number), id);
}
inline void core_flag(uint32_t, uint32_t mode, uint32_t number, uint32_t id, const CanopyCheckSite* where) {
    site(*where);
    add(" mode %u %s %u\n", mode, pipe(number), id);
}
inline void meet(uint32_t kind, uint32_t scope, uint32_t begin, uint32_t trigger, uint32_t wait,
                 const CanopyCheckSite* where) {
    site(*where);
    add(" %s %u %s %s %s\n", kind == CANOPY_CHECK_MEET_HARDWARE ? "hardware" : "software", scope,
        begin != 0 ? "begin" : "end", pipe(trigger), pipe(wait));
}
inline void word(uint32_t event, const void* address, const CanopyCheckSite* where) {
    site(*where);
    add(event == CANOPY_CHECK_WORD_PUBLISH ? " publish" : " take");
    place(0, address);
    add("\n");
}
inline void cache(uint32_t event, const void* address, const CanopyCheckSite* where) {
    site(*where);
    if (event == CANOPY_CHECK_CACHE_CLEAN_ALL)
        add(" all");
    else
        place(0, address);
    add("\n");
}
inline void region(uint32_t, uint32_t begin, const CanopyCheckOperation*) { add("region %u\n", begin); }
inline void not_modelled(const char* what, const CanopyCheckSite* where) {
    site(*where);
    add(" not modelled: %s\n", what);
}
inline void misuse(const char* id, const char* text, const CanopyCheckSite* where) {
    site(*where);
    add("%s: %s\n", id, text);
}
inline void raw(const void*, uint32_t, uint32_t, const void*) {}
inline void order(uint32_t from, uint32_t to, const CanopyCheckSite* where) {
    site(*where);
    add(" order %s_%s\n", pipe(from), pipe(to));
}

inline const CanopyChecker table = {sizeof(CanopyChecker),
                                    0,
                                    &operation,
                                    &flag,
                                    &barrier,
                                    &data_barrier,
                                    &buffer,
                                    &event_id,
                                    &mutex,
                                    &core_flag,
                                    &meet,
                                    &word,
                                    &cache,
                                    &region,
                                    &not_modelled,
                                    &misuse,
                                    &raw,
                                    &order};

}  // namespace recorder

const CanopyChecker* canopy_image_checker = &recorder::table;

template <class Case>
__aicore__ inline void record_case(GM_ADDR memory, GM_ADDR record, const Case& what) {
    recorder::record = reinterpret_cast<Record*>(record);
    recorder::memory = memory;
    recorder::first_line = what.line;
    what.run(memory);
    recorder::record = nullptr;
}
template <class Case>
__global__ __vector__ void run_recorded(GM_ADDR memory, GM_ADDR record, Case what) {
    record_case(memory, record, what);
}
template <class Case>
__global__ __cube__ void run_recorded_on_cube(GM_ADDR memory, GM_ADDR record, Case what) {
    record_case(memory, record, what);
}

#endif
