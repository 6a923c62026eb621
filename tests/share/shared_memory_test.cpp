// SPDX-License-Identifier: Apache-2.0
// Device memory by key and by shareable handle.
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <random>
#include <thread>

#include "share_fixture.h"

namespace {

using SharedMemory = ShareTest;
constexpr std::size_t mebibyte = std::size_t{1} << 20;

TEST_F(SharedMemory, BothProcessesUseTheSamePages) {
    void* memory = filled(mebibyte, 0x11);
    const std::string key = export_key(memory, mebibyte);
    EXPECT_LE(key.size(), 64u);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_EQ(peer.ask("same 0 1048576 17").value, "1048576");
    EXPECT_PEER(0, peer, "fill 0 4096 100 34");
    EXPECT_EQ(same(static_cast<char*>(memory) + 4096, 100, 34), 100u);
    EXPECT_EQ(same(memory, 4096, 0x11), 4096u);
    EXPECT_EQ(peer.ask("attributes 0").value, std::to_string(ACL_MEM_LOCATION_TYPE_DEVICE) + " 0");
    // A few bytes past the block are not usable.
    EXPECT_PEER(107000, peer, "fill 0 1048000 2097152 1");
    EXPECT_PEER(107000, peer, "free 0");
    EXPECT_EQ(peer.ask("same 0 4096 17").value, "4096");
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));  // before the importer, as programs do
    EXPECT_PEER(0, peer, "close " + key);
    EXPECT_PEER(107017, peer, "close " + key);
    EXPECT_EQ(peer.finish(), 0);
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, EveryImportHasItsAddressAndItsClose) {
    void* memory = filled(8192, 1);
    const std::string key = export_key(memory, 8192);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    const Answer first = peer.ask("import " + key + " 0");
    const Answer second = peer.ask("import " + key + " 1");
    EXPECT_EQ(first.code, 0);
    EXPECT_EQ(second.code, 0);
    EXPECT_NE(first.value, second.value);
    EXPECT_PEER(0, peer, "fill 0 0 8 9");
    EXPECT_EQ(peer.ask("same 1 8 9").value, "8");
    EXPECT_PEER(0, peer, "close " + key);
    EXPECT_EQ(peer.ask("same 1 8 9").value, "8");
    EXPECT_PEER(0, peer, "close " + key);
    EXPECT_PEER(107017, peer, "close " + key);
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_PEER(107017, peer, "import " + key + " 0");
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, OnlyListedProcessesImport) {
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096, 0);
    Peer peer, other;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, other, "start 0");
    EXPECT_PEER(207006, peer, "import " + key + " 0");
    int32_t pids[] = {peer.process(), 1};
    EXPECT_ACL_OK(aclrtIpcMemSetImportPid(key.c_str(), pids, 2));
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_PEER(207006, other, "import " + key + " 0");
    int32_t more = other.process();
    aclrtServerPid server{0, &more, 1};
    EXPECT_ACL_OK(aclrtIpcMemImportPidInterServer(key.c_str(), &server, 1));
    EXPECT_PEER(0, other, "import " + key + " 0");
    std::vector<int32_t> many(40000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<int32_t>(i + 10);
    EXPECT_ACL_FAILS(207012, "maximum", aclrtIpcMemSetImportPid(key.c_str(), many.data(), many.size()));
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, WrongArgumentsHaveTheirCodes) {
    char* memory = static_cast<char*>(filled(8192, 1));
    char key[65] = {};
    EXPECT_EQ(aclrtIpcMemGetExportKey(nullptr, 1, key, 65, 0), 100000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, 1, nullptr, 65, 0), 100000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, 0, key, 65, 0), 107000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, 1, key, 0, 0), 107000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, 1, key, 64, 0), 107000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, 1, key, 65, 2), 107000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory + 512, 1, key, 65, 0), 107000);
    EXPECT_EQ(aclrtIpcMemGetExportKey(memory, mebibyte, key, 65, 0), 107000);
    int on_stack = 0;
    EXPECT_EQ(aclrtIpcMemGetExportKey(&on_stack, 4, key, 65, 0), 107000);
    int32_t pid = 1;
    EXPECT_EQ(aclrtIpcMemSetImportPid(nullptr, &pid, 1), 100000);
    EXPECT_EQ(aclrtIpcMemSetImportPid("x", nullptr, 1), 100000);
    EXPECT_EQ(aclrtIpcMemSetImportPid("x", &pid, 0), 107000);
    EXPECT_EQ(aclrtIpcMemSetImportPid("x", &pid, 1), 107017);
    EXPECT_EQ(aclrtIpcMemImportPidInterServer("x", nullptr, 1), 107000);
    aclrtServerPid server{0, nullptr, 1};
    EXPECT_EQ(aclrtIpcMemImportPidInterServer("x", &server, 0), 107000);
    EXPECT_EQ(aclrtIpcMemImportPidInterServer("x", &server, 1), 107000);
    EXPECT_EQ(aclrtIpcMemSetAttr("x", static_cast<aclrtIpcMemAttrType>(1), 0), 107000);
    EXPECT_EQ(aclrtIpcMemSetAttr("x", ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 4), 107000);
    EXPECT_EQ(aclrtIpcMemSetAttr("x", ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0), 207000);
    void* address = nullptr;
    EXPECT_EQ(aclrtIpcMemImportByKey(nullptr, "x", 0), 100000);
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, nullptr, 0), 100000);
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, "x", 2), 107000);
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, "x", 0), 107017);
    EXPECT_EQ(aclrtIpcMemClose(nullptr), 100000);
    EXPECT_EQ(aclrtIpcMemClose("x"), 107017);
    const std::string good = export_key(memory, 8192);
    int codes[5] = {};
    std::thread([&] {  // no context in this thread
        codes[0] = aclrtIpcMemGetExportKey(memory, 1, key, 65, 0);
        codes[1] = aclrtIpcMemSetImportPid(good.c_str(), &pid, 1);
        codes[2] = aclrtIpcMemImportByKey(&address, good.c_str(), 0);
        codes[3] = aclrtIpcMemClose(good.c_str());
        codes[4] = aclrtNotifyImportByKey(&address, good.c_str(), 0);
    })
        .join();
    for (const int code : codes) EXPECT_EQ(code, 107002);
    // A key that anybody may import has no list.
    EXPECT_ACL_OK(aclrtIpcMemSetImportPid(good.c_str(), &pid, 1));
    EXPECT_ACL_OK(aclrtIpcMemClose(good.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, ForgedKeysAreUnknown) {
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    for (std::size_t place = 0; place < key.size(); ++place)
        for (const char changed : {'0', 'f', '-', 'x'}) {
            std::string forged = key;
            if (forged[place] == changed) continue;
            forged[place] = changed;
            const Answer answer = peer.ask("import " + forged + " 0");
            EXPECT_EQ(answer.code, 107017) << forged;
        }
    EXPECT_PEER(107017, peer, "import " + key.substr(0, key.size() - 1) + " 0");
    EXPECT_PEER(107017, peer, "import " + key + "0 0");
    EXPECT_PEER(107017, peer, "notify " + key + " 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, KeysEndWithTheirProcess) {
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    const std::string key = peer.ask("export 4096 7").value;
    peer.kill();
    void* address = nullptr;
    EXPECT_ACL_FAILS(107017, "ended", aclrtIpcMemImportByKey(&address, key.c_str(), 0));
}

TEST_F(SharedMemory, FreedMemoryIsKeptForImporters) {
    constexpr std::size_t size = 4 * mebibyte;
    const std::size_t before = free_memory();
    void* memory = filled(size, 0x55);
    const std::string key = export_key(memory, size);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_EQ(aclrtFree(memory), 107000);
    EXPECT_PEER(107017, peer, "import " + key + " 0");
    for (int round = 0; round < 8; ++round) {
        void* other = filled(size, round);
        EXPECT_NE(other, memory);
        EXPECT_ACL_OK(aclrtFree(other));
    }
    EXPECT_EQ(peer.ask("same 0 4194304 85").value, "4194304");
    EXPECT_PEER(0, peer, "close " + key);
    EXPECT_TRUE(eventually([&] { return free_memory() == before; }));
}

TEST_F(SharedMemory, TheDeathOfAnImporterReleasesWhatItHad) {
    const std::size_t before = free_memory();
    void* memory = filled(mebibyte, 3);
    const std::string key = export_key(memory, mebibyte);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_LT(free_memory(), before);
    peer.kill();
    EXPECT_TRUE(eventually([&] { return free_memory() == before; }));
}

TEST_F(SharedMemory, ImportersKeepTheirDataWhenTheExporterDies) {
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    const std::string key = peer.ask("export 1048576 9").value;
    void* address = nullptr;
    ASSERT_ACL_OK(aclrtIpcMemImportByKey(&address, key.c_str(), 0));
    peer.kill();
    EXPECT_EQ(same(address, mebibyte, 9), mebibyte);
    ASSERT_ACL_OK(aclrtMemsetAsync(address, mebibyte, 5, mebibyte, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_EQ(same(address, mebibyte, 5), mebibyte);
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_EQ(aclrtMemset(address, 16, 0, 16), 107000);
}

TEST_F(SharedMemory, AnExportWaitsForReadyWork) {
    constexpr std::size_t size = 16 * mebibyte;
    void* memory = filled(size, 0);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    ASSERT_ACL_OK(aclrtMemsetAsync(memory, size, 0x77, size, stream_));
    const std::string key = export_key(memory, size);
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_EQ(peer.ask("same 0 16777216 119").value, "16777216");
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, AForkedProcessHasNoneOfIt) {
    void* memory = filled(4096, 3);
    const std::string key = export_key(memory, 4096);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    const std::string theirs = peer.ask("export 4096 7").value;
    void* address = nullptr;
    ASSERT_ACL_OK(aclrtIpcMemImportByKey(&address, theirs.c_str(), 0));
    const pid_t child = fork();
    if (child == 0) {
        const bool refused = aclrtIpcMemClose(key.c_str()) == 107017 && aclrtIpcMemClose(theirs.c_str()) == 107017;
        _exit(refused ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    // The end of the child was not the end of this process, here or there.
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_ACL_OK(aclrtIpcMemClose(theirs.c_str()));
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(SharedMemory, AForkedProcessDoesNotHideTheEndOfItsParent) {
    const std::size_t before = free_memory();
    void* memory = filled(mebibyte, 3);
    const std::string key = export_key(memory, mebibyte);
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    const Answer child = peer.ask("fork");
    ASSERT_EQ(child.code, 0);
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_LT(free_memory(), before);
    peer.kill();
    EXPECT_TRUE(eventually([&] { return free_memory() == before; }));
    kill(std::stoi(child.value), SIGKILL);
}

TEST_F(SharedMemory, KillsAtAnyTimeLeaveNothing) {
    void* memory = filled(mebibyte, 3);
    const std::string key = export_key(memory, mebibyte);
    {
        Peer warm;
        EXPECT_PEER(0, warm, "start 0");
        EXPECT_PEER(0, warm, "import " + key + " 0");
    }
    const std::size_t open_before = descriptors();
    const std::set<std::string> files_before = entries("/dev/shm");
    std::mt19937 random(7);
    for (int round = 0; round < 30; ++round) {
        Peer peer;
        EXPECT_PEER(0, peer, "start 0");
        peer.send("churn " + key);
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
        peer.kill();
        ASSERT_EQ(same(memory, 4096, 3), 4096u);
    }
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before; })) << descriptors() << " > " << open_before;
    const std::size_t before = free_memory();
    EXPECT_ACL_OK(aclrtFree(memory));
    EXPECT_TRUE(eventually([&] { return free_memory() > before; }));
    EXPECT_EQ(entries("/dev/shm"), files_before);
}

// ---- physical memory ------------------------------------------------------------------------------------------------

class SharedPhysical : public ShareTest {
protected:
    void SetUp() override {
        ShareTest::SetUp();
        aclrtPhysicalMemProp properties{};
        properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
        properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
        properties.memAttr = ACL_HBM_MEM_HUGE;
        properties.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
        ASSERT_ACL_OK(aclrtMallocPhysical(&handle_, size, &properties, 0));
        ASSERT_ACL_OK(aclrtReserveMemAddress(&address_, size, 0, nullptr, 0));
        ASSERT_ACL_OK(aclrtMapMem(address_, size, 0, handle_, 0));
        ASSERT_ACL_OK(aclrtMemset(address_, size, 123, size));
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtUnmapMem(address_));
        EXPECT_ACL_OK(aclrtReleaseMemAddress(address_));
        if (handle_) EXPECT_ACL_OK(aclrtFreePhysical(handle_));
        ShareTest::TearDown();
    }
    static constexpr std::size_t size = 2 * mebibyte;
    aclrtDrvMemHandle handle_ = nullptr;
    void* address_ = nullptr;
};

TEST_F(SharedPhysical, IsMappedByBothProcesses) {
    std::uint64_t shareable = 0;
    ASSERT_ACL_OK(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable));
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable), 107000);
    const std::string import = "handle " + std::to_string(shareable) + " 0";
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(207006, peer, import);
    int32_t pid = peer.process();
    EXPECT_ACL_OK(aclrtMemSetPidToShareableHandle(shareable, &pid, 1));
    EXPECT_PEER(107001, peer, "handle " + std::to_string(shareable) + " 999");
    EXPECT_PEER(0, peer, import);
    EXPECT_PEER(0, peer, "map 0 2097152");
    EXPECT_EQ(peer.ask("same 0 2097152 123").value, "2097152");
    EXPECT_PEER(0, peer, "fill 0 0 16 1");
    EXPECT_EQ(same(address_, 16, 1), 16u);
    for (int bit = 0; bit < 42; ++bit)
        EXPECT_PEER(107017, peer, "handle " + std::to_string(shareable ^ std::uint64_t{1} << bit) + " 0");
    aclrtDrvMemHandle own = nullptr;
    EXPECT_EQ(aclrtMemImportFromShareableHandle(shareable, 0, &own), 107000);
    // The handle ends with the exporter's; the importer keeps its memory.
    EXPECT_ACL_OK(aclrtFreePhysical(handle_));
    handle_ = nullptr;
    EXPECT_PEER(107017, peer, import);
    EXPECT_EQ(peer.ask("same 0 16 1").value, "16");
    EXPECT_PEER(0, peer, "unmap 0");
    EXPECT_PEER(0, peer, "free_handle 0");
    EXPECT_EQ(peer.finish(), 0);
}

TEST_F(SharedPhysical, WrongArgumentsHaveTheirCodes) {
    std::uint64_t shareable = 0;
    EXPECT_EQ(aclrtMemExportToShareableHandle(nullptr, ACL_MEM_HANDLE_TYPE_NONE, 0, &shareable), 100000);
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, 0, nullptr), 100000);
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_POSIX, 0, &shareable), 100000);
    EXPECT_EQ(aclrtMemExportToShareableHandle(handle_, ACL_MEM_HANDLE_TYPE_NONE, 2, &shareable), 107000);
    EXPECT_EQ(aclrtMemExportToShareableHandleV2(handle_, 0, static_cast<aclrtMemSharedHandleType>(3), &shareable),
              107000);
    int32_t pid = 1;
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(1, nullptr, 1), 100000);
    EXPECT_EQ(aclrtMemSetPidToShareableHandle(1, &pid, 0), 100000);
    EXPECT_EQ(aclrtMemSetPidToShareableHandleV2(&shareable, static_cast<aclrtMemSharedHandleType>(0), &pid, 1), 107000);
    aclrtDrvMemHandle imported = nullptr;
    EXPECT_EQ(aclrtMemImportFromShareableHandle(1, 0, nullptr), 100000);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(1, 999, &imported), 107001);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(1, 0, &imported), 107017);
    EXPECT_EQ(aclrtMemImportFromShareableHandleV2(&shareable, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 1, &imported), 100000);
    aclrtMemFabricHandle fabric{};
    EXPECT_EQ(aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported), 107017);
    ASSERT_ACL_OK(aclrtMemExportToShareableHandleV2(handle_, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric));
    EXPECT_EQ(aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, &imported), 107000);
}

}  // namespace
