// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>

#include "dump/dump_file.h"
#include "dump/elements.h"
#include "foundation/json.h"
#include "profile/text_output.h"

namespace canopy_tool {
namespace {

using canopy::Json;
using canopy::Problem;
using canopy::dump::DataPart;
using canopy::dump::DumpFile;
using canopy::dump::ElementType;
using canopy::dump::Statistics;

constexpr std::size_t piece = std::size_t{1} << 20;
constexpr std::size_t shown_values = 8;

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// "2026-11-18 21:40:00.123456", in local time.
std::string time_text(std::uint64_t microseconds) {
    const auto seconds = static_cast<time_t>(microseconds / 1'000'000);
    tm local{};
    char text[64] = "";
    if (!localtime_r(&seconds, &local) || strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local) == 0)
        return fmt::format("{} us", microseconds);
    return fmt::format("{}.{:06}", text, microseconds % 1'000'000);
}

// A dump may come from anywhere: what a terminal would obey becomes a question mark.
std::string printable(std::string text) {
    for (char& letter : text)
        if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
    return text;
}

template <class Numbers>
std::string joined(const Numbers& numbers, const char* between) {
    std::string text;
    for (const auto& number : numbers) text += (text.empty() ? "" : between) + fmt::format("{}", number);
    return text;
}

// A part of a file with what is known about its elements.
class View {
public:
    View(const DumpFile& file, const DataPart& part, std::int32_t otherwise) : file_(file), part_(part) {
        const ElementType* own = canopy::dump::element_type(part.data_type);
        type_ = own ? own : canopy::dump::element_type(otherwise);
    }
    [[nodiscard]] const ElementType& type() const noexcept { return *type_; }
    [[nodiscard]] const DataPart& part() const noexcept { return part_; }
    [[nodiscard]] bool type_known() const noexcept { return canopy::dump::element_type(part_.data_type) != nullptr; }
    // The file's, or one dimension if that does not fit the size.
    [[nodiscard]] std::vector<std::uint64_t> shape() const {
        std::uint64_t count = 1;
        bool fits = !part_.shape.empty();
        for (const std::uint64_t dimension : part_.shape) fits &= !__builtin_mul_overflow(count, dimension, &count);
        std::uint64_t bytes = 0;
        if (fits && !__builtin_mul_overflow(count, type_->size, &bytes) && bytes == part_.size) return part_.shape;
        return {part_.size / type_->size};
    }
    template <class Take>
    Problem read(Take&& take) const {
        std::vector<std::byte> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(part_.size, piece)));
        for (std::uint64_t at = 0; at < part_.size; at += piece) {
            const std::span<std::byte> some(bytes.data(),
                                            static_cast<std::size_t>(std::min<std::uint64_t>(part_.size - at, piece)));
            if (Problem problem = file_.read(part_, at, some)) return problem;
            take(std::span<const std::byte>(some));
        }
        return {};
    }
    std::vector<std::string> first_values() const {
        std::vector<std::byte> bytes(
            static_cast<std::size_t>(std::min<std::uint64_t>(part_.size, shown_values * type_->size)));
        std::vector<std::string> values;
        if (file_.read(part_, 0, bytes)) return values;
        const std::span<const std::byte> all(bytes);
        for (std::size_t at = 0; at + type_->size <= all.size(); at += type_->size)
            values.push_back(canopy::dump::element_text(type_->number, all.subspan(at)));
        return values;
    }

private:
    const DumpFile& file_;
    const DataPart& part_;
    const ElementType* type_;
};

// ---- text and JSON --------------------------------------------------------------------------------------------------

void print_head(const DumpFile& file, const std::string& path, std::ostream& out) {
    const canopy::dump::DumpHead& head = file.head();
    out << fmt::format("{}: dump {} of {}, {}\n", path, printable(head.version), printable(head.operator_name),
                       time_text(head.time));
    if (!head.message.empty()) out << "  " << printable(head.message) << '\n';
    for (const auto& attribute : head.attributes)
        out << fmt::format("  {}: {}\n", printable(attribute.name), printable(attribute.value));
}

void print_part(const View& view, const Statistics& all, std::ostream& out) {
    const DataPart& part = view.part();
    out << fmt::format(
        "{} {}: {} [{}], {} bytes, argument {}", part.kind, part.index,
        view.type_known() ? std::string(view.type().name) : "type not known, as " + std::string(view.type().name),
        joined(view.shape(), ", "), part.size, part.argument_index);
    if (part.address != 0) out << fmt::format(", address {:#x}", part.address);
    out << '\n';
    if (all.has_values())
        out << fmt::format("  min {:.9g}, max {:.9g}, average {:.9g}, l2 norm {:.9g}", all.smallest(), all.largest(),
                           all.average(), all.norm());
    else
        out << "  no finite values";
    out << fmt::format("; {} nan, {} -inf, {} inf\n", all.nan_count(), all.negative_infinities(),
                       all.positive_infinities());
    out << "  begins " << joined(view.first_values(), " ") << '\n';
}

Json describe(const View& view, const Statistics& all) {
    const DataPart& part = view.part();
    Json facts = {{"kind", part.kind},
                  {"index", part.index},
                  {"type", std::string(view.type().name)},
                  {"type_known", view.type_known()},
                  {"shape", Json(view.shape())},
                  {"size", part.size},
                  {"argument", part.argument_index},
                  {"address", part.address},
                  {"count", all.count()},
                  {"nan", all.nan_count()},
                  {"negative_infinities", all.negative_infinities()},
                  {"positive_infinities", all.positive_infinities()},
                  {"first", Json(view.first_values())}};
    if (!all.has_values()) return facts;
    facts["min"] = all.smallest();
    facts["max"] = all.largest();
    facts["average"] = all.average();
    facts["l2norm"] = all.norm();
    return facts;
}

Json describe(const DumpFile& file, const std::string& path) {
    const canopy::dump::DumpHead& head = file.head();
    Json facts = {{"file", path}, {"version", head.version}, {"time", head.time}, {"operator", head.operator_name}};
    facts["message"] = head.message;
    Json attributes = Json::array();
    for (const auto& attribute : head.attributes)
        attributes.push_back({{"name", attribute.name}, {"value", attribute.value}});
    facts["attributes"] = std::move(attributes);
    facts["parts"] = Json::array();
    return facts;
}

// ---- numpy ----------------------------------------------------------------------------------------------------------

std::string npy_head(const View& view) {
    std::string shape;
    for (const std::uint64_t dimension : view.shape()) shape += fmt::format("{},", dimension);
    std::string text =
        fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", view.type().numpy, shape);
    constexpr std::size_t in_front = 10, step = 64;
    text.append(step - (in_front + text.size() + 1) % step, ' ');
    text += '\n';
    std::string head = "\x93NUMPY";
    head += {'\1', '\0', static_cast<char>(text.size() & 0xFF), static_cast<char>(text.size() >> 8)};
    return head + text;
}

Problem write_npy(const View& view, const std::string& path) {
    canopy::Expected<canopy::profile::TextOutput> file = canopy::profile::TextOutput::create(path);
    if (!file.ok()) return Problem{"cannot write ", file.message()};
    file->text(npy_head(view));
    if (Problem problem = view.read([&](std::span<const std::byte> bytes) {
            file->text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }))
        return problem;
    if (Problem problem = file->finish()) return Problem{"cannot write ", problem.message()};
    return {};
}

// ---- one file -------------------------------------------------------------------------------------------------------

Problem write_part(const View& view, const std::string& path, const DumpOptions& options, std::ostream& out) {
    const std::string name =
        fmt::format("{}/{}.{}.{}.npy", options.npy, base_name(path), view.part().kind, view.part().index);
    if (Problem problem = write_npy(view, name)) return problem;
    if (!options.json)
        out << fmt::format("  in {}{}\n", name,
                           view.type().name == "bfloat16" ? ", whose uint16 are the bits of bfloat16" : "");
    return {};
}

Problem show(const std::string& path, const DumpOptions& options, std::int32_t otherwise, Json& list,
             std::ostream& out) {
    canopy::Expected<DumpFile> file = DumpFile::open(path);
    if (!file.ok()) return file.problem();
    Json facts = describe(*file, path);
    if (!options.json) print_head(*file, path, out);
    for (const DataPart& part : file->parts()) {
        const View view(*file, part, otherwise);
        Statistics statistics(view.type().number);
        if (Problem problem = view.read([&](std::span<const std::byte> bytes) { statistics.add(bytes); }))
            return problem;
        if (options.json)
            facts["parts"].push_back(describe(view, statistics));
        else
            print_part(view, statistics, out);
        if (options.npy.empty()) continue;
        if (Problem problem = write_part(view, path, options, out)) return problem;
    }
    list.push_back(std::move(facts));
    return {};
}

}  // namespace

int show_dumps(const DumpOptions& options, std::ostream& out, std::ostream& problems) {
    const ElementType* type = canopy::dump::element_type(options.type.empty() ? "uint8" : options.type);
    if (!type) {
        problems << "canopy dump: there is no element type " << options.type << '\n';
        return 2;
    }
    if (!options.npy.empty() && mkdir(options.npy.c_str(), 0700) != 0 && errno != EEXIST) {
        problems << fmt::format("canopy dump: cannot make the folder {}: {}\n", options.npy, std::strerror(errno));
        return 1;
    }
    Json list = Json::array();
    bool failed = false;
    for (const std::string& path : options.files) {
        if (Problem problem = show(path, options, type->number, list, out)) {
            problems << "canopy dump: " << problem.message() << '\n';
            failed = true;
        }
    }
    if (options.json) out << list.dump(2) << '\n';
    return failed ? 1 : 0;
}

}  // namespace canopy_tool
