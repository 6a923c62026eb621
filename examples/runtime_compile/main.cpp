// SPDX-License-Identifier: Apache-2.0
// Compiles a kernel template from text with aclrtc*, loads the image it gives and launches two instances of it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../device.h"
#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

static const char* const source = R"(
#include "kernel_operator.h"

template <typename T, int POWER>
__global__ __vector__ void powers(__gm__ T* x, __gm__ T* y, uint32_t count) {
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inQueue;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outQueue;
    const uint32_t part = count / AscendC::GetBlockNum();
    pipe.InitBuffer(inQueue, 1, part * sizeof(T));
    pipe.InitBuffer(outQueue, 1, part * sizeof(T));
    AscendC::GlobalTensor<T> xGlobal, yGlobal;
    xGlobal.SetGlobalBuffer(x + AscendC::GetBlockIdx() * part, part);
    yGlobal.SetGlobalBuffer(y + AscendC::GetBlockIdx() * part, part);

    AscendC::LocalTensor<T> in = inQueue.AllocTensor<T>();
    AscendC::DataCopy(in, xGlobal, part);
    inQueue.EnQue(in);
    in = inQueue.DeQue<T>();
    AscendC::LocalTensor<T> out = outQueue.AllocTensor<T>();
    AscendC::Mul(out, in, in, part);
    for (int i = 2; i < POWER; ++i) AscendC::Mul(out, out, in, part);
    outQueue.EnQue(out);
    inQueue.FreeTensor(in);
    out = outQueue.DeQue<T>();
    AscendC::DataCopy(yGlobal, out, part);
    outQueue.FreeTensor(out);
}
)";

static const uint32_t count = 4096;
static const uint32_t blocks = 4;

// Compiles the source; shows the compiler's output on failure.
static void Compile(aclrtcProg program) {
    const char* options[] = {"-O2"};
    if (aclrtcCompileProg(program, 1, options) == ACL_SUCCESS) return;
    size_t size = 0;
    CHECK(aclrtcGetCompileLogSize(program, &size));
    std::vector<char> log(size + 1);
    CHECK(aclrtcGetCompileLog(program, log.data()));
    std::fprintf(stderr, "the kernel does not compile:\n%s\n", log.data());
    std::exit(1);
}

// Launches one instance of the kernel and compares its result with x to the power of `power`.
static uint32_t Run(aclrtcProg program, aclrtBinHandle binary, const char* name, int power, aclrtStream stream) {
    const char* lowered = nullptr;
    CHECK(aclrtcGetLoweredName(program, name, &lowered));
    aclrtFuncHandle function = nullptr;
    CHECK(aclrtBinaryGetFunction(binary, lowered, &function));

    std::vector<float> x(count);
    for (uint32_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 16);
    float* xDevice = CopyToDevice(x);
    float* yDevice = NewOnDevice<float>(count);
    uint32_t length = count;
    void* arguments[] = {&xDevice, &yDevice, &length};
    CHECK(aclrtLaunchKernelWithArgsArray(function, blocks, stream, nullptr, arguments));
    CHECK(aclrtSynchronizeStream(stream));
    const std::vector<float> y = CopyToHost(yDevice, count);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; ++i) {
        float expected = 1.0f;
        for (int n = 0; n < power; ++n) expected *= x[i];
        wrong += y[i] == expected ? 0 : 1;
    }
    CHECK(aclrtFree(xDevice));
    CHECK(aclrtFree(yDevice));
    return wrong;
}

int main() {
    aclrtcProg program = nullptr;
    CHECK(aclrtcCreateProg(&program, source, "powers.asc", 0, nullptr, nullptr));
    CHECK(aclrtcAddNameExpr(program, "powers<float, 2>"));
    CHECK(aclrtcAddNameExpr(program, "powers<float, 3>"));
    Compile(program);
    size_t size = 0;
    CHECK(aclrtcGetBinDataSize(program, &size));
    std::vector<char> image(size);
    CHECK(aclrtcGetBinData(program, image.data()));

    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    aclrtBinHandle binary = nullptr;
    aclrtBinaryLoadOption option = {};
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    aclrtBinaryLoadOptions options = {&option, 1};
    CHECK(aclrtBinaryLoadFromData(image.data(), image.size(), &options, &binary));

    uint32_t wrong = Run(program, binary, "powers<float, 2>", 2, stream);
    wrong += Run(program, binary, "powers<float, 3>", 3, stream);
    std::printf("runtime_compile: an image of %zu bytes, %u elements, %u wrong\n", size, 2 * count, wrong);

    CHECK(aclrtcDestroyProg(&program));
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
