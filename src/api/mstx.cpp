// SPDX-License-Identifier: Apache-2.0
// The mstx functions: for programs that link them (MSTX_NO_IMPL), and, through InitInjectionMstx, for those whose
// header finds this library by itself.
#define MSTX_NO_IMPL
#include <atomic>
#include <cstdint>

#include "core/profile/mstx_marks.h"
#include "core/profile/stamps.h"
#include "mstx/ms_tools_ext.h"
#include "mstx/ms_tools_ext_mem.h"

using namespace canopy;

namespace {

mstxDomainHandle_t domain_of(Handle handle) { return static_cast<mstxDomainHandle_t>(opaque_of(handle)); }

std::atomic<std::uintptr_t> last_heap{0}, last_region{0};

// What the function with that number in its module is; nullptr: it has none.
mstxFuncPointer function_of(int module, unsigned int number) {
    const auto plain = [](auto function) { return reinterpret_cast<mstxFuncPointer>(function); };
    if (module == MSTX_API_MODULE_CORE) {
        switch (number) {
            case MSTX_API_CORE_MARK_A:
                return plain(&mstxMarkA);
            case MSTX_API_CORE_RANGE_START_A:
                return plain(&mstxRangeStartA);
            case MSTX_API_CORE_RANGE_END:
                return plain(&mstxRangeEnd);
            case MSTX_API_CORE_GET_TOOL_ID:
                return plain(&mstxGetToolId);
            default:
                return nullptr;
        }
    }
    if (module == MSTX_API_MODULE_CORE_DOMAIN) {
        switch (number) {
            case MSTX_API_CORE2_DOMAIN_CREATE_A:
                return plain(&mstxDomainCreateA);
            case MSTX_API_CORE2_DOMAIN_DESTROY:
                return plain(&mstxDomainDestroy);
            case MSTX_API_CORE2_DOMAIN_MARK_A:
                return plain(&mstxDomainMarkA);
            case MSTX_API_CORE2_DOMAIN_RANGE_START_A:
                return plain(&mstxDomainRangeStartA);
            case MSTX_API_CORE2_DOMAIN_RANGE_END:
                return plain(&mstxDomainRangeEnd);
            default:
                return nullptr;
        }
    }
    switch (number) {
        case MSTX_API_CORE_MEMHEAP_REGISTER:
            return plain(&mstxMemHeapRegister);
        case MSTX_API_CORE_MEMHEAP_UNREGISTER:
            return plain(&mstxMemHeapUnregister);
        case MSTX_API_CORE_MEM_REGIONS_REGISTER:
            return plain(&mstxMemRegionsRegister);
        case MSTX_API_CORE_MEM_REGIONS_UNREGISTER:
            return plain(&mstxMemRegionsUnregister);
        default:
            return nullptr;
    }
}

}  // namespace

extern "C" {

// For default visibility: the header does not say it.
#define CANOPY_EXPORT __attribute__((visibility("default")))

CANOPY_EXPORT void mstxMarkA(const char* message, aclrtStream stream) { mark_mstx(0, message, stream); }

CANOPY_EXPORT mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
    return start_mstx_range(0, message, stream);
}

CANOPY_EXPORT void mstxRangeEnd(mstxRangeId id) { end_mstx_range(0, id); }

CANOPY_EXPORT void mstxGetToolId(uint64_t* id) {
    if (id != nullptr) *id = marks_are_collected() ? MSTX_TOOL_MSPROF_ID : MSTX_TOOL_INVALID_ID;
}

CANOPY_EXPORT mstxDomainHandle_t mstxDomainCreateA(const char* name) { return domain_of(create_mstx_domain(name)); }

CANOPY_EXPORT void mstxDomainDestroy(mstxDomainHandle_t domain) { destroy_mstx_domain(handle_of(domain)); }

CANOPY_EXPORT void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    if (domain != nullptr) mark_mstx(handle_of(domain), message, stream);
}

CANOPY_EXPORT mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message, aclrtStream stream) {
    return domain == nullptr ? MSTX_INVALID_RANGE_ID : start_mstx_range(handle_of(domain), message, stream);
}

CANOPY_EXPORT void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) {
    if (domain != nullptr) end_mstx_range(handle_of(domain), id);
}

// Heaps and regions of the program's allocators get handles; profiles do not show them.
CANOPY_EXPORT mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, const mstxMemHeapDesc_t* desc) {
    if (domain == nullptr || desc == nullptr || !marks_are_collected()) return nullptr;
    return reinterpret_cast<mstxMemHeapHandle_t>(last_heap.fetch_add(1, std::memory_order_relaxed) + 1);
}

CANOPY_EXPORT void mstxMemHeapUnregister(mstxDomainHandle_t, mstxMemHeapHandle_t) {}

CANOPY_EXPORT void mstxMemRegionsRegister(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t* desc) {
    if (domain == nullptr || desc == nullptr || desc->regionHandleArrayOut == nullptr || !marks_are_collected()) return;
    for (size_t index = 0; index < desc->regionCount; ++index)
        desc->regionHandleArrayOut[index] =
            reinterpret_cast<mstxMemRegionHandle_t>(last_region.fetch_add(1, std::memory_order_relaxed) + 1);
}

CANOPY_EXPORT void mstxMemRegionsUnregister(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*) {}

CANOPY_EXPORT int InitInjectionMstx(mstxGetModuleFuncTableFunc getTable) {
    if (getTable == nullptr) return MSTX_FAIL;
    for (int module = MSTX_API_MODULE_CORE; module <= MSTX_API_MODULE_CORE_MEM; ++module) {
        mstxFuncTable table = nullptr;
        unsigned int size = 0;
        // An older header has fewer modules.
        if (getTable(module, &table, &size) != MSTX_SUCCESS || table == nullptr) continue;
        for (unsigned int number = 0; number < size; ++number)
            if (const mstxFuncPointer function = function_of(module, number);
                function != nullptr && table[number] != nullptr)
                *table[number] = function;
    }
    return MSTX_SUCCESS;
}

}  // extern "C"
