// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>
#include "acl/acl.h"
#include "add_tiling.h"

extern void axpy_add_do(uint32_t blockDim, void* l2ctrl, void* stream, uint8_t* x, uint8_t* y, uint8_t* z,
                        uint8_t* workspace, uint8_t* tiling);

#define LOG(level, ...) do { printf("[" level "] "); printf(__VA_ARGS__); printf("\n"); } while (0)
#define ACLRT(call) do { auto rc = call; if (rc != 0) { LOG("ERROR", #call " rc=%d %s", rc, aclGetRecentErrMsg()); exit(1); } } while (0)

static std::vector<float> Load(const char* name, size_t n)
{
    std::vector<float> v(n);
    FILE* f = fopen(name, "rb");
    if (!f || fread(v.data(), sizeof(float), n, f) != n) { LOG("ERROR", "read %s", name); exit(1); }
    fclose(f);
    return v;
}

struct DeviceDeleter { void operator()(void* p) const { aclrtFree(p); } };
using DevicePtr = std::unique_ptr<void, DeviceDeleter>;

static DevicePtr ToDevice(const void* host, size_t size)
{
    void* p = nullptr;
    ACLRT(aclrtMalloc(&p, size, ACL_MEM_MALLOC_NORMAL_ONLY));
    if (host) ACLRT(aclrtMemcpy(p, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    return DevicePtr(p);
}

int main()
{
    const uint32_t blockDim = 5, tileLength = 512, tiles = 23;
    const size_t total = tileLength * tiles, size = total * sizeof(float);
    AddTilingData tiling;
    tiling.totalLength = total;
    tiling.tileNum = tiles / blockDim;
    tiling.formerNum = tiles % blockDim;
    tiling.tileLength = tileLength;
    tiling.alpha = 0.5f;

    ACLRT(aclInit(NULL));
    ACLRT(aclrtSetDevice(0));
    aclrtContext context;
    ACLRT(aclrtCreateContext(&context, 0));
    aclrtStream stream;
    ACLRT(aclrtCreateStream(&stream));
    {
        auto x = Load("input/input_x.bin", total), y = Load("input/input_y.bin", total);
        std::vector<float> z(total);
        auto dx = ToDevice(x.data(), size), dy = ToDevice(y.data(), size), dz = ToDevice(nullptr, size);
        auto dt = ToDevice(&tiling, sizeof(tiling));
        axpy_add_do(blockDim, nullptr, stream, (uint8_t*)dx.get(), (uint8_t*)dy.get(), (uint8_t*)dz.get(), nullptr,
                    (uint8_t*)dt.get());
        ACLRT(aclrtSynchronizeStream(stream));
        ACLRT(aclrtMemcpy(z.data(), size, dz.get(), size, ACL_MEMCPY_DEVICE_TO_HOST));
        FILE* f = fopen("output/output_z.bin", "wb");
        fwrite(z.data(), 1, size, f);
        fclose(f);
    }
    ACLRT(aclrtDestroyStream(stream));
    ACLRT(aclrtDestroyContext(context));
    ACLRT(aclrtResetDevice(0));
    ACLRT(aclFinalize());
    LOG("INFO", "done");
    return 0;
}
