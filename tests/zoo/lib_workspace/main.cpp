// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <vector>
#include "acl/acl.h"
#include "aclrtlaunch_row_sums.h"
#include "op_kernel/row_sums_tiling.h"

class Device {
public:
    explicit Device(int id) : id_(id)
    {
        Check(aclInit(nullptr), "aclInit");
        Check(aclrtSetDevice(id_), "aclrtSetDevice");
        Check(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_FAST_LAUNCH), "aclrtCreateStreamWithConfig");
    }
    ~Device()
    {
        for (void *p : memory_) aclrtFree(p);
        aclrtDestroyStream(stream);
        aclrtResetDevice(id_);
        aclFinalize();
    }
    template <typename T>
    T *Alloc(size_t n, const T *from = nullptr)
    {
        void *p = nullptr;
        Check(aclrtMalloc(&p, n * sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        memory_.push_back(p);
        if (from) Check(aclrtMemcpy(p, n * sizeof(T), from, n * sizeof(T), ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
        return static_cast<T *>(p);
    }
    void Check(int code, const char *what)
    {
        if (code != 0) {
            std::cerr << what << " failed, code " << code << std::endl;
            std::exit(1);
        }
    }
    aclrtStream stream = nullptr;

private:
    int id_;
    std::vector<void *> memory_;
};

int main()
{
    Device device(0);
    const RowSumsTiling tiling{333, 128};
    std::vector<float> x(tiling.rows * tiling.cols), y(tiling.cols), golden(tiling.cols, 0);
    for (size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(i % 19) - 9;
        golden[i % tiling.cols] += x[i];
    }
    const uint32_t cores = 8;
    float *dx = device.Alloc(x.size(), x.data());
    float *dy = device.Alloc<float>(y.size());
    RowSumsTiling *dt = device.Alloc(1, &tiling);
    // 16 MB belong to the system, the rest is the kernel's
    uint8_t *workspace = device.Alloc<uint8_t>(16 * 1024 * 1024 + cores * tiling.cols * sizeof(float));
    device.Check(ACLRT_LAUNCH_KERNEL(row_sums)(cores, device.stream, dx, dy, workspace, dt), "row_sums");
    device.Check(aclrtSynchronizeStream(device.stream), "sync");
    device.Check(aclrtMemcpy(y.data(), y.size() * 4, dy, y.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST), "copy back");
    // what core 1 left in the workspace, behind the system's part
    std::vector<float> partial(tiling.cols), expected(tiling.cols, 0);
    device.Check(aclrtMemcpy(partial.data(), partial.size() * 4, workspace + 16 * 1024 * 1024 + tiling.cols * 4,
                             partial.size() * 4, ACL_MEMCPY_DEVICE_TO_HOST), "copy workspace");
    for (uint32_t r = 1; r < tiling.rows; r += cores)
        for (uint32_t c = 0; c < tiling.cols; ++c) expected[c] += x[r * tiling.cols + c];
    if (y != golden || partial != expected) {
        std::cout << "[FAILED] row_sums" << std::endl;
        return 1;
    }
    std::cout << "[PASSED] row_sums, " << tiling.rows << " rows on " << cores << " cores" << std::endl;
    return 0;
}
