// SPDX-License-Identifier: Apache-2.0
#include "check/memory/memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "check/memory/overlap.h"
#include "check/model/walk.h"

namespace canopy::check {

namespace {

// Copies move whole blocks of local memories, loads and products whole fractals.
constexpr std::uint64_t moved_bytes = 32, fractal_bytes = 512;

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

bool in_fractals(std::uint8_t memory) {
    return memory == CANOPY_MEMORY_L1 || memory == CANOPY_MEMORY_L0A || memory == CANOPY_MEMORY_L0B ||
           memory == CANOPY_MEMORY_L0C;
}

std::uint64_t bytes_outside(const CanopyCheckAccess& access, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t sum = 0;
    each_piece(access, [&](std::uint64_t address, std::uint64_t bytes) {
        const std::uint64_t first = std::max(address, begin), last = std::min(address + bytes, end);
        sum += bytes - (last > first ? last - first : 0);
    });
    return sum;
}

std::string described(const AllocationFacts& allocation) {
    return fmt::format("the allocation of {} bytes at {:#x}{}{}", allocation.size, allocation.address,
                       allocation.origin.empty() ? "" : ", ", allocation.origin);
}

}  // namespace

void Memory::operation(const Told& told) {
    const CanopyCheckOperation& operation = told.operation;
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& access = operation.accesses[i];
        const Extent extent = extent_of(access);
        if (extent.begin == extent.end) continue;
        const Operand operand{told, access, extent.begin, extent.end};
        if (access.memory == CANOPY_MEMORY_GLOBAL)
            check_global(operand);
        else if (access.operand != nullptr && std::strcmp(access.operand, "reserved") == 0)
            reserve(operand);
        else
            check_local(operand);
    }
    if (operation.pipe == CANOPY_CHECK_V && operation.flow == CANOPY_CHECK_CARRY && operation.access_count > 1)
        check_overlap(operation, told);
}

// ---- local memories ------------------------------------------------------------------------------------------------

void Memory::check_local(const Operand& operand) {
    const CanopyCheckAccess& access = operand.access;
    const auto place = core_.locate(operand.begin);
    if (!place) {
        report(operand, "memory.buffer", operand.end - operand.begin, "it is in no memory of this core");
        return;
    }
    const CoreFacts::Memory& memory = place->core->facts.memory[place->memory];
    if (access.whole_register == 0 && operand.end > memory.base + memory.size) {
        report(operand, "memory.buffer", bytes_outside(access, memory.base, memory.base + memory.size),
               fmt::format("it ends {} bytes behind the memory of {} bytes", operand.end - memory.base - memory.size,
                           memory.size));
        return;
    }
    // What another core of the group has made of its memories is its own matter.
    if (place->core != &core_) return;
    if (operand.begin < reserved_end_ && operand.end > reserved_begin_) report_reserved(reserved_by_, side_of(operand));
    if (check_buffer(operand)) check_tensor(operand, in_fractals(access.memory) ? fractal_bytes : moved_bytes);
}

// False: reported.
bool Memory::check_buffer(const Operand& operand) {
    const Buffers::Region* region = buffers_.find(operand.begin);
    if (region == nullptr) {
        const CanopyCheckSite* reset = buffers_.reset_at(operand.begin);
        if (reset == nullptr) return true;
        const Reports::Side earlier{.site = *reset, .core = &core_};
        report(operand, "memory.reset", bytes_of(operand.access), "TPipe has been reset since the tensor was taken",
               &earlier);
        return false;
    }
    const std::uint32_t index = region->index_of(operand.begin);
    const Buffers::Buffer& buffer = region->buffers[index];
    if (region->queue != nullptr && (buffer.state == Buffers::State::queued || buffer.state == Buffers::State::free)) {
        const bool queued = buffer.state == Buffers::State::queued;
        const Reports::Side earlier{.site = buffer.site, .core = &core_};
        report(operand, queued ? "memory.queued" : "memory.freed", bytes_of(operand.access),
               queued ? "the tensor waits in its queue: DeQue has not returned it"
                      : "the tensor is free: FreeTensor has given its buffer back",
               &earlier);
        return false;
    }
    const std::uint64_t begin = region->address_of(index), end = begin + region->bytes;
    if (operand.end <= end || operand.access.whole_register != 0) return true;
    // The tensor says it better, if it ends with the buffer.
    const std::uint64_t tensor = reinterpret_cast<std::uint64_t>(operand.access.tensor);
    if (operand.access.tensor_bytes != 0 && tensor + operand.access.tensor_bytes <= end) return true;
    report(operand, "memory.buffer", bytes_outside(operand.access, begin, end),
           fmt::format("it ends {} bytes behind its buffer of {} bytes", operand.end - end, region->bytes));
    return false;
}

// Reports what is outside of the operand's tensor, whose end is rounded up to `unit`.
void Memory::check_tensor(const Operand& operand, std::uint64_t unit) {
    const CanopyCheckAccess& access = operand.access;
    if (access.tensor_bytes == 0) return;
    const auto begin = reinterpret_cast<std::uint64_t>(access.tensor);
    const std::uint64_t end = round_up(begin + access.tensor_bytes, unit);
    if (operand.begin >= begin && (operand.end <= end || access.whole_register != 0)) return;
    const std::uint64_t outside = bytes_outside(access, begin, end);
    if (outside == 0) return;
    report(operand, "memory.tensor", outside,
           operand.end > end ? fmt::format("it ends {} bytes behind its tensor of {} bytes",
                                           operand.end - begin - access.tensor_bytes, access.tensor_bytes)
                             : fmt::format("it begins {} bytes before its tensor", begin - operand.begin));
}

// The last bytes of UB are work space of a few instructions.
void Memory::reserve(const Operand& operand) {
    const Reports::Side here = side_of(operand);
    if (const Buffers::Region* region = buffers_.overlapping(operand.begin, operand.end))
        report_reserved({.site = region->site, .core = &core_}, here);
    reserved_begin_ = operand.begin;
    reserved_end_ = operand.end;
    reserved_by_ = here;
}

void Memory::report_reserved(const Reports::Side& earlier, const Reports::Side& here) {
    core_.launch.reports.add(Level::warning, "memory.reserved", nullptr, CANOPY_MEMORY_UB, "reserved memory",
                             "the program uses memory that an instruction needs for itself", "", {earlier, here});
}

void Memory::placed(const CanopyCheckBuffer& event) {
    const auto begin = reinterpret_cast<std::uint64_t>(event.address);
    const std::uint64_t end = begin + event.bytes * std::max(event.buffers, 1U);
    if (begin == end) return;
    if (const Buffers::Region* region = buffers_.overlapping(begin, end)) {
        const auto place = core_.locate(begin);
        const Reports::Side sides[] = {
            {.site = region->site, .core = &core_},
            {.site = event.site, .core = &core_, .address = place ? place->offset : 0, .bytes = end - begin}};
        core_.launch.reports.add(Level::warning, "memory.overlap", nullptr, event.memory, "overlapping operands",
                                 fmt::format("the tensor is at an address that the program chose, over a {} of TPipe",
                                             region->queue == nullptr ? "TBuf" : "queue's buffer"),
                                 "", sides);
        return;
    }
    buffers_.placed(begin, end);
}

// ---- global memory -------------------------------------------------------------------------------------------------

void Memory::check_global(const Operand& operand) {
    if (allocations_.known() && !check_allocation(operand)) return;
    // What is read of the last block of a tensor is not used.
    check_tensor(operand, operand.access.kind == CANOPY_CHECK_READ ? moved_bytes : 1);
}

// False: reported.
bool Memory::check_allocation(const Operand& operand) {
    const CanopyCheckAccess& access = operand.access;
    const AllocationFacts* found = allocations_.find(operand.begin);
    if (found == nullptr) {
        report(operand, "memory.allocation", bytes_of(access), "it is in no allocation");
        return false;
    }
    const AllocationFacts allocation = *found;
    if (allocation.serial == 0) return true;  // nothing is known of its bounds
    if (allocation.freed) {
        const Reports::Side earlier = side_of(allocation);
        report(operand, "memory.freed", bytes_of(access), described(allocation) + ", is freed", &earlier);
        return false;
    }
    const auto tensor = reinterpret_cast<std::uint64_t>(access.tensor);
    if (access.tensor != nullptr && tensor - allocation.address >= allocation.size) {
        const AllocationFacts* own = allocations_.find(tensor);
        if (own != nullptr && own->serial != 0 && !own->freed && own->serial != allocation.serial) {
            const Reports::Side earlier = side_of(allocation);
            report(operand, "memory.foreign", bytes_of(access),
                   fmt::format("its tensor is in {}; it touches {}", described(*own), described(allocation)), &earlier);
            return false;
        }
    }
    const std::uint64_t end = allocation.address + allocation.size;
    if (operand.end <= round_up(end, operand.access.kind == CANOPY_CHECK_READ ? moved_bytes : 1)) return true;
    const std::uint64_t outside = bytes_outside(access, allocation.address, end);
    if (outside == 0) return true;
    const AllocationFacts* next = allocations_.find(operand.end - 1);
    const Reports::Side earlier = side_of(allocation);
    if (next != nullptr && next->serial != 0 && !next->freed && next->serial != allocation.serial)
        report(operand, "memory.foreign", outside,
               fmt::format("it begins in {} and ends in {}", described(allocation), described(*next)), &earlier);
    else
        report(operand, "memory.allocation", outside,
               fmt::format("it ends {} bytes behind {}", operand.end - end, described(allocation)), &earlier);
    return false;
}

// ---- operands of one instruction -----------------------------------------------------------------------------------

void Memory::check_overlap(const CanopyCheckOperation& operation, const Told& told) {
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& written = operation.accesses[i];
        if ((written.kind & CANOPY_CHECK_WRITE) == 0 || written.memory != CANOPY_MEMORY_UB) continue;
        for (std::uint32_t j = 0; j < operation.access_count; ++j) {
            const CanopyCheckAccess& read = operation.accesses[j];
            if (j == i || read.kind != CANOPY_CHECK_READ || read.memory != CANOPY_MEMORY_UB) continue;
            const char* text = wrong_overlap(written, read);
            if (text == nullptr) continue;
            const Extent a = extent_of(written), b = extent_of(read);
            const Reports::Side sides[] = {side_of({told, read, b.begin, b.end}),
                                           side_of({told, written, a.begin, a.end})};
            core_.launch.reports.add(Level::warning, "memory.overlap", nullptr, written.memory, "overlapping operands",
                                     text, "", sides);
        }
    }
}

// ---- findings ------------------------------------------------------------------------------------------------------

void Memory::misuse(const char* id, const char* text, const CanopyCheckSite& site) {
    const bool align = std::strcmp(id, "memory.align") == 0;
    core_.launch.reports.add(Level::error, align ? "memory.align" : "memory.limit", nullptr, -1,
                             align ? "misaligned access" : "parameter out of range", text, "",
                             {{.site = site, .core = &core_}});
}

Reports::Side Memory::side_of(const Operand& operand) const {
    const CanopyCheckAccess& access = operand.access;
    std::uint64_t address = operand.begin;
    if (access.memory != CANOPY_MEMORY_GLOBAL)
        if (const auto place = core_.locate(operand.begin)) address = place->offset;
    return {.site = operand.told.operation.site,
            .operand = access.operand,
            .access = access.kind,
            .pipe = operand.told.operation.pipe,
            .core = &core_,
            .address = address,
            .bytes = bytes_of(access),
            .number = operand.told.number};
}

Reports::Side Memory::side_of(const AllocationFacts& allocation) const {
    return {.site = core_.launch.origins.site_of(allocation.origin),
            .address = allocation.address,
            .bytes = allocation.size};
}

void Memory::report(const Operand& operand, const char* id, std::uint64_t bytes, std::string text,
                    const Reports::Side* earlier) {
    const Reports::Side here = side_of(operand);
    std::string headline =
        fmt::format("illegal {} of size {}", (operand.access.kind & CANOPY_CHECK_WRITE) != 0 ? "write" : "read", bytes);
    if (earlier == nullptr)
        core_.launch.reports.add(Level::error, id, nullptr, operand.access.memory, std::move(headline), std::move(text),
                                 "", {here});
    else
        core_.launch.reports.add(Level::error, id, nullptr, operand.access.memory, std::move(headline), std::move(text),
                                 "", {*earlier, here});
}

}  // namespace canopy::check
