// SPDX-License-Identifier: Apache-2.0
// Identity of the running block: block_idx, block_num, and the related functions of namespace AscendC.
#ifndef CANOPY_KERNEL_BLOCK_H
#define CANOPY_KERNEL_BLOCK_H

#include <stdint.h>

#include "canopy_kernel/target/target.h"

namespace canopy::kernel {

// block_idx and block_num are objects, not macros, so local variables, parameters and members may have the same names.
struct BlockIndex {
    operator int64_t() const { return current_block().index; }
};
struct BlockCount {
    operator int64_t() const { return current_block().count; }
};

}  // namespace canopy::kernel

inline constexpr canopy::kernel::BlockIndex block_idx{};
inline constexpr canopy::kernel::BlockCount block_num{};

inline int64_t get_block_idx() { return block_idx; }
inline int64_t get_block_num() { return block_num; }

namespace AscendC {

enum : int { MIX = 0, AIC = 1, AIV = 2 };

inline int64_t GetSubBlockIdx() { return canopy::kernel::current_block().sub_index; }
// A group has one cube core, whatever its number of vector cores.
inline int64_t GetSubBlockNum() {
    const CanopyBlock& block = canopy::kernel::current_block();
    return block.core_type == CANOPY_CORE_CUBE ? 1 : block.sub_count;
}
inline int64_t GetTaskRatio() { return GetSubBlockNum(); }
inline int64_t GetTaskRation() { return GetSubBlockNum(); }

// Vector cores are numbered one by one, cube cores by group.
inline int64_t GetBlockIdx() {
    const CanopyBlock& block = canopy::kernel::current_block();
    if (block.core_type == CANOPY_CORE_CUBE) return block.index;
    return static_cast<int64_t>(block.index) * block.sub_count + block.sub_index;
}

inline int64_t GetBlockNum() { return block_num; }

}  // namespace AscendC

namespace canopy::kernel {

// The core of a coupled chip is neither a cube core nor a vector core.
inline bool on_cube_core() { return current_block().core_type == CANOPY_CORE_CUBE; }
inline bool on_vector_core() { return current_block().core_type == CANOPY_CORE_VECTOR; }

}  // namespace canopy::kernel

// The kind of the running core: AscendC::AIC or AscendC::AIV; AscendC::MIX on a coupled chip. It is a constant in code
// compiled for one kind, so that it can be a template argument.
#if defined(__DAV_CUBE__)
inline constexpr int g_coreType = AscendC::AIC;
#elif defined(__DAV_VEC__)
inline constexpr int g_coreType = AscendC::AIV;
#else
struct CanopyCoreKind {
    operator int() const {
        if (canopy::kernel::on_cube_core()) return AscendC::AIC;
        return canopy::kernel::on_vector_core() ? AscendC::AIV : AscendC::MIX;
    }
};
inline constexpr CanopyCoreKind g_coreType{};
#endif

using AscendC::GetBlockIdx;
using AscendC::GetBlockNum;

// Used as `if ASCEND_IS_AIC { ... }`: the macro supplies the parentheses.
#define ASCEND_IS_AIC (canopy::kernel::on_cube_core())
#define ASCEND_IS_AIV (canopy::kernel::on_vector_core())
#define ASCEND_IS_NOT_AIC (!canopy::kernel::on_cube_core())
#define ASCEND_IS_NOT_AIV (!canopy::kernel::on_vector_core())

#endif
