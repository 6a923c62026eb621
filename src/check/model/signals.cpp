// SPDX-License-Identifier: Apache-2.0
#include "check/model/signals.h"

#include <algorithm>

namespace canopy::check {

namespace {

constexpr std::uint64_t line_bytes = 64;

}  // namespace

void Signals::scalar(const CanopyCheckOperation& operation) {
    const bool bypass = (operation.flags & CANOPY_CHECK_BYPASS) != 0;
    for (std::uint32_t i = 0; i < operation.access_count; ++i) {
        const CanopyCheckAccess& access = operation.accesses[i];
        if (access.memory != CANOPY_MEMORY_GLOBAL) continue;
        const auto begin = reinterpret_cast<std::uint64_t>(access.address);
        const std::uint64_t end = begin + access.bytes;
        if ((access.kind & CANOPY_CHECK_WRITE) != 0) {
            if (!bypass) {
                write(begin, end);
            } else if (access.atomic == CANOPY_CHECK_PLAIN) {
                for (std::uint64_t word = begin; word < end; word += signal_word_bytes) order_.publish(core_, word);
            }
        }
        if ((access.kind & CANOPY_CHECK_READ) == 0) continue;
        if (!bypass && !all_cleaned_ && (cleaned_.empty() || !cleaned_.contains(begin / line_bytes))) continue;
        if (read_count_ == reads_.size()) take_reads();
        reads_[read_count_++] = begin;
    }
}

void Signals::write(std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end; at += signal_word_bytes) {
        const std::uint64_t line = at / line_bytes;
        if (line != last_line_) {
            keep_last();
            last_line_ = line;
        }
        last_words_ |= 1U << (at % line_bytes / signal_word_bytes);
    }
}

void Signals::keep_last() {
    if (last_words_ != 0) dirty_[last_line_] |= last_words_;
    last_words_ = 0;
}

void Signals::publish(std::uint64_t line, std::uint32_t words) {
    for (std::uint64_t word = 0; word < line_bytes / signal_word_bytes; ++word)
        if ((words >> word & 1) != 0) order_.publish(core_, line * line_bytes + word * signal_word_bytes);
}

void Signals::clean(const void* address) {
    const std::uint64_t line = reinterpret_cast<std::uint64_t>(address) / line_bytes;
    cleaned_.insert(line);
    keep_last();
    const auto dirty = dirty_.find(line);
    if (dirty == dirty_.end()) return;
    publish(line, dirty->second);
    dirty_.erase(dirty);
}

void Signals::clean_all() {
    all_cleaned_ = true;
    keep_last();
    for (const auto& [line, words] : dirty_) publish(line, words);
    dirty_.clear();
}

void Signals::take_reads() {
    const unsigned count = std::exchange(read_count_, 0U);
    for (unsigned i = 0; i < count; ++i) order_.take(core_, reads_[i]);
}

}  // namespace canopy::check
