// SPDX-License-Identifier: Apache-2.0
#include "core/fusion/fusion_scratch.h"

#include <algorithm>

namespace canopy {
namespace {

// Smaller temporaries stay in the caches anyway.
constexpr std::uint64_t smallest_temporary = 1u << 20;

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// A block's use of the region: the ranges written so far, and the bounds of all it touched.
struct BlockUse {
    Range touched{UINT64_MAX, 0};
    std::vector<Range> written;

    void touch(Range range) { touched = {std::min(touched.begin, range.begin), std::max(touched.end, range.end)}; }
    void write(Range range) {
        touch(range);
        for (Range& each : written) {
            if (range.begin > each.end || range.end < each.begin) continue;
            each = {std::min(each.begin, range.begin), std::max(each.end, range.end)};
            return;
        }
        written.push_back(range);
    }
    [[nodiscard]] bool has_written(Range range) const {
        return std::any_of(written.begin(), written.end(),
                           [&](const Range& each) { return each.begin <= range.begin && range.end <= each.end; });
    }
};

class ScratchFinder {
public:
    ScratchFinder(const ScratchRequest& request, std::span<const std::uint32_t> steps)
        : request_(request), steps_(steps) {}
    [[nodiscard]] std::optional<FusedScratch> find(std::int32_t region) const;

private:
    [[nodiscard]] std::optional<std::vector<BlockUse>> uses(std::int32_t region) const;
    [[nodiscard]] std::vector<std::uint32_t> slots(std::int32_t region) const;
    [[nodiscard]] std::uint64_t offset_of(std::uint32_t slot) const;

    const ScratchRequest& request_;
    const std::span<const std::uint32_t> steps_;
};

// One entry per block; nullopt if a block reads bytes it has not written.
std::optional<std::vector<BlockUse>> ScratchFinder::uses(std::int32_t region) const {
    std::vector<BlockUse> blocks;
    for (const std::uint32_t index : steps_) {
        const LaunchTrace& trace = *request_.traces[index];
        if (blocks.size() + 1 < trace.block_begin.size()) blocks.resize(trace.block_begin.size() - 1);
        for (std::size_t block = 0; block + 1 < trace.block_begin.size(); ++block) {
            for (std::size_t at = trace.block_begin[block]; at < trace.block_begin[block + 1]; ++at) {
                const TraceRecord& record = trace.records[at];
                if (record.kind == TraceKind::load && record.sources[0].region == region) {
                    const std::uint64_t begin = record.sources[0].offset;
                    if (!blocks[block].has_written({begin, begin + record.count})) return std::nullopt;
                } else if (record.kind == TraceKind::store && record.target.region == region) {
                    blocks[block].write({record.target.offset, record.target.offset + record.count});
                }
            }
        }
    }
    return blocks;
}

std::vector<std::uint32_t> ScratchFinder::slots(std::int32_t region) const {
    std::vector<std::uint32_t> found;
    for (const SlotAddress& address : request_.variant->addresses) {
        if (address.region != region) continue;
        for (const std::uint32_t index : steps_) {
            const ListStep& step = request_.list->steps[index];
            if (address.slot >= step.slot && address.slot < step.slot + step.slots) found.push_back(address.slot);
        }
    }
    return found;
}

std::uint64_t ScratchFinder::offset_of(std::uint32_t slot) const {
    const auto& addresses = request_.variant->addresses;
    return std::find_if(addresses.begin(), addresses.end(), [&](const SlotAddress& each) { return each.slot == slot; })
        ->offset;
}

std::optional<FusedScratch> ScratchFinder::find(std::int32_t region) const {
    FusedScratch scratch;
    scratch.slots = slots(region);
    if (scratch.slots.empty() || !request_.temporary(region, steps_)) return std::nullopt;
    const std::optional<std::vector<BlockUse>> blocks = uses(region);
    if (!blocks || blocks->size() < 2 || (*blocks)[0].written.empty() || (*blocks)[1].written.empty())
        return std::nullopt;
    const std::uint64_t first = (*blocks)[0].touched.begin;
    scratch.stride = (*blocks)[1].touched.begin - first;
    for (std::uint64_t block = 0; block < blocks->size(); ++block) {
        const Range& touched = (*blocks)[block].touched;
        if ((*blocks)[block].written.empty()) continue;
        if (touched.begin != first + block * scratch.stride) return std::nullopt;
        scratch.size = std::max(scratch.size, touched.end - touched.begin);
    }
    if (scratch.size * blocks->size() < smallest_temporary) return std::nullopt;
    scratch.begin = first - offset_of(scratch.slots.front());
    return scratch;
}

}  // namespace

void find_scratches(const ScratchRequest& request, PlannedFusion& planned) {
    for (FusedPart& part : planned.plan.parts) {
        const std::span steps = std::span(planned.listed).subspan(part.first, part.count);
        const bool chain =
            part.count > 1 && std::all_of(steps.begin(), steps.end(), [&](std::uint32_t index) {
                return request.traces[index].has_value() && request.list->steps[index].slots <= most_scratch_words;
            });
        if (!chain) continue;
        const ScratchFinder finder(request, steps);
        std::uint64_t room = most_scratch;
        for (std::size_t region = 0; region < request.variant->regions.size(); ++region) {
            std::optional<FusedScratch> scratch = finder.find(static_cast<std::int32_t>(region));
            if (!scratch || scratch->size > room) continue;
            room -= scratch->size;
            part.scratches.push_back(std::move(*scratch));
        }
    }
}

}  // namespace canopy
