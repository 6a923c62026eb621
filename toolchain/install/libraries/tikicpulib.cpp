// SPDX-License-Identifier: Apache-2.0
// The functions behind tikicpulib.h, over the public interface of the runtime. A host program calls them; a failure is
// printed and ends it, because the programs of this form look at no codes.
#include <acl/acl.h>
#include <canopy/launch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

[[noreturn]] void give_up(const char* what, std::string_view text) {
    while (text.ends_with('\n')) text.remove_suffix(1);
    std::fprintf(stderr, "%s: %.*s\n", what, static_cast<int>(text.size()), text.data());
    std::exit(EXIT_FAILURE);
}

void check(aclError code, const char* what) {
    if (code == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    give_up(what, text && *text ? text : "error " + std::to_string(code));
}

// The runtime as the program left it: a thread without a device gets the first one.
void need_device(const char* what) {
    int32_t device = 0;
    if (aclrtGetDevice(&device) == ACL_SUCCESS) return;
    aclGetRecentErrMsg();
    const aclError code = aclInit(nullptr);
    if (code != ACL_ERROR_REPEAT_INITIALIZE) check(code, what);
    check(aclrtSetDevice(0), what);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Read by kernels, whose images find it by its name (canopy_kernel/core/tiling.h). A launch of this form is over before
// the next one, so one for all is enough.
uint64_t canopy_cpu_tiling_key = 0;

void canopyCpuSetTilingKey(uint64_t key) { canopy_cpu_tiling_key = key; }

void* canopyCpuAllocate(size_t size) {
    need_device("GmAlloc");
    void* memory = nullptr;
    check(aclrtMalloc(&memory, std::max<size_t>(size, 1), ACL_MEM_MALLOC_HUGE_FIRST), "GmAlloc");
    check(aclrtMemset(memory, size, 0, size), "GmAlloc");
    return memory;
}

void canopyCpuFree(void* memory) {
    if (!memory) return;
    need_device("GmFree");
    check(aclrtFree(memory), "GmFree");
}

void canopyCpuBegin(CanopyPendingLaunch* launch, int64_t blocks) {
    need_device("ICPU_RUN_KF");
    launch->configuration.grid[0] = static_cast<uint32_t>(std::clamp<int64_t>(blocks, 0, UINT32_MAX));
    launch->configuration.grid[1] = launch->configuration.grid[2] = 1;
    CanopyPendingLaunch** head = canopyPendingLaunch();
    launch->previous = *head;
    *head = launch;
}

void canopyCpuEnd(CanopyPendingLaunch* launch, const char* kernel) {
    if (*canopyPendingLaunch() == launch) {
        *canopyPendingLaunch() = launch->previous;
        give_up(kernel, "this is not a kernel, or canopy-cc did not compile it");
    }
    check(launch->result, kernel);
    check(aclrtSynchronizeStream(nullptr), kernel);
}

}  // extern "C"
#pragma GCC visibility pop
