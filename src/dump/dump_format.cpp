// SPDX-License-Identifier: Apache-2.0
#include "dump/dump_format.h"

#include <string_view>

namespace canopy::dump {
namespace {

// ---- writing --------------------------------------------------------------------------------------------------------

// How a field's value is encoded: a number of 7 bits a byte, 8 bytes, a length and bytes, 4 bytes.
enum class Wire : std::uint32_t { number = 0, wide = 1, bytes = 2, narrow = 5 };

class Message {
public:
    void number(std::uint32_t field, std::uint64_t value) {
        if (value == 0) return;  // the default
        key(field, Wire::number);
        varint(value);
    }
    void bytes(std::uint32_t field, std::string_view value) {
        key(field, Wire::bytes);
        varint(value.size());
        text_ += value;
    }
    void text(std::uint32_t field, std::string_view value) {
        if (!value.empty()) bytes(field, value);
    }
    void shape(std::uint32_t field, const std::vector<std::uint64_t>& dimensions) {
        if (dimensions.empty()) return;
        Message packed, shape;
        for (const std::uint64_t dimension : dimensions) packed.varint(dimension);
        shape.bytes(1, packed.text_);
        bytes(field, shape.text_);
    }
    [[nodiscard]] const std::string& content() const noexcept { return text_; }

private:
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) text_ += static_cast<char>(value | 0x80);
        text_ += static_cast<char>(value);
    }
    void key(std::uint32_t field, Wire wire) { varint(field << 3 | static_cast<std::uint32_t>(wire)); }

    std::string text_;
};

// A negative number takes ten bytes, as a signed field of 32 bits does.
std::uint64_t widened(std::int32_t value) noexcept { return static_cast<std::uint64_t>(std::int64_t{value}); }

std::string encode_input(const Tensor& tensor) {
    Message message;
    message.number(1, widened(tensor.data_type));
    message.number(2, widened(tensor.format));
    message.shape(3, tensor.shape);
    message.number(5, tensor.size);
    message.shape(6, tensor.original_shape);
    message.number(8, tensor.address);
    message.number(9, tensor.offset);
    message.number(10, tensor.argument_index);
    return message.content();
}

std::string encode_output(const Tensor& tensor) {
    Message message;
    message.number(1, widened(tensor.data_type));
    message.number(2, widened(tensor.format));
    message.shape(3, tensor.shape);
    message.number(6, tensor.size);
    message.shape(7, tensor.original_shape);
    message.number(9, tensor.address);
    message.number(11, tensor.offset);
    message.number(12, tensor.argument_index);
    return message.content();
}

std::string encode_space(const Space& space) {
    Message message;
    message.number(1, space.type);
    message.number(3, space.size);
    message.number(4, space.argument_index);
    return message.content();
}

// ---- reading --------------------------------------------------------------------------------------------------------

struct Field {
    std::uint32_t number = 0;
    Wire wire = Wire::number;
    std::uint64_t value = 0;
    std::span<const std::byte> bytes;

    [[nodiscard]] std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
    [[nodiscard]] std::uint32_t small() const noexcept { return static_cast<std::uint32_t>(value); }
};

// Takes the fields of a message one by one. `bad` is set if the bytes are no message.
class Fields {
public:
    explicit Fields(std::span<const std::byte> bytes) noexcept : left_(bytes) {}
    [[nodiscard]] bool bad() const noexcept { return bad_; }
    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }

    bool next(Field& field) noexcept {
        if (left_.empty() || bad_) return false;
        std::uint64_t key = 0;
        if (!varint(key)) return false;
        field = {static_cast<std::uint32_t>(key >> 3), static_cast<Wire>(key & 7), 0, {}};
        if (field.number == 0 || key >> 32 != 0) return fail();
        switch (field.wire) {
            case Wire::number:
                return varint(field.value);
            case Wire::wide:
                return take(8, field.bytes);
            case Wire::narrow:
                return take(4, field.bytes);
            case Wire::bytes: {
                std::uint64_t size = 0;
                return varint(size) && take(size, field.bytes);
            }
        }
        return fail();
    }
    bool varint(std::uint64_t& value) noexcept {
        value = 0;
        for (int shift = 0; shift < 70 && !left_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(left_.front());
            left_ = left_.subspan(1);
            if (shift == 63 && byte > 1) return fail();
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) return true;
        }
        return fail();
    }

private:
    bool fail() noexcept {
        bad_ = true;
        return false;
    }
    bool take(std::uint64_t size, std::span<const std::byte>& bytes) noexcept {
        if (size > left_.size()) return fail();
        bytes = left_.first(static_cast<std::size_t>(size));
        left_ = left_.subspan(static_cast<std::size_t>(size));
        return true;
    }

    std::span<const std::byte> left_;
    bool bad_ = false;
};

bool decode_shape(std::span<const std::byte> bytes, std::vector<std::uint64_t>& dimensions) {
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        if (field.number != 1) continue;
        if (field.wire == Wire::number) dimensions.push_back(field.value);
        if (dimensions.size() > most_dimensions) return false;
        if (field.wire != Wire::bytes) continue;
        for (Fields packed(field.bytes); !packed.empty();)
            if (dimensions.size() == most_dimensions || !packed.varint(dimensions.emplace_back())) return false;
    }
    return !fields.bad();
}

// The numbers of the fields in which inputs and outputs differ.
struct Layout {
    std::uint32_t size, original_shape, address, offset, argument_index;
};
constexpr Layout input_layout = {5, 6, 8, 9, 10}, output_layout = {6, 7, 9, 11, 12};

bool decode_tensor(std::span<const std::byte> bytes, const Layout& layout, Tensor& tensor) {
    tensor.format = 0;
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        if (field.wire == Wire::bytes) {
            if (field.number == 3 && !decode_shape(field.bytes, tensor.shape)) return false;
            if (field.number == layout.original_shape && !decode_shape(field.bytes, tensor.original_shape))
                return false;
        }
        if (field.wire != Wire::number) continue;
        if (field.number == 1) tensor.data_type = static_cast<std::int32_t>(field.value);
        if (field.number == 2) tensor.format = static_cast<std::int32_t>(field.value);
        if (field.number == layout.size) tensor.size = field.value;
        if (field.number == layout.address) tensor.address = field.value;
        if (field.number == layout.offset) tensor.offset = field.value;
        if (field.number == layout.argument_index) tensor.argument_index = field.small();
    }
    return !fields.bad();
}

bool decode_space(std::span<const std::byte> bytes, Space& space) {
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        if (field.wire != Wire::number) continue;
        if (field.number == 1) space.type = field.small();
        if (field.number == 3) space.size = field.value;
        if (field.number == 4) space.argument_index = field.small();
    }
    return !fields.bad();
}

bool decode_attribute(std::span<const std::byte> bytes, Attribute& attribute) {
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        if (field.wire != Wire::bytes) continue;
        if (field.number == 1) attribute.name = field.text();
        if (field.number == 2) attribute.value = field.text();
    }
    return !fields.bad();
}

bool decode_part(const Field& field, DumpHead& head) {
    switch (field.number) {
        case 1:
            head.version = field.text();
            return true;
        case 3:
            return decode_tensor(field.bytes, output_layout, head.outputs.emplace_back());
        case 4:
            return decode_tensor(field.bytes, input_layout, head.inputs.emplace_back());
        case 5:
            return decode_space(field.bytes, head.buffers.emplace_back());
        case 6:
            head.operator_name = field.text();
            return true;
        case 7:
            return decode_attribute(field.bytes, head.attributes.emplace_back());
        case 8:
            return decode_space(field.bytes, head.workspaces.emplace_back());
        case 9:
            head.message = field.text();
            return true;
        default:
            return true;
    }
}

}  // namespace

std::string encode(const DumpHead& head) {
    Message message;
    message.text(1, head.version);
    message.number(2, head.time);
    for (const Tensor& output : head.outputs) message.bytes(3, encode_output(output));
    for (const Tensor& input : head.inputs) message.bytes(4, encode_input(input));
    for (const Space& buffer : head.buffers) message.bytes(5, encode_space(buffer));
    message.text(6, head.operator_name);
    for (const Attribute& attribute : head.attributes) {
        Message pair;
        pair.text(1, attribute.name);
        pair.text(2, attribute.value);
        message.bytes(7, pair.content());
    }
    for (const Space& workspace : head.workspaces) message.bytes(8, encode_space(workspace));
    message.text(9, head.message);
    std::string bytes;
    const std::uint64_t size = message.content().size();
    for (std::size_t byte = 0; byte < length_size; ++byte) bytes += static_cast<char>(size >> (8 * byte));
    return bytes + message.content();
}

Expected<DumpHead> decode(std::span<const std::byte> bytes) {
    DumpHead head;
    head.version.clear();
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        if (field.wire == Wire::number && field.number == 2) head.time = field.value;
        if (field.wire == Wire::bytes && !decode_part(field, head))
            return Problem{"field ", field.number, " of its head is malformed"};
        if (head.inputs.size() + head.outputs.size() + head.buffers.size() + head.workspaces.size() > most_parts)
            return Problem{"its head lists more than ", most_parts, " inputs, outputs, buffers and workspaces"};
    }
    if (fields.bad()) return Problem{"its head is malformed"};
    if (head.version.empty()) return Problem{"its head has no version, so it is not a dump"};
    return head;
}

std::uint64_t data_size(const DumpHead& head) noexcept {
    std::uint64_t sum = 0;
    bool too_large = false;
    const auto add = [&](const auto& parts) {
        for (const auto& part : parts) too_large |= __builtin_add_overflow(sum, part.size, &sum);
    };
    add(head.inputs);
    add(head.outputs);
    add(head.buffers);
    add(head.workspaces);
    return too_large ? UINT64_MAX : sum;
}

}  // namespace canopy::dump
