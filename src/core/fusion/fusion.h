// SPDX-License-Identifier: Apache-2.0
// Fused kernels as programs use them. A Fusion is one list of steps on one device. It has one variant per kind of
// arguments it is launched with: which slots of the block are addresses, which of them point into the same allocation
// and how far apart, and the exact value of all other bytes. A variant starts with what is known at once (declared
// directions, or nothing) and improves while it is used: a background thread (fusion_work.h) traces its steps, plans
// again, requests compiled loops, and replaces the kernel with the better one. Launches never wait for that.
//
// Threads: everything from any thread. Lock order: Stream::lock, Graph::mutex, then Fusion's; only the heap's locks are
// taken after them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/memory_range.h"
#include "base/result.h"
#include "base/spin_lock.h"
#include "core/base/handles.h"
#include "core/fusion/fusion_variant.h"
#include "device/fused_list.h"
#include "foundation/json.h"
#include "foundation/mutex.h"

namespace canopy {

struct DeviceRecord;

class Fusion : public std::enable_shared_from_this<Fusion> {
public:
    // Its kernels report `info` and `user` as their own.
    Fusion(FusedList list, Device& device, KernelInfo info, void* user);
    ~Fusion();

    // The kernel for a launch. Arguments that cannot be read yet get the kernel that is always correct.
    Result<const Kernel*> choose(const LaunchWork& work, DeviceRecord& record);
    // The kernel for arguments that do not change, for a fusion that keeps its code loaded itself. `hidden`: some
    // arguments are filled in later.
    Result<const Kernel*> choose_now(std::span<const std::byte> arguments, bool hidden);
    [[nodiscard]] Json report() const;

    // Background work: improves one variant, from traces to loops.
    void improve(FusionVariant& variant);
    [[nodiscard]] const FusedList& list() const noexcept { return list_; }

    // Modules that hold the code of its steps, if nobody else keeps them; set before the fusion is shared.
    std::vector<std::shared_ptr<Module>> modules;

private:
    struct Improvement;
    Result<FusionVariant*> variant_for(std::span<const std::byte> arguments, bool& made);
    Result<FusionVariant*> make_variant(std::span<const std::byte> arguments, std::vector<std::uint64_t> signature)
        CANOPY_REQUIRES(mutex_);
    [[nodiscard]] Status check_profile(std::span<const std::byte> arguments) const;
    Result<const Kernel*> certain();
    Status adopt(FusionVariant& variant, PlannedFusion planned, const char* level) CANOPY_REQUIRES(mutex_);
    [[nodiscard]] std::vector<StepAccess> declared(const FusionVariant& variant) const;
    [[nodiscard]] bool makes_loops() const {
        return level_ == FusionLevel::loops && !list_.in_full_order() && list_.profile_slot == no_slot;
    }
    // Queues the work for the background thread and keeps `code` loaded meanwhile.
    void improve_later(FusionVariant& variant, std::shared_ptr<Module> code);
    bool improve_by_recipe(FusionVariant& variant, const std::string& name, Nanoseconds start);
    void trace_steps(const FusionVariant& variant, Improvement& work) const;
    void compile(FusionVariant& variant, Improvement& work);
    [[nodiscard]] std::string names_of(std::span<const std::uint32_t> steps) const;
    bool compile_parts(FusionVariant& variant, Improvement& work, std::size_t first, std::size_t end);
    [[nodiscard]] bool temporary(const FusionVariant& variant, const Improvement& work, std::int32_t region,
                                 std::span<const std::uint32_t> steps) const;
    [[nodiscard]] std::optional<DeviceRange> region_at(std::uint64_t word) const;

    const FusedList list_;
    Device& device_;
    const KernelInfo info_;
    void* const user_;
    const FusionLevel level_;
    const bool checking_;

    SpinLock last_lock_;
    std::vector<std::byte> last_arguments_ CANOPY_GUARDED_BY(last_lock_);
    std::uint64_t last_epoch_ CANOPY_GUARDED_BY(last_lock_) = 0;
    const Kernel* last_kernel_ CANOPY_GUARDED_BY(last_lock_) = nullptr;

    mutable Mutex mutex_;  // also guards the variants themselves
    std::vector<std::unique_ptr<FusionVariant>> variants_ CANOPY_GUARDED_BY(mutex_);
    // Every step waits for the earlier ones; used when the arguments are unknown.
    std::unique_ptr<FusionVariant> certain_ CANOPY_GUARDED_BY(mutex_);
};

// Replaces a kernel that is a list with the fused kernel for these arguments; leaves other kernels alone. The kernel's
// code must stay loaded during the call.
Status choose_fused(LaunchWork& work, DeviceRecord& record);
// The fusion of a list kernel; nullptr if it was not launched yet.
std::shared_ptr<Fusion> fusion_of(const Kernel& kernel);

}  // namespace canopy
