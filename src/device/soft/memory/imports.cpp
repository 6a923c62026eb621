// SPDX-License-Identifier: Apache-2.0
#include "device/soft/memory/imports.h"

#include <utility>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int wrong_argument = 107000;
constexpr int no_room = 207001;
// Addresses cost nothing, but some systems limit them.
constexpr std::uint64_t spans[] = {std::uint64_t{256} << 30, std::uint64_t{32} << 30, std::uint64_t{4} << 30};

}  // namespace

Status SoftImports::reserve() {
    if (allocator_) return {};
    for (const std::uint64_t span : spans) {
        Result<Mapping> memory = Mapping::reserve(span, std::size_t{2} << 20);
        if (!memory.ok()) continue;
        Result<OffsetAllocator> allocator = OffsetAllocator::create(span);
        if (!allocator.ok()) continue;
        memory_ = std::move(*memory);
        allocator_ = std::move(*allocator);
        base_.store(reinterpret_cast<std::uintptr_t>(memory_.base()), std::memory_order_relaxed);
        size_.store(span, std::memory_order_relaxed);
        return {};
    }
    return fail(no_room, "no addresses for memory of other processes");
}

Result<DeviceAddress> SoftImports::add(const FilePart& part) {
    Result<MemoryFile> file = MemoryFile::copy(part.descriptor);
    if (!file.ok()) return file.status();
    if (part.size == 0 || !file->holds(part.offset, part.size))
        return fail(wrong_argument, "the other process shares {} bytes at {} of its file, which cannot be mapped",
                    part.size, part.offset);
    const std::uint64_t first = round_down(part.offset, page_size());
    const std::uint64_t pages = round_up(part.offset + part.size, page_size()) - first;
    MutexLock guard(mutex_);
    CANOPY_TRY(reserve());
    const auto offset = allocator_->allocate(pages + page_size(), page_size());
    if (!offset) return fail(no_room, "no addresses for {} bytes of another process", part.size);
    if (!file->holds(first, pages) || !file->map(memory_, *offset, pages, first, Access::read_write)) {
        allocator_->release(*offset);
        return fail(no_room, "the system refuses to map {} bytes of another process", part.size);
    }
    const DeviceAddress address = device_address(memory_.base() + *offset) + (part.offset - first);
    imports_[address] = {part.size, *offset, pages};
    return address;
}

Status SoftImports::remove(DeviceAddress address) {
    MutexLock guard(mutex_);
    const auto found = imports_.find(address);
    if (found == imports_.end()) return fail(wrong_argument, "no memory of another process starts at {}", address);
    if (!memory_.clear(found->second.offset, found->second.pages))
        return fail(no_room, "the system refuses to unmap {} bytes", found->second.size);
    allocator_->release(found->second.offset);
    imports_.erase(found);
    return {};
}

std::optional<DeviceRange> SoftImports::find(DeviceAddress address) const noexcept {
    if (!contains(address)) return std::nullopt;
    MutexLock guard(mutex_);
    const auto after = imports_.upper_bound(address);
    if (after == imports_.begin()) return std::nullopt;
    const auto& [base, import] = *std::prev(after);
    if (address - base >= import.size) return std::nullopt;
    return DeviceRange{base, import.size};
}

}  // namespace canopy
