// SPDX-License-Identifier: Apache-2.0
// Properties of the chip for tilings: the number of cores of each kind and the sizes of their memories. The chip is the
// one that aclrtGetSocName names, or one given by name. Link with -lplatform.
//
// Threads: everything is read-only; GetInstance may be called from any thread.
#ifndef CANOPY_PLATFORM_PLATFORM_ASCENDC_H
#define CANOPY_PLATFORM_PLATFORM_ASCENDC_H

#include <cstdint>

namespace fe {
class PlatFormInfos;
}

namespace platform_ascendc {

enum class CoreMemType { L0_A = 0, L0_B = 1, L0_C = 2, L1 = 3, L2 = 4, UB = 5, HBM = 6, FB = 7, BT = 8, RESERVED };

enum class SocVersion {
    ASCEND910 = 0,
    ASCEND910B,  // also the 910_93 parts
    ASCEND310P,
    ASCEND310B,
    ASCEND910_95,
    ASCEND950 = ASCEND910_95,
    RESERVED_VERSION = 99999
};

#define CANOPY_EXPORT __attribute__((visibility("default")))

class CANOPY_EXPORT PlatformAscendC {
public:
    // The current chip, whatever the operator framework passes.
    explicit PlatformAscendC(fe::PlatFormInfos* platformInfo);

    uint32_t GetCoreNum() const;  // whole cores: groups of cube and vector cores
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;  // vector cores in addition to the AI cores; 0 on current chips
    SocVersion GetSocVersion() const;
    uint32_t GetCurNpuArch() const;  // 2201, 3510, ...
    // In bytes; for UB and L1, the part that kernels may use. 0 if the chip does not have the memory.
    void GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const;
    // Bytes per cycle.
    void GetCoreMemBw(const CoreMemType& memType, uint64_t& bwSize) const;
    // Bytes at the start of a workspace that the operations of the language use themselves.
    uint32_t GetLibApiWorkSpaceSize() const;
    uint32_t GetResCubeGroupWorkSpaceSize() const;
    uint32_t GetResGroupBarrierWorkSpaceSize() const;
    // Blocks to launch so that `sliceNum` vector cores run.
    uint32_t CalcTschBlockDim(uint32_t sliceNum, uint32_t aicCoreNum, uint32_t aivCoreNum) const;

private:
    friend class PlatformAscendCManager;
    struct Name {
        const char* text;
    };
    explicit PlatformAscendC(Name chip);

    uint32_t architecture_ = 0;
    uint32_t cube_cores_ = 0;
    uint32_t vector_cores_ = 0;
    uint64_t memory_[static_cast<int>(CoreMemType::RESERVED)] = {};
};

class CANOPY_EXPORT PlatformAscendCManager {
public:
    static PlatformAscendC* GetInstance();
    // Null if the chip is unknown.
    static PlatformAscendC* GetInstance(const char* customSocVersion);
};

#undef CANOPY_EXPORT

}  // namespace platform_ascendc

#endif
