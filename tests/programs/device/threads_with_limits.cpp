// SPDX-License-Identifier: Apache-2.0
// A second thread queries the device and limits its cores; the first one launches as many blocks as allowed.
#include "check.h"

namespace {

constexpr std::uint32_t cores = 4;

void look_and_limit() {
    CHECK(aclrtSetDevice(0));
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_ABNORMAL;
    CHECK(aclrtQueryDeviceStatus(0, &status));
    REQUIRE(status == ACL_RT_DEVICE_STATUS_NORMAL);
    std::int64_t vector_cores = 0, memory = 0;
    CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &vector_cores));
    CHECK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &memory));
    REQUIRE(vector_cores > cores && memory > 0);
    aclrtUtilizationInfo used = {};
    CHECK(aclrtGetDeviceUtilizationRate(0, &used));
    std::int32_t least = 0, greatest = 0;
    CHECK(aclrtDeviceGetStreamPriorityRange(&least, &greatest));
    REQUIRE(least == 7 && greatest == 0);
    CHECK(aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, cores));
    CHECK(aclrtResetDevice(0));
}

}  // namespace

int main() {
    programs::Device device;
    std::thread(look_and_limit).join();
    std::uint32_t allowed = 0;
    CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &allowed));
    REQUIRE(allowed == cores);
    {
        programs::Kernels kernels;
        aclrtStream stream = programs::new_stream();
        auto* places = programs::to_device(std::vector<std::uint32_t>(8, 0));
        CHECK(kernels.launch("sign_in", allowed, stream, places));
        CHECK(aclrtSynchronizeStream(stream));
        REQUIRE((programs::to_host(places, 8) == std::vector<std::uint32_t>{1, 2, 3, 4, 0, 0, 0, 0}));
        CHECK(aclrtFree(places));
        CHECK(aclrtDestroyStream(stream));
    }
    CHECK(aclrtResetDeviceResLimit(0));
    CHECK(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, &allowed));
    REQUIRE(allowed > cores);
    std::printf("threads_with_limits: %u blocks, %u without the limit\n", cores, allowed);
}
