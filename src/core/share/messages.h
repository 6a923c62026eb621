// SPDX-License-Identifier: Apache-2.0
// What processes say to each other's porter. One message is one question or one answer; bytes of the object follow the
// head. The first three fields keep their place for ever, so that two versions can tell that they differ.
#pragma once

#include <cstdint>

#include "core/share/key.h"

namespace canopy {

inline constexpr std::uint32_t message_magic = 0x59504e43;  // "CNPY"
inline constexpr std::uint32_t message_version = 1;

struct MessageHead {
    std::uint32_t magic = message_magic;
    std::uint32_t version = message_version;
    char library[32] = CANOPY_VERSION;  // zero-terminated

    ProcessId from;
    std::uint32_t operation = 0;
    std::int32_t code = 0;         // of an answer
    std::uint32_t unanswered = 0;  // 1: nobody waits for an answer
    std::uint32_t number = 0;      // of the object
    std::uint64_t random = 0;
    ProcessId owner;
    std::uint8_t kind = 0;
    std::uint8_t strength = 0;
    std::uint8_t unused[6] = {};
};
static_assert(sizeof(MessageHead) == 40 + 24 + 24 + 24 + 8);

}  // namespace canopy
