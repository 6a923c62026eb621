// SPDX-License-Identifier: Apache-2.0
// Shared objects with kernels for a device's CPU cores. The same bytes loaded twice share one mapping, which goes away
// with its last user; different objects are isolated from each other whatever names they export. Devices do not share
// mappings: each has its own copy of an image's variables.
//
// Threads: any; a module must outlive every launch of its kernels.
#pragma once

#include <canopy/kernel_abi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"
#include "foundation/hash.h"
#include "foundation/mutex.h"

namespace canopy {

class CpuImage;
class CpuProcess;

// The images of one device.
class CpuImages {
public:
    // services: the table given to the code; outlives it. process: runs the code; nullptr: this process does.
    explicit CpuImages(const CanopyServices* services, CpuProcess* process = nullptr) noexcept
        : services_(services), process_(process) {}

    // Fails with 107000 and the reason if the bytes are not a shared object for this processor or the dynamic loader
    // rejects them.
    Result<std::unique_ptr<Module>> load(std::span<const std::byte> image, std::string_view name);

private:
    const CanopyServices* const services_;
    CpuProcess* const process_;
    Mutex mutex_;
    std::map<ContentKey, std::weak_ptr<CpuImage>> images_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
