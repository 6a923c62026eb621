// SPDX-License-Identifier: Apache-2.0
// Two streams: the first copies and records an event, the second waits for it and fills memory. Returns 0 if it worked.
// With the argument "kill", the work is done and the process ends by SIGKILL.
#include <signal.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"

int main(int argc, char** argv) {
    constexpr std::size_t size = std::size_t{1} << 20;
    std::vector<char> host(size, 1);
    void* memory = nullptr;
    aclrtStream first = nullptr, second = nullptr;
    aclrtEvent event = nullptr;
    bool ok = aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 && aclrtCreateStream(&first) == 0 &&
              aclrtCreateStream(&second) == 0 && aclrtCreateEvent(&event) == 0 &&
              aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST) == 0;
    for (int i = 0; i < 5; ++i) {
        ok = ok && aclrtMemcpyAsync(memory, size, host.data(), size, ACL_MEMCPY_HOST_TO_DEVICE, first) == 0;
        ok = ok && aclrtRecordEvent(event, first) == 0 && aclrtStreamWaitEvent(second, event) == 0;
        ok = ok && aclrtMemsetAsync(memory, size, 2, size, second) == 0 && aclrtSynchronizeStream(second) == 0;
    }
    if (ok && argc > 1 && std::strcmp(argv[1], "kill") == 0) raise(SIGKILL);
    ok = ok && aclrtFree(memory) == 0 && aclrtDestroyEvent(event) == 0 && aclrtDestroyStream(first) == 0 &&
         aclrtDestroyStream(second) == 0 && aclrtResetDevice(0) == 0 && aclFinalize() == 0;
    return ok ? 0 : 1;
}
