// SPDX-License-Identifier: Apache-2.0
// One bit for each byte of a memory. All are clear at first; what is never set takes no memory.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace canopy::check {

class ByteBits {
public:
    explicit ByteBits(std::uint64_t bytes = 0) : size_(bytes) {}

    [[nodiscard]] std::uint64_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return words_ == nullptr; }

    // Ranges are [begin, begin + bytes), cut at the end of the memory.
    void set(std::uint64_t begin, std::uint64_t bytes) {
        make();
        change(begin, bytes, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
    }
    void clear(std::uint64_t begin, std::uint64_t bytes) {
        if (words_ != nullptr) change(begin, bytes, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
    }
    // Sets what is set in `other`.
    void add(const ByteBits& other, std::uint64_t begin, std::uint64_t bytes) {
        if (other.words_ == nullptr) return;
        make();
        const std::uint64_t* from = other.words_.get();
        std::uint64_t* const first = words_.get();
        change(begin, bytes, [&](std::uint64_t& word, std::uint64_t mask) { word |= from[&word - first] & mask; });
    }
    [[nodiscard]] bool all(std::uint64_t begin, std::uint64_t bytes) const {
        return cut(begin, bytes) == 0 || find_clear(begin, begin + cut(begin, bytes)) == begin + cut(begin, bytes);
    }
    // The first clear bit, or the first set bit, in [begin, end); `end` if there is none.
    [[nodiscard]] std::uint64_t find_clear(std::uint64_t begin, std::uint64_t end) const {
        return words_ == nullptr ? begin : find(begin, end, ~std::uint64_t{0});
    }
    [[nodiscard]] std::uint64_t find_set(std::uint64_t begin, std::uint64_t end) const {
        return words_ == nullptr ? end : find(begin, end, 0);
    }

private:
    struct Free {
        void operator()(std::uint64_t* words) const { std::free(words); }
    };

    void make() {
        if (words_ != nullptr) return;
        words_.reset(static_cast<std::uint64_t*>(std::calloc(size_ / 64 + 1, sizeof(std::uint64_t))));
        if (words_ == nullptr) throw std::bad_alloc();
    }
    [[nodiscard]] std::uint64_t cut(std::uint64_t begin, std::uint64_t bytes) const {
        return begin >= size_ ? 0 : bytes < size_ - begin ? bytes : size_ - begin;
    }

    template <class Change>
    void change(std::uint64_t begin, std::uint64_t bytes, Change change_word) {
        const std::uint64_t end = begin + cut(begin, bytes);
        if (begin >= end) return;
        const std::uint64_t first = begin / 64, last = (end - 1) / 64;
        const std::uint64_t from = ~std::uint64_t{0} << (begin % 64), to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
        std::uint64_t* const words = words_.get();
        if (first == last) {
            change_word(words[first], from & to);
            return;
        }
        change_word(words[first], from);
        for (std::uint64_t i = first + 1; i < last; ++i) change_word(words[i], ~std::uint64_t{0});
        change_word(words[last], to);
    }

    // The first bit that differs from those of `other`.
    [[nodiscard]] std::uint64_t find(std::uint64_t begin, std::uint64_t end, std::uint64_t other) const {
        if (end > size_) end = size_;
        if (begin >= end) return end;
        const std::uint64_t* const words = words_.get();
        std::uint64_t i = begin / 64;
        const std::uint64_t last = (end - 1) / 64;
        std::uint64_t differs = (words[i] ^ other) & ~std::uint64_t{0} << (begin % 64);
        while (differs == 0 && i < last) differs = words[++i] ^ other;
        if (differs == 0) return end;
        const std::uint64_t found = i * 64 + static_cast<std::uint64_t>(__builtin_ctzll(differs));
        return found < end ? found : end;
    }

    std::uint64_t size_;
    std::unique_ptr<std::uint64_t[], Free> words_;
};

}  // namespace canopy::check
