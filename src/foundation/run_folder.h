// SPDX-License-Identifier: Apache-2.0
// The folder in which a user's processes leave small files for each other while they run: $XDG_RUNTIME_DIR/canopy, else
// /tmp/canopy-<user number>. It belongs to the user and nobody else can look into it. Any thread.
#pragma once

#include <string>

#include "foundation/problem.h"

namespace canopy {

// Its path, whether it exists or not.
std::string run_folder_path();
// Creates the folder if it is missing. A problem if it is not a folder of this user alone; the caller then goes on
// without its file.
Expected<std::string> run_folder();

}  // namespace canopy
