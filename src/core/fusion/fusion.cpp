// SPDX-License-Identifier: Apache-2.0
// Chooses the fused kernel of a launch: the last one used, one found by signature, or a new variant.
#include "core/fusion/fusion.h"

#include <canopy/fusion_profile.h>

#include <algorithm>
#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/fusion/fusion_check.h"
#include "core/fusion/fusion_work.h"
#include "core/fusion/temporaries.h"
#include "core/kernel/kernel.h"
#include "core/process/runtime.h"

namespace canopy {
namespace {

// Beyond this many kinds of arguments, launches use the kernel that does not depend on them.
constexpr std::size_t most_variants = 64;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t slot) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + slot * 8, sizeof(word));
    return word;
}

std::uint64_t temporary_at(std::uint64_t word) {
    return temporary_changes.load(std::memory_order_relaxed) == 0 ? 0 : temporary_bytes(DeviceAddress(word));
}

// The module of a function's kernels while its binary is loaded.
std::shared_ptr<Module> module_of(void* user, const DeviceRecord& record) {
    Runtime& runtime = Runtime::instance();
    const Pin<Function> function = runtime.functions.pin(handle_of(user));
    if (!function) return nullptr;
    const Pin<Binary> binary = runtime.binaries.pin(function->binary);
    if (!binary) return nullptr;
    MutexLock guard(binary->mutex);
    return binary->unloading ? nullptr : binary->modules[record.index];
}

// True if others write memory of the steps while they run; it can then not be restored for a second run.
bool talks_to_others(const FusedList& list) {
    return std::any_of(list.steps.begin(), list.steps.end(), [](const ListStep& step) {
        return !step.wait_slots.empty() || !step.notify_slots.empty() || step.dynamic;
    });
}

}  // namespace

Fusion::Fusion(FusedList list, Device& device, KernelInfo info, void* user)
    : list_(std::move(list)),
      device_(device),
      info_(std::move(info)),
      user_(user),
      level_(Runtime::instance().settings().fusion),
      checking_(Runtime::instance().settings().fusion_checked && !talks_to_others(list_)) {}

Fusion::~Fusion() {
    variants_.clear();
    certain_.reset();
    close_later(std::move(modules));
}

std::optional<DeviceRange> Fusion::region_at(std::uint64_t word) const {
    const DeviceAddress address(word);
    return device_.owns(address) ? device_.find(address) : std::nullopt;
}

Status Fusion::check_profile(std::span<const std::byte> arguments) const {
    if (list_.profile_slot == no_slot) return {};
    const std::uint64_t buffer = word_at(arguments, list_.profile_slot);
    if (buffer == 0) return {};
    const std::optional<DeviceRange> region = region_at(buffer);
    const std::uint64_t room = region ? region->bytes_from(DeviceAddress(buffer)) : 0;
    if (room >= sizeof(canopyFusionProfileHeader) && buffer % alignof(canopyFusionProfileHeader) == 0) return {};
    return fail(code::param_invalid,
                "the profiling buffer of {} at {:#x} is not device memory of at least {} bytes, aligned to {}",
                list_.name, buffer, sizeof(canopyFusionProfileHeader), alignof(canopyFusionProfileHeader));
}

Result<const Kernel*> Fusion::choose(const LaunchWork& work, DeviceRecord& record) {
    const std::size_t size = std::size_t{list_.slots} * 8;
    if (work.arguments_in_place() || work.placeholder_count != 0 || level_ == FusionLevel::off) return certain();
    const std::uint64_t epoch =
        device_.allocations.load(std::memory_order_relaxed) + temporary_changes.load(std::memory_order_relaxed);
    const std::span arguments(static_cast<const std::byte*>(work.host_arguments()), size);
    {
        SpinGuard guard(last_lock_);
        if (last_kernel_ && last_epoch_ == epoch && std::memcmp(last_arguments_.data(), arguments.data(), size) == 0)
            [[likely]]
            return last_kernel_;
    }
    CANOPY_TRY(check_profile(arguments));
    bool made = false;
    Result<FusionVariant*> variant = variant_for(arguments, made);
    if (!variant.ok()) return variant.status();
    if (!*variant) return certain();
    const Kernel* const kernel = (*variant)->first;
    if (made)
        if (std::shared_ptr<Module> code = module_of(user_, record)) improve_later(**variant, std::move(code));
    SpinGuard guard(last_lock_);
    last_arguments_.assign(arguments.begin(), arguments.end());
    last_epoch_ = epoch;
    last_kernel_ = kernel;
    return kernel;
}

Result<const Kernel*> Fusion::choose_now(std::span<const std::byte> arguments, bool hidden) {
    CANOPY_TRY(check_profile(arguments));
    if (level_ == FusionLevel::off || hidden) return certain();
    bool made = false;
    Result<FusionVariant*> variant = variant_for(arguments, made);
    if (!variant.ok()) return variant.status();
    if (!*variant) return certain();
    if (made) improve_later(**variant, nullptr);
    return static_cast<const Kernel*>((*variant)->first);
}

void Fusion::improve_later(FusionVariant& variant, std::shared_ptr<Module> code) {
    run_improvement(
        this, [self = shared_from_this(), &variant] { self->improve(variant); }, std::move(code));
}

Result<const Kernel*> Fusion::certain() {
    MutexLock lock(mutex_);
    if (!certain_) {
        auto made = std::make_unique<FusionVariant>();
        const std::vector<StepAccess> nothing(list_.steps.size());
        CANOPY_TRY(adopt(*made, make_plan({&list_, nothing, level_}), "in order"));
        certain_ = std::move(made);
    }
    return static_cast<const Kernel*>(certain_->first);
}

// ---- variants ------------------------------------------------------------------------------------------------------

// nullptr if there are too many variants already.
Result<FusionVariant*> Fusion::variant_for(std::span<const std::byte> arguments, bool& made) {
    std::vector<std::uint64_t> signature;
    std::vector<std::pair<DeviceAddress, std::uint64_t>> bases;  // per region: base and first address seen
    for (std::size_t slot = 0; slot < list_.slots && slot != list_.profile_slot; ++slot) {
        const std::uint64_t value = word_at(arguments, slot);
        const std::optional<DeviceRange> region = region_at(value);
        if (!region) {
            signature.insert(signature.end(), {0, value, 0});
            continue;
        }
        const DeviceAddress base = region->base;
        auto known = std::find_if(bases.begin(), bases.end(), [&](const auto& each) { return each.first == base; });
        if (known == bases.end()) known = bases.insert(bases.end(), {base, value});
        const auto number = static_cast<std::uint64_t>(known - bases.begin()) + 1;
        signature.insert(signature.end(), {number * address_looked_at + value % address_looked_at,
                                           value - known->second, temporary_at(value)});
    }
    MutexLock lock(mutex_);
    for (const auto& each : variants_)
        if (each->signature == signature) return each.get();
    if (variants_.size() == most_variants) return nullptr;
    made = true;
    return make_variant(arguments, std::move(signature));
}

Result<FusionVariant*> Fusion::make_variant(std::span<const std::byte> arguments,
                                            std::vector<std::uint64_t> signature) {
    auto variant = std::make_unique<FusionVariant>();
    variant->signature = std::move(signature);
    variant->arguments.assign(arguments.begin(), arguments.end());
    for (std::uint32_t slot = 0; slot < list_.slots && slot != list_.profile_slot; ++slot) {
        const std::uint64_t value = word_at(arguments, slot);
        const std::optional<DeviceRange> region = region_at(value);
        if (!region) continue;
        auto known = std::find_if(variant->regions.begin(), variant->regions.end(),
                                  [&](const DeviceRange& each) { return each.base == region->base; });
        if (known == variant->regions.end()) known = variant->regions.insert(known, *region);
        variant->addresses.push_back({slot, static_cast<std::int32_t>(known - variant->regions.begin()),
                                      DeviceAddress(value) - region->base, temporary_at(value)});
    }
    const std::vector<StepAccess> accesses = declared(*variant);
    const bool known = std::any_of(accesses.begin(), accesses.end(),
                                   [](const StepAccess& access) { return access.knowledge != Knowledge::nothing; });
    CANOPY_TRY(adopt(*variant, make_plan({&list_, accesses, level_}), known ? "declared" : "in order"));
    variants_.push_back(std::move(variant));
    return variants_.back().get();
}

// Accesses from the directions the list declares, as whole allocations. Slots without a direction may be workspace. An
// address outside any allocation makes the step's accesses unknown.
std::vector<StepAccess> Fusion::declared(const FusionVariant& variant) const {
    std::vector<std::int32_t> region_of(list_.slots, -1);
    for (const SlotAddress& address : variant.addresses) region_of[address.slot] = address.region;
    std::vector<StepAccess> accesses(list_.steps.size());
    for (std::size_t index = 0; index < list_.steps.size(); ++index) {
        const ListStep& step = list_.steps[index];
        if (!step.inputs || !step.outputs) continue;
        StepAccess& access = accesses[index];
        access.knowledge = Knowledge::declared;
        const auto touch = [&](std::uint32_t slot, bool write) {
            access.touched.push_back({region_of[slot], every_block, write, 0, UINT64_MAX});
            if (region_of[slot] < 0 && word_at(variant.arguments, slot) != 0) access.knowledge = Knowledge::nothing;
        };
        for (const std::uint32_t slot : *step.inputs) touch(slot, false);
        for (const std::uint32_t slot : *step.outputs) touch(slot, true);
        for (std::uint32_t slot = step.slot; slot < step.slot + step.slots; ++slot) {
            const auto names = [&](const std::vector<std::uint32_t>& slots) {
                return std::find(slots.begin(), slots.end(), slot) != slots.end();
            };
            if (region_of[slot] >= 0 && !names(*step.inputs) && !names(*step.outputs)) touch(slot, true);
        }
        std::erase_if(access.touched, [](const Touched& each) { return each.region < 0; });
        order_touched(access.touched);
    }
    return accesses;
}

// Makes a kernel from the plan; launches of the variant use it from now on.
Status Fusion::adopt(FusionVariant& variant, PlannedFusion planned, const char* level) {
    std::vector<FusedPart> parts = planned.plan.parts;
    if (checking_) {
        variant.checks.push_back(std::make_unique<FusionCheck>(list_, device_));
        planned.plan = variant.checks.back()->around(std::move(planned.plan));
    }
    Result<std::unique_ptr<FusedKernel>> fused = device_.fuse(std::move(planned.plan));
    if (!fused.ok()) return fused.status();
    FusedKernel& kernel = **fused;
    kernel.own_info.name = info_.name;
    kernel.own_info.core = info_.core;
    kernel.own_info.cube_ratio = info_.cube_ratio;
    kernel.own_info.vector_ratio = info_.vector_ratio;
    kernel.own_info.arguments_size = info_.arguments_size;
    kernel.own_info.parameters = info_.parameters;
    kernel.own_info.source = info_.source;
    kernel.info = &kernel.own_info;
    kernel.user = user_;
    variant.kernels.push_back(std::move(*fused));
    if (!variant.first)
        variant.first = &kernel;
    else  // pairs with the device's load when a launch begins
        variant.kernels.front()->replacement.store(&kernel, std::memory_order_release);
    variant.report.level = level;
    variant.report.figures = planned.figures;
    variant.report.parts = std::move(parts);
    return {};
}

// ---- launches ------------------------------------------------------------------------------------------------------

namespace {

// Guards ListKernel::made of all kernels; held to read or set it.
SpinLock made_lock;

}  // namespace

std::shared_ptr<Fusion> fusion_of(const Kernel& kernel) {
    if (!kernel.info->list) return nullptr;
    SpinGuard guard(made_lock);
    return std::static_pointer_cast<Fusion>(static_cast<const ListKernel&>(kernel).made);
}

Status choose_fused(LaunchWork& work, DeviceRecord& record) {
    if (!work.kernel->info->list) return {};
    const auto& listed = static_cast<const ListKernel&>(*work.kernel);
    try {
        auto* fusion = static_cast<Fusion*>(listed.known.load(std::memory_order_acquire));
        if (!fusion) [[unlikely]] {
            Result<Device*> device = record.open();
            if (!device.ok()) return device.status();
            void* const user = std::atomic_ref(const_cast<ListKernel&>(listed).user).load(std::memory_order_acquire);
            auto made = std::make_shared<Fusion>(listed.list, **device, listed.own_info, user);
            SpinGuard guard(made_lock);
            if (!listed.made) listed.made = std::move(made);
            fusion = static_cast<Fusion*>(listed.made.get());
            listed.known.store(fusion, std::memory_order_release);
        }
        Result<const Kernel*> chosen = fusion->choose(work, record);
        if (!chosen.ok()) return chosen.status();
        work.kernel = *chosen;
        return {};
    } catch (const std::bad_alloc&) {
        return Status(code::bad_alloc);
    }
}

}  // namespace canopy
