// SPDX-License-Identifier: Apache-2.0
#include "core/queue/shared/pool.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace canopy {
namespace {

constexpr std::uint32_t no_block = BufferPool::headers;
constexpr std::uint32_t generation_mask = 0xFFFFFF;
// Pages of freed data are kept for the next buffers up to this many bytes.
constexpr std::uint64_t kept_pages = std::uint64_t{32} << 20;
constexpr std::size_t page = 4096;
constexpr std::size_t to_pages(std::size_t size) { return (size + page - 1) / page * page; }

}  // namespace

std::size_t BufferPool::file_size() noexcept {
    return to_pages(sizeof(Top)) + std::size_t{headers} * sizeof(Header) + data_size;
}

bool BufferPool::create(std::uint64_t uid) noexcept {
    if (!file_.create("canopy buffers", file_size())) return false;
    headers_ = reinterpret_cast<Header*>(file_.base() + to_pages(sizeof(Top)));
    uid_ = uid;
    Result<OffsetAllocator> data = OffsetAllocator::create(data_size);
    if (!data.ok()) return false;
    auto maker = std::make_unique<Maker>();
    {
        MutexLock guard(maker->mutex);
        maker->data.emplace(std::move(*data));
    }
    top().maker.store(own_process_number(), std::memory_order_relaxed);
    top().used.store(headers_for_others, std::memory_order_release);
    maker_ = std::move(maker);
    return true;
}

bool BufferPool::adopt(int descriptor, std::uint64_t uid) noexcept {
    if (!file_.adopt(descriptor, file_size())) return false;
    headers_ = reinterpret_cast<Header*>(file_.base() + to_pages(sizeof(Top)));
    uid_ = uid;
    return true;
}

std::uint32_t BufferPool::used() const noexcept {
    return std::min(headers, top().used.load(std::memory_order_acquire));
}

bool BufferPool::change(std::uint32_t header, BufferOwner from, BufferOwner to) noexcept {
    std::uint64_t expected = from.word();
    return at(header).owner.compare_exchange_strong(expected, to.word(), std::memory_order_acq_rel);
}

bool BufferPool::give_back(std::uint32_t header, BufferOwner from) noexcept {
    if (!change(header, from, {from.generation, BufferState::returned, 0})) return false;
    mark_returned(header);
    return true;
}

void BufferPool::mark_returned(std::uint32_t header) noexcept {
    Top& all = top();
    header &= headers - 1;
    all.returned[header / 64].fetch_or(std::uint64_t{1} << header % 64, std::memory_order_release);
    all.returned_groups[header / 64 / 64].fetch_or(std::uint64_t{1} << header / 64 % 64, std::memory_order_release);
}

std::optional<BufferPool::View> BufferPool::view(std::uint32_t header) const noexcept {
    const Header& from = at(header);
    const std::uint64_t offset = from.offset.load(std::memory_order_relaxed);
    View view;
    view.capacity = from.capacity.load(std::memory_order_relaxed);
    view.length = from.length.load(std::memory_order_relaxed);
    if (offset > data_size || view.capacity > data_size - offset || view.length > view.capacity) return std::nullopt;
    view.data = file_.base() + (file_size() - data_size) + offset;
    return view;
}

void BufferPool::set_length(std::uint32_t header, std::uint64_t length) noexcept {
    at(header).length.store(length, std::memory_order_relaxed);
}

BufferLink BufferPool::next(std::uint32_t header) const noexcept {
    const Header& from = at(header);
    const std::uint64_t packed = from.next_header.load(std::memory_order_relaxed);
    return {from.next_pool.load(std::memory_order_acquire), static_cast<std::uint32_t>(packed >> 32),
            static_cast<std::uint32_t>(packed)};
}

void BufferPool::set_next(std::uint32_t header, BufferLink next) noexcept {
    Header& from = at(header);
    from.next_header.store(std::uint64_t{next.header} << 32 | next.generation, std::memory_order_relaxed);
    from.next_pool.store(next.pool, std::memory_order_release);
}

BufferPool::Place BufferPool::place(std::uint32_t header) const noexcept {
    return {at(header).place_of.load(std::memory_order_acquire),
            at(header).place_index.load(std::memory_order_acquire)};
}

void BufferPool::set_place(std::uint32_t header, Place place) noexcept {
    at(header).place_index.store(place.index, std::memory_order_release);
    at(header).place_of.store(place.of, std::memory_order_release);
}

void BufferPool::settle_header(std::uint32_t header, std::uint64_t offset, std::uint64_t capacity, std::uint64_t length,
                               std::uint32_t block) noexcept {
    Header& to = at(header);
    to.offset.store(offset, std::memory_order_relaxed);
    to.capacity.store(capacity, std::memory_order_relaxed);
    to.length.store(length, std::memory_order_relaxed);
    to.block.store(block, std::memory_order_relaxed);
    set_next(header, {});
    set_place(header, {});
}

std::optional<std::uint32_t> BufferPool::new_header(Maker& maker) noexcept {
    if (!maker.free.empty()) {
        const std::uint32_t header = maker.free.back();
        maker.free.pop_back();
        return header;
    }
    if (maker.used >= headers) return std::nullopt;
    maker.blocks.resize(maker.used + 1);
    maker.block_of.resize(maker.used + 1, no_block);
    maker.free.reserve(maker.used + 1);
    top().used.store(maker.used + 1, std::memory_order_release);
    return maker.used++;
}

std::optional<std::uint32_t> BufferPool::allocate(std::uint64_t size) noexcept {
    if (maker_ == nullptr || size == 0 || size > data_size) return std::nullopt;
    Maker& maker = *maker_;
    MutexLock guard(maker.mutex);
    collect(maker);
    const std::optional<std::uint32_t> header = new_header(maker);
    if (!header) return std::nullopt;
    const std::optional<std::uint64_t> offset = maker.data->allocate(size);
    if (!offset) {
        maker.free.push_back(*header);
        return std::nullopt;
    }
    maker.touched = std::max(maker.touched, *offset + size);
    maker.blocks[*header] = {*offset, size, 1};
    maker.block_of[*header] = *header;
    settle_header(*header, *offset, size, 0, *header);
    std::memset(at(*header).user, 0, user_area_size);
    const std::uint32_t generation = (owner(*header).generation + 1) & generation_mask;
    at(*header).owner.store(BufferOwner{generation, BufferState::owned, own_process_number()}.word(),
                            std::memory_order_release);
    return header;
}

std::optional<std::uint32_t> BufferPool::reference(std::uint32_t header) noexcept {
    const std::optional<View> data = view(header);
    if (!data) return std::nullopt;
    const auto fill = [&](std::uint32_t to, std::uint32_t block) {
        settle_header(to, at(header).offset.load(std::memory_order_relaxed), data->capacity, data->length, block);
        std::memcpy(at(to).user, at(header).user, user_area_size);
    };
    if (maker_ == nullptr) {
        top().others.store(1, std::memory_order_release);
        for (std::uint32_t spare = 0; spare < headers_for_others; ++spare) {
            const BufferOwner now = owner(spare);
            const BufferOwner mine{(now.generation + 1) & generation_mask, BufferState::owned, own_process_number()};
            if (now.state != BufferState::free || !change(spare, now, mine)) continue;
            fill(spare, at(header).block.load(std::memory_order_relaxed));
            return spare;
        }
        return std::nullopt;
    }
    Maker& maker = *maker_;
    MutexLock guard(maker.mutex);
    collect(maker);
    // The header of another process is not in the maker's own table: it says itself which data it means.
    const std::uint32_t block = header < headers_for_others      ? at(header).block.load(std::memory_order_relaxed)
                                : header < maker.block_of.size() ? maker.block_of[header]
                                                                 : no_block;
    if (block >= maker.blocks.size() || maker.blocks[block].size == 0) return std::nullopt;
    const std::optional<std::uint32_t> to = new_header(maker);
    if (!to) return std::nullopt;
    ++maker.blocks[block].references;
    maker.block_of[*to] = block;
    fill(*to, block);
    const std::uint32_t generation = (owner(*to).generation + 1) & generation_mask;
    at(*to).owner.store(BufferOwner{generation, BufferState::owned, own_process_number()}.word(),
                        std::memory_order_release);
    return to;
}

bool BufferPool::others_refer_to(std::uint32_t block) const noexcept {
    if (top().others.load(std::memory_order_acquire) == 0) return false;
    for (std::uint32_t spare = 0; spare < headers_for_others; ++spare)
        if (const BufferState state = owner(spare).state;
            state != BufferState::free && at(spare).block.load(std::memory_order_acquire) == block)
            return true;
    return false;
}

void BufferPool::release(Maker& maker, std::uint32_t block) noexcept {
    Block& data = maker.blocks[block];
    maker.data->release(data.offset);
    const std::uint64_t start = (file_size() - data_size) + data.offset;
    const auto discard = [&](std::uint64_t from, std::uint64_t size) {
        ::fallocate(file_.descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                    static_cast<off_t>(size));
    };
    if (data.size > kept_pages) discard(start, data.size);
    data = {};
    maker.free.push_back(block);
    if (maker.data->used() == 0 && maker.touched > kept_pages) {
        discard(file_size() - data_size, maker.touched);
        maker.touched = 0;
    }
}

// The header was given back. A block's own header is kept until its data is free.
void BufferPool::take_back(Maker& maker, std::uint32_t header) noexcept {
    BufferOwner now = owner(header);
    if (now.state != BufferState::returned) return;
    if (header < headers_for_others) {
        at(header).block.store(no_block, std::memory_order_relaxed);
        change(header, now, {now.generation, BufferState::free, 0});
        return;
    }
    if (header >= maker.block_of.size()) return;
    const std::uint32_t block = maker.block_of[header];
    if (block == no_block) return;  // taken back before
    maker.block_of[header] = no_block;
    change(header, now, {now.generation, BufferState::free, 0});
    if (block != header) maker.free.push_back(header);
    if (--maker.blocks[block].references == 0) maker.waiting.push_back(block);
}

void BufferPool::collect(Maker& maker) noexcept {
    Top& all = top();
    for (std::uint32_t group = 0; group < all.returned_groups.size(); ++group) {
        if (all.returned_groups[group].load(std::memory_order_relaxed) == 0) continue;
        std::uint64_t words = all.returned_groups[group].exchange(0, std::memory_order_acquire);
        for (; words != 0; words &= words - 1) {
            const std::uint32_t word = group * 64 + static_cast<std::uint32_t>(std::countr_zero(words));
            std::uint64_t bits = all.returned[word].exchange(0, std::memory_order_acquire);
            for (; bits != 0; bits &= bits - 1)
                take_back(maker, word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
        }
    }
    for (std::size_t i = maker.waiting.size(); i-- > 0;) {
        const std::uint32_t block = maker.waiting[i];
        if (maker.blocks[block].references == 0 && others_refer_to(block)) continue;
        if (maker.blocks[block].references == 0) release(maker, block);
        maker.waiting[i] = maker.waiting.back();
        maker.waiting.pop_back();
    }
}

void BufferPool::collect() noexcept {
    if (maker_ == nullptr) return;
    MutexLock guard(maker_->mutex);
    collect(*maker_);
}

std::uint64_t BufferPool::bytes_in_use() noexcept {
    if (maker_ == nullptr) return 0;
    MutexLock guard(maker_->mutex);
    collect(*maker_);
    return maker_->data->used();
}

}  // namespace canopy
