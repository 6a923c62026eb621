// SPDX-License-Identifier: Apache-2.0
// Also compiled into the process for CPU kernels: nothing of the runtime may be needed here.
#include "base/local_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/locked_files.h"

namespace canopy {
namespace {

constexpr std::size_t control_size = CMSG_SPACE(sizeof(int) * max_descriptors_per_message);

int local_socket(int flags) noexcept { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0); }

}  // namespace

ReceivedDescriptors::~ReceivedDescriptors() {
    for (std::size_t index = 0; index < count_; ++index)
        if (all_[index] >= 0) close_received(all_[index]);
}

int ReceivedDescriptors::take(std::size_t index) noexcept {
    return index < count_ ? std::exchange(all_[index], -1) : -1;
}

void ReceivedDescriptors::swap(ReceivedDescriptors& other) noexcept {
    std::swap(all_, other.all_);
    std::swap(count_, other.count_);
}

ssize_t send_bytes(int socket, std::span<const iovec> parts, std::span<const int> descriptors, int flags) noexcept {
    alignas(cmsghdr) char control[control_size] = {};
    msghdr header{};
    header.msg_iov = const_cast<iovec*>(parts.data());
    header.msg_iovlen = parts.size();
    if (!descriptors.empty()) {
        if (descriptors.size() > max_descriptors_per_message) {
            errno = EINVAL;
            return -1;
        }
        header.msg_control = control;
        header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
        cmsghdr* part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
        std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
    }
    ssize_t sent = 0;
    do sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent;
}

ssize_t receive_bytes(int socket, std::span<const iovec> parts, ReceivedDescriptors& descriptors, int flags) noexcept {
    alignas(cmsghdr) char control[control_size];
    msghdr header{};
    header.msg_iov = const_cast<iovec*>(parts.data());
    header.msg_iovlen = parts.size();
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    descriptors = ReceivedDescriptors();
    ssize_t received = 0;
    do received = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
    while (received < 0 && errno == EINTR);
    if (received < 0) return received;
    ReceivedDescriptors came;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t bytes = part->cmsg_len - CMSG_LEN(0);
        for (std::size_t offset = 0; offset + sizeof(int) <= bytes; offset += sizeof(int)) {
            int descriptor = -1;
            std::memcpy(&descriptor, CMSG_DATA(part) + offset, sizeof descriptor);
            if (came.count_ < max_descriptors_per_message)
                came.all_[came.count_++] = descriptor;
            else
                close(descriptor);
        }
    }
    descriptors.swap(came);
    return received;
}

bool send_message(int socket, const void* message, std::size_t size, const void* bytes, std::size_t count,
                  int descriptor) noexcept {
    const iovec parts[2] = {{const_cast<void*>(message), size}, {const_cast<void*>(bytes), count}};
    const ssize_t sent = send_bytes(socket, std::span(parts, count != 0 ? 2 : 1),
                                    descriptor >= 0 ? std::span<const int>(&descriptor, 1) : std::span<const int>(), 0);
    return sent == static_cast<ssize_t>(size + count);
}

bool receive_message(int socket, void* message, std::size_t size, void* bytes, std::size_t room, std::size_t& count,
                     int* descriptor) noexcept {
    const iovec parts[2] = {{message, size}, {bytes, room}};
    ReceivedDescriptors descriptors;
    const ssize_t received = receive_bytes(socket, parts, descriptors, 0);
    if (descriptor) *descriptor = descriptors.take(0);
    if (received < static_cast<ssize_t>(size)) return false;
    count = static_cast<std::size_t>(received) - size;
    return true;
}

LocalAddress LocalAddress::abstract(std::string_view name) noexcept {
    LocalAddress made;
    made.address.sun_family = AF_UNIX;
    if (name.size() >= sizeof made.address.sun_path) return made;
    std::memcpy(made.address.sun_path + 1, name.data(), name.size());
    made.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return made;
}

LocalAddress LocalAddress::path(std::string_view name) noexcept {
    LocalAddress made;
    made.address.sun_family = AF_UNIX;
    if (name.size() >= sizeof made.address.sun_path) return made;
    std::memcpy(made.address.sun_path, name.data(), name.size());
    made.size = sizeof made.address;
    return made;
}

int listen_locally(const LocalAddress& at) noexcept {
    const int socket = at.size != 0 ? local_socket(SOCK_NONBLOCK) : -1;
    if (socket < 0) return -1;
    if (bind(socket, reinterpret_cast<const sockaddr*>(&at.address), at.size) == 0 && listen(socket, SOMAXCONN) == 0)
        return socket;
    const int reason = errno;
    close(socket);
    errno = reason;
    return -1;
}

int connect_locally(const LocalAddress& to) noexcept {
    const int socket = to.size != 0 ? local_socket(0) : -1;
    if (socket < 0) return -1;
    // The time to send is also how long a connection may take.
    const timeval limit{2, 0}, none{};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    int result = 0;
    do result = connect(socket, reinterpret_cast<const sockaddr*>(&to.address), to.size);
    while (result != 0 && errno == EINTR);
    if (result == 0) {
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof none);
        return socket;
    }
    const int reason = errno;
    close(socket);
    errno = reason;
    return -1;
}

bool wait_for(int socket, short what, Deadline deadline) noexcept {
    for (;;) {
        timespec left{};
        if (!deadline.is_never()) {
            const Nanoseconds until = std::max<Nanoseconds>(deadline.at - now(), 0);
            left = {until / second, until % second};
        }
        pollfd state{socket, what, 0};
        const int count = ppoll(&state, 1, deadline.is_never() ? nullptr : &left, nullptr);
        if (count > 0) return true;
        if (count == 0) return false;
        if (errno != EINTR) return false;
    }
}

bool refuses_locally(const LocalAddress& at) noexcept {
    const int socket = at.size != 0 ? local_socket(SOCK_NONBLOCK) : -1;
    if (socket < 0) return false;
    const bool refused =
        connect(socket, reinterpret_cast<const sockaddr*>(&at.address), at.size) != 0 && errno == ECONNREFUSED;
    close(socket);
    return refused;
}

bool peer_credentials(int socket, PeerCredentials& credentials) noexcept {
    ucred kernel{};
    socklen_t size = sizeof kernel;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &kernel, &size) != 0 || size != sizeof kernel) return false;
    credentials.process = kernel.pid;
    credentials.user = kernel.uid;
    return true;
}

}  // namespace canopy
