// SPDX-License-Identifier: Apache-2.0
#include "compile/device_ir.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/text.h"

namespace canopy_cc {
namespace {

// The name after the '@' at `at`: `main` in `@main(`, `"a b"` in `@"a b"(`.
std::string_view global_name(std::string_view line, std::size_t at) {
    const std::size_t begin = at + 1;
    if (begin < line.size() && line[begin] == '"') return line.substr(begin, line.find('"', begin + 1) + 1 - begin);
    return line.substr(begin, line.find_first_of(" ,(])\n", begin) - begin);
}

// Calls what(name) for every global name in the text. An '@' in a string gives a name that nobody has.
template <class What>
void for_each_global(std::string_view text, const What& what) {
    for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1))
        what(global_name(text, at));
}

// The IR of a module as a list of functions and variables, which may be left out, and of lines that stay.
class IrParts {
public:
    explicit IrParts(std::string_view ir) {
        for (std::size_t at = 0; at < ir.size();) {
            const std::string_view rest = ir.substr(at);
            const std::string_view end = begins(rest, "define ") ? "\n}\n" : "\n";
            const std::size_t found = rest.find(end);
            const std::size_t size = found == std::string_view::npos ? rest.size() : found + end.size();
            add(rest.substr(0, size));
            at += size;
        }
    }

    // Keeps what the list of used symbols reaches: kernels, device variables and what they mention.
    void keep_what_is_used() {
        std::vector<std::size_t> left;
        const auto keep = [&](std::string_view name) {
            const auto found = by_name_.find(name);
            if (found == by_name_.end() || parts_[found->second].kept) return;
            parts_[found->second].kept = true;
            left.push_back(found->second);
        };
        for (const std::string_view list : {"llvm.used", "llvm.compiler.used"}) keep(list);
        for (const Part& part : parts_) {
            if (part.name.empty()) for_each_global(part.text, keep);
            // The code generator calls these without the IR saying so: conversions of numbers, for example.
            if (begins(part.text, "define weak hidden ") && begins(part.name, "__")) keep(part.name);
        }
        while (!left.empty()) {
            const std::string_view text = parts_[left.back()].text;
            left.pop_back();
            for_each_global(text, keep);
        }
    }

    std::string kept() const {
        std::string result;
        for (const Part& part : parts_)
            if (part.name.empty() || part.kept) result += part.text;
        return result;
    }

private:
    struct Part {
        std::string_view name;  // empty: always kept
        std::string_view text;
        bool kept = false;
    };

    void add(std::string_view text) {
        Part part{{}, text, false};
        if (text[0] == '@' || begins(text, "define ") || begins(text, "declare ")) {
            part.name = global_name(text, text.find('@'));
            if (part.name == "llvm.global_ctors" || part.name == "llvm.global_dtors") return;
            by_name_.emplace(part.name, parts_.size());
        }
        parts_.push_back(part);
    }

    std::vector<Part> parts_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
};

// Removes one attribute such as `"name"="value"` from a line.
void remove_attribute(std::string& line, std::string_view name) {
    const std::size_t at = line.find(fmt::format("\"{}\"=\"", name));
    if (at == std::string::npos) return;
    const std::size_t end = line.find('"', at + name.size() + 4);
    line.erase(at, end + 2 - at);
}

}  // namespace

bool goes_through_ir(const Options& options) {
    if (options.sanitizer || options.sanitized) return false;
    return std::none_of(options.compiler_flags.begin(), options.compiler_flags.end(),
                        [](const std::string& flag) { return begins(flag, "-m") && !begins(flag, "-mllvm"); });
}

std::string ir_target(const Options& options) {
    return *std::max_element(options.targets.begin(), options.targets.end());
}

std::string without_host_code(const std::string& ir) {
    IrParts parts(ir);
    parts.keep_what_is_used();
    return parts.kept();
}

std::string with_internal_functions(const std::string& ir) {
    std::unordered_set<std::string_view> used;
    for_each_line(ir, [&](std::string_view line) {
        if (begins(line, "@llvm.used") || begins(line, "@llvm.compiler.used"))
            for_each_global(line, [&](std::string_view name) { used.insert(name); });
    });
    constexpr std::string_view external = "define protected ";
    std::string result;
    result.reserve(ir.size());
    for_each_line(ir, [&](std::string_view line) {
        if (begins(line, external) && used.count(global_name(line, line.find('@'))) == 0) {
            result += "define internal ";
            line.remove_prefix(external.size());
        }
        result += line;
    });
    return result;
}

std::string retargeted(const std::string& ir, const std::string& from, const std::string& to) {
    if (from == to) return ir;
    const std::string old_processor = fmt::format("\"target-cpu\"=\"{}\"", from);
    std::string result;
    result.reserve(ir.size());
    for_each_line(ir, [&](std::string_view line) {
        const std::size_t at = begins(line, "attributes #") ? line.find(old_processor) : std::string_view::npos;
        if (at == std::string_view::npos) {
            result += line;
            return;
        }
        // Without a feature list the processor gets the features of its level.
        std::string changed(line);
        changed.replace(at, old_processor.size(), fmt::format("\"target-cpu\"=\"{}\"", to));
        remove_attribute(changed, "target-features");
        remove_attribute(changed, "prefer-vector-width");
        result += changed;
    });
    return result;
}

}  // namespace canopy_cc
