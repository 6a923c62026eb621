// SPDX-License-Identifier: Apache-2.0
// aclInit and aclFinalize: the file, the count of initialisations, and the callbacks that follow both.
// All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace canopy {

// path: null or empty means no file. 100002 when initialised before (and the reference is counted).
Status initialise(const char* path);
// Ends all initialisations at once. 100037 when there is none.
Status finalise();
// Ends one initialisation; `remaining` gets how many are left. The last one finalises.
Status finalise_reference(std::uint64_t* remaining);
[[nodiscard]] bool is_initialised() noexcept;

// Callbacks of aclInit (called with the text of the configuration; at once when initialised already) and of
// aclFinalize. A function is there once per kind: registering it again replaces its user data. Taking out one that is
// not there gives 100000.
using InitialiseFunction = int (*)(const char* text, std::size_t length, void* user_data);
using FinaliseFunction = int (*)(void* user_data);
Status register_initialise_callback(std::int32_t kind, InitialiseFunction function, void* user_data);
Status unregister_initialise_callback(std::int32_t kind, InitialiseFunction function);
Status register_finalise_callback(std::int32_t kind, FinaliseFunction function, void* user_data);
Status unregister_finalise_callback(std::int32_t kind, FinaliseFunction function);

}  // namespace canopy
