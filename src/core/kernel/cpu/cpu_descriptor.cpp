// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/cpu/cpu_descriptor.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

using Json = nlohmann::json;

constexpr std::uint32_t max_depth = 64;
constexpr std::size_t max_text = 4095;  // of a name

// Iterates over a text and records how far the parser has read.
class Cursor {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Cursor(const char* at, const char*& furthest) : at_(at), furthest_(&furthest) {}
    reference operator*() const { return *at_; }
    Cursor& operator++() {
        *furthest_ = ++at_;
        return *this;
    }
    Cursor operator++(int) {
        Cursor before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Cursor& other) const { return at_ == other.at_; }
    bool operator!=(const Cursor& other) const { return at_ != other.at_; }

private:
    const char* at_;
    const char** furthest_;
};

struct Place {
    std::size_t line = 1, column = 1;
};

Place place_of(std::string_view text, std::size_t position) {
    const std::string_view before = text.substr(0, std::min(position, text.size()));
    const std::size_t last_break = before.rfind('\n');
    return {1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
            last_break == std::string_view::npos ? before.size() : before.size() - last_break - 1};
}

CpuKernelKind kind_of(std::string_view library, bool user_defined) {
    if (library == "AICPUKernel") return user_defined ? CpuKernelKind::custom : CpuKernelKind::built_in;
    if (library == "CUSTAICPUKernel") return CpuKernelKind::custom;
    if (library == "TFKernel") return CpuKernelKind::framework;
    if (library == "KFCKernel") return CpuKernelKind::cooperative;
    if (library == "CUSTKFCKernel") return CpuKernelKind::custom_cooperative;
    return CpuKernelKind::unknown;
}

// SAX handler that keeps what the runtime needs: level 1 is the object of op types, level 2 an op type, level 3 its
// opInfo.
class Reader final : public nlohmann::json_sax<Json> {
public:
    Reader(std::string_view text, std::string_view path) : text_(text), path_(path) {}

    [[nodiscard]] const char*& furthest() { return furthest_; }
    [[nodiscard]] Status failure() const { return failure_; }
    [[nodiscard]] CpuDescriptor take() { return std::move(read_); }

    bool null() override { return other("null"); }
    bool boolean(bool) override { return other("a boolean"); }
    bool number_integer(number_integer_t) override { return other("a number"); }
    bool number_unsigned(number_unsigned_t) override { return other("a number"); }
    bool number_float(number_float_t, const string_t&) override { return other("a number"); }
    bool binary(binary_t&) override { return other("binary"); }
    bool string(string_t& value) override;
    bool key(string_t& name) override;
    bool start_object(std::size_t) override;
    bool end_object() override;
    bool start_array(std::size_t) override { return other("an array") && deeper(); }
    bool end_array() override {
        --level_;
        return true;
    }
    bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override;

private:
    // Handles a value of an unexpected type.
    bool other(const char* what);
    bool deeper();
    void drop(std::string why);
    void skip(std::string name, std::string why) { read_.skipped.emplace(std::move(name), std::move(why)); }
    void finish_entry();
    // The entry field named by the current opInfo key; nullptr for ignored keys.
    std::string* field();
    [[nodiscard]] std::size_t line() const {
        return place_of(text_, furthest_ ? static_cast<std::size_t>(furthest_ - text_.data()) : 0).line;
    }

    const std::string_view text_, path_;
    const char* furthest_ = nullptr;
    Status failure_;
    CpuDescriptor read_;
    std::uint32_t level_ = 0;
    std::string key_;
    std::string op_type_;
    bool in_entry_ = false, in_info_ = false, has_info_ = false;
    std::string function_, library_, kernel_library_, user_defined_;
    std::optional<std::string> dropped_;  // why the entry cannot be used
};

std::string* Reader::field() {
    if (key_ == "functionName") return &function_;
    if (key_ == "kernelSo") return &library_;
    if (key_ == "opKernelLib") return &kernel_library_;
    if (key_ == "userDefined") return &user_defined_;
    return nullptr;
}

void Reader::drop(std::string why) {
    if (!dropped_) dropped_ = fmt::format("{} (line {})", why, line());
}

bool Reader::deeper() {
    if (++level_ <= max_depth) return true;
    failure_ = fail(code::param_invalid, "{}, line {}: more than {} levels of JSON", path_, line(), max_depth);
    return false;
}

bool Reader::other(const char* what) {
    if (level_ == 0) {
        failure_ = fail(code::param_invalid, "{}: the descriptor is {}, not an object with one member per op type",
                        path_, what);
        return false;
    }
    if (level_ == 1) skip(key_, fmt::format("it is {} and has no opInfo (line {})", what, line()));
    if (level_ == 2 && in_entry_ && key_ == "opInfo") drop(fmt::format("its opInfo is {}, not an object", what));
    if (level_ == 3 && in_info_ && field()) drop(fmt::format("its {} is {}, not a string", key_, what));
    return true;
}

bool Reader::string(string_t& value) {
    if (level_ != 3 || !in_info_) return other("a string");
    std::string* to = field();
    if (!to) return true;
    if (value.size() > max_text || value.find('\0') != std::string::npos)
        drop(fmt::format("its {} is not a name: {} characters, or a zero among them", key_, value.size()));
    else
        *to = value;
    return true;
}

bool Reader::key(string_t& name) {
    key_ = name;
    return true;
}

bool Reader::start_object(std::size_t) {
    if (level_ == 1) {
        in_entry_ = true;
        has_info_ = false;
        op_type_ = key_;
        function_.clear(), library_.clear(), kernel_library_.clear(), user_defined_.clear();
        dropped_.reset();
    } else if (level_ == 2 && in_entry_ && key_ == "opInfo") {
        in_info_ = has_info_ = true;
    } else if (level_ == 3) {
        other("an object");
    }
    return deeper();
}

bool Reader::end_object() {
    if (level_ == 3) in_info_ = false;
    if (level_ == 2 && in_entry_) finish_entry();
    --level_;
    return true;
}

void Reader::finish_entry() {
    in_entry_ = false;
    if (!dropped_ && (op_type_.size() > max_text || op_type_.find('\0') != std::string::npos))
        drop("its op type is not a name");
    if (dropped_) return skip(op_type_, *dropped_);
    if (!has_info_) return skip(op_type_, fmt::format("it has no opInfo (line {})", line()));
    if (read_.entries.count(op_type_) != 0) return;  // the first one wins
    auto entry = std::make_shared<CpuEntry>();
    entry->op_type = op_type_;
    entry->function = function_;
    entry->library = library_;
    entry->kind = kind_of(kernel_library_, user_defined_ == "True");
    read_.entries.emplace(op_type_, std::move(entry));
}

bool Reader::parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    const Place place = place_of(text_, position);
    std::string_view reason = error.what();
    if (const std::size_t at = reason.find(": "); at != std::string_view::npos) reason.remove_prefix(at + 2);
    failure_ =
        fail(code::param_invalid, "{}, line {}, column {}: not JSON: {}", path_, place.line, place.column, reason);
    return false;
}

}  // namespace

Result<CpuDescriptor> read_cpu_descriptor(std::string_view text, std::string_view path) {
    if (text.size() > max_descriptor_size)
        return fail(code::param_invalid, "{} has {} bytes; a descriptor has at most {}", path, text.size(),
                    max_descriptor_size);
    Reader reader(text, path);
    const bool well = Json::sax_parse(Cursor(text.data(), reader.furthest()),
                                      Cursor(text.data() + text.size(), reader.furthest()), &reader);
    if (!reader.failure().ok()) return reader.failure();
    if (!well) return fail(code::param_invalid, "{} is not a JSON object", path);
    return reader.take();
}

bool looks_like_descriptor(std::span<const std::byte> bytes) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    constexpr std::string_view mark = "\xEF\xBB\xBF";  // UTF-8 byte order mark
    if (text.starts_with(mark)) text.remove_prefix(mark.size());
    const std::size_t first = text.find_first_not_of(blanks);
    return first != std::string_view::npos && text[first] == '{';
}

}  // namespace canopy
