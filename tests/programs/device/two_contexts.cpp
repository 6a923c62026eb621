// SPDX-License-Identifier: Apache-2.0
// A thread switches between two contexts it created; each has its default stream and its own streams.
#include "check.h"

int main() {
    programs::Device device;
    aclrtContext first = nullptr, second = nullptr, current = nullptr;
    CHECK(aclrtCreateContext(&first, 0));
    aclrtStream of_first = programs::new_stream(), first_default = nullptr;
    CHECK(aclrtCtxGetCurrentDefaultStream(&first_default));
    CHECK(aclrtCreateContext(&second, 0));
    CHECK(aclrtGetCurrentContext(&current));
    REQUIRE(current == second);
    aclrtStream second_default = nullptr;
    CHECK(aclrtCtxGetCurrentDefaultStream(&second_default));
    REQUIRE(first_default != nullptr && second_default != nullptr && first_default != second_default);
    std::uint32_t cores = 0;
    CHECK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    REQUIRE(cores > 0);

    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("add_one", 1, nullptr, word));
        CHECK(aclrtSynchronizeStream(nullptr));
        CHECK_CODE(ACL_ERROR_RT_STREAM_CONTEXT, kernels.launch("add_one", 1, of_first, word));
        CHECK(aclrtSetCurrentContext(first));
        CHECK(kernels.launch("add_one", 1, of_first, word));
        CHECK(aclrtSynchronizeStream(of_first));
        CHECK(kernels.launch("add_one", 1, nullptr, word));
        CHECK(aclrtSynchronizeDevice());
        REQUIRE(programs::to_host(word, 1)[0] == 3);
        CHECK(aclrtSetCurrentContext(second));
    }
    CHECK(aclrtFree(word));
    CHECK(aclrtSetCurrentContext(first));
    CHECK(aclrtDestroyStream(of_first));
    CHECK(aclrtDestroyContext(second));
    CHECK(aclrtDestroyContext(first));
    std::printf("two_contexts: 3 kernels, %u cores\n", cores);
}
