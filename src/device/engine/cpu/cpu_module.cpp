// SPDX-License-Identifier: Apache-2.0
#include "device/engine/cpu/cpu_module.h"

#include <canopy/kernel_abi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fmt/core.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/error_text.h"
#include "device/engine/cpu/cpu_kernel.h"
#include "device/engine/cpu/cpu_process.h"
#include "device/execution/executor.h"
#include "device/execution/kernel_names.h"
#include "device/opaque_pointer.h"
#include "foundation/code_file.h"
#include "foundation/elf.h"
#include "foundation/hash.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

Result<ElfFile> read_shared_object(std::span<const std::byte> image, std::string_view name) {
    constexpr std::size_t smallest = 4;
    if (image.size() < smallest || std::memcmp(image.data(), ELFMAG, SELFMAG) != 0)
        return fail(bad_image, "{} ({} bytes) is not an ELF file: a CPU kernel image is a shared object", name,
                    image.size());
    auto file = ElfFile::read(image);
    if (!file.ok()) return fail(bad_image, "{}", file.message());
    if (file->machine() != own_elf_machine)
        return fail(bad_image, "{} is code for {}; the CPU cores of this device run {}", name,
                    elf_machine_name(file->machine()), elf_machine_name(own_elf_machine));
    if (file->type() != ET_DYN)
        return fail(bad_image, "{} is not a shared object (ELF type {}): link it with -shared", name, file->type());
    return std::move(*file);
}

// The loaded object's symbol at an address; nullptr when it has none there.
const ElfW(Sym) * symbol_at(void* address) noexcept {
    Dl_info where{};
    void* symbol = nullptr;
    if (dladdr1(address, &where, &symbol, RTLD_DL_SYMENT) == 0) return nullptr;
    return static_cast<const ElfW(Sym)*>(symbol);
}

// Images may call functions of the runtime. If the program opened it for itself only, as Python does, they do not find
// them until this call.
void show_runtime_to_images() noexcept {
    Dl_info own{};
    if (dladdr(reinterpret_cast<void*>(&show_runtime_to_images), &own) != 0 && own.dli_fname)
        dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace

// The code of an image, opened once however many modules use it.
class CpuImage {
public:
    CpuImage(const CanopyServices* services, CpuProcess* process) noexcept : services_(services), process_(process) {}
    CpuImage(const CpuImage&) = delete;
    CpuImage& operator=(const CpuImage&) = delete;
    ~CpuImage();

    Status open(std::span<const std::byte> image, std::string_view name);
    // nullptr, with the error message set, if there is no function of that name.
    [[nodiscard]] void* function(const std::string& name) const;
    [[nodiscard]] std::optional<SymbolInfo> symbol(const std::string& name) const;
    [[nodiscard]] SymbolInfo code() const noexcept { return code_; }
    [[nodiscard]] std::uint64_t process_image() const noexcept { return process_image_; }

private:
    Status open_here(const ElfFile& elf);
    Status open_there(const ElfFile& elf);
    void connect_services() const;

    // Code that runs in another process is not opened here: functions_ holds its functions by name.
    const CanopyServices* const services_;
    CpuProcess* const process_;
    std::uint64_t process_image_ = 0;
    std::map<std::string, SymbolInfo> functions_;

    std::string name_;
    CodeFile file_;
    SymbolInfo code_;
};

CpuImage::~CpuImage() {
    if (process_image_ != 0) process_->unload(process_image_);
}

Status CpuImage::open(std::span<const std::byte> image, std::string_view name) {
    name_ = name;
    auto elf = read_shared_object(image, name);
    if (!elf.ok()) return elf.status();
    const std::vector<std::byte> changed = without_unique_symbols(*elf, image);
    auto file = CodeFile::create(name_, changed.empty() ? image : std::span<const std::byte>(changed));
    if (!file.ok()) return fail(bad_image, "{}", file.message());
    file_ = std::move(*file);
    return process_ ? open_there(*elf) : open_here(*elf);
}

Status CpuImage::open_there(const ElfFile& elf) {
    auto symbols = elf.symbols();
    if (!symbols.ok()) return fail(bad_image, "{}", symbols.message());
    for (const ElfSymbol& symbol : *symbols) {
        if (symbol.binding == STB_LOCAL || symbol.type != STT_FUNC) continue;
        functions_[std::string(symbol.name)] = {DeviceAddress(symbol.value), symbol.size};
    }
    return process_->load(file_, name_, process_image_);
}

Status CpuImage::open_here(const ElfFile& elf) {
    if (!file_.load_apart()) {
        show_runtime_to_images();
        file_.load_apart();
    }
    if (!file_.library()) return fail(bad_image, "{} does not load: {}", name_, loader_message());
    link_map* map = nullptr;
    if (dlinfo(file_.library(), RTLD_DI_LINKMAP, &map) == 0 && map) {
        for (const ElfSegment& segment : elf.segments()) {
            if (segment.type != PT_LOAD || (segment.flags & PF_X) == 0) continue;
            code_ = {DeviceAddress(map->l_addr + segment.address), segment.memory_size};
            break;
        }
    }
    connect_services();
    return {};
}

// An image that uses device services exports the same symbol as one for AI cores.
void CpuImage::connect_services() const {
    auto* services = static_cast<const CanopyServices**>(dlsym(file_.library(), "canopy_image_services"));
    if (!services) return;
    // Atomic for race detectors: an unloaded image may have had the same address.
    std::atomic_ref(*services).store(services_, std::memory_order_release);
}

void* CpuImage::function(const std::string& name) const {
    if (process_) {
        if (const auto found = functions_.find(name); found != functions_.end())
            return opaque_pointer(found->second.address);
        fail(bad_image, "{} has no function {}: undefined symbol", name_, name).ignore();
        return nullptr;
    }
    dlerror();
    void* found = dlsym(file_.library(), name.c_str());
    if (!found) {
        fail(bad_image, "{} has no function {}: {}", name_, name, loader_message()).ignore();
        return nullptr;
    }
    const ElfW(Sym)* symbol = symbol_at(found);
    if (symbol && ELF64_ST_TYPE(symbol->st_info) != STT_FUNC && ELF64_ST_TYPE(symbol->st_info) != STT_NOTYPE) {
        fail(bad_image, "{} in {} is not a function", name, name_).ignore();
        return nullptr;
    }
    return found;
}

std::optional<SymbolInfo> CpuImage::symbol(const std::string& name) const {
    if (process_) return std::nullopt;
    void* found = dlsym(file_.library(), name.c_str());
    if (!found) return std::nullopt;
    const ElfW(Sym)* symbol = symbol_at(found);
    return SymbolInfo{device_address(found), symbol ? symbol->st_size : 0};
}

namespace {

class CpuModule final : public Module {
public:
    explicit CpuModule(std::shared_ptr<CpuImage> image) : image_(std::move(image)) {}

    [[nodiscard]] std::span<const KernelInfo> kernels() const override { return {}; }
    [[nodiscard]] Kernel* kernel(std::string_view name) override;
    [[nodiscard]] Kernel* kernel_by_key(std::string_view) override { return nullptr; }
    [[nodiscard]] std::optional<SymbolInfo> symbol(std::string_view name) override {
        return image_->symbol(std::string(name));
    }
    [[nodiscard]] SymbolInfo code() const override { return image_->code(); }

private:
    struct Named {
        KernelInfo info;
        CpuKernel kernel;
        KnownKernel known;
    };
    std::shared_ptr<CpuImage> image_;
    Mutex mutex_;
    std::map<std::string, std::unique_ptr<Named>, std::less<>> kernels_ CANOPY_GUARDED_BY(mutex_);
};

Kernel* CpuModule::kernel(std::string_view name) {
    MutexLock guard(mutex_);
    const auto known = kernels_.find(name);
    if (known != kernels_.end()) return &known->second->kernel;
    std::string text(name);
    void* function = image_->function(text);
    if (!function) return nullptr;
    auto named = std::make_unique<Named>();
    named->info.name = text;
    named->info.core = CoreType::cpu;
    named->info.cube_ratio = named->info.vector_ratio = 0;
    named->kernel.info = &named->info;
    named->kernel.function = function;
    named->kernel.address = device_address(function);
    named->kernel.process_image = image_->process_image();
    named->kernel.with_block = text == "RunCpuKernelWithBlock";
    named->known = KnownKernel(named->kernel, named->info);
    return &kernels_.emplace(std::move(text), std::move(named)).first->second->kernel;
}

}  // namespace

Result<std::unique_ptr<Module>> CpuImages::load(std::span<const std::byte> image, std::string_view name) {
    const ContentKey key = content_key(image);
    MutexLock guard(mutex_);
    std::erase_if(images_, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<CpuImage> opened = images_[key].lock();
    if (!opened) {
        opened = std::make_shared<CpuImage>(services_, process_);
        CANOPY_TRY(opened->open(image, name));
        prepare_for_cpu_kernels();
        images_[key] = opened;
    }
    return std::unique_ptr<Module>(std::make_unique<CpuModule>(std::move(opened)));
}

}  // namespace canopy
