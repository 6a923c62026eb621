// SPDX-License-Identifier: Apache-2.0
// Where the socket of a process is found: under an abstract name, and with CANOPY_RUN_DIR also at a path, for processes
// of other network namespaces. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/share/key.h"

namespace canopy {

// The path of the socket of a process in that folder.
std::string path_name(std::string_view folder, const ProcessId& id);
// Sockets that accept connections to this process; -1 and errno if there is none.
int listen_for(const ProcessId& id);
// Also removes what processes that were killed have left in the folder.
int listen_at_path(std::string_view folder, const std::string& path);
// A connection to the owner of a key, which belongs to the same user. 107017 if there is none.
Result<int> connect_to(const SharedKey& key);

}  // namespace canopy
