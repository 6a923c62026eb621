// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <fstream>
#include <iostream>
#include "acl/acl.h"
#include "aclrtlaunch_mmad_custom.h"

static bool ok = true;
#define TRY(x) do { if ((x) != ACL_SUCCESS) { ok = false; std::cout << "[ERROR] " #x << std::endl; } } while (0)

struct Matrix {
    Matrix(size_t bytes) : size(bytes)
    {
        TRY(aclrtMallocHost(&host, size));
        TRY(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_ONLY));
    }
    ~Matrix()
    {
        TRY(aclrtFree(device));
        TRY(aclrtFreeHost(host));
    }
    void Read(const char *name)
    {
        std::ifstream(name, std::ios::binary).read((char *)host, size);
        TRY(aclrtMemcpy(device, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE));
    }
    void Write(const char *name)
    {
        TRY(aclrtMemcpy(host, size, device, size, ACL_MEMCPY_DEVICE_TO_HOST));
        std::ofstream(name, std::ios::binary).write((char *)host, size);
    }
    size_t size;
    void *host = nullptr, *device = nullptr;
};

int main()
{
    TRY(aclInit(nullptr));
    TRY(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    TRY(aclrtCreateStream(&stream));
    {
        Matrix a(32 * 48 * 2), b(48 * 64 * 2), c(32 * 64 * 4);
        a.Read("a.bin");
        b.Read("b.bin");
        memset(c.host, 0, c.size);
        ACLRT_LAUNCH_KERNEL(mmad_custom)(1, stream, a.device, b.device, c.device);
        TRY(aclrtSynchronizeStream(stream));
        c.Write("c.bin");
    }
    TRY(aclrtDestroyStream(stream));
    TRY(aclrtResetDeviceForce(0));
    TRY(aclFinalize());
    return ok ? 0 : 1;
}
