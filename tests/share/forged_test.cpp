// SPDX-License-Identifier: Apache-2.0
// Other processes that lie: questions that no library asks, answers that no library gives, keys that nobody made, and
// shared pages that are written over while they are used. Anything may be refused, and nothing crashes, hangs or leaks.
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>
#include <thread>

#include "acl/acl_tdt_queue.h"
#include "share_fixture.h"
#include "wire.h"

extern char** environ;

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int rounds = 200;
constexpr std::size_t own_mappings = 200;
#else
constexpr int rounds = 1500;
constexpr std::size_t own_mappings = 40;  // of the allocator and for stacks; a loss in every round is more
#endif

// The size of the memory file of that name that this process has.
std::uint64_t size_of_file(const std::string& name) {
    for (int descriptor = 3; descriptor < 1000; ++descriptor) {
        char target[256] = {};
        const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
        struct stat facts {};
        if (readlink(link.c_str(), target, sizeof target - 1) > 0 &&
            std::string(target).starts_with("/memfd:" + name) && fstat(descriptor, &facts) == 0)
            return static_cast<std::uint64_t>(facts.st_size);
    }
    return 0;
}

std::uint32_t make_queue() {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    std::uint32_t queue = 0;
    EXPECT_ACL_OK(acltdtCreateQueue(attr, &queue));
    EXPECT_ACL_OK(acltdtDestroyQueueAttr(attr));
    return queue;
}

// ---- questions ------------------------------------------------------------------------------------------------------

class Questions : public ShareTest {
protected:
    void SetUp() override {
        ShareTest::SetUp();
        memory_ = filled(4096, 1);
        keys_.push_back(wire::Key::of(export_key(memory_, 4096)));
        char text[65] = {};
        ASSERT_ACL_OK(aclrtCreateNotify(&notify_, 0));
        ASSERT_ACL_OK(aclrtNotifyGetExportKey(notify_, text, sizeof text, 2));
        keys_.push_back(wire::Key::of(text));
        queue_ = make_queue();
        ASSERT_ACL_OK(acltdtGrantQueue(queue_, getpid(), 7, 0));
        wire::Key directory;
        directory.kind = wire::queue;
        directory.owner = wire::this_process();
        keys_.push_back(directory);
        // What the library calls itself is part of its answers.
        const int socket = wire::connect_to(static_cast<std::uint32_t>(getpid()));
        ASSERT_GE(socket, 0);
        wire::Head head;
        wire::send(socket, &head, sizeof head, {});
        ASSERT_GE(wire::receive(socket, &head, sizeof head), 72);
        EXPECT_EQ(head.code, 207000);
        std::memcpy(good_.library, head.library, sizeof good_.library);
        good_.from = wire::this_process();
        close(socket);
    }
    void TearDown() override {
        EXPECT_ACL_OK(acltdtDestroyQueue(queue_));
        EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
        EXPECT_ACL_OK(aclrtIpcMemClose(keys_[0].text().c_str()));
        EXPECT_ACL_OK(aclrtFree(memory_));
        ShareTest::TearDown();
    }
    wire::Head question(const wire::Key& key, std::uint32_t operation) const {
        wire::Head head = good_;
        head.operation = operation;
        head.number = key.number;
        head.random = key.random;
        head.owner = key.owner;
        head.kind = key.kind;
        head.strength = key.kind == wire::queue ? 2 : 0;
        return head;
    }
    // Another process can still have what it may have.
    void expect_service() {
        Peer peer;
        EXPECT_PEER(0, peer, "start 0");
        EXPECT_PEER(0, peer, "import " + keys_[0].text() + " 0");
        EXPECT_PEER(0, peer, "notify " + keys_[1].text() + " 0");
        EXPECT_PEER(0, peer, "record_notify 0");
        EXPECT_EQ(peer.finish(), 0);
        EXPECT_EQ(same(memory_, 4096, 1), 4096u);
    }
    void* memory_ = nullptr;
    aclrtNotify notify_ = nullptr;
    std::uint32_t queue_ = 0;
    std::vector<wire::Key> keys_;
    wire::Head good_;
};

TEST_F(Questions, ThatNoLibraryAsks) {
    std::mt19937_64 random(17);
    static constexpr std::uint32_t operations[] = {0, 0, 0, 1, 1, 2, 15, 16, 17, 18, 19, 20, 21, UINT32_MAX};
    expect_service();
    const std::size_t open_before = descriptors(), mapped_before = mappings();
    int answered = 0;
    for (int round = 0; round < rounds; ++round) {
        const int socket = wire::connect_to(static_cast<std::uint32_t>(getpid()));
        ASSERT_GE(socket, 0);
        for (std::uint64_t count = 1 + random() % 6; count > 0; --count) {
            const wire::Key& key = keys_[random() % keys_.size()];
            wire::Head head = question(key, operations[random() % std::size(operations)]);
            std::vector<unsigned char> bytes(sizeof head);
            if (key.kind == wire::queue) {
                bytes.resize(sizeof head + 24);
                const std::uint32_t asked[6] = {random() % 2 ? queue_ : static_cast<std::uint32_t>(random()),
                                                static_cast<std::uint32_t>(random() % 9),
                                                static_cast<std::uint32_t>(random() % 3 ? getpid() : 1),
                                                0,
                                                static_cast<std::uint32_t>(random()),
                                                0};
                std::memcpy(bytes.data() + sizeof head, asked, sizeof asked);
            }
            std::memcpy(bytes.data(), &head, sizeof head);
            if (random() % 4 == 0) bytes[random() % bytes.size()] = static_cast<unsigned char>(random());
            if (random() % 8 == 0) bytes.resize(random() % 4500);
            const std::size_t descriptors_sent = random() % 3 == 0 ? random() % (random() % 8 ? 9 : 200) : 0;
            const std::vector<int> sent = wire::wrong_descriptors(random, descriptors_sent);
            const bool good = wire::send(socket, bytes.data(), bytes.size(), sent);
            for (const int each : sent) close(each);
            if (!good) break;
            if (random() % 2) {
                pollfd state{socket, POLLIN, 0};
                unsigned char answer[8192];
                if (poll(&state, 1, 2) > 0 && wire::receive(socket, answer, sizeof answer) > 0) ++answered;
            }
        }
        if (random() % 4 == 0) shutdown(socket, random() % 2 ? SHUT_WR : SHUT_RD);
        close(socket);
    }
    EXPECT_GT(answered, rounds / 20);
    expect_service();
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before; })) << descriptors() << " > " << open_before;
    EXPECT_TRUE(eventually([&] { return mappings() <= mapped_before + own_mappings; }));
    RecordProperty("rounds", rounds);
}

TEST_F(Questions, OfAProcessThatNeverReads) {
    expect_service();
    const std::size_t open_before = descriptors();
    const int socket = wire::connect_to(static_cast<std::uint32_t>(getpid()));
    const wire::Head head = question(keys_[0], 0);
    // The connection ends when the answers do not fit any more.
    EXPECT_TRUE(eventually([&] { return !wire::send(socket, &head, sizeof head, {}) && errno == EPIPE; }));
    expect_service();
    close(socket);
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before; }));
}

TEST_F(Questions, ThatClaimToBeSomebodyElses) {
    const int socket = wire::connect_to(static_cast<std::uint32_t>(getpid()));
    wire::Head head = question(keys_[0], 0);
    head.from.process = 1;
    ASSERT_TRUE(wire::send(socket, &head, sizeof head, {}));
    EXPECT_LE(wire::receive(socket, &head, sizeof head), 0);  // it hangs up
    close(socket);
}

TEST_F(Questions, WithNumbersOfProcessesThatAreUsedAgain) {
    wire::Key key = keys_[0];
    Peer peer;
    EXPECT_PEER(0, peer, "start 0");
    for (const std::uint64_t start : {key.owner.start - 1, key.owner.start + 1, std::uint64_t{0}, std::uint64_t{1}}) {
        wire::Key old = key;
        old.owner.start = start;
        EXPECT_PEER(107017, peer, "import " + old.text() + " 0");
    }
    wire::Key forked = key;
    ++forked.owner.forks;
    EXPECT_PEER(107017, peer, "import " + forked.text() + " 0");
    EXPECT_PEER(0, peer, "import " + key.text() + " 0");
}

// ---- answers --------------------------------------------------------------------------------------------------------

// Another process that answers as it likes.
class Forger {
public:
    Forger(wire::Answers mode, std::uint64_t seed) {
        int sockets[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) std::abort();
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, sockets[1], sockets[1]);
        std::string number = std::to_string(sockets[1]), how = std::to_string(static_cast<int>(mode)),
                    start = std::to_string(seed);
        char program[] = "/proc/self/exe";
        char role[] = "--forger";
        char* arguments[] = {program, role, number.data(), how.data(), start.data(), nullptr};
        if (posix_spawn(&process_, program, &actions, nullptr, arguments, environ) != 0) std::abort();
        posix_spawn_file_actions_destroy(&actions);
        close(sockets[1]);
        socket_ = sockets[0];
        number_ = static_cast<std::uint32_t>(process_);
        char text[8];
        EXPECT_EQ(recv(socket_, text, sizeof text, 0), 5);
    }
    ~Forger() {
        end();
        close(socket_);
    }
    void end() {
        if (process_ <= 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    [[nodiscard]] std::string key(wire::Kind kind) const {
        wire::Key made;
        made.kind = kind;
        made.owner = wire::this_process();
        made.owner.process = number_;
        made.number = 1;
        made.random = 0x1234;
        return made.text();
    }
    [[nodiscard]] aclrtIpcEventHandle event() const {
        aclrtIpcEventHandle handle{};
        const wire::Process own = wire::this_process();
        const std::uint32_t start[4] = {0x656b3163, wire::event, number_, 1};
        const std::uint64_t rest[3] = {own.name_space, 1, 0x1234};
        std::memcpy(handle.reserved, start, sizeof start);
        std::memcpy(handle.reserved + sizeof start, rest, sizeof rest);
        return handle;
    }
    [[nodiscard]] std::uint64_t shareable() const { return std::uint64_t{number_} << 42 | 1 << 22 | 5; }
    [[nodiscard]] std::uint32_t queue() const { return number_ << 10 | 1; }

private:
    pid_t process_ = -1;
    std::uint32_t number_ = 0;
    int socket_ = -1;
};

class ForgedAnswers : public ShareTest {
protected:
    void SetUp() override {
        ShareTest::SetUp();
        const std::uint32_t queue = make_queue();
        acltdtBuf buffer = nullptr;
        ASSERT_ACL_OK(acltdtAllocBuf(64, ACL_TDT_NORMAL_MEM, &buffer));
        const std::uint64_t ring = size_of_file("canopy queue"), pool = size_of_file("canopy buffers");
        ASSERT_GT(ring, 0u);
        ASSERT_GT(pool, 0u);
        setenv("CANOPY_TEST_RING", std::to_string(ring).c_str(), 1);
        setenv("CANOPY_TEST_POOL", std::to_string(pool).c_str(), 1);
        ASSERT_ACL_OK(acltdtFreeBuf(buffer));
        ASSERT_ACL_OK(acltdtDestroyQueue(queue));
    }
    // Takes whatever the other process gives, and uses it.
    void use(const Forger& forger, int repeats) {
        const std::string key = forger.key(wire::memory);
        void* address = nullptr;
        if (aclrtIpcMemImportByKey(&address, key.c_str(), 1) == 0) {
            ++taken_;
            aclrtMemset(address, 4096, 1, 4096);
            EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
        }
        aclrtDrvMemHandle handle = nullptr;
        if (aclrtMemImportFromShareableHandle(forger.shareable(), 0, &handle) == 0) {
            ++taken_;
            void* base = nullptr;
            if (aclrtReserveMemAddress(&base, 2 << 20, 0, nullptr, 0) == 0) {
                if (aclrtMapMem(base, 2 << 20, 0, handle, 0) == 0) {
                    aclrtMemset(base, 4096, 1, 4096);
                    EXPECT_ACL_OK(aclrtUnmapMem(base));
                }
                EXPECT_ACL_OK(aclrtReleaseMemAddress(base));
            }
            EXPECT_ACL_OK(aclrtFreePhysical(handle));
        }
        aclrtNotify notify = nullptr;
        if (aclrtNotifyImportByKey(&notify, forger.key(wire::notify).c_str(), 2) == 0) {
            ++taken_;
            for (int i = 0; i < repeats; ++i) {
                aclrtRecordNotify(notify, stream_);
                aclrtWaitAndResetNotify(notify, stream_, 0);
                if (aclrtSynchronizeStreamWithTimeout(stream_, 20) != 0) break;
            }
            aclrtNotifyBatchReset(&notify, 1);
            aclrtRecordNotify(notify, stream_);
            pending_.push_back(notify);
        }
        aclrtEvent event = nullptr;
        if (aclrtIpcOpenEventHandle(forger.event(), &event) == 0) {
            ++taken_;
            aclrtEventRecordedStatus status{};
            for (int i = 0; i < repeats; ++i) {
                aclrtQueryEventStatus(event, &status);
                aclrtSynchronizeEventWithTimeout(event, 5);
            }
            EXPECT_ACL_OK(aclrtDestroyEvent(event));
        }
        std::uint32_t rights = 0;
        if (acltdtAttachQueue(forger.queue(), 0, &rights) == 0) {
            ++taken_;
            for (int i = 0; i < repeats; ++i) {
                std::uint64_t words[64] = {};
                std::size_t size = 0;
                acltdtEnqueueData(forger.queue(), words, i % 2 ? 8 : 512, nullptr, 0, 1, 0);
                acltdtDequeueData(forger.queue(), words, sizeof words, &size, nullptr, 0, 1);
                EXPECT_LE(size, std::size_t{64} << 30);
                acltdtBuf buffer = nullptr;
                if (acltdtDequeue(forger.queue(), &buffer, 1) == 0) acltdtFreeBuf(buffer);
            }
        }
    }
    // What waits for the other process ends with it.
    void finish(Forger& forger) {
        forger.end();
        aclrtSynchronizeStream(stream_);
        for (const aclrtNotify notify : pending_) EXPECT_ACL_OK(aclrtDestroyNotify(notify));
        pending_.clear();
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        std::uint64_t word = 0;
        std::size_t size = 0;
        EXPECT_TRUE(eventually([&] {
            acltdtDequeueData(forger.queue(), &word, sizeof word, &size, nullptr, 0, 0);
            return acltdtDestroyQueue(forger.queue()) == 100032;
        }));
    }
    std::vector<aclrtNotify> pending_;
    int taken_ = 0;
};

TEST_F(ForgedAnswers, HarmNobody) {
    std::size_t open_before = 0, mapped_before = 0;
    for (int round = 0; round < rounds / 20; ++round) {
        const auto mode = static_cast<wire::Answers>(round % 3);
        Forger forger(mode, static_cast<std::uint64_t>(round));
        for (int i = 0; i < 2; ++i) use(forger, 2);
        finish(forger);
        if (HasFailure()) break;
        if (round == 5) {
            open_before = descriptors();
            mapped_before = mappings();
        }
    }
    EXPECT_GT(taken_, 0);
    EXPECT_TRUE(eventually([&] { return descriptors() <= open_before; })) << descriptors() << " > " << open_before;
    EXPECT_TRUE(eventually([&] { return mappings() <= mapped_before + own_mappings; }))
        << mappings() << " > " << mapped_before;
    RecordProperty("taken", taken_);
}

TEST_F(ForgedAnswers, OfAnotherVersionAreRefused) {
    Forger forger(wire::Answers::another_version, 1);
    void* address = nullptr;
    aclrtNotify notify = nullptr;
    aclrtEvent event = nullptr;
    aclrtDrvMemHandle handle = nullptr;
    std::uint32_t rights = 0;
    EXPECT_ACL_FAILS(207000, "version 9.9.9", aclrtIpcMemImportByKey(&address, forger.key(wire::memory).c_str(), 0));
    EXPECT_EQ(aclrtNotifyImportByKey(&notify, forger.key(wire::notify).c_str(), 0), 207000);
    EXPECT_EQ(aclrtIpcOpenEventHandle(forger.event(), &event), 207000);
    EXPECT_EQ(aclrtMemImportFromShareableHandle(forger.shareable(), 0, &handle), 207000);
    EXPECT_EQ(acltdtAttachQueue(forger.queue(), 0, &rights), 207000);
}

TEST_F(ForgedAnswers, ThatNeverComeEndWithTheProcess) {
    for (const wire::Answers mode : {wire::Answers::nothing, wire::Answers::half}) {
        Forger forger(mode, 1);
        int code = 0;
        std::thread importer([&] {
            aclrtSetDevice(0);
            void* address = nullptr;
            code = aclrtIpcMemImportByKey(&address, forger.key(wire::memory).c_str(), 0);
        });
        usleep(2000);  // either way the code is the same
        forger.end();
        importer.join();
        EXPECT_EQ(code, 107017);
    }
}

// Who asks a process that accepts nobody waits for a while, not for ever.
TEST_F(ForgedAnswers, OfAProcessThatAcceptsNobody) {
    Forger forger(wire::Answers::deaf, 1);
    void* address = nullptr;
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, forger.key(wire::memory).c_str(), 0), 107017);
}

TEST_F(ForgedAnswers, AndPagesThatAreWrittenOver) {
    int used = 0;
    for (int round = 0; round < rounds / 100; ++round) {
        Forger forger(wire::Answers::scribbles, static_cast<std::uint64_t>(round));
        use(forger, 10);
        finish(forger);
        used = taken_;
        if (HasFailure()) break;
    }
    EXPECT_GT(used, rounds / 100);
    // What belongs to this process alone works as before.
    aclrtEvent event = nullptr;
    ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC));
    ASSERT_ACL_OK(aclrtRecordEvent(event, stream_));
    ASSERT_ACL_OK(aclrtSynchronizeEvent(event));
    ASSERT_ACL_OK(aclrtDestroyEvent(event));
}

// ---- keys -----------------------------------------------------------------------------------------------------------

TEST_F(ShareTest, KeysThatNobodyMadeAreUnknown) {
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096);
    std::mt19937_64 random(23);
    static constexpr char letters[] = "0123456789abcdef-cxAZ \x7f\xff";
    for (int round = 0; round < rounds * 4; ++round) {
        std::string forged = key;
        for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
            const std::size_t at = random() % (forged.size() + 1);
            const char letter = letters[random() % (sizeof letters - 1)];
            switch (random() % 4) {
                case 0:
                    forged.insert(at, 1, letter);
                    break;
                case 1:
                    forged.erase(at, 1 + random() % 4);
                    break;
                case 2:
                    forged += std::string(random() % 100, letter);
                    break;
                default:
                    if (at < forged.size()) forged[at] = letter;
            }
        }
        if (forged == key) continue;
        // A zero in front of a number names the same object.
        const wire::Key read = wire::Key::of(forged), good = wire::Key::of(key);
        if (read.text() == good.text()) continue;
        void* address = nullptr;
        aclrtNotify notify = nullptr;
        aclrtEvent event = nullptr;
        ASSERT_EQ(aclrtIpcMemImportByKey(&address, forged.c_str(), 0), 107017) << forged;
        ASSERT_EQ(aclrtNotifyImportByKey(&notify, forged.c_str(), 0), 107017) << forged;
        aclrtIpcEventHandle handle{};
        std::memcpy(handle.reserved, forged.data(), std::min(forged.size(), sizeof handle.reserved));
        ASSERT_EQ(aclrtIpcOpenEventHandle(handle, &event), 107017) << forged;
        aclrtDrvMemHandle physical = nullptr;
        ASSERT_EQ(aclrtMemImportFromShareableHandle(random(), 0, &physical), 107017);
    }
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

// ---- other users ----------------------------------------------------------------------------------------------------

TEST_F(ShareTest, OtherUsersAreRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    void* memory = filled(4096, 1);
    const std::string key = export_key(memory, 4096);
    Peer peer;
    EXPECT_PEER(0, peer, "user 65534");
    EXPECT_PEER(0, peer, "start 0");
    EXPECT_PEER(107017, peer, "import " + key + " 0");
    // Also when it knows the name of the socket.
    EXPECT_EQ(peer.ask("intrude " + std::to_string(getpid()) + " " + std::to_string(geteuid())).value, "0");
    // Nor is anything of its own given to this process.
    const std::string theirs = peer.ask("export 4096 7").value;
    void* address = nullptr;
    EXPECT_EQ(aclrtIpcMemImportByKey(&address, theirs.c_str(), 0), 107017);
    EXPECT_EQ(peer.finish(), 0);
    EXPECT_ACL_OK(aclrtIpcMemClose(key.c_str()));
    EXPECT_ACL_OK(aclrtFree(memory));
}

}  // namespace
