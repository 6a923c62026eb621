// SPDX-License-Identifier: Apache-2.0
#include "base/complaint.h"

#include <fmt/core.h>

#include <cstdio>

namespace canopy_cc {

int complain(int status, std::string_view message) {
    fmt::print(stderr, "canopy-cc: error: {}\n", message);
    return status;
}

}  // namespace canopy_cc
