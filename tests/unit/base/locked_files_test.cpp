// SPDX-License-Identifier: Apache-2.0
// A process that receives a descriptor of a file on which it holds a lock keeps the lock.
#include "base/locked_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/local_socket.h"
#include "base/mapping.h"
#include "core/queue/shared/shared_file.h"

using namespace canopy;

namespace {

// What another process sees.
bool seen_alive(const SharedMemoryFile& file, ProcessNumber process) {
    const pid_t child = ::fork();
    if (child == 0) {
        SharedMemoryFile mine;
        const bool adopted = mine.adopt(::dup(file.descriptor()), file.size());
        ::_exit(adopted && mine.alive(process) ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

// Sends the descriptor to this process itself, as a process that has the file could.
void send_back(int descriptor, ReceivedDescriptors& received) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    char byte = 0;
    const iovec part{&byte, 1};
    EXPECT_EQ(send_bytes(ends[0], std::span(&part, 1), std::span(&descriptor, 1), 0), 1);
    EXPECT_EQ(receive_bytes(ends[1], std::span(&part, 1), received, 0), 1);
    EXPECT_EQ(received.count(), 1u);
    ::close(ends[0]);
    ::close(ends[1]);
}

class LockedFiles : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(file.create("test", 4096));
        ASSERT_TRUE(seen_alive(file, own_process_number()));
    }
    SharedMemoryFile file;
};

TEST_F(LockedFiles, KeepTheirLockWhenADescriptorComesBack) {
    int unwanted = -1;
    {
        ReceivedDescriptors received;
        send_back(file.descriptor(), received);
        unwanted = received[0];
    }
    EXPECT_TRUE(seen_alive(file, own_process_number()));
    EXPECT_TRUE(is_open(unwanted));
    file = {};
    EXPECT_FALSE(is_open(unwanted));
}

TEST_F(LockedFiles, KeepTheirLockWhenTheyAreTakenForAnother) {
    {
        SharedMemoryFile same, of_another_size;
        EXPECT_TRUE(same.adopt(::dup(file.descriptor()), file.size()));
        EXPECT_FALSE(of_another_size.adopt(::dup(file.descriptor()), 8192));
        const Result<MemoryFile> memory = MemoryFile::copy(file.descriptor());
        EXPECT_TRUE(memory.ok());
    }
    EXPECT_TRUE(seen_alive(file, own_process_number()));
}

TEST_F(LockedFiles, LoseItWithTheirLastUser) {
    const int descriptor = ::dup(file.descriptor());
    SharedMemoryFile second;
    ASSERT_TRUE(second.adopt(descriptor, file.size()));
    file = {};
    EXPECT_TRUE(seen_alive(second, own_process_number()));
    second = {};
    EXPECT_FALSE(is_open(descriptor));
}

TEST_F(LockedFiles, OfAParentAreNotLockedByItsChild) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int descriptor = ::dup(file.descriptor());
        SharedMemoryFile mine;
        const bool adopted = mine.adopt(descriptor, file.size());
        mine = {};
        ::_exit(adopted && !is_open(descriptor) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the child has kept a lock that it does not need";
    EXPECT_TRUE(seen_alive(file, own_process_number()));
}

TEST(ReceivedDescriptor, OfAnotherFileIsClosed) {
    const int file = ::memfd_create("test", MFD_CLOEXEC);
    int received_number = -1;
    {
        ReceivedDescriptors received;
        send_back(file, received);
        received_number = received[0];
        EXPECT_TRUE(is_open(received_number));
    }
    EXPECT_FALSE(is_open(received_number));
    ::close(file);
}

}  // namespace
