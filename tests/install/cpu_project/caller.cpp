// SPDX-License-Identifier: Apache-2.0
// Calls a kernel that a header in another folder declares. It is compiled by the project's compiler.
#include "tikicpulib.h"

#include "kernels.h"

int main() {
#ifdef __CANOPY_CC__
    std::printf("canopy-cc ");
#endif
    std::unique_ptr<void, void (*)(void*)> memory(AscendC::GmAlloc(sizeof(int32_t)), AscendC::GmFree);
    ICPU_SET_TILING_KEY(2);
    ICPU_RUN_KF(key_custom, 4, (GM_ADDR)memory.get());
    std::printf("%d\n", *(int32_t*)memory.get());
    return 0;
}
