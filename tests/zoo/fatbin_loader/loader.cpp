// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>
#include "acl/acl_rt.h"
#include "acl/acl.h"

#define CHECK(x)                                                                  \
    do {                                                                          \
        aclError e_ = (x);                                                        \
        if (e_ != ACL_SUCCESS) {                                                  \
            std::cerr << "[ERROR] " #x ": " << e_ << std::endl;                   \
            return 1;                                                             \
        }                                                                         \
    } while (0)

int main()
{
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream;
    CHECK(aclrtCreateStream(&stream));
    // once from the file, once from memory
    aclrtBinHandle fromFile, fromData;
    CHECK(aclrtBinaryLoadFromFile("./out/fatbin/vector_ops/vector_ops.o", nullptr, &fromFile));
    std::ifstream f("./out/fatbin/vector_ops/vector_ops.o", std::ios::binary);
    std::vector<char> data((std::istreambuf_iterator<char>(f)), {});
    aclrtBinaryLoadOption option;
    option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC;
    option.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    aclrtBinaryLoadOptions options{&option, 1};
    CHECK(aclrtBinaryLoadFromData(data.data(), data.size(), &options, &fromData));
    aclrtFuncHandle axpy, dot;
    CHECK(aclrtBinaryGetFunction(fromFile, "axpy", &axpy));
    CHECK(aclrtBinaryGetFunction(fromData, "dot", &dot));

    const uint32_t n = 4096;
    std::vector<float> x(n, 2.0f), y(n, 1.0f), out(8, 0.0f);
    void *dx, *dy, *dout;
    CHECK(aclrtMalloc(&dx, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&dy, n * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&dout, 32, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(dx, n * 4, x.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemcpy(dy, n * 4, y.data(), n * 4, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclrtMemset(dout, 32, 0, 32));
    struct {
        void *x, *y;
        float a;
        uint32_t n;
    } axpyArgs = {dx, dy, 3.0f, n};
    CHECK(aclrtLaunchKernelWithHostArgs(axpy, 4, stream, nullptr, &axpyArgs, sizeof(axpyArgs), nullptr, 0));
    void *array[] = {&dx, &dy, &dout, const_cast<uint32_t *>(&n)};
    CHECK(aclrtLaunchKernelWithArgsArray(dot, 8, stream, nullptr, array));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(out.data(), 32, dout, 32, ACL_MEMCPY_DEVICE_TO_HOST));
    // (1 + 3 * 2) * 2 for each element
    std::cout << "dot = " << out[0] << ", expected " << 14.0f * n << std::endl;
    CHECK(aclrtBinaryUnLoad(fromFile));
    CHECK(aclrtBinaryUnLoad(fromData));
    for (void *p : {dx, dy, dout}) CHECK(aclrtFree(p));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return out[0] == 14.0f * n ? 0 : 1;
}
