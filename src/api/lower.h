// SPDX-License-Identifier: Apache-2.0
// Shared by the functions of the lower interface (rt*, rts*): they check their pointers, call the corresponding
// function of the upper interface (acl*), and return runtime codes only. Any thread.
#pragma once

#include <initializer_list>

#include "api/api.h"
#include "runtime/rt_external_base.h"

namespace canopy {

// A required pointer and its name.
struct Needed {
    const void* pointer;
    const char* name;
};

inline Status check_needed(std::initializer_list<Needed> all) {
    for (const Needed& one : all)
        if (!one.pointer) [[unlikely]]
            return fail(code::param_invalid, "Argument {} must not be null", one.name);
    return {};
}

// Converts a code of the upper interface to the lower one.
constexpr int lowered(int number) noexcept {
    switch (number) {
        case code::bad_alloc:
            return code::memory_allocation;
        case code::internal:
            return code::runtime_internal;
        case code::feature_unsupported:
            return code::not_supported;
        default:
            break;
    }
    const int family = number / 1000;
    if (family == 100 || family == 148) return code::param_invalid;
    return number;
}

// The body of an entry point: `return lower({{stm, "stm"}}, [&] { return aclrtDestroyStream(stm); });`
template <class Body>
inline rtError_t lower(std::initializer_list<Needed> all, Body&& body) noexcept {
    return api([&]() -> Status {
        CANOPY_TRY(check_needed(all));
        return Status(lowered(body()));
    });
}

}  // namespace canopy
