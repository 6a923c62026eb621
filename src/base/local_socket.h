// SPDX-License-Identifier: Apache-2.0
// Messages between processes of this machine: sockets that keep message boundaries, descriptors sent along with
// messages, and who is on the other side. Used for the processes that the runtime starts itself, and for objects that
// programs share (core/share). Nothing here reports more than true or false; errno has the reason.
//
// Threads: any.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "foundation/clock.h"

namespace canopy {

inline constexpr std::size_t max_descriptors_per_message = 8;

// Descriptors that came with a message, owned; those that nobody takes are closed.
class ReceivedDescriptors {
public:
    ReceivedDescriptors() noexcept = default;
    ReceivedDescriptors(ReceivedDescriptors&& other) noexcept { swap(other); }
    ReceivedDescriptors& operator=(ReceivedDescriptors&& other) noexcept {
        swap(other);
        return *this;
    }
    ~ReceivedDescriptors();

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    // Number `index`, which stays owned; -1 if there is none or it was taken.
    [[nodiscard]] int operator[](std::size_t index) const noexcept { return index < count_ ? all_[index] : -1; }
    // The caller owns it from now on.
    [[nodiscard]] int take(std::size_t index) noexcept;

private:
    friend ssize_t receive_bytes(int socket, std::span<const iovec> parts, ReceivedDescriptors& descriptors,
                                 int flags) noexcept;
    void swap(ReceivedDescriptors& other) noexcept;
    int all_[max_descriptors_per_message] = {};
    std::size_t count_ = 0;
};

// sendmsg and recvmsg with descriptors, repeated when a signal interrupts them. Received descriptors are closed on
// exec.
ssize_t send_bytes(int socket, std::span<const iovec> parts, std::span<const int> descriptors, int flags) noexcept;
ssize_t receive_bytes(int socket, std::span<const iovec> parts, ReceivedDescriptors& descriptors, int flags) noexcept;

// Sends a message with the bytes after it, and a descriptor unless it is -1. False: the other side is gone.
bool send_message(int socket, const void* message, std::size_t size, const void* bytes, std::size_t count,
                  int descriptor) noexcept;
// Receives a message of exactly `size` bytes and up to `room` bytes after it. False: the other side is gone.
bool receive_message(int socket, void* message, std::size_t size, void* bytes, std::size_t room, std::size_t& count,
                     int* descriptor) noexcept;

// An address of a local socket. An abstract name has no file: it ends with the sockets bound to it.
struct LocalAddress {
    sockaddr_un address{};
    socklen_t size = 0;  // 0: the name is too long
    static LocalAddress abstract(std::string_view name) noexcept;
    static LocalAddress path(std::string_view name) noexcept;
};

// A socket that accepts connections at the address, or -1. Neither it nor accepted ones block.
int listen_locally(const LocalAddress& at) noexcept;
// A blocking connection, or -1. Waits up to two seconds for a process that accepts none.
int connect_locally(const LocalAddress& to) noexcept;
// Waits until the socket is ready for `what` (POLLIN, POLLOUT). False: it is not in time.
bool wait_for(int socket, short what, Deadline deadline) noexcept;
// True if there is a socket at the address, and nobody listens on it.
bool refuses_locally(const LocalAddress& at) noexcept;

// The process on the other side, as the kernel knows it: the one that connected, or that listens. Its number is 0 when
// this process's pid namespace does not contain it.
struct PeerCredentials {
    pid_t process = 0;
    uid_t user = 0;
};
bool peer_credentials(int socket, PeerCredentials& credentials) noexcept;

}  // namespace canopy
