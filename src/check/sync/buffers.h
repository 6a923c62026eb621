// SPDX-License-Identifier: Apache-2.0
// What TPipe has divided the memories of a core into: the buffers of queues and TBufs, and their states.
#pragma once

#include <canopy/kernel_check.h>

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace canopy::check {

class Buffers {
public:
    enum class State : std::uint8_t { fresh, taken, queued, free };

    struct Buffer {
        State state = State::fresh;
        bool waits_free = false;                      // freed, and its flag is not waited for yet
        std::uint8_t filled_from = 0, filled_to = 0;  // of the flag that EnQue set
        CanopyCheckSite site{};                       // what brought it into its state
    };

    // What one InitBuffer made.
    struct Region {
        std::uint64_t begin = 0, bytes = 0;  // of the first buffer, of each buffer
        const void* queue = nullptr;         // null: a TBuf
        std::int32_t depth = 0;
        std::uint8_t source = 0, destination = 0, memory = 0;
        bool bound = false;
        CanopyCheckSite site{};
        std::vector<Buffer> buffers;
        std::deque<std::uint32_t> queued;  // in the order of EnQue

        [[nodiscard]] std::uint64_t end() const { return begin + bytes * buffers.size(); }
        [[nodiscard]] std::uint32_t index_of(std::uint64_t address) const {
            return static_cast<std::uint32_t>((address - begin) / bytes);
        }
        [[nodiscard]] std::uint64_t address_of(std::uint32_t index) const { return begin + index * bytes; }
    };

    // Regions that it covers in part are gone; null if the event has no buffers.
    Region* add(const CanopyCheckBuffer& event);
    // That contains an address, or belongs to a queue.
    [[nodiscard]] Region* find(std::uint64_t address);
    [[nodiscard]] Region* of_queue(const void* queue);
    // A part that overlaps [begin, end).
    [[nodiscard]] const Region* overlapping(std::uint64_t begin, std::uint64_t end) const;

    // TPipe begins again: what was a buffer is none now. When it ends for good, the program may go on with its TBufs.
    void reset(const CanopyCheckSite& site, bool ends);
    // Where the buffer that was at an address before the last reset was given up; null: there was none, or the memory
    // has been placed again.
    [[nodiscard]] const CanopyCheckSite* reset_at(std::uint64_t address) const;
    // The program chose that place itself.
    void placed(std::uint64_t begin, std::uint64_t end) { forget_reset(begin, end); }
    void add_tensor(std::uint64_t begin, std::uint64_t end);
    // Where the buffer, or else the placed tensor, ends that contains an address; 0: there is none.
    [[nodiscard]] std::uint64_t end_of(std::uint64_t address);

    [[nodiscard]] std::map<std::uint64_t, Region>& regions() { return regions_; }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    struct Gone {
        std::uint64_t end = 0;
        CanopyCheckSite site{};
    };

    void forget_reset(std::uint64_t begin, std::uint64_t end);

    std::map<std::uint64_t, Region> regions_;         // by their beginnings
    std::map<std::uint64_t, std::uint64_t> tensors_;  // placed ones: beginnings and ends
    std::map<std::uint64_t, Gone> gone_;              // before the last reset, and not used again
    std::size_t count_ = 0;                           // buffers of this TPipe
    Region* last_ = nullptr;                          // that was found
};

}  // namespace canopy::check
