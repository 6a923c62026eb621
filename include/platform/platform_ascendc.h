// SPDX-License-Identifier: Apache-2.0
// Figures of the chip for tilings: how many cores of which kind, how large their memories are. The chip is the one that
// aclrtGetSocName names, or one asked for by name. Link with -lplatform.
//
// Threads: everything only reads; GetInstance may be called from any thread.
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
    // Of the current chip, whatever the operator framework handed in.
    explicit PlatformAscendC(fe::PlatFormInfos* platformInfo);

    uint32_t GetCoreNum() const;  // cores as a whole: groups of cube and vector cores
    uint32_t GetCoreNumAic() const;
    uint32_t GetCoreNumAiv() const;
    uint32_t GetCoreNumVector() const;  // vector cores besides the AI cores; 0 on current chips
    SocVersion GetSocVersion() const;
    uint32_t GetCurNpuArch() const;  // 2201, 3510, ...
    // Bytes; of UB and L1 what kernels may use. 0 for a memory the chip does not have.
    void GetCoreMemSize(const CoreMemType& memType, uint64_t& size) const;
    // Bytes a cycle.
    void GetCoreMemBw(const CoreMemType& memType, uint64_t& bwSize) const;
    // Bytes at the front of a workspace that operations of the language keep for themselves.
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
    // Null when no such chip is known.
    static PlatformAscendC* GetInstance(const char* customSocVersion);
};

#undef CANOPY_EXPORT

}  // namespace platform_ascendc

#endif
