// SPDX-License-Identifier: Apache-2.0
#include "check/sync/buffers.h"

#include <algorithm>

namespace canopy::check {

namespace {

// More are a wrong parameter, which the language reports.
constexpr std::uint32_t most_buffers = 256;

}  // namespace

Buffers::Region* Buffers::add(const CanopyCheckBuffer& event) {
    if (event.bytes == 0 || event.buffers == 0) return nullptr;
    Region region{.begin = reinterpret_cast<std::uint64_t>(event.address),
                  .bytes = event.bytes,
                  .queue = event.queue,
                  .depth = event.depth,
                  .source = event.source,
                  .destination = event.destination,
                  .memory = event.memory,
                  .bound = event.bound != 0,
                  .site = event.site,
                  .buffers = std::vector<Buffer>(std::min(event.buffers, most_buffers)),
                  .queued = {}};
    last_ = nullptr;
    count_ += region.buffers.size();
    forget_reset(region.begin, region.end());
    // A pool that holds the new buffers stays.
    auto old = regions_.lower_bound(region.begin);
    while (old != regions_.end() && old->first < region.end()) old = regions_.erase(old);
    return &(regions_[region.begin] = std::move(region));
}

Buffers::Region* Buffers::find(std::uint64_t address) {
    if (last_ != nullptr && address >= last_->begin && address < last_->end()) return last_;
    auto next = regions_.upper_bound(address);
    if (next == regions_.begin()) return nullptr;
    Region& region = std::prev(next)->second;
    if (address >= region.end()) return nullptr;
    return last_ = &region;
}

Buffers::Region* Buffers::of_queue(const void* queue) {
    for (auto& [begin, region] : regions_)
        if (region.queue == queue && queue != nullptr) return &region;
    return nullptr;
}

const Buffers::Region* Buffers::overlapping(std::uint64_t begin, std::uint64_t end) const {
    auto next = regions_.lower_bound(begin);
    if (next != regions_.end() && next->first < end) return &next->second;
    if (next == regions_.begin()) return nullptr;
    const Region& before = std::prev(next)->second;
    return before.end() > begin ? &before : nullptr;
}

void Buffers::add_tensor(std::uint64_t begin, std::uint64_t end) {
    std::uint64_t& known = tensors_[begin];
    known = std::max(known, end);
}

std::uint64_t Buffers::end_of(std::uint64_t address) {
    if (const Region* region = find(address); region != nullptr)
        return region->address_of(region->index_of(address)) + region->bytes;
    const auto next = tensors_.upper_bound(address);
    if (next == tensors_.begin()) return 0;
    const std::uint64_t end = std::prev(next)->second;
    return address < end ? end : 0;
}

void Buffers::reset(const CanopyCheckSite& site, bool ends) {
    for (const auto& [begin, region] : regions_) {
        forget_reset(begin, region.end());
        if (ends && region.queue == nullptr) continue;
        gone_[begin] = {region.end(), site};
    }
    regions_.clear();
    last_ = nullptr;
    count_ = 0;
}

const CanopyCheckSite* Buffers::reset_at(std::uint64_t address) const {
    if (gone_.empty()) return nullptr;
    auto next = gone_.upper_bound(address);
    if (next == gone_.begin()) return nullptr;
    const Gone& gone = std::prev(next)->second;
    return address < gone.end ? &gone.site : nullptr;
}

void Buffers::forget_reset(std::uint64_t begin, std::uint64_t end) {
    if (gone_.empty() || begin >= end) return;
    auto at = gone_.upper_bound(begin);
    if (at != gone_.begin()) --at;
    while (at != gone_.end() && at->first < end) {
        if (at->second.end <= begin) {
            ++at;
            continue;
        }
        const std::uint64_t first = at->first;
        const Gone gone = at->second;
        at = gone_.erase(at);
        if (first < begin) gone_[first] = {begin, gone.site};
        if (gone.end > end) at = gone_.emplace(end, gone).first;
    }
}

}  // namespace canopy::check
