// SPDX-License-Identifier: Apache-2.0
// The mstx functions as a program that only includes their header gets them: they find this library by themselves.
#include <mstx/ms_tools_ext.h>
#include <mstx/ms_tools_ext_mem.h>

#include <set>
#include <thread>

#include "profile/profile_fixture.h"

namespace conformance {
namespace {

class MstxTest : public ProfileTest {};

TEST_F(MstxTest, NothingHappensWhileNothingIsCollected) {
    uint64_t tool = 1;
    mstxGetToolId(&tool);
    EXPECT_EQ(tool, MSTX_TOOL_INVALID_ID);
    EXPECT_EQ(mstxRangeStartA("text", nullptr), MSTX_INVALID_RANGE_ID);
    EXPECT_EQ(mstxRangeStartA("text", stream_), MSTX_INVALID_RANGE_ID);
    EXPECT_EQ(mstxDomainCreateA("domain"), nullptr);
    EXPECT_EQ(mstxDomainRangeStartA(nullptr, "text", nullptr), MSTX_INVALID_RANGE_ID);
    EXPECT_EQ(mstxMemHeapRegister(nullptr, nullptr), nullptr);
    mstxMarkA("text", stream_);
    mstxMarkA(nullptr, nullptr);
    mstxRangeEnd(5);
    mstxGetToolId(nullptr);
    mstxDomainMarkA(nullptr, "text", nullptr);
    mstxDomainRangeEnd(nullptr, 5);
    mstxDomainDestroy(nullptr);
}

TEST_F(MstxTest, RangesHaveNumbersWhileMarksAreCollected) {
    aclprofConfig* const made = start(ACL_PROF_MSPROFTX);
    uint64_t tool = 0;
    mstxGetToolId(&tool);
    EXPECT_EQ(tool, MSTX_TOOL_MSPROF_ID);
    std::set<mstxRangeId> ids = {mstxRangeStartA("one", nullptr), mstxRangeStartA("two", stream_)};
    mstxDomainHandle_t const domain = mstxDomainCreateA("domain");
    ASSERT_NE(domain, nullptr);
    ids.insert(mstxDomainRangeStartA(domain, "three", nullptr));
    EXPECT_EQ(ids.size(), 3u);
    EXPECT_FALSE(ids.contains(MSTX_INVALID_RANGE_ID));
    std::thread([&] {
        for (const mstxRangeId id : ids) mstxRangeEnd(id);
    }).join();
    for (const mstxRangeId id : ids) mstxDomainRangeEnd(domain, id);
    mstxMarkA("moment", stream_);
    mstxDomainMarkA(domain, "moment", nullptr);
    mstxDomainDestroy(domain);
    EXPECT_EQ(mstxDomainRangeStartA(domain, "three", nullptr), MSTX_INVALID_RANGE_ID) << "the domain is gone";
    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclprofStop(made));
    EXPECT_EQ(mstxRangeStartA("text", nullptr), MSTX_INVALID_RANGE_ID);
}

TEST_F(MstxTest, TextsAreChecked) {
    start(ACL_PROF_MSPROFTX);
    for (const char* wrong : {"=a", "+a", "-a", "@a"})
        EXPECT_EQ(mstxRangeStartA(wrong, nullptr), MSTX_INVALID_RANGE_ID) << wrong;
    EXPECT_EQ(mstxRangeStartA(nullptr, nullptr), MSTX_INVALID_RANGE_ID);
    EXPECT_EQ(mstxRangeStartA(std::string(157, 'a').c_str(), nullptr), MSTX_INVALID_RANGE_ID);
    EXPECT_NE(mstxRangeStartA(std::string(156, 'a').c_str(), nullptr), MSTX_INVALID_RANGE_ID);
    EXPECT_EQ(mstxDomainCreateA(nullptr), nullptr);
    EXPECT_EQ(mstxDomainCreateA(std::string(1024, 'a').c_str()), nullptr);
    mstxDomainHandle_t const domain = mstxDomainCreateA(std::string(1023, 'a').c_str());
    EXPECT_NE(domain, nullptr);
    mstxDomainDestroy(domain);
}

TEST_F(MstxTest, MemoryGetsHandles) {
    start(ACL_PROF_MSPROFTX);
    mstxDomainHandle_t const domain = mstxDomainCreateA("memory");
    mstxMemVirtualRangeDesc_t range = {0, &range, 64};
    const mstxMemHeapDesc_t description = {MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, MSTX_MEM_TYPE_VIRTUAL_ADDRESS,
                                           &range};
    mstxMemHeapHandle_t const heap = mstxMemHeapRegister(domain, &description);
    EXPECT_NE(heap, nullptr);
    mstxMemRegionHandle_t regions[2] = {};
    const mstxMemRegionsRegisterBatch_t batch = {heap, MSTX_MEM_TYPE_VIRTUAL_ADDRESS, 2, &range, regions};
    mstxMemRegionsRegister(domain, &batch);
    EXPECT_TRUE(regions[0] != nullptr && regions[1] != nullptr && regions[0] != regions[1]);
    mstxMemRegionRef_t reference = {};
    reference.refType = MSTX_MEM_REGION_REF_TYPE_HANDLE;
    reference.handle = regions[0];
    const mstxMemRegionsUnregisterBatch_t ended = {1, &reference};
    mstxMemRegionsUnregister(domain, &ended);
    mstxMemHeapUnregister(domain, heap);
    mstxDomainDestroy(domain);
}

TEST_F(MstxTest, InjectionFillsTheTablesItIsGiven) {
    auto* const inject = looked_up<int(mstxGetModuleFuncTableFunc)>("InitInjectionMstx");
    ASSERT_NE(inject, nullptr);
    EXPECT_EQ(inject(nullptr), MSTX_FAIL);
    // A header without memory, whose last domain function is unknown to it.
    static mstxFuncPointer functions[MSTX_API_MODULE_SIZE][8] = {};
    static mstxFuncPointer* addresses[MSTX_API_MODULE_SIZE][8] = {};
    for (int module = 0; module < MSTX_API_MODULE_SIZE; ++module)
        for (int number = 0; number < 8; ++number) addresses[module][number] = &functions[module][number];
    const auto tables = [](int module, mstxFuncTable* table, unsigned int* size) -> int {
        if (module == MSTX_API_MODULE_CORE_MEM) return MSTX_FAIL;
        *table = addresses[module];
        *size = 5;
        return MSTX_SUCCESS;
    };
    EXPECT_EQ(inject(tables), MSTX_SUCCESS);
    for (int number = 0; number < 8; ++number) {
        EXPECT_EQ(functions[MSTX_API_MODULE_CORE][number] != nullptr, number >= 1 && number <= 4);
        EXPECT_EQ(functions[MSTX_API_MODULE_CORE_DOMAIN][number] != nullptr, number >= 1 && number <= 4);
        EXPECT_EQ(functions[MSTX_API_MODULE_CORE_MEM][number], nullptr);
    }
}

}  // namespace
}  // namespace conformance
