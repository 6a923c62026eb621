// SPDX-License-Identifier: Apache-2.0
#include <vector>
#include "tiling/tiling_api.h"
#include "tiling/platform/platform_ascendc.h"

std::vector<uint8_t> MakeTiling(const char *soc, int m, int n, int k)
{
    using namespace matmul_tiling;
    auto *platform = platform_ascendc::PlatformAscendCManager::GetInstance(soc);
    MatmulApiTiling api(*platform);
    api.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT, true);
    api.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetBias(false);
    api.SetShape(m, n, k);
    api.SetOrgShape(m, n, k);
    api.SetBufferSpace(-1, -1, -1);
    optiling::TCubeTiling tiling;
    std::vector<uint8_t> bytes;
    if (api.GetTiling(tiling) != -1) {
        bytes.resize(tiling.GetDataSize());
        tiling.SaveToBuffer(bytes.data(), bytes.size());
    }
    return bytes;
}
