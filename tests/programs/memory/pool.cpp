// SPDX-License-Identifier: Apache-2.0
// Pool memory, allocated and freed in stream order.
#include "acl/acl_rt_memory_soma.h"
#include "check.h"

namespace {

std::uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr which) {
    std::uint64_t value = 0;
    CHECK(aclrtMemPoolGetAttr(pool, which, &value));
    return value;
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    aclrtMemPoolProps properties = {};
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    aclrtMemPool pool = nullptr;
    CHECK(aclrtMemPoolCreate(&pool, &properties));
    std::uint64_t keep = std::uint64_t{64} << 20;
    CHECK(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &keep));
    auto* total = programs::to_device(std::vector<std::uint32_t>(100, 0));
    {
        programs::Kernels kernels;
        for (std::uint32_t step = 0; step < 100; ++step) {
            void* scratch = nullptr;
            CHECK(aclrtMemPoolMallocAsync(&scratch, 4096, pool, stream));
            CHECK(kernels.launch("set_to", 1, stream, scratch, step));
            CHECK(kernels.launch("add_one", 1, stream, scratch));
            CHECK(aclrtMemcpyAsync(total + step, 4, scratch, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
            CHECK(aclrtMemPoolFreeAsync(scratch, stream));
        }
        CHECK(aclrtSynchronizeStream(stream));
    }
    const auto found = programs::to_host(total, 100);
    for (std::uint32_t step = 0; step < 100; ++step) REQUIRE(found[step] == step + 1);
    REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT) == 0);
    REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH) >= 4096);
    const std::uint64_t held = attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT);
    CHECK(aclrtMemPoolTrimTo(pool, 0));
    REQUIRE(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT) == 0);
    CHECK(aclrtMemPoolDestroy(pool));
    CHECK(aclrtFree(total));
    CHECK(aclrtDestroyStream(stream));
    std::printf("pool: 100 blocks, %llu bytes held\n", static_cast<unsigned long long>(held));
}
