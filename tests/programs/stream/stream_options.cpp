// SPDX-License-Identifier: Apache-2.0
// A program looks up the newer stream functions by name, creates a stream from options and reads the options back.
#include <dlfcn.h>

#include "check.h"

namespace {

template <class Function>
Function* find(const char* name) {
    auto* function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(function != nullptr);
    return function;
}

}  // namespace

int main() {
    programs::Device device;
    auto* create_options = find<decltype(aclrtCreateStreamConfigHandle)>("aclrtCreateStreamConfigHandle");
    auto* set_option = find<decltype(aclrtSetStreamConfigOpt)>("aclrtSetStreamConfigOpt");
    auto* create_stream = find<decltype(aclrtCreateStreamV2)>("aclrtCreateStreamV2");
    auto* destroy_options = find<decltype(aclrtDestroyStreamConfigHandle)>("aclrtDestroyStreamConfigHandle");

    aclrtStreamConfigHandle* options = create_options();
    REQUIRE(options != nullptr);
    std::uint32_t priority = 3, flag = 0;
    CHECK(set_option(options, ACL_RT_STREAM_PRIORITY, &priority, sizeof(priority)));
    CHECK(set_option(options, ACL_RT_STREAM_FLAG, &flag, sizeof(flag)));
    aclrtStream stream = nullptr;
    CHECK(create_stream(&stream, options));
    CHECK(destroy_options(options));

    std::int32_t number = -1;
    std::uint32_t found_priority = 99, found_flags = 99;
    CHECK(aclrtStreamGetId(stream, &number));
    CHECK(aclrtStreamGetPriority(stream, &found_priority));
    CHECK(aclrtStreamGetFlags(stream, &found_flags));
    REQUIRE(number >= 0 && found_priority == 3 && found_flags == 0);
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtDestroyStream(stream));

    CHECK(aclrtCreateStreamWithConfig(&stream, 1, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    CHECK(aclrtStreamGetPriority(stream, &found_priority));
    CHECK(aclrtStreamGetFlags(stream, &found_flags));
    REQUIRE(found_priority == 1 && found_flags == (ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    CHECK(aclrtDestroyStream(stream));
    std::printf("stream_options: priorities 3 and 1\n");
}
