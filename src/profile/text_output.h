// SPDX-License-Identifier: Apache-2.0
// TextOutput: a file of text that is written piece by piece, compressed if its name ends in .gz. Only its owner may
// read it. A file that cannot be completed is removed, and `finish` says why.
//
// Threads: one at a time.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/problem.h"

namespace canopy::profile {

class TextOutput {
public:
    // Replaces a file that is there.
    static Expected<TextOutput> create(const std::string& path);
    TextOutput(TextOutput&&) noexcept;
    TextOutput& operator=(TextOutput&&) = delete;
    ~TextOutput();  // removes the file unless `finish` was successful

    void text(std::string_view text) {
        while (text.size() > left()) {
            const std::size_t part = left();
            put(text.substr(0, part));
            text.remove_prefix(part);
            flush();
        }
        put(text);
    }
    template <std::integral Number>
    void number(Number value) {
        char* const place = room(24);
        used_ += static_cast<std::size_t>(std::to_chars(place, place + 24, value).ptr - place);
    }
    // A time in nanoseconds as microseconds with three decimals.
    void microseconds(std::int64_t nanoseconds);

    // Bytes of text so far, before compression.
    [[nodiscard]] std::uint64_t size() const noexcept { return flushed_ + used_; }
    [[nodiscard]] const Problem& problem() const noexcept { return problem_; }
    // Writes the rest and closes the file.
    Problem finish();

private:
    class Compressor;
    explicit TextOutput(std::string path, int file, bool removable);
    [[nodiscard]] std::size_t left() const noexcept { return buffer_.size() - used_; }
    void put(std::string_view text) { used_ += text.copy(buffer_.data() + used_, text.size()); }
    char* room(std::size_t size) {
        if (left() < size) flush();
        return buffer_.data() + used_;
    }
    void flush();
    void write(std::string_view bytes);
    void discard() noexcept;

    std::string path_;
    int file_ = -1;
    bool removable_ = false;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    std::uint64_t flushed_ = 0;
    Problem problem_;
    std::unique_ptr<Compressor> compressor_;
};

}  // namespace canopy::profile
