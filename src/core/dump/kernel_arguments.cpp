// SPDX-License-Identifier: Apache-2.0
#include "core/dump/kernel_arguments.h"

#include <cstring>
#include <string_view>

#include "dump/elements.h"

namespace canopy {
namespace {

// "void add(float *, int)": the texts of its parameters.
std::vector<std::string_view> parameter_texts(std::string_view key) {
    constexpr std::string_view unnamed = "(anonymous namespace)";
    std::size_t begin = key.find('(');
    while (begin != std::string_view::npos && key.substr(begin).starts_with(unnamed))
        begin = key.find('(', begin + unnamed.size());
    std::vector<std::string_view> texts;
    if (begin == std::string_view::npos) return texts;
    int depth = 0;
    std::size_t from = begin + 1;
    for (std::size_t at = begin; at < key.size(); ++at) {
        const char letter = key[at];
        if (letter == '(' || letter == '<' || letter == '[') ++depth;
        if (letter == ')' || letter == '>' || letter == ']') --depth;
        if (depth > 1 || (depth == 1 && letter != ',')) continue;
        texts.push_back(key.substr(from, at - from));
        from = at + 1;
        if (depth == 0) break;
    }
    return texts;
}

std::uint32_t parameter_at(const KernelInfo& kernel, std::size_t offset) {
    if (kernel.parameters.empty()) return static_cast<std::uint32_t>(offset / 8);
    std::uint32_t index = 0;
    for (std::size_t at = 0; at < kernel.parameters.size(); ++at)
        if (kernel.parameters[at].offset <= offset) index = static_cast<std::uint32_t>(at);
    return index;
}

}  // namespace

std::uint64_t argument_word(std::span<const std::byte> block, std::size_t offset) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, block.data() + offset, sizeof(word));
    return word;
}

std::vector<PointedBuffer> pointed_buffers(const KernelInfo& kernel, std::span<const std::byte> block,
                                           const Device& device) {
    const std::vector<std::string_view> texts = parameter_texts(kernel.key);
    std::vector<PointedBuffer> buffers;
    for (std::size_t offset = 0; offset + 8 <= block.size(); offset += 8) {
        const DeviceAddress address(argument_word(block, offset));
        if (!address || !device.owns(address)) continue;
        const std::optional<DeviceRange> allocation = device.find(address);
        if (!allocation) continue;
        PointedBuffer buffer{parameter_at(kernel, offset), static_cast<std::uint32_t>(offset), address, *allocation};
        if (buffer.argument_index < texts.size() && texts.size() == kernel.parameters.size())
            buffer.data_type = dump::type_of_pointer(texts[buffer.argument_index]);
        buffers.push_back(buffer);
    }
    return buffers;
}

}  // namespace canopy
