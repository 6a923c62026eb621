// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>
#include "acl/acl.h"

void matmul_custom_do(uint32_t blockDim, void *stream, void *a, void *b, void *bias, void *c, void *workspace, void *tiling);

#define CHECK(x)                                                                                       \
    if (int r = (x)) {                                                                                 \
        std::cerr << __LINE__ << ": " #x " = " << r << " " << aclGetRecentErrMsg() << std::endl;       \
        return r;                                                                                      \
    }

int main(int argc, char **argv)
{
    uint32_t cores = std::stoi(argv[1]);
    size_t cSize = std::stoul(argv[2]) * sizeof(float);
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream;
    CHECK(aclrtCreateStream(&stream));
    std::map<std::string, void *> dev;
    for (std::string name : {"a", "b", "bias", "tiling"}) {
        std::ifstream f("input/" + name + ".bin", std::ios::binary);
        std::string data((std::istreambuf_iterator<char>(f)), {});
        CHECK(data.empty());
        CHECK(aclrtMalloc(&dev[name], data.size(), ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK(aclrtMemcpy(dev[name], data.size(), data.data(), data.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    size_t workspaceSize = 16 * 1024 * 1024;
    CHECK(aclrtMalloc(&dev["workspace"], workspaceSize, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&dev["c"], cSize, ACL_MEM_MALLOC_HUGE_FIRST));
    matmul_custom_do(cores, stream, dev["a"], dev["b"], dev["bias"], dev["c"], dev["workspace"], dev["tiling"]);
    CHECK(aclrtSynchronizeStream(stream));
    std::vector<char> c(cSize);
    CHECK(aclrtMemcpy(c.data(), cSize, dev["c"], cSize, ACL_MEMCPY_DEVICE_TO_HOST));
    std::ofstream("output/c.bin", std::ios::binary).write(c.data(), cSize);
    for (auto &d : dev) aclrtFree(d.second);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
