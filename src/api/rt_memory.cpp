// SPDX-License-Identifier: Apache-2.0
// The lower interface: memory and copies. Memory and copy kinds have different numbers than in the upper interface.
#include "acl/acl_rt.h"
#include "api/lower.h"
#include "runtime/rt.h"

using namespace canopy;

namespace {

struct Policy {
    std::uint32_t bit;
    aclrtMemMallocPolicy policy;
};
constexpr Policy policies[] = {
    {RT_MEMORY_POLICY_HUGE_PAGE_FIRST, ACL_MEM_MALLOC_HUGE_FIRST},
    {RT_MEMORY_POLICY_HUGE_PAGE_ONLY, ACL_MEM_MALLOC_HUGE_ONLY},
    {RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY},
    {RT_MEMORY_POLICY_HUGE_PAGE_FIRST_P2P, ACL_MEM_MALLOC_HUGE_FIRST_P2P},
    {RT_MEMORY_POLICY_HUGE_PAGE_ONLY_P2P, ACL_MEM_MALLOC_HUGE_ONLY_P2P},
    {RT_MEMORY_POLICY_DEFAULT_PAGE_ONLY_P2P, ACL_MEM_MALLOC_NORMAL_ONLY_P2P},
    {RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY},
    {RT_MEMORY_POLICY_HUGE1G_PAGE_ONLY_P2P, ACL_MEM_MALLOC_HUGE1G_ONLY_P2P},
};

aclrtMemMallocPolicy policy_of(rtMemType_t type) noexcept {
    for (const Policy& each : policies)
        if (type & each.bit) return each.policy;
    return ACL_MEM_MALLOC_HUGE_FIRST;
}

// The low byte is the kind; all kinds of device memory are equivalent here.
bool is_device_memory(std::uint32_t kind) noexcept {
    switch (kind) {
        case RT_MEMORY_DEFAULT:
        case RT_MEMORY_HBM:
        case RT_MEMORY_RDMA_HBM:
        case RT_MEMORY_DDR:
        case RT_MEMORY_P2P_HBM:
        case RT_MEMORY_P2P_DDR:
        case RT_MEMORY_DDR_NC:
        case RT_MEMORY_TS:
            return true;
        default:
            return false;
    }
}

constexpr aclrtMemcpyKind no_kind = static_cast<aclrtMemcpyKind>(-1);

aclrtMemcpyKind kind_of_copy(rtMemcpyKind_t kind) noexcept {
    switch (kind) {
        case RT_MEMCPY_HOST_TO_HOST:
            return ACL_MEMCPY_HOST_TO_HOST;
        case RT_MEMCPY_HOST_TO_DEVICE:
            return ACL_MEMCPY_HOST_TO_DEVICE;
        case RT_MEMCPY_DEVICE_TO_HOST:
        case RT_MEMCPY_DEVICE_TO_HOST_EX:
            return ACL_MEMCPY_DEVICE_TO_HOST;
        case RT_MEMCPY_DEVICE_TO_DEVICE:
            return ACL_MEMCPY_DEVICE_TO_DEVICE;
        case RT_MEMCPY_HOST_TO_DEVICE_EX:
            return ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
        case RT_MEMCPY_MANAGED:
        case RT_MEMCPY_DEFAULT:
            return ACL_MEMCPY_DEFAULT;
        default:
            return no_kind;
    }
}

int check_kind(rtMemcpyKind_t kind) {
    if (kind == RT_MEMCPY_ADDR_DEVICE_TO_DEVICE)
        return fail(code::not_supported, "kind {}: copies by addresses in device memory are not supported", 5).code();
    if (kind_of_copy(kind) == no_kind)
        return fail(code::param_invalid, "kind {} is not an rtMemcpyKind_t", static_cast<int>(kind)).code();
    return 0;
}

}  // namespace

extern "C" {

rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t type, const uint16_t) {
    return lower({{devPtr, "devPtr"}}, [&] {
        const std::uint32_t kind = type & 0xFFu;
        if (kind == RT_MEMORY_SVM) return aclrtMemAllocManaged(devPtr, size, ACL_RT_MEM_ATTACH_GLOBAL);
        if (!is_device_memory(kind) || (type & RT_MEMORY_RESERVED))
            return fail(code::invalid_memory_type, "type {:#x} is not a kind of device memory", type).code();
        return aclrtMalloc(devPtr, size, policy_of(type));
    });
}

rtError_t rtFree(void* devPtr) {
    return lower({{devPtr, "devPtr"}}, [&] { return aclrtFree(devPtr); });
}

rtError_t rtMallocHost(void** hostPtr, uint64_t size, const uint16_t) {
    return lower({{hostPtr, "hostPtr"}}, [&] { return aclrtMallocHost(hostPtr, size); });
}

rtError_t rtFreeHost(void* hostPtr) {
    return lower({{hostPtr, "hostPtr"}}, [&] { return aclrtFreeHost(hostPtr); });
}

rtError_t rtMemset(void* devPtr, uint64_t destMax, uint32_t val, uint64_t cnt) {
    return lower({{devPtr, "devPtr"}},
                 [&] { return aclrtMemset(devPtr, destMax, static_cast<std::int32_t>(val & 0xFFu), cnt); });
}

rtError_t rtMemcpy(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind) {
    return lower({{dst, "dst"}, {src, "src"}}, [&] {
        const int wrong = check_kind(kind);
        return wrong ? wrong : aclrtMemcpy(dst, destMax, src, cnt, kind_of_copy(kind));
    });
}

rtError_t rtMemcpyAsync(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind,
                        rtStream_t stm) {
    return lower({{dst, "dst"}, {src, "src"}}, [&] {
        const int wrong = check_kind(kind);
        return wrong ? wrong : aclrtMemcpyAsync(dst, destMax, src, cnt, kind_of_copy(kind), stm);
    });
}

}  // extern "C"
