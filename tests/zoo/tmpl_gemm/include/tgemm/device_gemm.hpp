// SPDX-License-Identifier: Apache-2.0
#ifndef TGEMM_DEVICE_GEMM_HPP
#define TGEMM_DEVICE_GEMM_HPP
#include "acl/acl.h"
#include "tgemm/kernel.hpp"

namespace tgemm {

template <class Kernel>
TGEMM_GLOBAL void KernelAdapter(typename Kernel::Params params)
{
    Kernel kernel;
    kernel(params);
}

// What host code sees of a kernel.
template <class Kernel>
class DeviceGemm {
public:
    using Params = typename Kernel::Params;

    static bool CanImplement(GemmCoord const& problem) { return problem.m() > 0 && problem.n() > 0 && problem.k() > 0; }
    void Initialize(Params const& params) { params_ = params; }
    void operator()(aclrtStream stream, uint32_t blockDim) { KernelAdapter<Kernel><<<blockDim, nullptr, stream>>>(params_); }

private:
    Params params_;
};

}  // namespace tgemm
#endif
