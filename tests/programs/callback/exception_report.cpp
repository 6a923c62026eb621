// SPDX-License-Identifier: Apache-2.0
// A kernel fails, and a callback determines its task, stream, device, function and arguments.
#include "check.h"

namespace {

struct Seen {
    int count = 0;
    std::uint32_t task = 0, stream = 0, thread = 0, device = 9, code = 0, size = 0;
    aclrtFuncHandle function = nullptr;
    void* arguments = nullptr;
} seen;

void look(aclrtExceptionInfo* info) {
    ++seen.count;
    seen.task = aclrtGetTaskIdFromExceptionInfo(info);
    seen.stream = aclrtGetStreamIdFromExceptionInfo(info);
    seen.thread = aclrtGetThreadIdFromExceptionInfo(info);
    seen.device = aclrtGetDeviceIdFromExceptionInfo(info);
    seen.code = aclrtGetErrorCodeFromExceptionInfo(info);
    CHECK(aclrtGetFuncHandleFromExceptionInfo(info, &seen.function));
    CHECK(aclrtGetArgsFromExceptionInfo(info, &seen.arguments, &seen.size));
}

}  // namespace

int main() {
    programs::Device device;
    CHECK(aclrtExceptionInfoCallbackRegister(look));
    aclrtStream stream = programs::new_stream();
    std::int32_t number = -1;
    CHECK(aclrtStreamGetId(stream, &number));
    auto* words = programs::to_device(std::vector<std::uint32_t>{0});
    {
        programs::Kernels kernels;
        std::uint32_t task = 0;
        CHECK(kernels.launch("fail_with", 1, stream, words, 77u));
        CHECK(aclrtGetThreadLastTaskId(&task));
        CHECK_CODE(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
        REQUIRE(seen.count == 1);  // before the synchronisation returned
        REQUIRE(seen.task == task && seen.stream == static_cast<std::uint32_t>(number) && seen.device == 0);
        REQUIRE(seen.code != 0 && seen.function == kernels.function("fail_with"));
        REQUIRE(seen.arguments != nullptr && seen.size >= 12);
        REQUIRE(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        const char* text = aclGetRecentErrMsg();
        REQUIRE(text != nullptr && std::strstr(text, "fail_with") != nullptr);
        REQUIRE(aclrtGetLastError(ACL_RT_THREAD_LEVEL) == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        REQUIRE(programs::to_host(words, 1)[0] == 77);
        CHECK(kernels.launch("add_one", 1, stream, words));
        CHECK(aclrtSynchronizeStream(stream));
        REQUIRE(programs::to_host(words, 1)[0] == 78);
    }
    CHECK(aclrtExceptionInfoCallbackUnregister(look));
    CHECK(aclrtFree(words));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("exception_report: 1 exception with code %u\n", seen.code);
}
