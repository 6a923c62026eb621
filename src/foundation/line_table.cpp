// SPDX-License-Identifier: Apache-2.0
// A reader for the line number programs of DWARF 4 and 5. It validates every number it reads.
#include "foundation/line_table.h"

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/elf.h"

namespace canopy {
namespace {

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] bool ok() const { return ok_; }
    [[nodiscard]] bool at_end() const { return !ok_ || at_ >= bytes_.size(); }
    [[nodiscard]] std::size_t position() const { return at_; }
    void fail() { skip(~std::uint64_t{0}); }
    void skip(std::uint64_t count) {
        if (count > bytes_.size() - at_) ok_ = false;
        at_ = ok_ ? at_ + count : bytes_.size();
    }

    template <class T>
    T number() {
        T value{};
        if (!ok_ || sizeof value > bytes_.size() - at_) {
            ok_ = false;
            return value;
        }
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    std::uint64_t unsigned_number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; ok_; shift += 7) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) break;
        }
        return value;
    }
    std::int64_t signed_number() {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0x80;
        while (ok_ && (byte & 0x80) != 0) {
            byte = number<std::uint8_t>();
            if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            shift += 7;
        }
        if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    std::string_view text() {
        const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
        const std::size_t length = strnlen(begin, bytes_.size() - at_);
        skip(length + 1);
        return {begin, length};
    }
    Reader part(std::uint64_t length) {
        const std::size_t begin = at_;
        skip(length);
        return Reader(ok_ ? bytes_.subspan(begin, length) : std::span<const std::byte>());
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
    bool ok_ = true;
};

std::string_view text_at(const ElfSection* section, std::uint64_t offset) {
    if (section == nullptr || offset >= section->bytes.size()) return {};
    return Reader(section->bytes.subspan(offset)).text();
}

struct FileName {
    std::string_view name;
    std::uint64_t directory = 0;
    std::optional<bool> language;  // set by the first query
};

constexpr std::size_t longest_name = 4096;  // anything longer is not a file name

// One unit of .debug_line.
class LineProgram {
public:
    LineProgram(Reader unit, const ElfFile& object) : unit_(unit), object_(object) {}

    // Empty when the address is not in this unit.
    std::optional<SourceLine> find(std::uint64_t address) {
        if (!read_header()) return {};
        wanted_ = address;
        while (!unit_.at_end()) step();
        if (!found_) return {};
        return SourceLine{path(file_found_), static_cast<unsigned>(line_found_), exact_};
    }

private:
    struct Row {
        std::uint64_t address = 0, file = 1;
        std::int64_t line = 1;
        bool end = false;
    };

    bool read_header() {
        version_ = unit_.number<std::uint16_t>();
        if (version_ < 4 || version_ > 5) return false;
        if (version_ == 5) unit_.skip(2);
        unit_.number<std::uint32_t>();  // length of the rest of the header
        minimum_length_ = unit_.number<std::uint8_t>();
        unit_.skip(2);
        line_base_ = unit_.number<std::int8_t>();
        line_range_ = unit_.number<std::uint8_t>();
        opcode_base_ = unit_.number<std::uint8_t>();
        if (line_range_ == 0 || opcode_base_ == 0) return false;
        lengths_.assign(opcode_base_, 0);
        for (unsigned opcode = 1; opcode < opcode_base_; ++opcode) lengths_[opcode] = unit_.number<std::uint8_t>();
        if (version_ == 5) {
            for (const FileName& one : read_entries()) directories_.push_back(one.name);
            files_ = read_entries();
        } else {
            directories_.emplace_back();
            files_.emplace_back();
            for (std::string_view name; unit_.ok() && !(name = unit_.text()).empty();)
                directories_.push_back(name.substr(0, longest_name));
            for (std::string_view name; unit_.ok() && !(name = unit_.text()).empty();) {
                files_.push_back({name, unit_.unsigned_number()});
                unit_.unsigned_number();
                unit_.unsigned_number();
            }
        }
        return unit_.ok();
    }

    std::vector<FileName> read_entries() {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> formats(unit_.number<std::uint8_t>());
        for (auto& [content, form] : formats) {
            content = unit_.unsigned_number();
            form = unit_.unsigned_number();
        }
        std::vector<FileName> entries;
        const std::uint64_t count = unit_.unsigned_number();
        if (formats.empty() && count != 0) unit_.fail();  // empty entries: the count is not bounded by the data
        for (std::uint64_t index = 0; index < count && unit_.ok(); ++index) {
            FileName& entry = entries.emplace_back();
            for (const auto& [content, form] : formats) read_form(content, form, entry);
        }
        return entries;
    }

    void read_form(std::uint64_t content, std::uint64_t form, FileName& entry) {
        std::string_view text;
        std::uint64_t value = 0;
        switch (form) {
            case 0x08:
                text = unit_.text();
                break;
            case 0x1f:
                text = text_at(object_.section(".debug_line_str"), unit_.number<std::uint32_t>());
                break;
            case 0x0e:
                text = text_at(object_.section(".debug_str"), unit_.number<std::uint32_t>());
                break;
            case 0x0b:
                value = unit_.number<std::uint8_t>();
                break;
            case 0x05:
                value = unit_.number<std::uint16_t>();
                break;
            case 0x06:
                value = unit_.number<std::uint32_t>();
                break;
            case 0x0f:
                value = unit_.unsigned_number();
                break;
            case 0x1e:
                unit_.skip(16);
                break;
            default:
                unit_.fail();  // unknown: the rest cannot be read
        }
        if (content == 1) entry.name = text.substr(0, longest_name);
        if (content == 2) entry.directory = value;
    }

    void step() {
        const auto opcode = unit_.number<std::uint8_t>();
        if (opcode >= opcode_base_) {
            const unsigned adjusted = opcode - opcode_base_;
            row_.address += std::uint64_t{adjusted / line_range_} * minimum_length_;
            move_line(line_base_ + static_cast<int>(adjusted % line_range_));
            return append();
        }
        switch (opcode) {
            case 0:
                return extended();
            case 1:
                return append();
            case 2:
                row_.address += unit_.unsigned_number() * minimum_length_;
                return;
            case 3:
                return move_line(unit_.signed_number());
            case 4:
                row_.file = unit_.unsigned_number();
                return;
            case 8:
                row_.address += std::uint64_t{(255u - opcode_base_) / line_range_} * minimum_length_;
                return;
            case 9:
                row_.address += unit_.number<std::uint16_t>();
                return;
            default:
                for (unsigned count = lengths_[opcode]; count > 0; --count) unit_.unsigned_number();
        }
    }

    // Wraps around: the file may contain any number.
    void move_line(std::int64_t by) {
        row_.line = static_cast<std::int64_t>(static_cast<std::uint64_t>(row_.line) + static_cast<std::uint64_t>(by));
    }

    void extended() {
        Reader part = unit_.part(unit_.unsigned_number());
        switch (part.number<std::uint8_t>()) {
            case 1:
                row_.end = true;
                append();
                row_ = {};
                last_ = {};
                has_last_ = has_user_ = false;
                return;
            case 2:
                row_.address = part.number<std::uint64_t>();
                dropped_ = row_.address == 0;  // the linker removed this function
                return;
            default:
                return;
        }
    }

    // The previous row covers the addresses up to the current one.
    void append() {
        if (has_last_ && !dropped_ && last_.address <= wanted_ && wanted_ < row_.address) take();
        if (!row_.end && row_.line > 0 && !is_language(row_.file)) {
            user_ = row_;
            has_user_ = true;
        }
        last_ = row_;
        has_last_ = true;
    }

    void take() {
        exact_ = last_.line > 0 && !is_language(last_.file);
        if (!exact_ && !has_user_) return;
        const Row& row = exact_ ? last_ : user_;
        found_ = true;
        file_found_ = row.file;
        line_found_ = row.line;
    }

    // True for the headers of the kernel language and for code the compiler driver adds. Called for every row.
    [[nodiscard]] bool is_language(std::uint64_t file) {
        if (file >= files_.size()) return false;
        if (!files_[file].language) {
            const std::string name = path(file);
            files_[file].language = name.find("canopy_kernel/") != std::string::npos ||
                                    name.find("<canopy-cc>") != std::string::npos || name.rfind("/usr/", 0) == 0;
        }
        return *files_[file].language;
    }

    [[nodiscard]] std::string path(std::uint64_t file) const {
        if (file >= files_.size()) return "?";
        const FileName& one = files_[file];
        if (one.directory == 0 || one.directory >= directories_.size() || one.name.substr(0, 1) == "/")
            return std::string(one.name);
        return std::string(directories_[one.directory]) + "/" + std::string(one.name);
    }

    Reader unit_;
    const ElfFile& object_;
    std::uint16_t version_ = 0;
    std::uint8_t minimum_length_ = 1, line_range_ = 1, opcode_base_ = 1;
    std::int8_t line_base_ = 0;
    std::vector<std::uint8_t> lengths_;
    std::vector<std::string_view> directories_;
    std::vector<FileName> files_;
    std::uint64_t wanted_ = 0;
    Row row_, last_, user_;
    bool has_last_ = false, has_user_ = false, found_ = false, exact_ = false, dropped_ = false;
    std::uint64_t file_found_ = 0;
    std::int64_t line_found_ = 0;
};

}  // namespace

std::optional<SourceLine> find_line(std::span<const std::byte> object, std::uint64_t address) {
    auto file = ElfFile::read(object);
    if (!file.ok()) return {};
    const ElfSection* lines = file->section(".debug_line");
    if (lines == nullptr) return {};
    Reader reader(lines->bytes);
    while (!reader.at_end()) {
        const auto length = reader.number<std::uint32_t>();
        if (length >= 0xFFFFFFF0u) break;  // 64-bit DWARF: not used here
        if (std::optional<SourceLine> found = LineProgram(reader.part(length), *file).find(address)) return found;
    }
    return {};
}

}  // namespace canopy
