// SPDX-License-Identifier: Apache-2.0
#include "foundation/readable_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace canopy {

std::string readable_name(const std::string& name) {
    if (!name.starts_with("_Z")) return name;
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

std::string short_name(const std::string& name) {
    constexpr std::string_view no_name = "(anonymous namespace)";
    const std::string text = readable_name(name);
    if (!name.starts_with("_Z")) return text;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (std::string_view(text).substr(i).starts_with(no_name)) {
            i += no_name.size() - 1;
        } else if (text[i] == '<') {
            ++depth;
        } else if (text[i] == '>') {
            --depth;
        } else if (depth == 0 && text[i] == ' ') {
            begin = i + 1;
        } else if (depth == 0 && text[i] == '(') {
            return text.substr(begin, i - begin);
        }
    }
    return text;
}

}  // namespace canopy
