// SPDX-License-Identifier: Apache-2.0
// The host side: computes the tiling, provides the workspace and launches the kernel by its generated header.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../device.h"
#include "acl/acl.h"
#include "aclrtlaunch_normalise.h"
#include "normalise_tiling.h"

int main() {
    const uint32_t blocks = 8;
    NormaliseTiling tiling;
    tiling.count = 1 << 18;
    tiling.part = tiling.count / blocks;
    tiling.tile = 4096;
    // The system's part of the workspace precedes the kernel's.
    const size_t systemWorkspace = 16 * 1024 * 1024;
    const size_t ownWorkspace = blocks * SLOT * sizeof(float);

    std::vector<float> x(tiling.count);
    double sum = 0;
    for (uint32_t i = 0; i < tiling.count; ++i) {
        x[i] = static_cast<float>(i % 97) + 1.0f;
        sum += x[i];
    }

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    float* xDevice = CopyToDevice(x);
    float* yDevice = NewOnDevice<float>(tiling.count);
    uint8_t* workspace = NewOnDevice<uint8_t>(systemWorkspace + ownWorkspace);
    NormaliseTiling* tilingDevice = CopyToDevice(std::vector<NormaliseTiling>{tiling});

    const uint32_t code = ACLRT_LAUNCH_KERNEL(normalise)(blocks, stream, xDevice, yDevice, workspace, tilingDevice);
    if (code != 0) std::fprintf(stderr, "the launch failed with %u\n", code);
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> y = CopyToHost(yDevice, tiling.count);

    uint32_t wrong = 0;
    for (uint32_t i = 0; i < tiling.count; ++i)
        if (!(std::fabs(y[i] - x[i] / sum) <= 1e-5 * x[i] / sum)) ++wrong;
    std::printf("tiling_workspace: %u elements, %u wrong\n", tiling.count, wrong);

    CHECK(aclrtFree(xDevice));
    CHECK(aclrtFree(yDevice));
    CHECK(aclrtFree(workspace));
    CHECK(aclrtFree(tilingDevice));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 && code == 0 ? 0 : 1;
}
