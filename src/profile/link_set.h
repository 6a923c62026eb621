// SPDX-License-Identifier: Apache-2.0
// LinkSet: a set of links of tasks. Tasks of a stream have consecutive numbers, so a bit for each is enough.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace canopy::profile {

class LinkSet {
public:
    // False if it was in the set. A set that is full, which takes links that no program makes, takes nothing more.
    bool add(std::uint64_t link) {
        Page* const page = page_of(link);
        if (page == nullptr) return true;
        std::uint64_t& word = page->words[word_of(link)];
        const std::uint64_t bit = std::uint64_t{1} << (link % 64);
        const bool added = (word & bit) == 0;
        word |= bit;
        return added;
    }
    [[nodiscard]] bool has(std::uint64_t link) const {
        const Page* const page = find(link);
        return page != nullptr && (page->words[word_of(link)] >> (link % 64) & 1) != 0;
    }
    // Keeps only what the other set has as well.
    void intersect(const LinkSet& other) {
        for (auto& [number, page] : pages_) {
            const auto found = other.pages_.find(number);
            for (std::size_t i = 0; i < words_of_page; ++i)
                page->words[i] = found == other.pages_.end() ? 0 : page->words[i] & found->second->words[i];
        }
        last_ = {};
    }
    // Gives all members numbers from 1; the set must not change afterwards. Returns how many there are.
    std::uint64_t number() {
        std::uint64_t next = 1;
        for (auto& [number, page] : pages_) {
            page->first = next;
            for (std::size_t i = 0; i < words_of_page; ++i) {
                page->before[i] = static_cast<std::uint16_t>(next - page->first);
                next += static_cast<std::uint64_t>(std::popcount(page->words[i]));
            }
        }
        return next - 1;
    }
    // 0 if the link is not in the set.
    [[nodiscard]] std::uint64_t number_of(std::uint64_t link) const {
        const Page* const page = find(link);
        if (page == nullptr) return 0;
        const std::uint64_t word = page->words[word_of(link)];
        if ((word >> (link % 64) & 1) == 0) return 0;
        const std::uint64_t below = word & ((std::uint64_t{1} << (link % 64)) - 1);
        return page->first + page->before[word_of(link)] + static_cast<std::uint64_t>(std::popcount(below));
    }

private:
    static constexpr std::size_t words_of_page = 64;
    static constexpr std::size_t most_pages = std::size_t{1} << 16;  // 45 MB: 268 million tasks
    struct Page {
        std::array<std::uint64_t, words_of_page> words{};
        std::array<std::uint16_t, words_of_page> before{};
        std::uint64_t first = 0;
    };
    static std::size_t word_of(std::uint64_t link) noexcept { return link / 64 % words_of_page; }
    static std::uint64_t number_of_page(std::uint64_t link) noexcept { return link / 64 / words_of_page; }

    [[nodiscard]] Page* find(std::uint64_t link) const {
        const std::uint64_t number = number_of_page(link);
        if (last_.page != nullptr && last_.number == number) return last_.page;
        const auto found = pages_.find(number);
        if (found == pages_.end()) return nullptr;
        last_ = {number, found->second.get()};
        return last_.page;
    }
    Page* page_of(std::uint64_t link) {
        if (Page* const page = find(link)) return page;
        if (pages_.size() >= most_pages) return nullptr;
        const std::uint64_t number = number_of_page(link);
        last_ = {number, pages_.emplace(number, std::make_unique<Page>()).first->second.get()};
        return last_.page;
    }

    struct Last {
        std::uint64_t number = 0;
        Page* page = nullptr;
    };
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
    mutable Last last_;  // most lookups are for the page of the one before
};

}  // namespace canopy::profile
