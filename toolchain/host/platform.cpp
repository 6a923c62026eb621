// SPDX-License-Identifier: Apache-2.0
// libplatform: properties of the chip. Those of the current chip come from the runtime library, those of chips
// requested by name from the table of chips.
#include "platform/platform_ascendc.h"

#include <acl/acl_base.h>
#include <acl/acl_platform.h>
#include <canopy/chips.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace platform_ascendc {
namespace {

// A property of the current chip; `otherwise` if the runtime does not know it.
uint32_t figure(aclplatformDevInfo which, uint32_t otherwise) {
    char text[64];
    if (aclplatformGetDeviceInfo(which, text, sizeof text) != ACL_SUCCESS) return otherwise;
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    return end != text && value > 0 ? static_cast<uint32_t>(value) : otherwise;
}

constexpr uint64_t kib = 1024, mib = 1024 * kib;

// On some chips the last bytes of UB are reserved for the kernel language.
uint64_t usable_unified_buffer(const canopy::Chip& chip) {
    if (chip.architecture == 2201) return chip.unified_buffer - 256;
    return chip.architecture == 3510 ? 248 * kib : chip.unified_buffer;
}

// The size reported to kernels: the model's scale buffer is larger than the chip's.
uint64_t scale_buffer(const canopy::Chip& chip) {
    if (chip.scale_buffer == 0) return 0;
    return chip.architecture == 3510 ? 4 * kib : 2 * kib;
}

}  // namespace

PlatformAscendC::PlatformAscendC(Name name) {
    const canopy::Chip* known = canopy::find_chip(name.text);
    const canopy::Chip& chip = known ? *known : canopy::default_chip();
    architecture_ = chip.architecture;
    cube_cores_ = chip.cube_cores;
    vector_cores_ = chip.vector_cores;
    const auto keep = [&](CoreMemType type, uint64_t bytes) { memory_[static_cast<int>(type)] = bytes; };
    keep(CoreMemType::L0_A, chip.l0a_buffer);
    keep(CoreMemType::L0_B, chip.l0b_buffer);
    keep(CoreMemType::L0_C, chip.l0c_buffer);
    keep(CoreMemType::L1, chip.l1_buffer);
    keep(CoreMemType::L2, chip.l2_cache);
    keep(CoreMemType::UB, usable_unified_buffer(chip));
    keep(CoreMemType::FB, scale_buffer(chip));
    keep(CoreMemType::BT, chip.bias_buffer);
}

PlatformAscendC::PlatformAscendC(fe::PlatFormInfos*)
    : PlatformAscendC(Name{aclrtGetSocName() ? aclrtGetSocName() : ""}) {
    cube_cores_ = figure(ACL_PLATFORM_CUBE_CORE_CNT, cube_cores_);
    vector_cores_ = figure(ACL_PLATFORM_VECTOR_CORE_CNT, vector_cores_);
    memory_[static_cast<int>(CoreMemType::L2)] =
        figure(ACL_PLATFORM_L2_SIZE, static_cast<uint32_t>(memory_[static_cast<int>(CoreMemType::L2)]));
}

uint32_t PlatformAscendC::GetCoreNum() const { return cube_cores_; }
uint32_t PlatformAscendC::GetCoreNumAic() const { return cube_cores_; }
// The cores of a coupled chip also do the vector work.
uint32_t PlatformAscendC::GetCoreNumAiv() const {
    return canopy::is_coupled(architecture_) ? cube_cores_ : vector_cores_;
}
uint32_t PlatformAscendC::GetCoreNumVector() const { return canopy::is_coupled(architecture_) ? vector_cores_ : 0; }
uint32_t PlatformAscendC::GetCurNpuArch() const { return architecture_; }

SocVersion PlatformAscendC::GetSocVersion() const {
    switch (architecture_) {
        case 3510:
            return SocVersion::ASCEND950;
        case 2002:
            return SocVersion::ASCEND310P;
        case 3002:
            return SocVersion::ASCEND310B;
        case 1001:
            return SocVersion::ASCEND910;
        default:
            return SocVersion::ASCEND910B;
    }
}

void PlatformAscendC::GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const {
    const int index = static_cast<int>(memType);
    size = index >= 0 && index < static_cast<int>(CoreMemType::RESERVED) ? memory_[index] : 0;
}

void PlatformAscendC::GetCoreMemBw(const CoreMemType& memType, uint64_t& bwSize) const {
    bwSize = memType == CoreMemType::L2 ? 110 : memType == CoreMemType::HBM ? 32 : 0;
}

uint32_t PlatformAscendC::GetLibApiWorkSpaceSize() const {
    return static_cast<uint32_t>(canopy::is_coupled(architecture_) ? 2 * mib : 16 * mib);
}

uint32_t PlatformAscendC::GetResCubeGroupWorkSpaceSize() const { return static_cast<uint32_t>(12 * mib); }
uint32_t PlatformAscendC::GetResGroupBarrierWorkSpaceSize() const { return static_cast<uint32_t>(1 * mib); }

uint32_t PlatformAscendC::CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const {
    if (aicCoreNum == 0 || aivCoreNum == 0 || aicCoreNum > aivCoreNum) return sliceNum;
    const uint32_t ratio = aivCoreNum / aicCoreNum;
    return (sliceNum + ratio - 1) / ratio;
}

PlatformAscendC* PlatformAscendCManager::GetInstance() {
    static PlatformAscendC instance(static_cast<fe::PlatFormInfos*>(nullptr));
    return &instance;
}

PlatformAscendC* PlatformAscendCManager::GetInstance(const char* customSocVersion) {
    if (customSocVersion == nullptr) return GetInstance();
    const char* current = aclrtGetSocName();
    if (current && std::strcmp(current, customSocVersion) == 0) return GetInstance();
    if (!canopy::find_chip(customSocVersion)) return nullptr;
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<PlatformAscendC>> chips;
    const std::lock_guard lock(mutex);
    auto& chip = chips[customSocVersion];
    if (!chip) chip.reset(new PlatformAscendC(PlatformAscendC::Name{customSocVersion}));
    return chip.get();
}

}  // namespace platform_ascendc
