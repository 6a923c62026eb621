/* SPDX-License-Identifier: Apache-2.0 */
#include <cstdlib>
#include <unistd.h>
#include "memory_test.h"

int main(int argc, char *argv[])
{
    size_t size = 1048576;
    int opt;
    while ((opt = getopt(argc, argv, "s:h")) != -1) {
        if (opt == 's') {
            size = strtoul(optarg, nullptr, 10);
        } else {
            INFO_LOG("usage: ./main [-s size]");
            return 0;
        }
    }
    const char *aclConfigPath = "../src/acl.json";
    aclError ret = aclInit(aclConfigPath);
    if (ret != ACL_SUCCESS) {
        ERROR_LOG("aclInit gave %d", ret);
        return FAILED;
    }
    INFO_LOG("acl is up");
    uint32_t count = 0;
    (void)aclrtGetDeviceCount(&count);
    int failed = 0;
    {
        MemoryTest test(0, size);
        if (test.Init() != SUCCESS) {
            return FAILED;
        }
        struct {
            const char *name;
            Result result;
        } rows[] = {
            {"host and device", test.HostToDeviceAndBack()},
            {Utils::KindName(ACL_MEMCPY_HOST_TO_HOST), test.HostToHost()},
            {Utils::KindName(ACL_MEMCPY_DEVICE_TO_DEVICE), test.DeviceToDevice()},
            {"between devices", count > 1 ? test.BetweenDevices(1) : SUCCESS},
            {"async", test.Async()},
            {"wrong arguments", test.WrongArguments()},
        };
        for (const auto &row : rows) {
            failed += row.result != SUCCESS;
            INFO_LOG("%-20s %s", row.name, row.result == SUCCESS ? "ok" : "failed");
        }
    }
    (void)aclFinalize();
    if (failed != 0) {
        ERROR_LOG("%d tests failed", failed);
        return FAILED;
    }
    INFO_LOG("run memcpy sample success");
    return SUCCESS;
}
