// SPDX-License-Identifier: Apache-2.0
// Packed bytes are numbers of seven bits a byte, lowest first. The size of the text comes first, then pairs: a number
// of characters and these characters, then a length and a distance: so many characters are the same as those that far
// back. The length is counted from `shortest`; the last pair has only characters if the text ends with them.
#include "foundation/packing.h"

#include <algorithm>
#include <cstring>

namespace canopy {
namespace {

constexpr std::size_t shortest = 6;  // of a repetition
constexpr unsigned table_bits = 15;

std::uint64_t eight_at(const char* text) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, text, sizeof value);
    return value;
}

// Of the first `shortest` characters.
std::size_t place_of(const char* text) noexcept {
    return (eight_at(text) << 16) * 0x9E3779B97F4A7C15u >> (64 - table_bits);
}

class Packer {
public:
    explicit Packer(std::string_view text) : text_(text), last_(std::size_t{1} << table_bits) {
        bytes_.reserve(text.size() / 4);
    }

    std::vector<std::byte> run() {
        number(text_.size());
        std::size_t at = 0, told = 0, misses = 0;
        while (at + sizeof(std::uint64_t) <= text_.size()) {
            const std::size_t place = place_of(text_.data() + at);
            const std::size_t before = last_[place];
            last_[place] = static_cast<std::uint32_t>(at);
            const std::size_t length = before < at ? same(before, at) : 0;
            if (length < shortest) {
                at += 1 + (misses++ >> 6);  // faster where nothing repeats
                continue;
            }
            misses = 0;
            characters(told, at);
            number(length - shortest);
            number(at - before);
            at += length;
            told = at;
        }
        if (told < text_.size()) characters(told, text_.size());
        return std::move(bytes_);
    }

private:
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
        bytes_.push_back(static_cast<std::byte>(value));
    }
    void characters(std::size_t begin, std::size_t end) {
        number(end - begin);
        const auto* first = reinterpret_cast<const std::byte*>(text_.data());
        bytes_.insert(bytes_.end(), first + begin, first + end);
    }
    // How many characters are the same from both places on.
    [[nodiscard]] std::size_t same(std::size_t before, std::size_t at) const noexcept {
        std::size_t length = 0;
        while (at + length + sizeof(std::uint64_t) <= text_.size()) {
            const std::uint64_t difference =
                eight_at(text_.data() + before + length) ^ eight_at(text_.data() + at + length);
            if (difference != 0) return length + static_cast<std::size_t>(__builtin_ctzll(difference)) / 8;
            length += sizeof(std::uint64_t);
        }
        while (at + length < text_.size() && text_[before + length] == text_[at + length]) ++length;
        return length;
    }

    std::string_view text_;
    std::vector<std::uint32_t> last_;  // where characters with that place were seen last
    std::vector<std::byte> bytes_;
};

class Unpacker {
public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::optional<std::string> run(std::uint64_t most) {
        const std::uint64_t size = number();
        if (size > most) return std::nullopt;
        std::string text;
        text.reserve(size);
        while (ok_ && text.size() < size) {
            const std::uint64_t count = number();
            if (count > std::min<std::uint64_t>(bytes_.size() - at_, size - text.size())) return std::nullopt;
            text.append(reinterpret_cast<const char*>(bytes_.data()) + at_, count);
            at_ += count;
            if (text.size() == size) break;
            const std::uint64_t length = number() + shortest, distance = number();
            if (distance == 0 || distance > text.size() || length < shortest || length > size - text.size())
                return std::nullopt;
            // They may overlap.
            for (std::uint64_t done = 0; done < length; ++done) text += text[text.size() - distance];
        }
        if (!ok_ || at_ != bytes_.size()) return std::nullopt;
        return text;
    }

private:
    std::uint64_t number() noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (at_ >= bytes_.size()) break;
            const auto byte = static_cast<std::uint64_t>(bytes_[at_++]);
            value |= (byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        ok_ = false;
        return 0;
    }

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

}  // namespace

std::vector<std::byte> pack(std::string_view text) { return Packer(text).run(); }

std::optional<std::string> unpack(std::span<const std::byte> bytes, std::uint64_t most) {
    return Unpacker(bytes).run(most);
}

}  // namespace canopy
