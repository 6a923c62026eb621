// SPDX-License-Identifier: Apache-2.0
// usage: gen_tiling M N K cores soc file
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include "register/tilingdata_base.h"
#include "tiling/tiling_api.h"
#include "tiling/platform/platform_ascendc.h"

using namespace matmul_tiling;

int main(int argc, char *argv[])
{
    if (argc != 7) {
        std::cerr << "wrong arguments" << std::endl;
        return 1;
    }
    int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]), cores = atoi(argv[4]);
    optiling::TCubeTiling tilingData;
    auto platform = platform_ascendc::PlatformAscendCManager::GetInstance(argv[5]);
    MultiCoreMatmulTiling tilingApi(*platform);
    tilingApi.SetDim(cores);
    tilingApi.SetAType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16, false);
    tilingApi.SetBType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT16, false);
    tilingApi.SetCType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tilingApi.SetBiasType(TPosition::GM, CubeFormat::ND, DataType::DT_FLOAT);
    tilingApi.SetShape(m, n, k);
    tilingApi.SetOrgShape(m, n, k);
    tilingApi.SetBias(true);
    tilingApi.SetBufferSpace(-1, -1, -1);
    if (tilingApi.GetTiling(tilingData) == -1) {
        std::cout << "gen tiling failed" << std::endl;
        return 1;
    }
    uint32_t size = tilingData.GetDataSize();
    char *buf = (char *)malloc(size);
    tilingData.SaveToBuffer(buf, size);
    std::ofstream(argv[6], std::ios::binary).write(buf, size);
    free(buf);
    std::cout << "tiling: usedCoreNum " << tilingData.get_usedCoreNum() << " singleCoreM " << tilingData.get_singleCoreM()
              << " singleCoreN " << tilingData.get_singleCoreN() << " baseK " << tilingData.get_baseK() << std::endl;
    return 0;
}
