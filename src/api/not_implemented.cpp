// SPDX-License-Identifier: Apache-2.0
#include "api/not_implemented.h"

#include "api/api.h"

namespace canopy {

int not_implemented(const char* function) noexcept {
    return api([&]() -> Status { return fail(code::not_supported, "{} is not implemented yet", function); });
}

}  // namespace canopy
