// SPDX-License-Identifier: Apache-2.0
// CommandRing: passes the commands of one stream from the submitting threads to the draining one. Commands and their
// payloads lie in cache lines of linked segments; drained segments are recycled by the submitting side. The ring grows
// while no thread drains it, so a submitter never blocks on a stream that is in a wait.
//
// Threads: reserve and publish by one submitter at a time (the stream's lock), front and pop only by the owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "device/command.h"
#include "device/execution/tuning.h"

namespace canopy {

class CommandRing {
public:
    static constexpr std::size_t line = 64;
    static constexpr std::size_t lines_per_segment = tuning::ring_segment_bytes / line - 1;

    CommandRing() noexcept = default;
    ~CommandRing() {
        std::free(spare_.load(std::memory_order_relaxed));
        for (Segment* segment = read_segment_; segment;) {
            Segment* next = segment->next;
            std::free(segment);
            segment = next;
        }
    }
    CommandRing(const CommandRing&) = delete;
    CommandRing& operator=(const CommandRing&) = delete;

    bool create() noexcept {
        write_segment_ = read_segment_ = new_segment();
        return write_segment_ != nullptr;
    }

    // Contiguous room for a command followed by `payload_lines` lines. nullptr: out of memory.
    Command* reserve(std::size_t payload_lines) noexcept {
        if (write_line_ + 1 + payload_lines >= lines_per_segment && !next_segment()) return nullptr;
        Command* place = reinterpret_cast<Command*>(write_segment_->lines[write_line_]);
        write_line_ += 1 + payload_lines;
        prefetch<1>(write_segment_, write_line_ + tuning::lines_ahead);
        return place;
    }
    // Makes `count` reserved commands visible to the owner.
    void publish(std::uint64_t count) noexcept {
        published_ += count;
        tail_.store(published_, std::memory_order_release);  // pairs with the load in front()
    }
    // Counts commands that never entered the empty ring. Only while no thread owns the stream.
    void skip(std::uint64_t count) noexcept {
        popped_ += count;
        known_tail_ = popped_;
        publish(count);
    }
    [[nodiscard]] std::uint64_t published() const noexcept { return published_; }
    [[nodiscard]] std::uint64_t tail() const noexcept { return tail_.load(std::memory_order_acquire); }

    // The oldest command not yet popped; nullptr if there is none.
    Command* front() noexcept {
        if (popped_ == known_tail_) {
            known_tail_ = tail_.load(std::memory_order_acquire);
            if (popped_ == known_tail_) return nullptr;
        }
        for (;;) {
            Command* command = reinterpret_cast<Command*>(read_segment_->lines[read_line_]);
            if (command->opcode != end_of_segment) {
                if (known_tail_ - popped_ > tuning::commands_ahead)
                    prefetch<0>(read_segment_, read_line_ + tuning::lines_ahead);
                return command;
            }
            Segment* drained = read_segment_;
            read_segment_ = drained->next;
            read_line_ = 0;
            std::free(spare_.exchange(drained, std::memory_order_acq_rel));
        }
    }
    // The command behind the front one, as far as the owner knows; `inline_call` if it knows none.
    [[nodiscard]] Opcode opcode_after(const Command& command) const noexcept {
        if (known_tail_ - popped_ < 2 || command.payload_lines == heap_payload) return Opcode::inline_call;
        return (&command)[1 + command.payload_lines].opcode;
    }
    // Prefetches the lines of the next commands. Called by the owner when it will come back to them soon.
    void prefetch_front() noexcept {
        for (std::size_t ahead = 0; ahead < 6; ahead += 2) prefetch<0>(read_segment_, read_line_ + ahead);
    }
    // Prefetches what the command after `command` uses first: its fence, kernel or destination, whatever its first word
    // points at.
    void prefetch_operand_after(const Command& command) noexcept {
        if (known_tail_ - popped_ < 2 || command.payload_lines == heap_payload) return;
        const Command& next = (&command)[1 + command.payload_lines];
        __builtin_prefetch(next.signal.fence, 1);
    }
    void pop(const Command& command) noexcept {
        read_line_ += 1 + (command.payload_lines == heap_payload ? 0 : command.payload_lines);
        ++popped_;
    }
    [[nodiscard]] std::uint64_t popped() const noexcept { return popped_; }
    [[nodiscard]] bool empty() const noexcept { return popped_ == tail_.load(std::memory_order_acquire); }

    // `payload_lines` of a command whose payload is on the heap.
    static constexpr std::uint16_t heap_payload = 0xFFFF;

private:
    static constexpr Opcode end_of_segment = static_cast<Opcode>(0xFF);

    struct Segment {
        Segment* next;
        char unused[line - sizeof(Segment*)];
        char lines[lines_per_segment][line];
    };
    static_assert(sizeof(Segment) == tuning::ring_segment_bytes);

    // Prefetches the two lines that a command with its arguments usually takes, for reading (0) or writing (1).
    template <int Write>
    static void prefetch(Segment* segment, std::size_t first) noexcept {
        if (first + 1 >= lines_per_segment) return;
        __builtin_prefetch(segment->lines[first], Write);
        __builtin_prefetch(segment->lines[first + 1], Write);
    }

    static Segment* new_segment() noexcept {
        auto* segment = static_cast<Segment*>(std::aligned_alloc(line, sizeof(Segment)));
        if (segment) segment->next = nullptr;
        return segment;
    }
    bool next_segment() noexcept {
        Segment* segment = spare_.exchange(nullptr, std::memory_order_acq_rel);
        if (!segment) segment = new_segment();
        if (!segment) return false;
        segment->next = nullptr;
        write_segment_->next = segment;
        reinterpret_cast<Command*>(write_segment_->lines[write_line_])->opcode = end_of_segment;
        write_segment_ = segment;
        write_line_ = 0;
        return true;
    }

    // submitting side
    alignas(line) Segment* write_segment_ = nullptr;
    std::size_t write_line_ = 0;
    std::uint64_t published_ = 0;
    // read by the owner
    alignas(line) std::atomic<std::uint64_t> tail_{0};
    alignas(line) std::atomic<Segment*> spare_{nullptr};
    // draining side
    alignas(line) Segment* read_segment_ = nullptr;
    std::size_t read_line_ = 0;
    std::uint64_t popped_ = 0;
    std::uint64_t known_tail_ = 0;
};

}  // namespace canopy
