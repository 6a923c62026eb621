// SPDX-License-Identifier: Apache-2.0
// One mapping holds all memories of a core. Each lies between inaccessible pages and ends right before one.
#include "device/execution/core.h"

#include <canopy/chips.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/process_state.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t page = 4096;
// Wide enough to also catch a loop that steps over the end by whole blocks.
constexpr std::size_t guard = 16 * page;
constexpr std::uint32_t kib = 1024;

constexpr const char* memory_names[CANOPY_MEMORY_COUNT] = {"GM", "UB", "L1", "L0A", "L0B", "L0C", "BT", "FB"};

// Kernels for an architecture that no chip has get the memories of 2201 if it is lower than that, else of 3510.
const Chip& chip_of(std::uint32_t architecture) noexcept {
    if (const Chip* chip = chip_of_architecture(architecture)) return *chip;
    return *chip_of_architecture(architecture < 2201 ? 2201 : 3510);
}

constexpr std::size_t whole_pages(std::size_t size) noexcept { return (size + page - 1) / page * page; }

struct Registry {
    Mutex mutex;
    SoftCore* first CANOPY_GUARDED_BY(mutex) = nullptr;
};
Registry& registry() noexcept { return process_state<Registry>(); }

// Below 4 GiB if there is room: kernels may keep local addresses in 32 bits.
void* reserve(std::size_t size) noexcept {
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
#ifdef MAP_32BIT
    void* low = mmap(nullptr, size, PROT_NONE, flags | MAP_32BIT, -1, 0);
    if (low != MAP_FAILED) return low;
#endif
    return mmap(nullptr, size, PROT_NONE, flags, -1, 0);
}

std::string size_in_words(std::uint32_t size) { return fmt::format("{} KiB", size / kib); }

}  // namespace

std::uint32_t core_memory_size(std::uint32_t architecture, CanopyMemory memory) noexcept {
    const Chip& chip = chip_of(architecture);
    switch (memory) {
        case CANOPY_MEMORY_UB:
            return chip.unified_buffer;
        case CANOPY_MEMORY_L1:
            return chip.l1_buffer;
        case CANOPY_MEMORY_L0A:
            return chip.l0a_buffer;
        case CANOPY_MEMORY_L0B:
            return chip.l0b_buffer;
        case CANOPY_MEMORY_L0C:
            return chip.l0c_buffer;
        case CANOPY_MEMORY_BIAS:
            return chip.bias_buffer;
        case CANOPY_MEMORY_FIXPIPE:
            return chip.scale_buffer;
        default:
            return 0;
    }
}

std::unique_ptr<SoftCore> SoftCore::create(std::uint32_t architecture, Access access) noexcept {
    std::unique_ptr<SoftCore> core(new (std::nothrow) SoftCore);
    if (!core) return nullptr;
    core->architecture_ = architecture;
    if (!core->map(access)) return nullptr;
    Registry& all = registry();
    MutexLock lock(all.mutex);
    core->next_ = all.first;
    if (all.first) all.first->previous_ = core.get();
    all.first = core.get();
    return core;
}

bool SoftCore::map(Access access) noexcept {
    const auto size_of = [&](int index) { return core_memory_size(architecture_, static_cast<CanopyMemory>(index)); };
    std::size_t total = guard;
    for (int index = 0; index < CANOPY_MEMORY_COUNT; ++index)
        if (size_of(index) != 0) total += whole_pages(size_of(index)) + guard;
    void* memory = reserve(total);
    if (memory == MAP_FAILED) return false;
    mapping_ = static_cast<std::byte*>(memory);
    mapping_size_ = total;
    std::byte* at = mapping_ + guard;
    for (int index = 0; index < CANOPY_MEMORY_COUNT; ++index) {
        const std::uint32_t size = size_of(index);
        if (size == 0) continue;
        const std::size_t pages = whole_pages(size);
        if (access == Access::usual && mprotect(at, pages, PROT_READ | PROT_WRITE) != 0) return false;
        core_.memory[index].base = reinterpret_cast<unsigned char*>(at + pages - size);
        core_.memory[index].size = size;
        at += pages + guard;
    }
    return true;
}

SoftCore::~SoftCore() {
    Registry& all = registry();
    {
        MutexLock lock(all.mutex);
        if (previous_)
            previous_->next_ = next_;
        else if (all.first == this)
            all.first = next_;
        if (next_) next_->previous_ = previous_;
    }
    if (mapping_) munmap(mapping_, mapping_size_);
}

CanopyCore& SoftCore::open() noexcept {
    std::memset(core_.registers, 0, CANOPY_CORE_CLEARED);
    if (!pieces_.empty()) [[unlikely]] {
        std::erase_if(pieces_, [](const Piece& piece) { return !piece.used; });
        for (Piece& piece : pieces_) piece.used = false;
    }
    return core_;
}

void* SoftCore::block_memory(const void* key, std::size_t size, std::size_t alignment, const void* initial) noexcept {
    auto found = std::find_if(pieces_.begin(), pieces_.end(), [&](const Piece& piece) { return piece.key == key; });
    if (found != pieces_.end() && found->used && found->size >= size) return found->memory.get();
    try {
        if (found == pieces_.end()) {
            found = pieces_.emplace(pieces_.end());
            found->key = key;
        }
        if (found->size < size || !found->memory) {
            const std::align_val_t boundary{std::max(alignment, std::size_t{64})};
            std::unique_ptr<std::byte[], Piece::Release> memory(
                static_cast<std::byte*>(::operator new[](size, boundary)), {boundary});
            if (found->used) std::memcpy(memory.get(), found->memory.get(), found->size);
            found->memory = std::move(memory);
            found->size = size;
        }
    } catch (...) {
        return nullptr;
    }
    if (!std::exchange(found->used, true)) {
        if (initial)
            std::memcpy(found->memory.get(), initial, size);
        else
            std::memset(found->memory.get(), 0, size);
    }
    return found->memory.get();
}

std::string SoftCore::describe(std::uintptr_t address) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping_);
    if (address < begin || address >= begin + mapping_size_) return {};
    for (int index = 0; index < CANOPY_MEMORY_COUNT; ++index) {
        const std::uint32_t size = core_.memory[index].size;
        if (size == 0) continue;
        const auto low = reinterpret_cast<std::uintptr_t>(core_.memory[index].base);
        // Half of a gap belongs to the memory before it, half to the one after it.
        if (address >= low + size && address < low + size + guard / 2)
            return fmt::format("the kernel ran past the end of {} ({}): address {:#x} is {} bytes past it",
                               memory_names[index], size_in_words(size), address, address - low - size);
        if (address < low && address >= low - guard / 2)
            return fmt::format("the kernel accessed memory before {} ({}): address {:#x} is {} bytes before it",
                               memory_names[index], size_in_words(size), address, low - address);
    }
    return {};
}

std::string describe_core_address(std::uintptr_t address) {
    Registry& all = registry();
    MutexLock lock(all.mutex);
    for (const SoftCore* core = all.first; core; core = core->next_)
        if (std::string text = core->describe(address); !text.empty()) return text;
    return {};
}

CanopyCore* open_core(std::unique_ptr<SoftCore>& slot, std::uint32_t architecture) noexcept {
    if (!slot || slot->architecture() != architecture) {
        slot.reset();  // freed first: address space below 4 GiB is scarce
        slot = SoftCore::create(architecture);
    }
    return slot ? &slot->open() : nullptr;
}

}  // namespace canopy
