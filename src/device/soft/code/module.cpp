// SPDX-License-Identifier: Apache-2.0
// The module loader. The memory file stays open while the module lives and is loaded by its full /proc name: that name
// is unique among loaded modules, and a debugger in another process can open the same file by it.
#include "device/soft/code/module.h"

#include <canopy/kernel_image.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <unordered_map>
#include <utility>

#include "base/error_text.h"
#include "device/image.h"
#include "device/opaque_pointer.h"
#include "device/soft/code/checking_code.h"
#include "device/soft/code/kernel.h"
#include "foundation/code_file.h"
#include "foundation/elf.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

class SoftCode final : public LoadedCode {
public:
    Status open(const Image& image, const ImageTarget& target, const CanopyServices& services);
    // After that: its kernels tell the checker what they do, or `missing` says why they do not.
    Status connect_checker(const CanopyChecker& table, bool autosync, std::string missing);

    [[nodiscard]] Kernel& kernel(std::size_t index) override { return kernels_[index]; }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override {
        const auto found = symbols_.find(std::string(name));
        if (found == symbols_.end()) return std::nullopt;
        return found->second;
    }

private:
    Status open_library(const Image& image, const ImageTarget& target);
    Status connect_services(const CanopyServices& services);
    Status read_symbols(const ElfFile& object);
    void find_code(const ElfFile& object);
    Status find_entries(const Image& image);

    [[nodiscard]] std::byte* at(std::uint64_t address) const noexcept {
        return reinterpret_cast<std::byte*>(load_address_ + address);
    }

    CodeFile file_;
    std::uintptr_t load_address_ = 0;
    std::vector<SoftKernel> kernels_;  // in the order of the image, never resized after loading
    std::unordered_map<std::string, SymbolInfo> symbols_;
    std::unique_ptr<CheckingCode> checking_;
};

Status SoftCode::open(const Image& image, const ImageTarget& target, const CanopyServices& services) {
    auto object = ElfFile::read(target.object);
    if (!object.ok()) return fail(bad_image, "{}", object.message());
    CANOPY_TRY(open_library(image, target));
    CANOPY_TRY(connect_services(services));
    CANOPY_TRY(read_symbols(*object));
    find_code(*object);
    return find_entries(image);
}

Status SoftCode::open_library(const Image& image, const ImageTarget& target) {
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

Status SoftCode::connect_services(const CanopyServices& services) {
    auto* place = static_cast<const CanopyServices**>(dlsym(file_.library(), "canopy_image_services"));
    if (place == nullptr) return fail(bad_image, "the code of the image lacks the symbol canopy_image_services");
    // Atomic for race detectors: an unloaded module may have had the same address, and they do not see the dynamic
    // loader's lock between the two.
    std::atomic_ref(*place).store(&services, std::memory_order_release);
    return {};
}

Status SoftCode::connect_checker(const CanopyChecker& table, bool autosync, std::string missing) {
    checking_ = std::make_unique<CheckingCode>();
    checking_->autosync = autosync;
    checking_->set_code(file_.path(), load_address_);
    checking_->missing = std::move(missing);
    for (SoftKernel& kernel : kernels_) kernel.checking = checking_.get();
    if (!checking_->missing.empty()) return {};
    auto* place = static_cast<const CanopyChecker**>(dlsym(file_.library(), "canopy_image_checker"));
    if (place == nullptr) return fail(bad_image, "the checking code of the image lacks canopy_image_checker");
    std::atomic_ref(*place).store(&table, std::memory_order_release);
    return {};
}

// Exported symbols take precedence over local ones of the same name.
Status SoftCode::read_symbols(const ElfFile& object) {
    auto symbols = object.symbols();
    if (!symbols.ok()) return fail(bad_image, "{}", symbols.message());
    for (const bool local : {false, true}) {
        for (const ElfSymbol& symbol : *symbols) {
            if ((symbol.binding == STB_LOCAL) != local || symbol.name.empty()) continue;
            if (symbol.type != STT_OBJECT && symbol.type != STT_FUNC) continue;
            symbols_.try_emplace(std::string(symbol.name), SymbolInfo{device_address(at(symbol.value)), symbol.size});
        }
    }
    return {};
}

void SoftCode::find_code(const ElfFile& object) {
    for (const ElfSegment& segment : object.segments()) {
        if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
        range = {device_address(at(segment.address)), segment.memory_size};
        return;
    }
}

Status SoftCode::find_entries(const Image& image) {
    kernels_.reserve(image.kernels.size());
    for (const ImageKernel& kernel : image.kernels) {
        const auto entry = symbol(kernel.entry);
        if (!entry)
            return fail(bad_image, "the code of the image lacks {}, the entry of kernel {}", kernel.entry, kernel.name);
        SoftKernel& loaded = kernels_.emplace_back();
        loaded.entry = reinterpret_cast<CanopyKernelEntry>(opaque_pointer(entry->address));
        loaded.address = symbol(kernel.symbol).value_or(*entry).address;
        loaded.group = core_group(kernel);
        loaded.type = core_type(kernel);
    }
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

}  // namespace

namespace {

Result<std::unique_ptr<SoftCode>> load_best(const Image& image, const Chip& chip, const CanopyServices& services) {
    const ImageTarget* target = best_target(image);
    if (target == nullptr) {
        std::string names;
        for (const ImageTarget& present : image.targets) names += (names.empty() ? "" : ", ") + present.name;
        return fail(bad_image, "a kernel image for {}, which this processor does not run. Rebuild it: {}", names,
                    rebuild_command(image, chip.architecture));
    }
    auto code = std::make_unique<SoftCode>();
    CANOPY_TRY(code->open(image, *target, services));
    return code;
}

}  // namespace

Result<std::unique_ptr<LoadedCode>> load_code_of(const Image& image, const Chip& chip, const CanopyServices& services) {
    Result<std::unique_ptr<SoftCode>> code = load_best(image, chip, services);
    if (!code.ok()) return code.status();
    return std::unique_ptr<LoadedCode>(std::move(*code));
}

Result<std::unique_ptr<LoadedCode>> load_checking_code_of(const Image& image, const Chip& chip,
                                                          const CanopyServices& services, const CanopyChecker& table,
                                                          LaunchChecker& launch_checker) {
    const auto same = [](const ImageTarget& target) { return target.name == CANOPY_CHECK_TARGET; };
    const auto found = std::find_if(image.targets.begin(), image.targets.end(), same);
    ImageTarget target{CANOPY_CHECK_TARGET, {}};
    std::vector<std::byte> compiled;
    std::string missing;
    if (found != image.targets.end()) {
        target = *found;
    } else if (image.check_text.empty()) {
        missing = "its image has no checking code; compile it again with canopy-cc --check";
    } else if (auto code = launch_checker.checking_code(image.check_text, image.kernels.front().name); code.ok()) {
        compiled = std::move(*code);
        target.object = compiled;
    } else {
        missing = code.message();
    }
    std::unique_ptr<SoftCode> code;
    if (missing.empty()) {
        code = std::make_unique<SoftCode>();
        CANOPY_TRY(code->open(image, target, services));
    } else {
        Result<std::unique_ptr<SoftCode>> usual = load_best(image, chip, services);
        if (!usual.ok()) return usual.status();
        code = std::move(*usual);
    }
    CANOPY_TRY(code->connect_checker(table, image.autosync, std::move(missing)));
    return std::unique_ptr<LoadedCode>(std::move(code));
}

}  // namespace canopy
