// SPDX-License-Identifier: Apache-2.0
#include "core/share/addresses.h"

#include <dirent.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>

#include "base/error_text.h"
#include "base/local_socket.h"
#include "core/base/error_codes.h"
#include "core/process/variables.h"

namespace canopy {
namespace {

std::string abstract_name(const ProcessId& id) {
    return fmt::format("canopy-{}-{:x}-{:x}", geteuid(), id.name_space, id.process);
}
std::string path_start(std::uint32_t process) { return fmt::format("canopy-{}-{:x}-", geteuid(), process); }

}  // namespace

std::string path_name(std::string_view folder, const ProcessId& id) {
    return fmt::format("{}/{}{:x}", folder, path_start(id.process), id.name_space);
}

int listen_for(const ProcessId& id) { return listen_locally(LocalAddress::abstract(abstract_name(id))); }

// The path of a socket whose process has ended stays behind; the next process that finds it removes it.
int listen_at_path(const std::string& path) noexcept {
    const LocalAddress at = LocalAddress::path(path);
    int socket = listen_locally(at);
    if (socket >= 0 || errno != EADDRINUSE) return socket;
    const int other = connect_locally(at);
    if (other >= 0) {
        ::close(other);
        errno = EADDRINUSE;
        return -1;
    }
    if (errno == ECONNREFUSED) unlink(path.c_str());
    return listen_locally(at);
}

namespace {

// A process in another container: its socket has a path.
int connect_by_path(const SharedKey& key) {
    const auto folder = environment_variable("CANOPY_RUN_DIR");
    if (!folder) return -1;
    if (key.strength == KeyStrength::full) {
        const std::string path = path_name(*folder, key.owner);
        const int socket = connect_locally(LocalAddress::path(path));
        if (socket < 0 && errno == ECONNREFUSED) unlink(path.c_str());
        return socket;
    }
    const std::string start = path_start(key.owner.process);
    DIR* entries = opendir(std::string(*folder).c_str());
    if (entries == nullptr) return -1;
    int socket = -1;
    while (const dirent* entry = readdir(entries)) {
        if (!std::string_view(entry->d_name).starts_with(start)) continue;
        const std::string path = fmt::format("{}/{}", *folder, entry->d_name);
        socket = connect_locally(LocalAddress::path(path));
        if (socket >= 0) break;
        if (errno == ECONNREFUSED) unlink(path.c_str());
    }
    closedir(entries);
    return socket;
}

Status no_process(const SharedKey& key) {
    return fail(code::invalid_handle, "no process {} of this user shares anything: it has ended, or the key is wrong",
                key.owner.process);
}

}  // namespace

Result<int> connect_to(const SharedKey& key) {
    int socket = connect_locally(LocalAddress::abstract(abstract_name(key.owner)));
    if (socket < 0) socket = connect_by_path(key);
    if (socket < 0) return no_process(key);
    PeerCredentials credentials;
    const bool known = peer_credentials(socket, credentials) && credentials.user == geteuid();
    const bool here = key.owner.name_space == this_process().name_space && key.strength == KeyStrength::full;
    if (known &&
        (!here || credentials.process == 0 || static_cast<std::uint32_t>(credentials.process) == key.owner.process))
        return socket;
    ::close(socket);
    return no_process(key);
}

}  // namespace canopy
