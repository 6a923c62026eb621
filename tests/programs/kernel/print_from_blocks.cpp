// SPDX-License-Identifier: Apache-2.0
// A core limit used as the number of blocks, each of which prints one line.
#include "check.h"

int main() {
    programs::Device device;
    CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, 8));
    std::uint32_t blocks = 0;
    CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &blocks));
    aclrtStream stream = programs::new_stream();
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("say_hello", blocks, stream));
        CHECK(aclrtSynchronizeStream(stream));
    }
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("print_from_blocks: %u blocks\n", blocks);
}
