// SPDX-License-Identifier: Apache-2.0
#include "compile/checking.h"

#include <canopy/kernel_check.h>
#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "foundation/packing.h"

namespace canopy_cc {
namespace {

// As written in canopy_kernel/target/checking.h.
constexpr std::string_view constant = "is_checking_variant = false;";
constexpr std::string_view turned = "is_checking_variant = true;";

constexpr const char* leave_out =
    "#pragma clang attribute push(__attribute__((no_sanitize(\"thread\"))), apply_to = function)\n";
constexpr const char* leave_out_end = "#pragma clang attribute pop\n";

// What a line marker says about the text that follows.
struct Marker {
    bool changes_file = false;  // a file begins or goes on
    bool system = false;        // it is a system header
};

Marker read_marker(std::string_view line) {
    Marker marker;
    if (!begins(line, "# ")) return marker;
    const std::size_t quote = line.rfind('"');
    if (quote == std::string_view::npos) return marker;
    for (const char letter : line.substr(quote + 1)) {
        marker.changes_file |= letter == '1' || letter == '2';
        marker.system |= letter == '3';
    }
    return marker;
}

// Leaves functions of system headers out of the instrumentation: those of the kernel language tell what they do, and
// the others have no code of the user. They are not inlined into instrumented functions, except where the source
// insists on it, as functions on registers do.
std::string without_headers(const std::string& text) {
    std::string result;
    result.reserve(text.size() + text.size() / 16);
    bool left_out = false;
    for_each_line(text, [&](std::string_view line) {
        const Marker marker = read_marker(line);
        if (marker.changes_file && marker.system != left_out) {
            result += left_out ? leave_out_end : leave_out;
            left_out = marker.system;
        }
        result += line;
    });
    if (left_out) result += leave_out_end;
    return result;
}

// What instrumented code calls. The number of the kind is a CanopyCheckAccessKind.
std::string access_functions() {
    std::string text = leave_out;
    text += "extern \"C\" {\n";
    constexpr const char* function =
        "__attribute__((used, noinline, nodebug, visibility(\"hidden\"))) void __tsan_{}({}) {{ {} }}\n";
    const auto tell = [](const char* address, const std::string& bytes, int kind) {
        return fmt::format("canopy_image_checker->raw({}, {}, {}, __builtin_return_address(0));", address, bytes, kind);
    };
    struct Access {
        const char* name;
        int kind;
    };
    for (const Access access : {Access{"read", 1}, Access{"write", 2}, Access{"read_write", 3}})
        for (const char* prefix : {"", "unaligned_"})
            for (const int bytes : {1, 2, 4, 8, 16})
                text += fmt::format(function, fmt::format("{}{}{}", prefix, access.name, bytes), "void* address",
                                    tell("address", std::to_string(bytes), access.kind));
    const std::string read = tell("from", "(unsigned)bytes", 1), written = tell("to", "(unsigned)bytes", 2);
    for (const char* name : {"memcpy", "memmove"})
        text += fmt::format(
            "__attribute__((used, noinline, nodebug, visibility(\"hidden\"))) void* __tsan_{0}(void* to, const void* "
            "from, unsigned long bytes) {{ {1} {2} return __builtin_{0}(to, from, bytes); }}\n",
            name, read, written);
    text += fmt::format(
        "__attribute__((used, noinline, nodebug, visibility(\"hidden\"))) void* __tsan_memset(void* to, int value, "
        "unsigned long bytes) {{ {} return __builtin_memset(to, value, bytes); }}\n",
        written);
    text += fmt::format(function, "init", "void", "");
    text += fmt::format(function, "vptr_update", "void** at, void*", tell("at", "8", 2));
    text += fmt::format(function, "vptr_read", "void** at", tell("at", "8", 1));
    return text + "}\n" + leave_out_end;
}

// Sources without the kernel language do not include canopy/kernel_check.h; they use only `raw`.
constexpr const char* table_of_others =
    "struct CanopyChecker { unsigned size, reserved; void (*others[14])(); "
    "void (*raw)(const void*, unsigned, unsigned, const void*); };\n";
static_assert(offsetof(CanopyChecker, raw) == 2 * sizeof(unsigned) + 14 * sizeof(void*));

bool optimises(const std::vector<std::string>& flags) {
    bool optimised = true;
    for (const std::string& flag : flags)
        if (begins(flag, "-O")) optimised = !is_any(flag, {"-O0", "-O1", "-Og", "-O"});
    return optimised;
}

// ---- texts for later ------------------------------------------------------------------------------------------------

constexpr std::string_view title = "canopy check text 1";
constexpr std::uint64_t longest_text = std::uint64_t{1} << 30;

// Texts, each with its size in front.
class Writer {
public:
    void text(std::string_view text) {
        bytes_ += fmt::format("{} ", text.size());
        bytes_ += text;
    }
    void list(const std::vector<std::string>& list) {
        text(std::to_string(list.size()));
        for (const std::string& one : list) text(one);
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    std::string text() {
        std::size_t size = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
        const auto digits = static_cast<std::size_t>(end - rest_.data());
        ok_ = ok_ && error == std::errc() && digits < rest_.size() && size <= rest_.size() - digits - 1;
        if (!ok_) return {};
        const std::string result(rest_.substr(digits + 1, size));
        rest_.remove_prefix(digits + 1 + size);
        return result;
    }
    std::vector<std::string> list() {
        const std::string size = text();
        std::size_t count = 0;
        std::from_chars(size.data(), size.data() + size.size(), count);
        std::vector<std::string> result;
        while (ok_ && result.size() < count) result.push_back(text());
        return result;
    }
    [[nodiscard]] bool ended_well() const { return ok_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool ok_ = true;
};

// The preprocessor has taken its own.
std::vector<std::string> without_preprocessor(const std::vector<std::string>& flags) {
    std::vector<std::string> kept;
    for (std::size_t at = 0; at < flags.size(); ++at) {
        const std::string& flag = flags[at];
        if (is_any(flag, {"-include", "-imacros", "-isystem", "-iquote", "-idirafter"}))
            ++at;  // and its value
        else if (!begins(flag, "-I") && !begins(flag, "-D") && !begins(flag, "-U"))
            kept.push_back(flag);
    }
    return kept;
}

}  // namespace

std::string checking_text(const Options& options, const std::string& device) {
    if (device.empty()) return {};
    const std::size_t at = device.find(constant);
    std::string text = device;
    if (at != std::string::npos) text.replace(at, constant.size(), turned);
    if (!options.sanitized) text = without_headers(text);
    text += "\n# 1 \"<canopy-cc>\" 3\n";
    if (at == std::string::npos) text += table_of_others;
    text +=
        "extern \"C\" __attribute__((visibility(\"protected\"), used, retain, weak)) const CanopyChecker* "
        "canopy_image_checker = nullptr;\n";
    if (!options.sanitized) text += access_functions();
    return text;
}

Options checking_options(const Options& options, const std::string& target) {
    Options changed = options;
    changed.targets = {target};
    // Lines of raw accesses come from the line table.
    const auto is_debug = [](const std::string& flag) { return begins(flag, "-g") && flag != "-g0"; };
    auto& flags = changed.compiler_flags;
    if (std::none_of(flags.begin(), flags.end(), is_debug)) flags.push_back("-gline-tables-only");
    if (!optimises(flags)) flags.push_back("-O2");
    flags.push_back("-w");
    if (options.sanitized) return changed;
    // Only accesses: not calls, and no other code for atomic ones.
    for (const char* flag : {"-fsanitize=thread", "-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
                             "-tsan-instrument-atomics=0", "-mllvm", "-tsan-compound-read-before-write=1"})
        flags.push_back(flag);
    return changed;
}

std::vector<std::byte> packed_texts(const CompileJob& job, const Texts& texts) {
    if (texts.device.empty()) return {};
    Writer writer;
    writer.text(title);
    writer.list(without_preprocessor(job.options.compiler_flags));
    writer.text(job.options.sanitizer ? "sanitizer" : "");
    writer.text(job.options.sanitized ? "sanitized" : "");
    writer.list(job.shared_variables);
    writer.text(texts.device);
    writer.text(texts.cube);
    return canopy::pack(writer.bytes());
}

bool unpack_texts(const std::vector<std::byte>& bytes, UnpackedTexts& unpacked) {
    const std::optional<std::string> text = canopy::unpack(bytes, longest_text);
    if (!text) return false;
    Reader reader(*text);
    if (reader.text() != title) return false;
    unpacked.options.compiler_flags = reader.list();
    unpacked.options.sanitizer = !reader.text().empty();
    unpacked.options.sanitized = !reader.text().empty();
    unpacked.shared_variables = reader.list();
    unpacked.texts.device = reader.text();
    unpacked.texts.cube = reader.text();
    return reader.ended_well();
}

}  // namespace canopy_cc
