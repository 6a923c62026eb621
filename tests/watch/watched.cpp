// SPDX-License-Identifier: Apache-2.0
// A program whose figures are known: 64 MiB of memory; on the first stream a kernel that runs until it is told to end,
// and the record of an event; on the second stream a wait for that event and five kernels behind it.
//
//   watched        prints "ready", ends the kernel at the first line of its input, prints "done", ends at the second
#include <acl/acl.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

void expect(aclError code, const char* call) {
    if (code == ACL_SUCCESS) return;
    std::fprintf(stderr, "%s: %d\n", call, code);
    std::exit(1);
}
#define EXPECT(call) expect(call, #call)

void wait_for_line() {
    for (int letter = std::getchar(); letter != '\n' && letter != EOF;) letter = std::getchar();
}

}  // namespace

int main() {
    constexpr std::size_t size = std::size_t{64} << 20;
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle spins = nullptr, nothing = nullptr;
    aclrtStream first = nullptr, second = nullptr;
    aclrtEvent event = nullptr;
    void* memory = nullptr;
    EXPECT(aclInit(nullptr));
    EXPECT(aclrtSetDevice(0));
    EXPECT(aclrtBinaryLoadFromFile(CANOPY_TEST_KERNELS, nullptr, &binary));
    EXPECT(aclrtBinaryGetFunction(binary, "wait_for_word", &spins));
    EXPECT(aclrtBinaryGetFunction(binary, "nothing", &nothing));
    EXPECT(aclrtCreateStream(&first));
    EXPECT(aclrtCreateStream(&second));
    EXPECT(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    EXPECT(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT(aclrtMemset(memory, 8, 0, 8));
    void* arguments[] = {memory, static_cast<char*>(memory) + 4};
    EXPECT(aclrtLaunchKernelWithHostArgs(spins, 1, first, nullptr, arguments, sizeof arguments, nullptr, 0));
    EXPECT(aclrtRecordEvent(event, first));
    EXPECT(aclrtStreamWaitEvent(second, event));
    for (int launch = 0; launch < 5; ++launch)
        EXPECT(aclrtLaunchKernelWithHostArgs(nothing, 1, second, nullptr, arguments, sizeof arguments, nullptr, 0));
    std::puts("ready");
    std::fflush(stdout);
    wait_for_line();
    const std::uint32_t one = 1;
    EXPECT(aclrtMemcpy(memory, 4, &one, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    EXPECT(aclrtSynchronizeStream(second));
    std::puts("done");
    std::fflush(stdout);
    wait_for_line();
    EXPECT(aclFinalize());
    return 0;
}
