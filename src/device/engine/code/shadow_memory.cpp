// SPDX-License-Identifier: Apache-2.0
#include "device/engine/code/shadow_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int refused = 207000;
constexpr std::uintptr_t large_page = 2u << 20;
constexpr std::uint64_t most_memory = 64ull << 30;
constexpr std::uintptr_t page = 4096;
// Kernel memory is above 4 GiB; smaller values are more likely counts and sizes than addresses.
constexpr std::uint64_t lowest_address = 1ull << 32, highest_address = 1ull << 47;

// True if the address is mapped. Takes a system call, but numbers that look like addresses are rare.
bool is_mapped(std::uint64_t address) noexcept {
    if (address < lowest_address || address >= highest_address) return false;
    unsigned char resident = 0;
    return mincore(reinterpret_cast<void*>(address & ~(page - 1)), 1, &resident) == 0;
}

}  // namespace

Result<ShadowMemory> ShadowMemory::create(std::span<const DeviceRange> regions) {
    ShadowMemory shadow;
    std::uint64_t total = large_page;
    for (const DeviceRange& region : regions) {
        if (region.size > most_memory - total) return fail(refused, "more than 64 GiB of memory cannot be traced");
        total += (region.size + large_page - 1) / large_page * large_page + 3 * large_page;
        if (total > most_memory) return fail(refused, "more than 64 GiB of memory cannot be traced");
    }
    shadow.mapping_size_ = total;
    void* memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return fail(refused, "no addresses left to trace {} bytes of memory", total);
    shadow.mapping_ = memory;
    std::uintptr_t at = (reinterpret_cast<std::uintptr_t>(memory) + large_page - 1) / large_page * large_page;
    for (const DeviceRange& region : regions) {
        const std::uintptr_t begin = region.base.value();
        shadow.regions_.push_back({begin, at + begin % large_page, region.size});
        // A gap after each region, so that an overrun does not reach the next one.
        at += (begin % large_page + region.size + large_page - 1) / large_page * large_page + large_page;
    }
    return shadow;
}

ShadowMemory::ShadowMemory(ShadowMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_size_(other.mapping_size_),
      regions_(std::move(other.regions_)) {}

ShadowMemory::~ShadowMemory() {
    if (mapping_ != nullptr) munmap(mapping_, mapping_size_);
}

Result<std::vector<std::byte>> ShadowMemory::replace_addresses(std::span<const std::byte> arguments) const {
    std::vector<std::byte> replaced(arguments.begin(), arguments.end());
    for (std::size_t at = 0; at + 8 <= replaced.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, replaced.data() + at, sizeof word);
        bool found = false;
        for (const Region& region : regions_) {
            if (word < region.begin || word - region.begin >= region.size) continue;
            word = region.shadow + (word - region.begin);
            std::memcpy(replaced.data() + at, &word, sizeof word);
            found = true;
            break;
        }
        if (!found && is_mapped(word)) return fail(refused, "the arguments contain the unknown address {:#x}", word);
    }
    return replaced;
}

std::optional<TraceAddress> ShadowMemory::find(std::uintptr_t address, std::uint64_t bytes) const noexcept {
    for (std::size_t index = 0; index < regions_.size(); ++index) {
        const Region& region = regions_[index];
        if (address < region.shadow || address - region.shadow >= region.size) continue;
        if (bytes > region.size - (address - region.shadow)) return std::nullopt;
        return TraceAddress{static_cast<std::int32_t>(index), address - region.shadow};
    }
    return std::nullopt;
}

}  // namespace canopy
