// SPDX-License-Identifier: Apache-2.0
#include "device/execution/kernel_names.h"

#include <unordered_map>

#include "base/process_state.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Known {
    std::string name;
    CoreType core = CoreType::vector;
};

struct KnownKernels {
    Mutex mutex;
    std::unordered_map<const Kernel*, Known> kernels CANOPY_GUARDED_BY(mutex);
};

}  // namespace

KnownKernel::KnownKernel(const Kernel& kernel, const KernelInfo& info) noexcept {
    auto& all = process_state<KnownKernels>();
    try {
        Known known{info.name, info.core};
        MutexLock guard(all.mutex);
        all.kernels.insert_or_assign(&kernel, std::move(known));
        kernel_ = &kernel;
    } catch (...) {
    }
}

KnownKernel::~KnownKernel() {
    if (kernel_ == nullptr) return;
    auto& all = process_state<KnownKernels>();
    MutexLock guard(all.mutex);
    all.kernels.erase(kernel_);
}

bool find_known_kernel(const Kernel* kernel, CoreType& core, std::string* name) noexcept {
    auto& all = process_state<KnownKernels>();
    MutexLock guard(all.mutex);
    const auto found = all.kernels.find(kernel);
    if (found == all.kernels.end()) return false;
    core = found->second.core;
    try {
        if (name) *name = found->second.name;
    } catch (...) {
        return false;
    }
    return true;
}

}  // namespace canopy
