// SPDX-License-Identifier: Apache-2.0
#include "device/engine/code/image_module.h"

#include <canopy/kernel_abi.h>
#include <canopy/kernel_trace.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/error_text.h"
#include "device/engine/code/trace.h"
#include "device/execution/kernel_names.h"
#include "device/fused_module.h"
#include "device/image.h"
#include "foundation/hash.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

class ImageModule final : public Module {
public:
    ImageModule(const Image& image, const Driver& driver, std::unique_ptr<LoadedCode> code);

    [[nodiscard]] std::span<const KernelInfo> kernels() const override { return infos_; }
    [[nodiscard]] Kernel* kernel(std::string_view name) override { return find(by_name_, name); }
    [[nodiscard]] Kernel* kernel_by_key(std::string_view key) override { return find(by_key_, key); }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override { return code_->symbol(name); }
    [[nodiscard]] SymbolInfo code() const override { return code_->range; }
    Result<LaunchTrace> trace(const TraceRequest& request) override;
    [[nodiscard]] std::span<const std::byte> bitcode() const override { return bitcode_; }
    [[nodiscard]] std::uint64_t tracing_checksum() override;

private:
    using Index = std::unordered_map<std::string_view, std::size_t>;
    [[nodiscard]] Kernel* find(const Index& index, std::string_view name) {
        const auto found = index.find(name);
        return found == index.end() ? nullptr : &code_->kernel(found->second);
    }
    Result<ModuleTracer*> tracer();

    const std::uint32_t architecture_;
    std::unique_ptr<LoadedCode> code_;
    // In the order of the image, never resized after loading.
    std::vector<KernelInfo> infos_;
    std::vector<std::string> symbols_, entries_;
    std::vector<KnownKernel> known_;
    Index by_name_, by_key_;
    std::vector<std::byte> bitcode_;
    std::vector<std::byte> tracing_code_;
    Mutex tracer_mutex_;
    std::uint64_t tracing_checksum_ CANOPY_GUARDED_BY(tracer_mutex_) = 0;  // 0: not asked for yet
    std::unique_ptr<ModuleTracer> tracer_ CANOPY_GUARDED_BY(tracer_mutex_);
};

ImageModule::ImageModule(const Image& image, const Driver& driver, std::unique_ptr<LoadedCode> code)
    : architecture_(driver.info().chip->architecture), code_(std::move(code)) {
    infos_.reserve(image.kernels.size());
    symbols_.reserve(image.kernels.size());
    for (const ImageKernel& kernel : image.kernels) {
        const std::size_t index = infos_.size();
        KernelInfo& info = infos_.emplace_back(kernel);
        Kernel& loaded = code_->kernel(index);
        auto function = code_->symbol(kernel.symbol);
        if (!function) function = code_->symbol(kernel.entry);
        if (function) info.code_size = function->size;
        loaded.info = &info;
        loaded.driver = &driver;
        known_.emplace_back(loaded, info);
        symbols_.push_back(kernel.symbol);
        entries_.push_back(kernel.entry);
        by_name_.emplace(info.name, index);
        if (!info.key.empty()) by_key_.emplace(info.key, index);
    }
    // A kernel can also be found by its symbol, unless that is the name of another kernel.
    for (std::size_t index = 0; index < symbols_.size(); ++index)
        if (!symbols_[index].empty()) by_name_.emplace(symbols_[index], index);
    // Few modules are traced, so the first trace loads the code.
    for (const ImageTarget& target : image.targets) {
        if (target.name == CANOPY_TRACE_TARGET) tracing_code_.assign(target.object.begin(), target.object.end());
        if (target.name == CANOPY_TRACE_BITCODE_TARGET) bitcode_.assign(target.object.begin(), target.object.end());
    }
}

Result<ModuleTracer*> ImageModule::tracer() {
    MutexLock lock(tracer_mutex_);
    if (!tracer_) {
        if (tracing_code_.empty()) return fail(207000, "the image has no tracing code; canopy-cc adds it by default");
        auto opened = ModuleTracer::open(infos_.empty() ? "kernels" : infos_[0].name, architecture_, tracing_code_);
        if (!opened.ok()) return opened.status();
        tracer_ = std::move(*opened);
    }
    return tracer_.get();
}

std::uint64_t ImageModule::tracing_checksum() {
    MutexLock lock(tracer_mutex_);
    if (tracing_checksum_ == 0 && !tracing_code_.empty()) tracing_checksum_ = hash_of(tracing_code_);
    return tracing_checksum_;
}

Result<LaunchTrace> ImageModule::trace(const TraceRequest& request) {
    const KernelInfo* info = request.kernel->info;
    const auto index = static_cast<std::size_t>(info - infos_.data());
    if (info < infos_.data() || index >= infos_.size())
        return fail(207000, "the kernel to trace belongs to another module");
    auto opened = tracer();
    if (!opened.ok()) return opened.status();
    return (*opened)->trace(request, *info, entries_[index]);
}

Status wrong_architecture(const Image& image, const Chip& chip) {
    const std::uint32_t wanted = image.architectures.front();
    const Chip* other = chip_of_architecture(wanted);
    const std::string way_out = other ? fmt::format("Set CANOPY_CHIP={}, which runs it, or rebuild it", other->name)
                                      : std::string("Rebuild it");
    return fail(bad_image, "a kernel image for chip architecture {}; this device is an {} of architecture {}. {}: {}",
                wanted, chip.name, chip.architecture, way_out, rebuild_command(image, chip.architecture));
}

Status check_fits(const Image& image, const Chip& chip) {
    const auto& found = image.architectures;
    if (std::find(found.begin(), found.end(), chip.architecture) == found.end()) return wrong_architecture(image, chip);
    if (image.kernel_abi != CANOPY_KERNEL_ABI_VERSION)
        return fail(bad_image, "a kernel image with kernel interface {}; this release offers {}. Rebuild it: {}",
                    image.kernel_abi, CANOPY_KERNEL_ABI_VERSION, rebuild_command(image, chip.architecture));
    return {};
}

}  // namespace

Result<LaunchTrace> Module::trace(const TraceRequest& request) {
    return fail(207000, "kernels like {} cannot be traced", request.kernel ? request.kernel->info->name : "none");
}

Result<std::unique_ptr<Module>> load_image(std::span<const std::byte> bytes, Driver& driver) {
    auto image = read_image(bytes);
    if (!image.ok()) return image.status();
    CANOPY_TRY(check_fits(*image, *driver.info().chip));
    if (!image->fused.empty())
        return load_fused_module(*image, [&](std::span<const std::byte> part) { return load_image(part, driver); });
    auto code = driver.load(*image);
    if (!code.ok()) return code.status();
    return std::unique_ptr<Module>(std::make_unique<ImageModule>(*image, driver, std::move(*code)));
}

}  // namespace canopy
