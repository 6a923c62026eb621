// SPDX-License-Identifier: Apache-2.0
// libplatform: figures of the chip. The current chip's come from the runtime library; chips asked for by name are rows
// of the table below.
#include "platform/platform_ascendc.h"

#include <acl/acl_base.h>
#include <acl/acl_platform.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace platform_ascendc {
namespace {

struct Row {
    const char* prefix;
    uint32_t architecture;
    uint32_t cube_cores;
    uint32_t vector_cores;
};

// The first row whose prefix fits; longer prefixes come first.
constexpr Row rows[] = {
    {"Ascend910B1", 2201, 24, 48},  {"Ascend910B2", 2201, 24, 48}, {"Ascend910B3", 2201, 20, 40},
    {"Ascend910B4", 2201, 20, 40},  {"Ascend910B", 2201, 24, 48},  {"Ascend910_93", 2201, 24, 48},
    {"Ascend910_95", 3510, 32, 64}, {"Ascend950", 3510, 32, 64},   {"Ascend310P", 2002, 8, 8},
};

const Row* find(const char* chip) {
    for (const Row& row : rows)
        if (std::strncmp(chip, row.prefix, std::strlen(row.prefix)) == 0) return &row;
    return nullptr;
}

// A figure of the current chip; `otherwise` when the runtime cannot tell.
uint32_t figure(aclplatformDevInfo which, uint32_t otherwise) {
    char text[64];
    if (aclplatformGetDeviceInfo(which, text, sizeof text) != ACL_SUCCESS) return otherwise;
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 10);
    return end != text && value > 0 ? static_cast<uint32_t>(value) : otherwise;
}

constexpr uint64_t kib = 1024, mib = 1024 * kib;

// By CoreMemType. The last bytes of UB and L1 belong to the language.
struct Memories {
    uint64_t bytes[static_cast<int>(CoreMemType::RESERVED)];
};

constexpr Memories memories_of(uint32_t architecture) {
    //               L0A       L0B       L0C        L1              L2         UB               HBM, FB,    BT
    if (architecture == 3510)
        return {{64 * kib, 64 * kib, 256 * kib, 512 * kib, 128 * mib, 248 * kib, 0, 4 * kib, 4 * kib}};
    if (architecture == 2002) return {{64 * kib, 64 * kib, 256 * kib, 1024 * kib, 16 * mib, 256 * kib, 0, 0, 0}};
    return {{64 * kib, 64 * kib, 128 * kib, 512 * kib, 192 * mib, 192 * kib - 256, 0, 2 * kib, 1 * kib}};
}

}  // namespace

PlatformAscendC::PlatformAscendC(Name chip) {
    const Row* row = find(chip.text);
    if (!row) row = &rows[0];
    architecture_ = row->architecture;
    cube_cores_ = row->cube_cores;
    vector_cores_ = row->vector_cores;
    const Memories memories = memories_of(architecture_);
    std::memcpy(memory_, memories.bytes, sizeof memory_);
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
uint32_t PlatformAscendC::GetCoreNumAiv() const { return vector_cores_; }
uint32_t PlatformAscendC::GetCoreNumVector() const { return architecture_ == 2002 ? 7 : 0; }
uint32_t PlatformAscendC::GetCurNpuArch() const { return architecture_; }

SocVersion PlatformAscendC::GetSocVersion() const {
    switch (architecture_) {
        case 3510:
            return SocVersion::ASCEND950;
        case 2002:
            return SocVersion::ASCEND310P;
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
    return static_cast<uint32_t>(architecture_ == 2002 ? 2 * mib : 16 * mib);
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
    if (!find(customSocVersion)) return nullptr;
    static std::mutex mutex;
    static std::map<std::string, std::unique_ptr<PlatformAscendC>> chips;
    const std::lock_guard lock(mutex);
    auto& chip = chips[customSocVersion];
    if (!chip) chip.reset(new PlatformAscendC(PlatformAscendC::Name{customSocVersion}));
    return chip.get();
}

}  // namespace platform_ascendc
