// SPDX-License-Identifier: Apache-2.0
// registers a device binary with the runtime and launches from it, as generated launchers do
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include "runtime/rt.h"

#define RT(x)                                                      \
    do {                                                           \
        rtError_t e = x;                                           \
        if (e != RT_ERROR_NONE) {                                  \
            std::fprintf(stderr, "line %d rt 0x%x\n", __LINE__, e); \
            return 1;                                              \
        }                                                          \
    } while (0)

int main(int argc, char **argv)
{
    std::ifstream f(argv[1], std::ios::binary);
    std::string code((std::istreambuf_iterator<char>(f)), {});
    RT(rtSetDevice(0));
    rtDevBinary_t binary;
    binary.magic = RT_DEV_BINARY_MAGIC_ELF_AIVEC;
    binary.version = 0;
    binary.data = code.data();
    binary.length = code.size();
    void *handle = nullptr;
    RT(rtDevBinaryRegister(&binary, &handle));
    static char stub;
    RT(rtFunctionRegister(handle, &stub, "scale_kernel", "scale_kernel", 0));

    rtStream_t stream;
    RT(rtStreamCreate(&stream, 0));
    const int32_t n = 4096;
    int32_t host[n];
    for (int32_t i = 0; i < n; ++i) host[i] = i - 100;
    void *in, *out;
    RT(rtMalloc(&in, sizeof(host), RT_MEMORY_HBM, 0));
    RT(rtMalloc(&out, sizeof(host), RT_MEMORY_HBM, 0));
    RT(rtMemcpy(in, sizeof(host), host, sizeof(host), RT_MEMCPY_HOST_TO_DEVICE));
    struct __attribute__((packed)) {
        void *in;
        void *out;
        int32_t factor;
        int32_t count;
    } args = {in, out, -3, n};
    RT(rtKernelLaunch(&stub, 8, &args, sizeof(args), nullptr, stream));
    RT(rtStreamSynchronize(stream));
    RT(rtMemcpy(host, sizeof(host), out, sizeof(host), RT_MEMCPY_DEVICE_TO_HOST));
    int bad = 0;
    for (int32_t i = 0; i < n; ++i) bad += host[i] != -3 * (i - 100);
    RT(rtFree(in));
    RT(rtFree(out));
    RT(rtStreamDestroy(stream));
    RT(rtDevBinaryUnRegister(handle));
    RT(rtDeviceReset(0));
    std::printf("rt launcher: %s\n", bad == 0 ? "pass" : "fail");
    return bad;
}
