// SPDX-License-Identifier: Apache-2.0
#include "image/fuse.h"

#include <canopy/kernel_image.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/complaint.h"
#include "base/process.h"
#include "foundation/image_writer.h"
#include "foundation/json.h"

namespace canopy_cc {
namespace {

using canopy::Json;

// Thrown for an unusable description; the text is shown to the user.
struct Problem {
    std::string text;
};

struct Part {
    std::string path;
    std::string bytes;
    canopy::ImageFile image;
};

const Json& member(const Json& object, const char* name, const std::string& where) {
    const Json* found = object.find(name);
    if (!found) throw Problem{fmt::format("{} lacks \"{}\"", where, name)};
    return *found;
}

std::uint32_t number(const Json& object, const char* name, const std::string& where, std::uint32_t most) {
    const Json& value = member(object, name, where);
    if (!value.is_unsigned() || value.get<std::uint64_t>() > most)
        throw Problem{fmt::format("\"{}\" of {} is not a number from 0 to {}", name, where, most)};
    return value.get<std::uint32_t>();
}

std::string text(const Json& object, const char* name, const std::string& where) {
    const Json& value = member(object, name, where);
    if (!value.is_string() || value.text().empty())
        throw Problem{fmt::format("\"{}\" of {} is not a string", name, where)};
    return value.get<std::string>();
}

const canopy::ImageKernel& find_kernel(const std::vector<Part>& parts, const Json& object, const std::string& where) {
    const std::uint32_t part = number(object, "part", where, CANOPY_IMAGE_MAX_PARTS);
    if (part >= parts.size()) throw Problem{fmt::format("{} names part {} of {}", where, part, parts.size())};
    const std::string name = text(object, "kernel", where);
    for (const canopy::ImageKernel& kernel : parts[part].image.kernels)
        if (kernel.name == name) return kernel;
    throw Problem{fmt::format("{} has no kernel {}", parts[part].path, name)};
}

void check_slots(const Json& step, const char* name, const std::string& where, std::uint32_t slots) {
    const Json* listed = step.find(name);
    if (!listed) return;
    if (!listed->is_array()) throw Problem{fmt::format("\"{}\" of {} is not a list", name, where)};
    for (const Json& slot : *listed)
        if (!slot.is_unsigned() || slot.get<std::uint64_t>() >= slots)
            throw Problem{fmt::format("\"{}\" of {} names a slot that the {} slots of the kernel do not have", name,
                                      where, slots)};
}

void check_dynamic(const std::vector<Part>& parts, const Json& dynamic, const std::string& where, std::uint32_t slots,
                   std::uint32_t own_slots) {
    for (const char* name : {"key_slot", "blocks_slot", "wait_slot"})
        if (number(dynamic, name, where, UINT32_MAX) >= slots)
            throw Problem{fmt::format("\"{}\" of {} is past the {} slots of the kernel", name, where, slots)};
    const Json& choices = member(dynamic, "choices", where);
    if (!choices.is_array() || choices.empty()) throw Problem{fmt::format("{} has nothing to choose from", where)};
    for (const Json& choice : choices) {
        if (!member(choice, "key", where).is_unsigned())
            throw Problem{fmt::format("a key of {} is not a number", where)};
        if (find_kernel(parts, choice, where).arguments_size != own_slots * 8)
            throw Problem{fmt::format("a kernel that {} may choose does not take {} slots", where, own_slots)};
    }
}

void check_step(const std::vector<Part>& parts, const Json& step, std::size_t index, const std::string& kernel,
                std::uint32_t slots) {
    const std::string where = fmt::format("step {} of {}", index, kernel);
    const std::uint32_t first = number(step, "slot", where, slots);
    const std::uint32_t own = number(step, "slots", where, slots);
    if (number(step, "blocks", where, 65535) == 0) throw Problem{where + " has no block"};
    const canopy::ImageKernel& called = find_kernel(parts, step, where);
    if (called.arguments_size != own * 8)
        throw Problem{
            fmt::format("{} calls {} with {} slots; it takes {}", where, called.name, own, called.arguments_size / 8)};
    if (own > slots - first) throw Problem{fmt::format("{} is past the {} slots of the kernel", where, slots)};
    if (const Json* after = step.find("after")) {
        if (!after->is_array()) throw Problem{fmt::format("\"after\" of {} is not a list", where)};
        for (const Json& before : *after)
            if (!before.is_unsigned() || before.get<std::uint64_t>() >= index)
                throw Problem{where + " waits for a step that does not come before it"};
    }
    for (const char* name : {"inputs", "outputs", "wait_slots", "notify_slots", "reset_slots"})
        check_slots(step, name, where, slots);
    if (const Json* dynamic = step.find("dynamic")) check_dynamic(parts, *dynamic, where, slots, own);
}

canopy::ImageKernel describe(const std::vector<Part>& parts, const Json& kernel) {
    canopy::ImageKernel description;
    description.name = text(kernel, "name", "a kernel");
    const std::string& where = description.name;
    const std::uint32_t slots = number(kernel, "slots", where, CANOPY_IMAGE_MAX_ARGUMENTS / 8);
    if (number(kernel, "blocks", where, 65535) == 0) throw Problem{where + " has no block"};
    description.cube_ratio = static_cast<std::uint16_t>(number(kernel, "cube", where, 1));
    description.vector_ratio = static_cast<std::uint16_t>(number(kernel, "vector", where, 2));
    description.core = description.cube_ratio == 0     ? canopy::CoreType::vector
                       : description.vector_ratio == 0 ? canopy::CoreType::cube
                                                       : canopy::CoreType::mix;
    description.arguments_size = slots * 8;
    description.source = "(fused)";
    if (slots <= CANOPY_IMAGE_MAX_PARAMETERS)
        for (std::uint32_t slot = 0; slot < slots; ++slot) description.parameters.push_back({slot * 8, 8, 8});
    const Json& steps = member(kernel, "steps", where);
    if (!steps.is_array() || steps.empty()) throw Problem{where + " has no steps"};
    if (steps.size() > CANOPY_IMAGE_MAX_STEPS)
        throw Problem{fmt::format("{} has {} steps; at most {} are allowed", where, steps.size(),
                                  static_cast<int>(CANOPY_IMAGE_MAX_STEPS))};
    for (std::size_t index = 0; index < steps.size(); ++index) check_step(parts, steps.at(index), index, where, slots);
    check_slots(kernel, "temporaries", where, slots);
    return description;
}

// Architectures that every part has code for.
std::vector<std::uint32_t> common_architectures(const std::vector<Part>& parts) {
    std::vector<std::uint32_t> common = parts.front().image.architectures;
    for (const Part& part : parts)
        common.erase(std::remove_if(common.begin(), common.end(),
                                    [&](std::uint32_t architecture) {
                                        const auto& own = part.image.architectures;
                                        return std::find(own.begin(), own.end(), architecture) == own.end();
                                    }),
                     common.end());
    if (common.empty()) throw Problem{"the images are compiled for different architectures"};
    return common;
}

std::vector<Part> read_parts(const Json& description, const std::string& path) {
    const Json& images = member(description, "images", path);
    if (!images.is_array() || images.empty() || images.size() > CANOPY_IMAGE_MAX_PARTS)
        throw Problem{fmt::format("\"images\" of {} is not a list of 1 to {} files", path,
                                  static_cast<int>(CANOPY_IMAGE_MAX_PARTS))};
    std::vector<Part> parts(images.size());
    for (std::size_t index = 0; index < parts.size(); ++index) {
        Part& part = parts[index];
        if (images.at(index).is_string()) part.path = images.at(index).get<std::string>();
        if (!read_file(part.path, part.bytes))
            throw Problem{fmt::format("cannot read image '{}': {}", part.path, std::strerror(errno))};
        auto image = canopy::read_image_file(std::as_bytes(std::span(part.bytes)));
        if (!image.ok() || image->kernels.empty())
            throw Problem{fmt::format("{} is not a kernel image; canopy-cc --image creates one", part.path)};
        part.image = std::move(*image);
    }
    return parts;
}

// The bytes of the image.
std::string fused_image(const std::string& path) {
    std::string bytes;
    if (!read_file(path, bytes)) throw Problem{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
    const std::optional<Json> description = canopy::parse_json(bytes);
    if (!description) throw Problem{path + " is not JSON"};
    const std::vector<Part> parts = read_parts(*description, path);
    canopy::ImageFile fused;
    fused.producer = "canopy-cc " CANOPY_CC_VERSION;
    for (const Part& part : parts) fused.parts.push_back(std::as_bytes(std::span(part.bytes)));
    fused.architectures = common_architectures(parts);
    const Json& kernels = member(*description, "kernels", path);
    if (!kernels.is_array() || kernels.empty()) throw Problem{"there are no kernels to fuse"};
    for (const Json& kernel : kernels) fused.kernels.push_back(describe(parts, kernel));
    fused.fusion = Json{{"kernels", kernels}}.dump();
    if (fused.fusion.size() > CANOPY_IMAGE_MAX_FUSION) throw Problem{"the description is too long"};
    return canopy::write_image(fused);
}

}  // namespace

int fuse_images(const Options& options) {
    try {
        const std::string image = fused_image(options.fusion);
        if (write_file(options.output, image)) return success;
        return complain(broken_toolchain, fmt::format("cannot write {}: {}", options.output, std::strerror(errno)));
    } catch (const Problem& problem) {
        return complain(bad_source, problem.text);
    }
}

}  // namespace canopy_cc
