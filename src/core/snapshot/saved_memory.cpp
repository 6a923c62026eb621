// SPDX-License-Identifier: Apache-2.0
#include "core/snapshot/saved_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/memory/device_variables.h"
#include "core/memory/managed_memory.h"
#include "core/process/runtime.h"

namespace canopy {
namespace {

template <class Visit>
void for_each_open_device(Visit&& visit) {
    Runtime& runtime = Runtime::instance();
    for (std::uint32_t id = 0; id < runtime.device_count(); ++id) {
        Result<DeviceRecord*> record = runtime.device(id);
        if (Device* device = record.ok() ? (*record)->opened() : nullptr) visit(**record, *device);
    }
}

// Threads of the device help with large copies.
Status copy(Device& device, DeviceAddress to, DeviceAddress from, std::size_t size) {
    if (size < Device::large_copy) return transfer(to, from, size);
    return device.copy({to, from, size, 1, size, size});
}

Status clear(Device& device, DeviceAddress at, std::size_t size) {
    if (size < Device::large_copy) return fill(at, 0, 1, size);
    return device.fill({at, size, 0, 1});
}

// Which memory of the device has been touched, counted from `from`.
struct TouchedMemory {
    DeviceAddress from{};
    std::vector<TouchedPart> parts;
};

TouchedMemory touched_memory(Device& device) {
    const SharedFile* const file = device.abilities().shared_file;
    if (!file) return {{}, {{0, UINT64_MAX}}};
    return {file->range.base, touched_in_file(file->descriptor, 0, file->range.size)};
}

// The first touched part that does not end before an offset.
std::vector<TouchedPart>::const_iterator part_from(const std::vector<TouchedPart>& parts, std::uint64_t offset) {
    return std::partition_point(parts.begin(), parts.end(),
                                [&](const TouchedPart& part) { return part.offset + part.size <= offset; });
}

std::vector<TouchedPart> touched_managed(const ManagedMemory& memory) {
    return memory.file >= 0 ? touched_in_file(memory.file, 0, memory.range.size) : touched_here(memory.range);
}

// Bytes that programs can still take without pushing others out; UINT64_MAX if the system does not say.
std::uint64_t available_memory() {
    std::ifstream file("/proc/meminfo");
    std::string name, unit;
    for (std::uint64_t kibibytes = 0; file >> name >> kibibytes; std::getline(file, unit))
        if (name == "MemAvailable:") return kibibytes * 1024;
    return UINT64_MAX;
}

// Maps physical memory into this process.
Result<Mapping> map_here(const PhysicalBlock& block) {
    const std::optional<FilePart> part = block.memory.shared_part(block.physical);
    if (!part) return fail(code::not_supported, "physical memory of device {} cannot be saved", block.record.index);
    Result<Mapping> mapping = Mapping::reserve(part->size, page_size());
    if (!mapping.ok()) return mapping;
    Result<MemoryFile> file = MemoryFile::copy(part->descriptor);
    if (!file.ok()) return file.status();
    if (!file->map(*mapping, 0, part->size, part->offset, Access::read_write))
        return fail(code::memory_allocation, "physical memory cannot be mapped");
    return mapping;
}

std::vector<TouchedPart> touched_physical(const PhysicalBlock& block) {
    const std::optional<FilePart> part = block.memory.shared_part(block.physical);
    if (!part) return {{0, block.size}};
    return touched_in_file(part->descriptor, part->offset, part->size);
}

}  // namespace

// ---- saving --------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SavedMemory>> SavedMemory::save() {
    auto saved = std::make_unique<SavedMemory>();
    CANOPY_TRY(saved->find_allocations());
    saved->find_managed_memory();
    saved->find_physical();
    saved->find_variables();
    if (saved->size_ > available_memory())
        return fail(code::snapshot_backup, "{} bytes of device memory are to be saved, and this machine has {} left",
                    saved->size_, available_memory());
    if (saved->size_ != 0) {
        Result<Mapping> store = Mapping::sparse(saved->size_);
        if (!store.ok())
            return fail(code::snapshot_backup,
                        "there is no room for the {} bytes of device memory that are to be saved", saved->size_);
        saved->store_ = std::move(*store);
        madvise(saved->store_.base(), saved->store_.size(), MADV_HUGEPAGE);
    }
    CANOPY_TRY(saved->copy_all());
    return saved;
}

// Adds the touched parts of a range. `touched` counts from `touched_from`.
void SavedMemory::add(Pieces& pieces, DeviceRange range, const std::vector<TouchedPart>& touched,
                      DeviceAddress touched_from) {
    const std::uint64_t begin = range.base - touched_from, end = begin + range.size;
    for (auto part = part_from(touched, begin); part != touched.end() && part->offset < end; ++part) {
        const std::uint64_t from = std::max(begin, part->offset);
        const std::uint64_t to = std::min(end, part->offset + part->size);
        pieces.push_back({touched_from + from, to - from, size_});
        size_ += to - from;
    }
}

Status SavedMemory::find_allocations() {
    Status status;
    for_each_open_device([&](DeviceRecord& record, Device& device) {
        Allocations* const all = device.abilities().allocations;
        if (!all) {
            status = fail(code::not_supported, "device {} ({}) cannot list its memory, so it cannot be saved",
                          record.index, device.info().kind);
            return;
        }
        all->mark_all();
        const TouchedMemory touched = touched_memory(device);
        Pieces pieces;
        for (auto each = all->next({}); each; each = all->next(each->range.base + each->range.size))
            add(pieces, each->range, touched.parts, touched.from);
        devices_.emplace_back(&device, std::move(pieces));
    });
    return status;
}

void SavedMemory::find_managed_memory() {
    mark_managed();
    for (const ManagedMemory& memory : all_managed())
        add(managed_, device_range(memory.range), touched_managed(memory), device_address(memory.range.base));
}

void SavedMemory::find_physical() {
    for (const std::shared_ptr<PhysicalBlock>& block : physical_blocks()) {
        if (block->import || block->properties.location != LocationKind::device) continue;
        PhysicalPart part{block, touched_physical(*block), size_};
        for (const TouchedPart& each : part.touched) size_ += each.size;
        physical_.push_back(std::move(part));
    }
}

void SavedMemory::find_variables() {
    for (const DeviceVariable& variable : all_device_variables()) {
        variables_.push_back({variable.binary, {variable.range.base, variable.range.size, size_}});
        size_ += variable.range.size;
    }
}

Status SavedMemory::copy_all() {
    for (const auto& [device, pieces] : devices_) {
        for (std::size_t first = 0, next = 0; first < pieces.size(); first = next) {
            std::size_t size = pieces[first].size;  // pieces that follow each other are copied as one
            for (next = first + 1; next < pieces.size() && pieces[next].origin == pieces[first].origin + size; ++next)
                size += pieces[next].size;
            CANOPY_TRY(copy(*device, stored(pieces[first].place), pieces[first].origin, size));
        }
    }
    if (devices_.empty()) return {};  // there is no other memory then
    Device& helper = *devices_.front().first;
    for (const Piece& piece : managed_) CANOPY_TRY(copy(helper, stored(piece.place), piece.origin, piece.size));
    for (const PhysicalPart& part : physical_)
        if (const auto block = part.block.lock()) CANOPY_TRY(save_physical(part, *block));
    for (const VariablePart& variable : variables_)
        CANOPY_TRY(transfer(stored(variable.piece.place), variable.piece.origin, variable.piece.size));
    return {};
}

Status SavedMemory::save_physical(const PhysicalPart& part, PhysicalBlock& block) {
    Result<Mapping> here = map_here(block);
    if (!here.ok()) return here.status();
    std::size_t place = part.place;
    for (const TouchedPart& each : part.touched) {
        CANOPY_TRY(copy(*block.record.opened(), stored(place), device_address(here->base()) + each.offset, each.size));
        place += each.size;
    }
    return {};
}

// ---- restoring -----------------------------------------------------------------------------------------------------

Status SavedMemory::restore() {
    for (const auto& [device, pieces] : devices_) CANOPY_TRY(restore_allocations(*device, pieces));
    CANOPY_TRY(restore_managed());
    for (const PhysicalPart& part : physical_)
        if (const auto block = part.block.lock()) CANOPY_TRY(restore_physical(part, *block));
    const std::vector<DeviceVariable> variables = all_device_variables();
    for (const VariablePart& saved : variables_) {
        const bool alive = std::any_of(variables.begin(), variables.end(), [&](const DeviceVariable& each) {
            return each.binary == saved.binary && each.range.base == saved.piece.origin;
        });
        if (alive) CANOPY_TRY(transfer(saved.piece.origin, stored(saved.piece.place), saved.piece.size));
    }
    return {};
}

Status SavedMemory::restore_allocations(Device& device, const Pieces& pieces) {
    const TouchedMemory touched = touched_memory(device);
    const Allocations& all = *device.abilities().allocations;
    for (auto each = all.next({}); each; each = all.next(each->range.base + each->range.size))
        if (each->marked) CANOPY_TRY(restore_range(device, each->range, touched.parts, touched.from, pieces));
    return {};
}

Status SavedMemory::restore_managed() {
    if (devices_.empty()) return {};
    for (const ManagedMemory& memory : all_managed())
        if (memory.marked)
            CANOPY_TRY(restore_range(*devices_.front().first, device_range(memory.range), touched_managed(memory),
                                     device_address(memory.range.base), managed_));
    return {};
}

// Copies the saved pieces of a range back. What has been touched since it was saved becomes zero again.
Status SavedMemory::restore_range(Device& device, DeviceRange range, const std::vector<TouchedPart>& touched,
                                  DeviceAddress touched_from, const Pieces& pieces) {
    const DeviceAddress end = range.base + range.size;
    const auto clear_touched = [&](DeviceAddress from, DeviceAddress to) -> Status {
        const std::uint64_t first = from - touched_from, last = to - touched_from;
        for (auto part = part_from(touched, first); part != touched.end() && part->offset < last; ++part) {
            const std::uint64_t begin = std::max(first, part->offset);
            const std::uint64_t stop = std::min(last, part->offset + part->size);
            CANOPY_TRY(clear(device, touched_from + begin, stop - begin));
        }
        return {};
    };
    DeviceAddress at = range.base;
    auto piece =
        std::partition_point(pieces.begin(), pieces.end(), [&](const Piece& each) { return each.origin < range.base; });
    for (; piece != pieces.end() && piece->origin < end; ++piece) {
        CANOPY_TRY(clear_touched(at, piece->origin));
        CANOPY_TRY(copy(device, piece->origin, stored(piece->place), piece->size));
        at = piece->origin + piece->size;
    }
    return clear_touched(at, end);
}

Status SavedMemory::restore_physical(const PhysicalPart& part, PhysicalBlock& block) {
    Result<Mapping> here = map_here(block);
    if (!here.ok()) return here.status();
    const DeviceAddress base = device_address(here->base());
    Pieces pieces;
    std::size_t place = part.place;
    for (const TouchedPart& each : part.touched) {
        pieces.push_back({base + each.offset, each.size, place});
        place += each.size;
    }
    return restore_range(*block.record.opened(), {base, block.size}, touched_physical(block), base, pieces);
}

}  // namespace canopy
