// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include "acl/acl.h"
#include "add_unaligned.h"

static void Must(aclError e, const char *what)
{
    if (e) throw std::runtime_error(std::string(what) + " -> " + std::to_string(e));
}
#define MUST(x) Must(x, #x)

static bool Case(aclrtStream stream, uint32_t n, uint32_t cores)
{
    std::vector<int16_t> x(n), y(n), z(n + 16, 77);
    std::iota(x.begin(), x.end(), 1);
    for (uint32_t i = 0; i < n; ++i) y[i] = static_cast<int16_t>(3 * i + 7);
    void *d[3];
    // z gets 16 elements more, they must stay as they are
    for (auto &p : d) MUST(aclrtMalloc(&p, (n + 16) * 2, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemcpy(d[0], n * 2, x.data(), n * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemcpy(d[1], n * 2, y.data(), n * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtMemcpy(d[2], z.size() * 2, z.data(), z.size() * 2, ACL_MEMCPY_HOST_TO_DEVICE));
    LaunchAdd16(stream, (int16_t *)d[0], (int16_t *)d[1], (int16_t *)d[2], n, cores);
    MUST(aclrtSynchronizeStream(stream));
    MUST(aclrtMemcpy(z.data(), z.size() * 2, d[2], z.size() * 2, ACL_MEMCPY_DEVICE_TO_HOST));
    bool ok = true;
    for (uint32_t i = 0; i < n; ++i) ok = ok && z[i] == static_cast<int16_t>(x[i] + y[i]);
    for (uint32_t i = n; i < n + 16; ++i) ok = ok && z[i] == 77;
    for (auto p : d) MUST(aclrtFree(p));
    std::cout << (ok ? "[ OK ] " : "[FAIL] ") << n << " elements on " << cores << " cores" << std::endl;
    return ok;
}

int main() try {
    MUST(aclInit(nullptr));
    MUST(aclrtSetDevice(0));
    aclrtStream stream;
    MUST(aclrtCreateStream(&stream));
    bool ok = true;
    for (uint32_t n : {1u, 15u, 16u, 1000u, 1001u, 9999u})
        for (uint32_t cores : {1u, 7u}) ok = Case(stream, n, cores) && ok;
    MUST(aclrtDestroyStream(stream));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    std::cout << (ok ? "[SUCCESS] unaligned add" : "[FAILED] unaligned add") << std::endl;
    return ok ? 0 : 1;
} catch (const std::exception &e) {
    std::cerr << e.what() << std::endl;
    return 1;
}
