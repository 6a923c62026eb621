// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>
#include "worker.h"

#define FRAMES 24
#define EXIT_IF(x) do { aclError r = (x); if (r != ACL_SUCCESS) { printf("[ERROR] %s %d\n", #x, r); return 1; } } while (0)

int main()
{
    EXIT_IF(aclInit("../src/acl.json"));
    EXIT_IF(aclrtSetDevice(0));
    aclrtContext context;
    EXIT_IF(aclrtGetCurrentContext(&context));
    aclrtStream streams[2];
    EXIT_IF(aclrtCreateStream(&streams[0]));
    EXIT_IF(aclrtCreateStream(&streams[1]));
    CallbackThread thread(context);
    Collector collectors[2];
    thread.Serve(streams[0]);
    thread.Serve(streams[1]);

    std::vector<Frame> frames[2];
    for (int s = 0; s < 2; ++s) {
        frames[s].resize(FRAMES);
        for (int i = 0; i < FRAMES; ++i) {
            Frame &f = frames[s][i];
            f.number = i;
            f.host = 0;
            f.owner = &collectors[s];
            int value = i * 3;
            EXIT_IF(aclrtMalloc((void **)&f.device, sizeof(int), ACL_MEM_MALLOC_NORMAL_ONLY));
            EXIT_IF(aclrtMemcpy(f.device, sizeof(int), &value, sizeof(int), ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }
    for (int i = 0; i < FRAMES; ++i) {
        for (int s = 0; s < 2; ++s) {
            Frame &f = frames[s][i];
            EXIT_IF(aclrtMemcpyAsync(&f.host, sizeof(int), f.device, sizeof(int), ACL_MEMCPY_DEVICE_TO_HOST, streams[s]));
            EXIT_IF(aclrtLaunchCallback(Collector::OnFrame, &f, ACL_CALLBACK_BLOCK, streams[s]));
        }
    }
    EXIT_IF(aclrtSynchronizeStream(streams[0]));
    EXIT_IF(aclrtSynchronizeStream(streams[1]));
    size_t count = collectors[0].Count() + collectors[1].Count();
    bool ordered = collectors[0].InOrder() && collectors[1].InOrder();
    thread.CloseStream(streams[0]);
    thread.CloseStream(streams[1]);
    thread.Stop();
    for (auto &list : frames) {
        for (auto &f : list) {
            EXIT_IF(aclrtFree(f.device));
        }
    }
    EXIT_IF(aclrtDestroyStream(streams[0]));
    EXIT_IF(aclrtDestroyStream(streams[1]));
    EXIT_IF(aclrtResetDevice(0));
    EXIT_IF(aclFinalize());
    printf("%zu callbacks, %s\n", count, ordered ? "in order" : "NOT in order");
    return count == 2 * FRAMES && ordered ? 0 : 1;
}
