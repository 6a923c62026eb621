// SPDX-License-Identifier: Apache-2.0
// A failing call, the code and the message that report it, and that reading clears both.
#include "check.h"

int main() {
    programs::Device device;
    const aclError code = aclrtGetRunMode(nullptr);
    REQUIRE(code != ACL_SUCCESS);
    REQUIRE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == code);
    REQUIRE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == code);
    std::thread([] {
        REQUIRE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
        REQUIRE(aclGetRecentErrMsg() == nullptr);
    }).join();
    REQUIRE(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == code);
    const char* text = aclGetRecentErrMsg();
    REQUIRE(text != nullptr && std::strstr(text, "runMode") != nullptr);
    REQUIRE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
    REQUIRE(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_SUCCESS);
    REQUIRE(aclGetRecentErrMsg() == nullptr);
    std::printf("last_error: %d, read once\n", code);
}
