// SPDX-License-Identifier: Apache-2.0
// Arguments of the calls that share objects between processes: keys and lists of processes.
#pragma once

#include <acl/acl_rt.h>

#include <cstring>
#include <string>
#include <string_view>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/share/key.h"

namespace canopy {

// Nothing behind the zero of a key matters, and no more is read than the longest key.
inline std::string_view key_text(const char* key) noexcept { return {key, strnlen(key, SharedKey::text_size + 1)}; }

inline Status check_key_room(std::size_t length) {
    if (length > SharedKey::text_size) return {};
    return fail(code::param_invalid, "len {} is less than the {} bytes of a key", length, SharedKey::text_size + 1);
}

inline void write_key(char* key, const std::string& text) noexcept { std::memcpy(key, text.c_str(), text.size() + 1); }

inline Status check_count(std::size_t count) {
    if (static_cast<std::ptrdiff_t>(count) > 0) return {};
    return fail(code::param_invalid, "num {} is not a positive number", static_cast<std::ptrdiff_t>(count));
}

inline Status check_servers(const aclrtServerPid* servers, std::size_t count) {
    if (servers && count != 0) return {};
    return fail(code::param_invalid, "serverPids must not be null and num not 0");
}

}  // namespace canopy
