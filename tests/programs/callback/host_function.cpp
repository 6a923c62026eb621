// SPDX-License-Identifier: Apache-2.0
// A host function between two kernels of a stream, on a thread of the runtime.
#include "check.h"

namespace {

struct Visit {
    const std::uint32_t* seen = nullptr;
    std::uint32_t found = 0;
    bool own_thread = false;
    std::thread::id main = std::this_thread::get_id();
};

void visit(void* argument) {
    auto* visit = static_cast<Visit*>(argument);
    visit->found = *visit->seen;
    visit->own_thread = std::this_thread::get_id() != visit->main;
}

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    void* host = nullptr;
    CHECK(aclrtMallocHost(&host, 4));
    Visit what;
    what.seen = static_cast<std::uint32_t*>(host);
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("add_one", 1, stream, word));
        CHECK(aclrtMemcpyAsync(host, 4, word, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtLaunchHostFunc(stream, visit, &what));
        CHECK(kernels.launch("add_one", 1, stream, word));
        CHECK(aclrtMemcpyAsync(host, 4, word, 4, ACL_MEMCPY_DEVICE_TO_HOST, stream));
        CHECK(aclrtSynchronizeStream(stream));
    }
    REQUIRE(what.found == 1 && what.own_thread && *what.seen == 2);
    CHECK(aclrtFreeHost(host));
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtDestroyContext(context));
    std::printf("host_function: saw 1 between two kernels\n");
}
