// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include "tiling/tiling_api.h"
#include "tiling/platform/platform_ascendc.h"
using namespace matmul_tiling;
using namespace std;

// fills buf, returns bytes used (0 = failed)
size_t GenerateTiling(const char *socVersion, uint8_t *buf, size_t cap, int M, int N, int K, int dim)
{
    optiling::TCubeTiling data;
    auto plat = platform_ascendc::PlatformAscendCManager::GetInstance(socVersion);
    MultiCoreMatmulTiling api(*plat);
    api.SetDim(dim);
    api.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16, false);
    api.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16, false);
    api.SetCType(TPosition::VECIN, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    api.SetOrgShape(M, N, K);
    api.SetShape(M, N, K);
    api.SetBias(true);
    api.SetSingleShape(M / 2, N / 2, K);   // one quarter for each vector core
    api.SetTraverse(MatrixTraverse::FIRSTM);
    api.SetFixSplit(16, 32, -1);
    api.SetBufferSpace(-1, -1, -1);
    if (api.GetTiling(data) == -1) {
        cerr << "no tiling" << endl;
        return 0;
    }
    size_t size = data.GetDataSize();
    if (size > cap) return 0;
    data.SaveToBuffer(buf, size);
    return size;
}
