// SPDX-License-Identifier: Apache-2.0
// out = max(s0 * x + b0, s1 * x + b1). Captured once over two streams; for each request the scalars of both branches are
// replaced through their task groups, then the graph is replayed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "request.h"
#include "aclrtlaunch_affine.h"
#include "aclrtlaunch_merge_max.h"

#define CHECK_ACL(x)                                                                  \
    do {                                                                              \
        aclError __ret = x;                                                           \
        if (__ret != ACL_ERROR_NONE) {                                                \
            fprintf(stderr, "%s:%d aclError:%d\n", __FILE__, __LINE__, __ret);        \
            exit(1);                                                                  \
        }                                                                             \
    } while (0)

constexpr uint32_t LENGTH = 16 * 1024;
constexpr size_t BYTES = LENGTH * sizeof(float);

struct Server {
    aclrtStream main, side, update;
    aclrtEvent fork, join;
    void *x, *left, *right, *out;
    float *hostX, *hostOut;
    aclmdlRI graph = nullptr;
    aclrtTaskGrp groups[2];

    Server()
    {
        for (aclrtStream* s : {&main, &side, &update}) CHECK_ACL(aclrtCreateStream(s));
        CHECK_ACL(aclrtCreateEventExWithFlag(&fork, ACL_EVENT_SYNC));
        CHECK_ACL(aclrtCreateEventExWithFlag(&join, ACL_EVENT_SYNC));
        for (void** p : {&x, &left, &right, &out}) CHECK_ACL(aclrtMalloc(p, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        CHECK_ACL(aclrtMallocHost((void**)&hostX, BYTES));
        CHECK_ACL(aclrtMallocHost((void**)&hostOut, BYTES));
        Capture();
    }
    ~Server()
    {
        CHECK_ACL(aclmdlRIDestroy(graph));
        for (void* p : {x, left, right, out}) CHECK_ACL(aclrtFree(p));
        CHECK_ACL(aclrtFreeHost(hostX));
        CHECK_ACL(aclrtFreeHost(hostOut));
        CHECK_ACL(aclrtDestroyEvent(fork));
        CHECK_ACL(aclrtDestroyEvent(join));
        for (aclrtStream s : {main, side, update}) CHECK_ACL(aclrtDestroyStream(s));
    }

    void Branch(aclrtStream stream, void* to, AffineParam param)
    {
        CHECK_ACL(ACLRT_LAUNCH_KERNEL(affine)(4, stream, x, to, &param));
    }
    void Capture()
    {
        AffineParam identity{1.0f, 0.0f, LENGTH};
        CHECK_ACL(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
        CHECK_ACL(aclrtMemcpyAsync(x, BYTES, hostX, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, main));
        CHECK_ACL(aclrtRecordEvent(fork, main));
        CHECK_ACL(aclrtStreamWaitEvent(side, fork));
        CHECK_ACL(aclmdlRICaptureTaskGrpBegin(main));
        Branch(main, left, identity);
        CHECK_ACL(aclmdlRICaptureTaskGrpEnd(main, &groups[0]));
        CHECK_ACL(aclmdlRICaptureTaskGrpBegin(side));
        Branch(side, right, identity);
        CHECK_ACL(aclmdlRICaptureTaskGrpEnd(side, &groups[1]));
        CHECK_ACL(aclrtRecordEvent(join, side));
        CHECK_ACL(aclrtStreamWaitEvent(main, join));
        CHECK_ACL(ACLRT_LAUNCH_KERNEL(merge_max)(4, main, left, right, out, LENGTH));
        CHECK_ACL(aclrtMemcpyAsync(hostOut, BYTES, out, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, main));
        CHECK_ACL(aclmdlRICaptureEnd(main, &graph));
    }
    void Handle(const AffineParam (&params)[2])
    {
        void* to[] = {left, right};
        for (int i = 0; i < 2; i++) {
            CHECK_ACL(aclmdlRICaptureTaskUpdateBegin(update, groups[i]));
            Branch(update, to[i], params[i]);
            CHECK_ACL(aclmdlRICaptureTaskUpdateEnd(update));
        }
        CHECK_ACL(aclrtSynchronizeStream(update));
        CHECK_ACL(aclmdlRIExecuteAsync(graph, main));
        CHECK_ACL(aclrtSynchronizeStreamWithTimeout(main, 60000));
    }
};

int main()
{
    CHECK_ACL(aclInit(nullptr));
    CHECK_ACL(aclrtSetDevice(0));
    int errors = 0;
    {
        Server server;
        for (int request = 0; request < 8; request++) {
            AffineParam params[2] = {{1.0f + request, 2.0f, LENGTH}, {-0.5f * request, 1.0f * request, LENGTH}};
            for (uint32_t i = 0; i < LENGTH; i++) server.hostX[i] = (float)((i * 31 + request) % 256) - 128;
            server.Handle(params);
            int wrong = 0;
            for (uint32_t i = 0; i < LENGTH; i++) {
                float a = params[0].scale * server.hostX[i] + params[0].bias;
                float b = params[1].scale * server.hostX[i] + params[1].bias;
                wrong += server.hostOut[i] != std::max(a, b);
            }
            if (wrong) printf("request %d: %d wrong\n", request, wrong);
            errors += wrong;
        }
    }
    CHECK_ACL(aclrtResetDevice(0));
    CHECK_ACL(aclFinalize());
    printf("%s\n", errors ? "[FAILED]" : "[SUCCESS] 8 requests, graph captured once");
    return errors ? 1 : 0;
}
