// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/cpu/cpu_descriptor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "foundation/json.h"

namespace canopy {
namespace {

constexpr std::uint32_t max_depth = 64;
constexpr std::size_t max_text = 4095;  // of a name

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

// Keeps what the runtime needs: level 1 is the object of op types, level 2 an op type, level 3 its
// opInfo.
class Reader final : public JsonEvents {
public:
    Reader(std::string_view text, std::string_view path) : text_(text), path_(path) {}

    [[nodiscard]] Status failure() const { return failure_; }
    [[nodiscard]] CpuDescriptor take() { return std::move(read_); }

    bool scalar(Json value) override;
    bool key(std::string name) override;
    bool begin_object() override;
    bool end_object() override;
    bool begin_array() override { return other("an array") && deeper(); }
    bool end_array() override {
        --level_;
        return true;
    }
    void bad_byte(std::size_t position, std::string_view reason) override;

private:
    // Handles a value of an unexpected type.
    bool other(const char* what);
    bool deeper();
    void drop(std::string why);
    void skip(std::string name, std::string why) { read_.skipped.emplace(std::move(name), std::move(why)); }
    void finish_entry();
    // The entry field named by the current opInfo key; nullptr for ignored keys.
    std::string* field();
    [[nodiscard]] std::size_t line() const { return place_of(text_, position).line; }

    const std::string_view text_, path_;
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

bool Reader::scalar(Json read) {
    if (!read.is_string()) return other(read.is_null() ? "null" : read.is_boolean() ? "a boolean" : "a number");
    if (level_ != 3 || !in_info_) return other("a string");
    std::string* to = field();
    if (!to) return true;
    const std::string& value = read.text();
    if (value.size() > max_text || value.find('\0') != std::string::npos)
        drop(fmt::format("its {} is not a name: {} characters, or a zero among them", key_, value.size()));
    else
        *to = value;
    return true;
}

bool Reader::key(std::string name) {
    key_ = std::move(name);
    return true;
}

bool Reader::begin_object() {
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

void Reader::bad_byte(std::size_t position, std::string_view reason) {
    const Place place = place_of(text_, position);
    failure_ =
        fail(code::param_invalid, "{}, line {}, column {}: not JSON: {}", path_, place.line, place.column, reason);
}

}  // namespace

Result<CpuDescriptor> read_cpu_descriptor(std::string_view text, std::string_view path) {
    if (text.size() > max_descriptor_size)
        return fail(code::param_invalid, "{} has {} bytes; a descriptor has at most {}", path, text.size(),
                    max_descriptor_size);
    Reader reader(text, path);
    const bool well = read_json(text, reader);
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
