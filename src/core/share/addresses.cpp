// SPDX-License-Identifier: Apache-2.0
#include "core/share/addresses.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

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

namespace {

// Held while sockets in the folder are made or removed: one that is bound and does not listen yet refuses, too. It ends
// with its process.
class FolderLock {
public:
    explicit FolderLock(std::string_view folder)
        : descriptor_(::open(std::string(folder).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        while (descriptor_ >= 0 && ::flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) continue;
    }
    ~FolderLock() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    const int descriptor_;
};

// The paths in the folder that begin so.
std::vector<std::string> paths_in(std::string_view folder, std::string_view start) {
    std::vector<std::string> paths;
    DIR* entries = opendir(std::string(folder).c_str());
    if (entries == nullptr) return paths;
    while (const dirent* entry = readdir(entries))
        if (std::string_view(entry->d_name).starts_with(start))
            paths.push_back(fmt::format("{}/{}", folder, entry->d_name));
    closedir(entries);
    return paths;
}

void remove_refused(const std::string& path) noexcept {
    if (refuses_locally(LocalAddress::path(path))) unlink(path.c_str());
}

}  // namespace

int listen_at_path(std::string_view folder, const std::string& path) {
    const FolderLock lock(folder);
    for (const std::string& left : paths_in(folder, fmt::format("canopy-{}-", geteuid()))) remove_refused(left);
    return listen_locally(LocalAddress::path(path));
}

namespace {

// A process in another container: its socket has a path.
int connect_by_path(const SharedKey& key) {
    const auto folder = environment_variable("CANOPY_RUN_DIR");
    if (!folder) return -1;
    const std::vector<std::string> paths = key.strength == KeyStrength::full
                                               ? std::vector{path_name(*folder, key.owner)}
                                               : paths_in(*folder, path_start(key.owner.process));
    for (const std::string& path : paths) {
        const int socket = connect_locally(LocalAddress::path(path));
        if (socket >= 0) return socket;
        if (errno != ECONNREFUSED) continue;
        const FolderLock lock(*folder);
        remove_refused(path);
    }
    return -1;
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
