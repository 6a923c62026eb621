// SPDX-License-Identifier: Apache-2.0
// The module loader. The memory file stays open while the module lives and is loaded by its full /proc name: that name
// is unique among loaded modules, and a debugger in another process can open the same file by it.
#include "device/soft/code/module.h"

#include <canopy/kernel_image.h>
#include <canopy/kernel_trace.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/error_text.h"
#include "device/fused_module.h"
#include "device/image.h"
#include "device/soft/code/kernel.h"
#include "device/soft/code/trace.h"
#include "foundation/code_file.h"
#include "foundation/elf.h"
#include "foundation/hash.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

class SoftModule final : public Module {
public:
    Status open(const Image& image, const ImageTarget& target, std::uint32_t architecture,
                const CanopyServices& services);

    [[nodiscard]] std::span<const KernelInfo> kernels() const override { return infos_; }
    [[nodiscard]] Kernel* kernel(std::string_view name) override {
        const auto found = kernel_index_.find(name);
        return found == kernel_index_.end() ? nullptr : &kernels_[found->second];
    }
    [[nodiscard]] Kernel* kernel_by_key(std::string_view key) override {
        const auto found = key_index_.find(key);
        return found == key_index_.end() ? nullptr : &kernels_[found->second];
    }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override {
        const auto found = symbols_.find(std::string(name));
        if (found == symbols_.end()) return std::nullopt;
        return found->second;
    }
    [[nodiscard]] SymbolInfo code() const override { return code_; }
    [[nodiscard]] void* kernel_address(const Kernel& kernel) const override {
        return static_cast<const SoftKernel&>(kernel).function;
    }
    Result<LaunchTrace> trace(const TraceRequest& request) override;
    [[nodiscard]] std::span<const std::byte> bitcode() const override { return bitcode_; }
    [[nodiscard]] std::uint64_t tracing_checksum() override;

private:
    Status open_library(const Image& image, const ImageTarget& target);
    Status connect_services(const CanopyServices& services);
    Status read_symbols(const ElfFile& object);
    void find_code(const ElfFile& object);
    Status find_entries(const Image& image);
    void keep_tracing_code(const Image& image);
    Result<ModuleTracer*> tracer();

    [[nodiscard]] std::byte* at(std::uint64_t address) const noexcept {
        return reinterpret_cast<std::byte*>(load_address_ + address);
    }

    CodeFile file_;
    std::uintptr_t load_address_ = 0;
    SymbolInfo code_;
    std::vector<KernelInfo> infos_;
    std::vector<SoftKernel> kernels_;  // same order as infos_, never resized after loading
    std::unordered_map<std::string_view, std::size_t> kernel_index_;
    std::unordered_map<std::string_view, std::size_t> key_index_;
    std::unordered_map<std::string, SymbolInfo> symbols_;
    std::vector<std::string> entries_;  // symbols, same order as infos_
    std::vector<std::byte> bitcode_;
    std::vector<std::byte> tracing_code_;
    std::uint32_t architecture_ = 0;
    Mutex tracer_mutex_;
    std::uint64_t tracing_checksum_ CANOPY_GUARDED_BY(tracer_mutex_) = 0;  // 0: not asked for yet
    std::unique_ptr<ModuleTracer> tracer_ CANOPY_GUARDED_BY(tracer_mutex_);
};

Status SoftModule::open(const Image& image, const ImageTarget& target, std::uint32_t architecture,
                        const CanopyServices& services) {
    architecture_ = architecture;
    auto object = ElfFile::read(target.object);
    if (!object.ok()) return fail(bad_image, "{}", object.message());
    CANOPY_TRY(open_library(image, target));
    CANOPY_TRY(connect_services(services));
    CANOPY_TRY(read_symbols(*object));
    find_code(*object);
    keep_tracing_code(image);
    return find_entries(image);
}

// Few modules are traced, so the first trace loads the code.
void SoftModule::keep_tracing_code(const Image& image) {
    for (const ImageTarget& target : image.targets) {
        if (target.name == CANOPY_TRACE_TARGET) tracing_code_.assign(target.object.begin(), target.object.end());
        if (target.name == CANOPY_TRACE_BITCODE_TARGET) bitcode_.assign(target.object.begin(), target.object.end());
    }
}

Result<ModuleTracer*> SoftModule::tracer() {
    MutexLock lock(tracer_mutex_);
    if (!tracer_) {
        if (tracing_code_.empty()) return fail(207000, "the image has no tracing code; canopy-cc adds it by default");
        auto opened = ModuleTracer::open(infos_.empty() ? "kernels" : infos_[0].name, architecture_, tracing_code_);
        if (!opened.ok()) return opened.status();
        tracer_ = std::move(*opened);
    }
    return tracer_.get();
}

std::uint64_t SoftModule::tracing_checksum() {
    MutexLock lock(tracer_mutex_);
    if (tracing_checksum_ == 0 && !tracing_code_.empty()) tracing_checksum_ = hash_of(tracing_code_);
    return tracing_checksum_;
}

Result<LaunchTrace> SoftModule::trace(const TraceRequest& request) {
    const auto* kernel = static_cast<const SoftKernel*>(request.kernel);
    const auto index = static_cast<std::size_t>(kernel - kernels_.data());
    if (kernel < kernels_.data() || index >= kernels_.size())
        return fail(207000, "the kernel to trace belongs to another module");
    auto opened = tracer();
    if (!opened.ok()) return opened.status();
    return (*opened)->trace(request, *kernel, entries_[index]);
}

Status SoftModule::open_library(const Image& image, const ImageTarget& target) {
    const std::string_view first = image.kernels.empty() ? "kernels" : std::string_view(image.kernels[0].name);
    auto file = CodeFile::create(fmt::format("{:.200}.{:.40}", first, target.name), target.object);
    if (!file.ok()) return fail(bad_image, "{}", file.message());
    file_ = std::move(*file);
    if (!file_.load(RTLD_NOW | RTLD_LOCAL))
        return fail(bad_image, "the code of the image for target {} does not load: {}", target.name, loader_message());
    link_map* map = nullptr;
    if (dlinfo(file_.library(), RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
        return fail(bad_image, "the loaded code of the image has no address");
    load_address_ = map->l_addr;
    return {};
}

Status SoftModule::connect_services(const CanopyServices& services) {
    auto* place = static_cast<const CanopyServices**>(dlsym(file_.library(), "canopy_image_services"));
    if (place == nullptr) return fail(bad_image, "the code of the image lacks the symbol canopy_image_services");
    // Atomic for race detectors: an unloaded module may have had the same address, and they do not see the dynamic
    // loader's lock between the two.
    std::atomic_ref(*place).store(&services, std::memory_order_release);
    return {};
}

// Exported symbols take precedence over local ones of the same name.
Status SoftModule::read_symbols(const ElfFile& object) {
    auto symbols = object.symbols();
    if (!symbols.ok()) return fail(bad_image, "{}", symbols.message());
    for (const bool local : {false, true}) {
        for (const ElfSymbol& symbol : *symbols) {
            if ((symbol.binding == STB_LOCAL) != local || symbol.name.empty()) continue;
            if (symbol.type != STT_OBJECT && symbol.type != STT_FUNC) continue;
            symbols_.try_emplace(std::string(symbol.name), SymbolInfo{at(symbol.value), symbol.size});
        }
    }
    return {};
}

void SoftModule::find_code(const ElfFile& object) {
    for (const ElfSegment& segment : object.segments()) {
        if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
        code_ = {at(segment.address), segment.memory_size};
        return;
    }
}

CoreGroup group_of(const KernelInfo& info) noexcept {
    if (info.core == CoreType::cube) return {1, 0};
    if (info.core != CoreType::mix || info.cube_ratio + info.vector_ratio == 0) return {0, 1};
    return {info.cube_ratio, info.vector_ratio};
}

Status SoftModule::find_entries(const Image& image) {
    infos_.reserve(image.kernels.size());
    kernels_.reserve(image.kernels.size());
    for (const ImageKernel& kernel : image.kernels) {
        const auto entry = symbol(kernel.entry);
        if (!entry)
            return fail(bad_image, "the code of the image lacks {}, the entry of kernel {}", kernel.entry, kernel.name);
        const SymbolInfo function = symbol(kernel.symbol).value_or(*entry);
        KernelInfo& info = infos_.emplace_back(kernel);
        info.code_size = function.size;
        entries_.push_back(kernel.entry);
        SoftKernel& loaded = kernels_.emplace_back();
        loaded.info = &info;
        loaded.entry = reinterpret_cast<CanopyKernelEntry>(entry->address);
        loaded.function = function.address;
        loaded.group = group_of(info);
        loaded.type = info.core == CoreType::aicore ? CANOPY_CORE_AICORE : CANOPY_CORE_VECTOR;
        kernel_index_.emplace(info.name, kernels_.size() - 1);
        if (!info.key.empty()) key_index_.emplace(info.key, kernels_.size() - 1);
    }
    // A kernel can also be found by its symbol, unless that is the name of another kernel.
    for (std::size_t index = 0; index < image.kernels.size(); ++index)
        if (const auto known = symbols_.find(image.kernels[index].symbol); known != symbols_.end())
            kernel_index_.emplace(known->first, index);
    return {};
}

// The processor level an image target requires; 0 if the target is not for this processor family.
int required_level(std::string_view target) noexcept {
#if defined(__x86_64__)
    constexpr std::string_view prefix = "x86-64-v";
    if (target.size() != prefix.size() + 1 || !target.starts_with(prefix)) return 0;
    const int level = target.back() - '0';
    return level >= CANOPY_BASELINE_LEVEL && level <= 4 ? level : 0;
#else
    (void)target;
    return 0;
#endif
}

int machine_level() noexcept {
#if defined(__x86_64__)
    return canopy_machine_level();
#else
    return 0;
#endif
}

const ImageTarget* best_target(const Image& image) noexcept {
    const ImageTarget* best = nullptr;
    int best_level = 0;
    for (const ImageTarget& target : image.targets) {
        const int level = required_level(target.name);
        if (level <= best_level || level > machine_level()) continue;
        best = &target;
        best_level = level;
    }
    return best;
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

Result<std::unique_ptr<Module>> load_module(std::span<const std::byte> bytes, const Chip& chip,
                                            const CanopyServices& services) {
    auto image = read_image(bytes);
    if (!image.ok()) return image.status();
    CANOPY_TRY(check_fits(*image, chip));
    if (!image->fused.empty())
        return load_fused_module(*image,
                                 [&](std::span<const std::byte> part) { return load_module(part, chip, services); });
    const ImageTarget* target = best_target(*image);
    if (target == nullptr) {
        std::string names;
        for (const ImageTarget& present : image->targets) names += (names.empty() ? "" : ", ") + present.name;
        return fail(bad_image, "a kernel image for {}, which this processor does not run. Rebuild it: {}", names,
                    rebuild_command(*image, chip.architecture));
    }
    auto module = std::make_unique<SoftModule>();
    CANOPY_TRY(module->open(*image, *target, chip.architecture, services));
    return std::unique_ptr<Module>(std::move(module));
}

}  // namespace canopy
