// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>
#include "acl/acl.h"
#include "normalize.h"

static void Check(aclError e) { if (e != ACL_SUCCESS) throw std::runtime_error("acl error " + std::to_string(e)); }

int main()
{
    constexpr uint32_t rows = 30, cols = 512;
    std::mt19937 random(42);
    std::uniform_real_distribution<float> uniform(-3, 5);
    std::vector<float> x(rows * cols), y(rows * cols);
    for (auto& v : x) v = uniform(random);

    Check(aclInit(nullptr));
    Check(aclrtSetDevice(0));
    aclrtStream stream;
    Check(aclrtCreateStream(&stream));
    float *dx, *dm;
    Check(aclrtMalloc((void**)&dx, x.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    Check(aclrtMalloc((void**)&dm, rows * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    Check(aclrtMemcpyAsync(dx, x.size() * 4, x.data(), x.size() * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    norm::LaunchMean(stream, dx, dm, rows, cols);
    norm::LaunchCenter(stream, dx, dm, rows, cols);
    norm::LaunchScale(stream, dx, rows * cols, 2.0f);
    Check(aclrtMemcpyAsync(y.data(), y.size() * 4, dx, y.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    Check(aclrtSynchronizeStream(stream));
    double worst = 0;
    for (uint32_t r = 0; r < rows; ++r) {
        double mean = 0;
        for (uint32_t c = 0; c < cols; ++c) mean += x[r * cols + c] / double(cols);
        for (uint32_t c = 0; c < cols; ++c) worst = std::max(worst, std::abs((x[r * cols + c] - mean) * 2 - y[r * cols + c]));
    }
    report("normalize", worst, worst < 1e-4);
    Check(aclrtFree(dx));
    Check(aclrtFree(dm));
    Check(aclrtDestroyStream(stream));
    Check(aclrtResetDevice(0));
    Check(aclFinalize());
    return worst < 1e-4 ? 0 : 1;
}
