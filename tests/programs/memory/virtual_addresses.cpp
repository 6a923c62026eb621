// SPDX-License-Identifier: Apache-2.0
// A reserved range that grows: a second piece of physical memory is mapped after the first, and one kernel writes both;
// then the second piece is mapped at another address with its contents intact.
#include "check.h"

namespace {

aclrtDrvMemHandle physical(const aclrtPhysicalMemProp& properties, std::size_t size) {
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMallocPhysical(&handle, size, &properties, 0));
    return handle;
}

void allow(void* address, std::size_t size) {
    aclrtMemAccessDesc access = {};
    access.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
    access.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    CHECK(aclrtMemSetAccess(address, size, &access, 1));
}

}  // namespace

int main() {
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    aclrtPhysicalMemProp properties = {};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    std::size_t piece = 0;
    CHECK(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &piece));
    void *range = nullptr, *elsewhere = nullptr;
    CHECK(aclrtReserveMemAddress(&range, 2 * piece, 0, nullptr, 0));
    CHECK(aclrtReserveMemAddress(&elsewhere, piece, 0, nullptr, 0));
    void* behind = static_cast<char*>(range) + piece;
    aclrtDrvMemHandle first = physical(properties, piece), second = physical(properties, piece);
    CHECK(aclrtMapMem(range, piece, 0, first, 0));
    allow(range, piece);
    CHECK(aclrtMapMem(behind, piece, 0, second, 0));
    allow(behind, piece);
    const auto count = static_cast<std::uint32_t>(2 * piece / sizeof(std::uint32_t));
    {
        programs::Kernels kernels;
        CHECK(kernels.launch("write_often", 1, stream, range, count, 1u));
        CHECK(aclrtSynchronizeStream(stream));
    }
    const auto words = programs::to_host(static_cast<std::uint32_t*>(range), count);
    for (std::uint32_t i = 0; i < count; ++i) REQUIRE(words[i] == i);
    CHECK(aclrtUnmapMem(behind));
    CHECK(aclrtMapMem(elsewhere, piece, 0, second, 0));
    allow(elsewhere, piece);
    REQUIRE(programs::to_host(static_cast<std::uint32_t*>(elsewhere), 1)[0] == count / 2);
    CHECK(aclrtUnmapMem(elsewhere));
    CHECK(aclrtUnmapMem(range));
    CHECK(aclrtFreePhysical(first));
    CHECK(aclrtFreePhysical(second));
    CHECK(aclrtReleaseMemAddress(elsewhere));
    CHECK(aclrtReleaseMemAddress(range));
    CHECK(aclrtDestroyStreamForce(stream));
    std::printf("virtual_addresses: %u words in two pieces\n", count);
}
