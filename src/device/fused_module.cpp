// SPDX-License-Identifier: Apache-2.0
#include "device/fused_module.h"

#include <deque>
#include <utility>
#include <vector>

#include "base/error_text.h"
#include "device/fused_list.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

class FusedModule final : public Module {
public:
    Status open(const Image& image, const LoadPart& load_part);

    [[nodiscard]] std::span<const KernelInfo> kernels() const override { return infos_; }
    [[nodiscard]] Kernel* kernel(std::string_view name) override {
        for (ListKernel& kernel : kernels_)
            if (kernel.own_info.name == name) return &kernel;
        return nullptr;
    }
    [[nodiscard]] Kernel* kernel_by_key(std::string_view key) override {
        for (ListKernel& kernel : kernels_)
            if (!key.empty() && kernel.own_info.key == key) return &kernel;
        return nullptr;
    }
    // Variables of the parts; the first part with that name wins.
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override {
        for (const auto& part : parts_)
            if (const auto found = part->symbol(name)) return found;
        return std::nullopt;
    }
    [[nodiscard]] SymbolInfo code() const override { return parts_.front()->code(); }

private:
    Status find(const FusedList& list, ListedKernelName& name);
    Status find_all(FusedList& list);

    std::vector<std::unique_ptr<Module>> parts_;
    std::vector<KernelInfo> infos_;
    std::deque<ListKernel> kernels_;  // destroyed before the parts
};

Status FusedModule::find(const FusedList& list, ListedKernelName& name) {
    name.module = parts_[name.part].get();
    name.kernel = name.module->kernel(name.name);
    if (name.kernel) return {};
    return fail(bad_image, "fused kernel {} has a step {} that part {} of the image does not contain", list.name,
                name.name, name.part);
}

Status check_step(const FusedList& list, const ListStep& step, const Kernel& kernel) {
    if (kernel.info->simt)
        return fail(bad_image, "step {} of fused kernel {} is {}, a SIMT kernel", step.number, list.name,
                    kernel.info->name);
    if (kernel.info->arguments_size > std::uint64_t{step.slots} * 8)
        return fail(bad_image, "step {} of fused kernel {} has {} bytes of arguments, but {} takes {}", step.number,
                    list.name, std::uint64_t{step.slots} * 8, kernel.info->name, kernel.info->arguments_size);
    return {};
}

Status FusedModule::find_all(FusedList& list) {
    for (ListStep& step : list.steps) {
        CANOPY_TRY(find(list, step.kernel));
        CANOPY_TRY(check_step(list, step, *step.kernel.kernel));
        if (!step.dynamic) continue;
        for (ListChoice& choice : step.dynamic->choices) {
            CANOPY_TRY(find(list, choice.kernel));
            CANOPY_TRY(check_step(list, step, *choice.kernel.kernel));
        }
    }
    return {};
}

Status FusedModule::open(const Image& image, const LoadPart& load_part) {
    for (const auto part : image.parts) {
        Result<Image> inner = read_image(part);
        if (!inner.ok()) return inner.status();
        if (!inner->fused.empty())
            return fail(bad_image, "a part of an image of fused kernels is itself an image of fused kernels");
        Result<std::unique_ptr<Module>> loaded = load_part(part);
        if (!loaded.ok()) return loaded.status();
        parts_.push_back(std::move(*loaded));
    }
    for (const ImageKernel& kernel : image.kernels) {
        ListKernel& made = kernels_.emplace_back();
        made.own_info = kernel;
        made.own_info.list = true;
        made.info = &made.own_info;
        for (const FusedList& list : image.fused)
            if (list.name == kernel.name) made.list = list;
        CANOPY_TRY(find_all(made.list));
        made.address = made.list.steps.empty() ? DeviceAddress{} : made.list.steps.front().kernel.kernel->address;
        for (const ListStep& step : made.list.steps) made.own_info.code_size += step.kernel.kernel->info->code_size;
        infos_.push_back(made.own_info);
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Module>> load_fused_module(const Image& image, const LoadPart& load_part) {
    auto module = std::make_unique<FusedModule>();
    CANOPY_TRY(module->open(image, load_part));
    return std::unique_ptr<Module>(std::move(module));
}

}  // namespace canopy
