// SPDX-License-Identifier: Apache-2.0
// Memory between processes, when one of them is killed.
#include "survivor.h"

namespace {

using MemorySurvivor = Survivor;
constexpr std::size_t block_size = 64 << 10, physical_size = 2 << 20;

// A block of this process, which the other one imports. It is freed after the death, and then all of it must be free.
class ImportedBlock : public Survivor {
protected:
    Case one() {
        before_ = free_memory();
        return {.before =
                    [this](const Victim&) {
                        EXPECT_ACL_OK(aclrtMalloc(&memory_, block_size, ACL_MEM_MALLOC_NORMAL_ONLY));
                        EXPECT_ACL_OK(aclrtMemset(memory_, block_size, 3, block_size));
                        char key[65] = {};
                        EXPECT_ACL_OK(aclrtIpcMemGetExportKey(memory_, block_size, key, sizeof key, 1));
                        key_ = key;
                        return key_;
                    },
                .after =
                    [this](bool) {
                        EXPECT_EQ(same(memory_, block_size, 3), block_size);
                        EXPECT_ACL_OK(aclrtIpcMemClose(key_.c_str()));
                        EXPECT_ACL_OK(aclrtFree(memory_));
                        EXPECT_TRUE(eventually([this] { return free_memory() == before_; }));
                    }};
    }
    void* memory_ = nullptr;
    std::string key_;
    std::size_t before_ = 0;
};

TEST_F(ImportedBlock, SurvivesImports) { survive("import", one()); }
TEST_F(ImportedBlock, SurvivesCloses) { survive("close", one()); }

class ImportedHandle : public Survivor {
protected:
    Case one() {
        before_ = free_memory();
        return {
            .before =
                [this](const Victim&) {
                    aclrtPhysicalMemProp properties{};
                    properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
                    properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
                    properties.memAttr = ACL_HBM_MEM_HUGE;
                    properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
                    EXPECT_ACL_OK(aclrtMallocPhysical(&handle_, physical_size, &properties, 0));
                    std::uint64_t shareable = 0;
                    EXPECT_ACL_OK(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, 1, &shareable));
                    return std::to_string(shareable);
                },
            .after =
                [this](bool) {
                    EXPECT_ACL_OK(aclrtFreePhysical(handle_));
                    EXPECT_TRUE(eventually([this] { return free_memory() == before_; }));
                }};
    }
    aclrtDrvMemHandle handle_ = nullptr;
    std::size_t before_ = 0;
};

TEST_F(ImportedHandle, SurvivesImports) { survive("import_handle", one()); }
TEST_F(ImportedHandle, SurvivesMapping) { survive("map_handle", one()); }

// A block of the other process, which this one has imported: it stays as it is.
class ForeignBlock : public Survivor {
protected:
    Case one() {
        return {.before = [](const Victim&) { return std::string(); },
                .ready =
                    [this](const std::string& key) {
                        key_ = key;
                        EXPECT_ACL_OK(aclrtIpcMemImportByKey(&memory_, key.c_str(), 0));
                    },
                .after =
                    [this](bool) {
                        EXPECT_EQ(same(memory_, block_size, 9), block_size);
                        EXPECT_ACL_OK(aclrtMemsetAsync(memory_, block_size, 5, block_size, stream_));
                        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
                        EXPECT_EQ(same(memory_, block_size, 5), block_size);
                        EXPECT_ACL_OK(aclrtIpcMemClose(key_.c_str()));
                        EXPECT_EQ(aclrtIpcMemImportByKey(&memory_, key_.c_str(), 0), 107017);
                        EXPECT_EQ(aclrtIpcMemClose(key_.c_str()), 107017);
                    }};
    }
    void* memory_ = nullptr;
    std::string key_;
};

TEST_F(ForeignBlock, SurvivesExports) { survive("export", one()); }
TEST_F(ForeignBlock, SurvivesFrees) { survive("free", one()); }

}  // namespace
