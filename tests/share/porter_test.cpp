// SPDX-License-Identifier: Apache-2.0
// What a process costs that shares nothing, and what the one thread that serves others makes of nonsense.
#include <sys/socket.h>

#include <random>

#include "share_fixture.h"
#include "wire.h"

namespace {

using Porter = ShareTest;

TEST_F(Porter, AProcessThatSharesNothingHasNone) {
    // In a separate process: other tests of this program share.
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "synchronise");
    const std::string folder = "/proc/" + std::to_string(peer.process());
    for (const std::string& thread : entries((folder + "/task").c_str())) {
        std::string name;
        std::getline(std::ifstream(folder + "/task/" + thread + "/comm"), name);
        EXPECT_NE(name, "canopy-porter");
    }
    std::size_t sockets = 0;
    for (const std::string& entry : entries((folder + "/fd").c_str())) {
        char target[256] = {};
        if (readlink((folder + "/fd/" + entry).c_str(), target, sizeof target - 1) > 0)
            sockets += std::string(target).starts_with("socket:");
    }
    EXPECT_EQ(sockets, 1u);  // that of the test
}

int connect_to_own_porter() { return wire::connect_to(static_cast<std::uint32_t>(getpid())); }

TEST_F(Porter, NonsenseHarmsNobody) {
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096);
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
        const int made = connect_to_own_porter();
        for (int message = 0; message < 4; ++message) {
            std::vector<unsigned char> bytes(random() % 6000 + 1);
            for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
            if (round % 2 == 0 && bytes.size() >= 8) {  // looks right at the start
                const std::uint32_t start[2] = {0x59504e43, round % 4 == 0 ? 1u : 9u};
                std::memcpy(bytes.data(), start, sizeof start);
                if (bytes.size() >= 40) {
                    std::memset(bytes.data() + 8, 0, 32);
                    std::memcpy(bytes.data() + 8, "0.1.0", 5);
                }
            }
            iovec part{bytes.data(), bytes.size()};
            msghdr header{};
            header.msg_iov = &part;
            header.msg_iovlen = 1;
            alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
            if (random() % 2) {  // descriptors nobody asked for
                header.msg_control = control;
                header.msg_controllen = sizeof control;
                cmsghdr* rights = CMSG_FIRSTHDR(&header);
                rights->cmsg_level = SOL_SOCKET;
                rights->cmsg_type = SCM_RIGHTS;
                rights->cmsg_len = CMSG_LEN(3 * sizeof(int));
                const int sent[3] = {0, 1, 2};
                std::memcpy(CMSG_DATA(rights), sent, sizeof sent);
            }
            if (sendmsg(made, &header, MSG_NOSIGNAL) < 0) break;
        }
        close(made);
    }
    const std::size_t open_before = descriptors();
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "import " + key + " 0");
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before + 3; }));
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(Porter, AnotherVersionIsToldSo) {
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096);
    const int made = connect_to_own_porter();
    unsigned char message[120] = {};
    const std::uint32_t start[2] = {0x59504e43, 7};
    std::memcpy(message, start, sizeof start);
    std::memcpy(message + 8, "9.9.9", 5);
    ASSERT_EQ(send(made, message, sizeof message, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof message));
    unsigned char answer[200] = {};
    ASSERT_GE(recv(made, answer, sizeof answer, 0), 72);
    std::int32_t code = 0;
    std::memcpy(&code, answer + 68, sizeof code);
    EXPECT_EQ(code, 207000);
    close(made);
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

TEST_F(Porter, SocketsWithPathsAreRemoved) {
    char folder[] = "/tmp/canopy-share-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    setenv("CANOPY_RUN_DIR", folder, 1);
    Peer peer, killed;
    unsetenv("CANOPY_RUN_DIR");
    for (const Peer* one : {&peer, &killed}) {
        EXPECT_PEER(0, *one, "start 0");
        EXPECT_PEER(0, *one, "export 4096 1");
    }
    EXPECT_EQ(entries(folder).size(), 4u);  // with . and ..
    EXPECT_EQ(peer.finish(), 0);
    EXPECT_EQ(entries(folder).size(), 3u);
    killed.kill();
    const std::set<std::string> left = entries(folder);
    EXPECT_EQ(left.size(), 3u);
    {
        // The next process removes it, and leaves alone what others listen on.
        setenv("CANOPY_RUN_DIR", folder, 1);
        Peer next, last;
        unsetenv("CANOPY_RUN_DIR");
        for (const Peer* one : {&next, &last}) {
            EXPECT_PEER(0, *one, "start 0");
            EXPECT_PEER(0, *one, "export 4096 1");
        }
        const std::set<std::string> now = entries(folder);
        EXPECT_EQ(now.size(), 4u);
        for (const std::string& name : left) EXPECT_EQ(now.contains(name), name.starts_with(".")) << name;
        EXPECT_EQ(next.finish(), 0);
        EXPECT_EQ(last.finish(), 0);
    }
    EXPECT_EQ(rmdir(folder), 0);
}

TEST_F(Porter, KilledProcessesLeaveNoFiles) {
    char folder[] = "/tmp/canopy-share-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    const std::set<std::string> shared_before = entries("/dev/shm");
    setenv("TMPDIR", folder, 1);
    Peer peer;
    unsetenv("TMPDIR");
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(0, peer, "export 4096 1");
    EXPECT_PEER(0, peer, "make_notify");
    EXPECT_PEER(0, peer, "make_event");
    peer.kill();
    for (const std::string& name : entries("/dev/shm"))
        EXPECT_TRUE(shared_before.contains(name) || name.find("canopy") == std::string::npos) << name;
    EXPECT_EQ(rmdir(folder), 0);  // it is empty
}

}  // namespace
