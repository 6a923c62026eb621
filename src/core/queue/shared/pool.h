// SPDX-License-Identifier: Apache-2.0
// A pool of buffers in shared memory: one file per process, with headers and data. Only the process that made the pool
// allocates in it; every process that has the file can use the buffers.
//
// A header has exactly one owner at any time: one word, changed by one compare-and-swap, says which process has it, or
// that a queue has it, or that it belongs to a chain, or that it was given back. So whichever process is killed, each
// header still has an owner, and the pool's maker finds those whose owner is gone (sweep).
//
// Several headers may refer to the same data. Only the maker counts them, in its own memory, when it takes back what
// others gave back (a bit for each header). A process that wants one more reference to data of somebody else's pool
// takes one of the first headers, which are set aside for this.
//
// Nothing in the file is trusted: offsets, lengths and links are checked at every use, and what the maker needs to free
// memory is not in it.
//
// Knows nothing of the runtime. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/offset_allocator.h"
#include "core/queue/shared/ring.h"
#include "core/queue/shared/shared_file.h"
#include "foundation/mutex.h"

namespace canopy {

enum class BufferState : std::uint8_t {
    free = 0,
    owned = 1,     // by a process
    moving = 2,    // by a process that is putting it into a queue
    queued = 3,    // by a queue
    chained = 4,   // by the head of its chain
    returned = 5,  // given back, not taken back yet
};

// The owner word of a header.
struct BufferOwner {
    std::uint32_t generation = 0;  // of the header's use; 24 bits
    BufferState state = BufferState::free;
    ProcessNumber process = 0;

    [[nodiscard]] std::uint64_t word() const noexcept {
        return std::uint64_t{generation} << 40 | std::uint64_t{static_cast<std::uint8_t>(state)} << 32 | process;
    }
    static BufferOwner of(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word >> 40), static_cast<BufferState>(word >> 32 & 0xFF),
                static_cast<ProcessNumber>(word)};
    }
};

// Names a header in any process.
struct BufferLink {
    std::uint64_t pool = 0;  // 0: none
    std::uint32_t header = 0;
    std::uint32_t generation = 0;
    friend bool operator==(const BufferLink&, const BufferLink&) = default;
};

class BufferPool {
public:
    static constexpr std::uint32_t headers = 1u << 16, headers_for_others = 256;
    static constexpr std::uint64_t data_size = std::uint64_t{64} << 30;

    bool create(std::uint64_t uid) noexcept;
    bool adopt(int descriptor, std::uint64_t uid) noexcept;

    [[nodiscard]] std::uint64_t uid() const noexcept { return uid_; }
    [[nodiscard]] bool own() const noexcept { return maker_ != nullptr; }
    [[nodiscard]] bool maker_alive() const noexcept {
        return own() || file_.alive(top().maker.load(std::memory_order_relaxed));
    }
    [[nodiscard]] SharedMemoryFile& file() noexcept { return file_; }
    static std::size_t file_size() noexcept;

    // A buffer owned by this process; only in its own pool.
    std::optional<std::uint32_t> allocate(std::uint64_t size) noexcept;
    // One more header for the data of a header that this process owns.
    std::optional<std::uint32_t> reference(std::uint32_t header) noexcept;

    [[nodiscard]] BufferOwner owner(std::uint32_t header) const noexcept {
        return BufferOwner::of(at(header).owner.load(std::memory_order_acquire));
    }
    // False if the owner is not `from` any more.
    bool change(std::uint32_t header, BufferOwner from, BufferOwner to) noexcept;
    // The owner gives it up. False if it is not the owner any more.
    bool give_back(std::uint32_t header, BufferOwner from) noexcept;

    // Checked: inside the file, length within capacity.
    struct View {
        std::byte* data = nullptr;
        std::uint64_t capacity = 0;
        std::uint64_t length = 0;
    };
    [[nodiscard]] std::optional<View> view(std::uint32_t header) const noexcept;
    void set_length(std::uint32_t header, std::uint64_t length) noexcept;
    [[nodiscard]] std::byte* user_area(std::uint32_t header) const noexcept { return at(header).user; }
    [[nodiscard]] BufferLink next(std::uint32_t header) const noexcept;
    void set_next(std::uint32_t header, BufferLink next) noexcept;
    // The item of a queue that it is becoming, or the head of its chain.
    struct Place {
        std::uint64_t of = 0, index = 0;
    };
    [[nodiscard]] Place place(std::uint32_t header) const noexcept;
    void set_place(std::uint32_t header, Place place) noexcept;

    // Takes back what was given back. Cheap when there is nothing.
    void collect() noexcept;
    // What becomes of a header whose owner is gone, as far as its place tells.
    enum class Fate : std::uint8_t { keep, to_queue, free };
    // Calls decide(header, owner) for every header that is neither free nor returned nor owned by this process.
    template <class Decide>
    void sweep(Decide&& decide) noexcept {
        for (std::uint32_t header = 0; header < used(); ++header) {
            const BufferOwner now = owner(header);
            if (now.state == BufferState::free || now.process == own_process_number()) continue;
            if (now.state == BufferState::returned) {
                mark_returned(header);
                continue;
            }
            switch (decide(header, now)) {
                case Fate::keep:
                    break;
                case Fate::to_queue:
                    change(header, now, {now.generation, BufferState::queued, 0});
                    break;
                case Fate::free:
                    give_back(header, now);
                    break;
            }
        }
    }
    // Whether a header that is neither free nor returned has needed(header, owner).
    template <class Needed>
    [[nodiscard]] bool any(Needed&& needed) const noexcept {
        for (std::uint32_t header = 0; header < used(); ++header) {
            const BufferOwner now = owner(header);
            if (now.state != BufferState::free && now.state != BufferState::returned && needed(header, now))
                return true;
        }
        return false;
    }
    [[nodiscard]] std::uint64_t bytes_in_use() noexcept;

private:
    struct alignas(64) Header {
        std::atomic<std::uint64_t> owner;
        std::atomic<std::uint64_t> place_of, place_index;
        std::atomic<std::uint64_t> offset, capacity, length;
        std::atomic<std::uint64_t> next_pool, next_header;  // header << 32 | generation
        std::atomic<std::uint32_t> block;                   // the header that came with the data
        std::byte user[user_area_size];
    };
    static_assert(sizeof(Header) == 192);
    struct Top {
        std::atomic<ProcessNumber> maker;
        std::atomic<std::uint32_t> used;    // headers that were ever used, as the maker says
        std::atomic<std::uint32_t> others;  // whether a header for others was ever taken
        alignas(128) std::array<std::atomic<std::uint64_t>, headers / 64 / 64> returned_groups;
        alignas(128) std::array<std::atomic<std::uint64_t>, headers / 64> returned;
    };
    // What only the maker knows.
    struct Block {
        std::uint64_t offset = 0, size = 0;
        std::uint32_t references = 0;  // headers of the maker's own that refer to the data
    };
    struct Maker {
        Mutex mutex;
        std::optional<OffsetAllocator> data CANOPY_GUARDED_BY(mutex);
        std::vector<std::uint32_t> free CANOPY_GUARDED_BY(mutex);
        std::vector<Block> blocks CANOPY_GUARDED_BY(mutex);            // by header
        std::vector<std::uint32_t> block_of CANOPY_GUARDED_BY(mutex);  // by header; headers: none
        std::vector<std::uint32_t> waiting CANOPY_GUARDED_BY(mutex);   // blocks that only others may still refer to
        std::uint32_t used CANOPY_GUARDED_BY(mutex) = headers_for_others;
        std::uint64_t touched CANOPY_GUARDED_BY(mutex) = 0;  // bytes of the file that may have pages
    };

    [[nodiscard]] Top& top() const noexcept { return *reinterpret_cast<Top*>(file_.base()); }
    [[nodiscard]] Header& at(std::uint32_t header) const noexcept { return headers_[header & (headers - 1)]; }
    [[nodiscard]] std::uint32_t used() const noexcept;
    void mark_returned(std::uint32_t header) noexcept;
    std::optional<std::uint32_t> new_header(Maker& maker) noexcept CANOPY_REQUIRES(maker.mutex);
    void settle_header(std::uint32_t header, std::uint64_t offset, std::uint64_t capacity, std::uint64_t length,
                       std::uint32_t block) noexcept;
    void take_back(Maker& maker, std::uint32_t header) noexcept CANOPY_REQUIRES(maker.mutex);
    void collect(Maker& maker) noexcept CANOPY_REQUIRES(maker.mutex);
    void release(Maker& maker, std::uint32_t block) noexcept CANOPY_REQUIRES(maker.mutex);
    [[nodiscard]] bool others_refer_to(std::uint32_t block) const noexcept;

    SharedMemoryFile file_;
    Header* headers_ = nullptr;
    std::uint64_t uid_ = 0;
    std::unique_ptr<Maker> maker_;
};

}  // namespace canopy
