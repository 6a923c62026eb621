// SPDX-License-Identifier: Apache-2.0
// Callbacks for the creation and destruction of streams. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

// Values of aclrtStreamState.
enum class StreamStage : std::int32_t { created = 1, destroying = 2 };
using StreamStateFunction = void (*)(void* stream, std::int32_t stage, void* argument);

// A null function removes the name; a name that is already registered is refused with 107000.
Status register_stream_state_callback(std::string_view name, StreamStateFunction function, void* argument);
void notify_stream_state(Handle stream, StreamStage stage) noexcept;

}  // namespace canopy
