// SPDX-License-Identifier: Apache-2.0
// The names of AscendC::Matmul, and the role of each core.
//
// On the chip, vector cores request products from the cube core of their group. Here the calling core computes the
// product itself, and the cube core of a mix kernel returns at REGIST_MATMUL_OBJ. Cube cores compute if the kernel runs
// on cube cores only, or if both kinds of cores run the program (enableMixDualMaster).
#ifndef CANOPY_KERNEL_MATMUL_H
#define CANOPY_KERNEL_MATMUL_H

#include "kernel_operator.h"

#include "canopy_kernel/cube/matmul_product.h"

namespace AscendC {

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto&, typename, typename, typename, typename, typename> class POLICY =
              Impl::Detail::MatmulPolicy>
using MatmulImpl = canopy::kernel::MatrixProduct<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, POLICY>;

template <class A_TYPE, class B_TYPE, class C_TYPE, class BIAS_TYPE = C_TYPE, const auto& MM_CFG = CFG_NORM,
          class MM_CB = MatmulCallBackFunc<nullptr, nullptr, nullptr>,
          template <const auto&, typename, typename, typename, typename, typename> class POLICY =
              Impl::Detail::MatmulPolicy>
using Matmul = MatmulImpl<A_TYPE, B_TYPE, C_TYPE, BIAS_TYPE, MM_CFG, MM_CB, POLICY>;

}  // namespace AscendC

namespace canopy::kernel {

// Takes objects with or without their tilings. True if this core leaves the products to others and must return.
inline bool begin_products() { return false; }
template <class Object, class... Rest>
inline bool begin_products(Object& object, const TCubeTiling* tiling, Rest&&... rest);
template <class Object, class... Rest>
inline bool begin_products(Object& object, Rest&&... rest) {
    const bool leaves = !object.decide_who_computes();
    return begin_products(rest...) || leaves;
}
template <class Object, class... Rest>
inline bool begin_products(Object& object, const TCubeTiling* tiling, Rest&&... rest) {
    const bool leaves = !object.decide_who_computes();
    if (!leaves && tiling != nullptr) object.Init(tiling);
    return begin_products(rest...) || leaves;
}
template <class Object, class... Rest>
inline bool begin_products(Object& object, TCubeTiling* tiling, Rest&&... rest) {
    return begin_products(object, static_cast<const TCubeTiling*>(tiling), rest...);
}
template <class Object, class... Rest>
inline bool begin_products(Object& object, decltype(nullptr), Rest&&... rest) {
    return begin_products(object, static_cast<const TCubeTiling*>(nullptr), rest...);
}
template <class Pipe, class Workspace, class... Arguments>
inline bool canopy_uses_matmul(Pipe*, Workspace, Arguments&&... arguments) {
    return begin_products(arguments...);
}

}  // namespace canopy::kernel

// Registers products with the pipe of this core: REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &tiling, ...).
// Returns from the calling function on cores that leave the products to other cores of their group.
#define REGIST_MATMUL_OBJ(pipe, workspace, ...) \
    if (::canopy::kernel::canopy_uses_matmul(pipe, workspace, __VA_ARGS__)) return
#define REGIST_MATMUL_OBJ_STATIC REGIST_MATMUL_OBJ
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ

// Older name of the namespace.
namespace matmul {
using AscendC::Matmul;
using AscendC::MatmulCallBackFunc;
using AscendC::MatmulImpl;
using AscendC::MatmulType;
using AscendC::SparseMatmulType;
}  // namespace matmul

#endif
