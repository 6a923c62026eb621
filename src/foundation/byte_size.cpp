// SPDX-License-Identifier: Apache-2.0
#include "foundation/byte_size.h"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace canopy {

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    int shift = 0;
    if (!unit.empty()) {
        switch (unit.front()) {
            case 'k':
            case 'K':
                shift = 10;
                break;
            case 'm':
            case 'M':
                shift = 20;
                break;
            case 'g':
            case 'G':
                shift = 30;
                break;
            case 't':
            case 'T':
                shift = 40;
                break;
            default:
                return std::nullopt;
        }
        unit.remove_prefix(1);
        if (!unit.empty() && unit != "B" && unit != "iB") return std::nullopt;
    }
    if (shift != 0 && value > (UINT64_MAX >> shift)) return std::nullopt;
    return value << shift;
}

}  // namespace canopy
