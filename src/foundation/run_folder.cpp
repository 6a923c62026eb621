// SPDX-License-Identifier: Apache-2.0
#include "foundation/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace canopy {

std::string run_folder_path() {
    const char* place = std::getenv("XDG_RUNTIME_DIR");
    if (place != nullptr && *place == '/') return join({place, "/canopy"});
    return join({"/tmp/canopy-", geteuid()});
}

Expected<std::string> run_folder() {
    std::string path = run_folder_path();
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return Problem{"cannot create the folder ", path, ": ", std::strerror(errno)};
    // In /tmp anybody could have made it, also as a link to somewhere else.
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) return Problem{"cannot read ", path, ": ", std::strerror(errno)};
    if (!S_ISDIR(found.st_mode)) return Problem{path, " is not a folder"};
    if (found.st_uid != geteuid()) return Problem{path, " belongs to another user"};
    if ((found.st_mode & 0077) != 0) return Problem{path, " is open to other users"};
    return path;
}

}  // namespace canopy
