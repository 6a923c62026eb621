// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the reader of fused lists: it must refuse them or return lists within their limits. Lists
// that were read are then loaded as an image of fused kernels whose parts contain some of the kernels that lists name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/error_text.h"
#include "device/device.h"
#include "device/fused_list.h"
#include "foundation/image_writer.h"

namespace {

constexpr std::size_t part_count = 2;

void require(bool holds) {
    if (!holds) std::abort();
}

void check_slots(const std::vector<std::uint32_t>& slots, std::uint32_t limit) {
    for (const std::uint32_t slot : slots) require(slot < limit);
}

void check(const canopy::FusedList& list) {
    require(!list.name.empty() && !list.steps.empty() && list.slots > 0);
    check_slots(list.temporaries, list.slots);
    for (std::size_t index = 0; index < list.steps.size(); ++index) {
        const canopy::ListStep& step = list.steps[index];
        require(step.kernel.part < part_count && !step.kernel.name.empty());
        require(step.blocks > 0 && step.slot <= list.slots && step.slots <= list.slots - step.slot);
        check_slots(step.after, static_cast<std::uint32_t>(index));
        for (const auto* slots : {&step.wait_slots, &step.notify_slots, &step.reset_slots})
            check_slots(*slots, list.slots);
        for (const auto* slots : {&step.inputs, &step.outputs})
            if (*slots) check_slots(**slots, list.slots);
        if (!step.dynamic) continue;
        for (const canopy::ListChoice& choice : step.dynamic->choices) require(choice.kernel.part < part_count);
    }
    (void)list.preload();
    (void)list.in_full_order();
}

canopy::ImageKernel kernel_named(const std::string& name, std::uint32_t arguments_size) {
    canopy::ImageKernel kernel;
    kernel.name = name;
    kernel.entry = "entry_" + name;
    kernel.symbol = name;
    kernel.arguments_size = arguments_size;
    return kernel;
}

// An image with one object, which is never opened, since the null device runs nothing.
std::string part() {
    canopy::ImageFile image;
    image.architectures = {2201};
    image.producer = "fuzzing";
    for (const char* name : {"add", "scale", "a", "k"}) image.kernels.push_back(kernel_named(name, 16));
    static constexpr std::byte object[16] = {};
    image.targets = {{"x86-64-v2", object}};
    return canopy::write_image(image);
}

void load(std::string_view text, const std::vector<canopy::FusedList>& lists) {
    static const std::string bytes = part();
    static const std::unique_ptr<canopy::Device> device = [] {
        canopy::DeviceOptions options;
        options.chip = canopy::find_chip("Ascend910B1");
        options.memory = std::uint64_t{64} << 20;
        return std::move(*canopy::open_device(*canopy::find_kind("null"), options));
    }();
    canopy::ImageFile image;
    image.architectures = {2201};
    image.producer = "fuzzing";
    for (const canopy::FusedList& list : lists) image.kernels.push_back(kernel_named(list.name, list.slots * 8));
    for (std::size_t index = 0; index < part_count; ++index) image.parts.push_back(std::as_bytes(std::span(bytes)));
    image.fusion = text;
    const std::string whole = canopy::write_image(image);
    auto module = device->load(std::as_bytes(std::span(whole)));
    if (!module.ok()) return;
    for (const canopy::KernelInfo& info : (*module)->kernels()) require((*module)->kernel(info.name) != nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto lists = canopy::read_fused_lists(text, part_count);
    if (lists.ok()) {
        for (const canopy::FusedList& list : *lists) check(list);
        load(text, *lists);
    }
    canopy::take_error_text();
    return 0;
}
