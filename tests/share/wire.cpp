// SPDX-License-Identifier: Apache-2.0
#include "wire.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace wire {
namespace {

sockaddr_un address_of(std::uint32_t process, uid_t user, socklen_t& size) {
    char name[100];
    std::snprintf(name, sizeof name, "canopy-%u-%lx-%x", user, this_process().name_space, process);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name, std::strlen(name));
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(name));
    return address;
}

}  // namespace

std::string Key::text() const {
    char text[100];
    std::snprintf(text, sizeof text, "c1%x-%lx-%x-%lx-%x-%lx", kind, owner.name_space, owner.process,
                  owner.start << 8 | owner.forks, number, random);
    return text;
}

Key Key::of(const std::string& text) {
    Key key;
    unsigned kind = 0;
    std::sscanf(text.c_str(), "c1%x-%lx-%x-%lx-%x-%lx", &kind, &key.owner.name_space, &key.owner.process,
                &key.owner.start, &key.number, &key.random);
    key.kind = static_cast<std::uint8_t>(kind);
    key.owner.forks = key.owner.start & 0xff;
    key.owner.start >>= 8;
    return key;
}

Process this_process() {
    Process own;
    struct stat facts {};
    if (stat("/proc/self/ns/pid", &facts) == 0) own.name_space = facts.st_ino;
    std::string text;
    std::getline(std::ifstream("/proc/self/stat"), text);
    std::size_t at = text.rfind(')');
    for (int field = 2; field < 22; ++field) at = text.find(' ', at + 1);
    own.start = std::strtoull(text.c_str() + at, nullptr, 10);
    own.process = static_cast<std::uint32_t>(getpid());
    return own;
}

int listen_as_this_process(int backlog) {
    socklen_t size = 0;
    const sockaddr_un address = address_of(static_cast<std::uint32_t>(getpid()), geteuid(), size);
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (bind(made, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(made, backlog) != 0) std::abort();
    return made;
}

int connect_to(std::uint32_t process) { return connect_to(process, geteuid()); }

int connect_to(std::uint32_t process, uid_t user) {
    socklen_t size = 0;
    const sockaddr_un address = address_of(process, user, size);
    const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    timeval limit{60, 0};
    setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (connect(made, reinterpret_cast<const sockaddr*>(&address), size) == 0) return made;
    close(made);
    return -1;
}

bool send(int socket, const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
    iovec part{const_cast<void*>(bytes), size};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    if (!descriptors.empty()) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
    }
    return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

ssize_t receive(int socket, void* bytes, std::size_t size) { return recv(socket, bytes, size, 0); }

int memory_file(std::uint64_t size, bool sealed, unsigned flags) {
    const int made = memfd_create("canopy-test", MFD_CLOEXEC | MFD_ALLOW_SEALING | flags);
    if (made >= 0 && ftruncate(made, static_cast<off_t>(size)) == 0 && sealed)
        fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return made;
}

std::vector<int> wrong_descriptors(std::mt19937_64& random, std::size_t count) {
    std::vector<int> made;
    while (made.size() < count) {
        int two[2] = {-1, -1};
        switch (random() % 11) {
            case 0:
                if (pipe2(two, O_CLOEXEC) == 0) close(two[1]);
                break;
            case 1:  // who writes to it waits for ever
                if (pipe2(two, O_CLOEXEC) == 0) {
                    fcntl(two[1], F_SETFL, O_NONBLOCK);
                    char page[4096] = {};
                    while (write(two[1], page, sizeof page) > 0) continue;
                    fcntl(two[1], F_SETFL, 0);
                    std::swap(two[0], two[1]);
                    made.push_back(two[1]);  // keeps the other end open
                }
                break;
            case 2:
                if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, two) == 0) close(two[1]);
                break;
            case 3:
                two[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
                break;
            case 4:
                two[0] = epoll_create1(EPOLL_CLOEXEC);
                break;
            case 5: {  // the same, for an event descriptor
                two[0] = eventfd(0, EFD_CLOEXEC);
                const std::uint64_t most = UINT64_MAX - 1;
                if (write(two[0], &most, sizeof most) < 0) std::abort();
                break;
            }
            case 6:
                two[0] = memory_file(1 << 20, false);
                break;
            case 7:
                two[0] = memory_file(100, true);
                break;
            case 8:  // there may be no such pages
                two[0] = memory_file(4 << 20, true, MFD_HUGETLB);
                break;
            case 9:
                two[0] = open(".", O_PATH | O_CLOEXEC);
                break;
            default:
                two[0] = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
                break;
        }
        if (two[0] >= 0) made.push_back(two[0]);
    }
    while (made.size() > count) {
        close(made.back());
        made.pop_back();
    }
    return made;
}

// ---- a process with answers of its own ------------------------------------------------------------------------------

namespace {

struct Forger {
    Answers mode;
    std::mt19937_64 random;
    std::uint64_t ring_size = 0, pool_size = 0;
    struct Pages {
        std::uint64_t* words = nullptr;
        std::size_t count = 0;
    };
    std::vector<Pages> given;

    // A memory file whose first bytes this process writes over again and again.
    int scribbled(std::uint64_t size) {
        const int file = memory_file(size, true);
        const std::size_t reach = std::min<std::uint64_t>(size, 1 << 20);
        void* base = mmap(nullptr, reach, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (base == MAP_FAILED) std::abort();
        given.push_back({static_cast<std::uint64_t*>(base), reach / 8});
        return file;
    }
    void scribble() {
        for (const Pages& pages : given)
            for (int i = 0; i < 200; ++i) {
                const std::size_t at = random() % (random() % 2 ? pages.count : std::min<std::size_t>(pages.count, 64));
                const std::uint64_t value = random() % 3 == 0 ? random() : random() % 300;
                std::atomic_ref(pages.words[at]).store(value, std::memory_order_relaxed);
            }
    }

    template <class T>
    static void append(std::vector<char>& bytes, T value) {
        bytes.insert(bytes.end(), reinterpret_cast<const char*>(&value), reinterpret_cast<const char*>(&value + 1));
    }
    // The body and descriptors of an answer that could be right.
    std::vector<char> body(const Head& asked, std::vector<int>& descriptors) {
        std::vector<char> bytes;
        const bool hostile = mode == Answers::wrong_fields;
        const auto number = [&](std::uint64_t good) {
            if (!hostile || random() % 2) return good;
            static constexpr std::uint64_t bad[] = {0, 1, 63, 64, 4095, 1 << 21, UINT32_MAX, UINT64_MAX, 1ull << 63};
            return random() % 2 ? bad[random() % std::size(bad)] : static_cast<std::uint64_t>(random());
        };
        switch (asked.kind) {
            case memory:
            case physical:
                append(bytes, std::uint64_t{number(0)});
                append(bytes, std::uint64_t{number(2 << 20)});
                for (int i = 0; i < 4; ++i) append(bytes, static_cast<std::uint32_t>(number(i == 2 ? 1 : 0)));
                descriptors.push_back(mode == Answers::scribbles ? scribbled(2 << 20) : memory_file(2 << 20, true));
                break;
            case notify:
            case event:
                append(bytes, static_cast<std::uint32_t>(number(1 + random() % 63)));
                for (int i = 0; i < 3; ++i) append(bytes, static_cast<std::uint32_t>(number(0)));
                descriptors.push_back(mode == Answers::scribbles ? scribbled(1 << 18) : memory_file(1 << 18, true));
                descriptors.push_back(wrong_descriptors(random, 1)[0]);
                break;
            default:  // the queues of a process
                if (asked.operation == 16 || asked.operation == 20) {
                    append(bytes, std::uint64_t{number(77)});
                    append(bytes, static_cast<std::uint32_t>(number(8)));
                    append(bytes, static_cast<std::uint32_t>(number(7)));
                    append(bytes, static_cast<std::uint32_t>(number(12345)));
                    append(bytes, static_cast<std::uint32_t>(number(0)));
                    append(bytes, std::uint64_t{number(99)});
                    if (asked.operation == 16)
                        descriptors.push_back(mode == Answers::scribbles ? scribbled(ring_size)
                                                                         : memory_file(ring_size, true));
                }
                if (asked.operation == 19)
                    descriptors.push_back(mode == Answers::scribbles ? scribbled(pool_size)
                                                                     : memory_file(pool_size, true));
        }
        return bytes;
    }

    // False: the connection ends.
    bool answer(int socket, const Head& asked) {
        Head head;
        std::memcpy(head.library, asked.library, sizeof head.library);
        head.from = this_process();
        std::vector<int> descriptors;
        std::vector<char> bytes = body(asked, descriptors);
        bool keep = true;
        switch (mode) {
            case Answers::random_bytes: {
                std::vector<char> all(random() % 6000 + 1);
                for (char& byte : all) byte = static_cast<char>(random());
                if (random() % 2) std::memcpy(all.data(), &head, std::min(all.size(), random() % 2 ? 40 : sizeof head));
                if (random() % 2)
                    for (const int each : wrong_descriptors(random, random() % 9)) descriptors.push_back(each);
                send(socket, all.data(), all.size(), descriptors);
                break;
            }
            case Answers::another_version:
                head.version = 7;
                std::strcpy(head.library, "9.9.9");
                send(socket, &head, sizeof head, {});
                break;
            case Answers::nothing:
                break;
            case Answers::half:
                if (random() % 2) send(socket, &head, random() % sizeof head, {});
                keep = false;
                break;
            case Answers::wrong_descriptors:
                for (const int each : descriptors) close(each);
                descriptors = wrong_descriptors(random, random() % 9);
                [[fallthrough]];
            default:
                if (mode == Answers::wrong_fields && random() % 4 == 0) head.code = static_cast<std::int32_t>(random());
                bytes.insert(bytes.begin(), reinterpret_cast<const char*>(&head),
                             reinterpret_cast<const char*>(&head + 1));
                if (mode == Answers::wrong_fields && random() % 4 == 0) bytes.resize(random() % 4216);
                send(socket, bytes.data(), bytes.size(), descriptors);
        }
        for (const int each : descriptors) close(each);
        return keep;
    }
};

std::uint64_t number_in(const char* variable) {
    const char* text = std::getenv(variable);
    return text ? std::strtoull(text, nullptr, 10) : 1 << 20;
}

}  // namespace

int serve_forger(int control, Answers mode, std::uint64_t seed) {
    Forger forger{mode, std::mt19937_64(seed), number_in("CANOPY_TEST_RING"), number_in("CANOPY_TEST_POOL"), {}};
    const int listener = listen_as_this_process(mode == Answers::deaf ? 0 : 64);
    if (mode == Answers::deaf) {  // accepts nobody, and no more than these fit
        socklen_t size = 0;
        const sockaddr_un own = address_of(static_cast<std::uint32_t>(getpid()), geteuid(), size);
        for (int i = 0; i < 4; ++i)
            static_cast<void>(connect(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
                                      reinterpret_cast<const sockaddr*>(&own), size));
    }
    if (::send(control, "ready", 5, 0) != 5) return 1;
    if (mode == Answers::deaf) return static_cast<int>(recv(control, &forger.pool_size, 1, 0));
    std::vector<pollfd> sockets{{control, POLLIN, 0}, {listener, POLLIN, 0}};
    for (;;) {
        const int events = poll(sockets.data(), sockets.size(), mode == Answers::scribbles ? 0 : -1);
        if (mode == Answers::scribbles) forger.scribble();
        if (events <= 0) continue;
        if (sockets[0].revents != 0) return 0;
        for (std::size_t i = sockets.size(); i-- > 2;) {
            if (sockets[i].revents == 0) continue;
            Head asked;
            std::vector<char> bytes(8192);
            const ssize_t size = receive(sockets[i].fd, bytes.data(), bytes.size());
            std::memcpy(&asked, bytes.data(), sizeof asked);
            if (size >= static_cast<ssize_t>(sizeof asked) &&
                (asked.unanswered != 0 || forger.answer(sockets[i].fd, asked)))
                continue;
            close(sockets[i].fd);
            sockets.erase(sockets.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (sockets[1].revents != 0) {
            const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
            if (accepted >= 0) sockets.push_back({accepted, POLLIN, 0});
        }
    }
}

}  // namespace wire
