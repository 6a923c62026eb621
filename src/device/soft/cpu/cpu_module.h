// SPDX-License-Identifier: Apache-2.0
// Shared objects with kernels for a device's CPU cores. The same bytes loaded twice are one mapping that goes with its
// last user; different ones are kept apart whatever names they export. Devices do not share mappings: each has the
// variables of its images to itself.
//
// Threads: everything may be called from any thread; a module must outlive every launch of its kernels.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "device/backend.h"
#include "foundation/hash.h"

namespace canopy {

class CpuImage;
class CpuProcess;

// The images of one device.
class CpuImages {
public:
    // services: the table the code finds; outlives it. process: where the code runs; nullptr: in this one.
    explicit CpuImages(const CanopyServices& services, CpuProcess* process = nullptr) noexcept
        : services_(services), process_(process) {}

    // 107000, with the reason, for bytes that are not a shared object for this processor or that the dynamic loader
    // refuses.
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image, std::string_view name);

private:
    const CanopyServices& services_;
    CpuProcess* const process_;
    Mutex mutex_;
    std::map<ContentKey, std::weak_ptr<CpuImage>> images_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
