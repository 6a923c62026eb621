// SPDX-License-Identifier: Apache-2.0
// aclInit and aclFinalize: the configuration file, the reference count, and the callbacks for both. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace canopy {

// path: null or empty means no file. 100002 if already initialised (the call still counts a reference).
Status initialise(const char* path);
// Ends all initialisations at once. 100037 if there is none.
Status finalise();
// Ends one initialisation; `remaining` receives how many are left. The last one finalises.
Status finalise_reference(std::uint64_t* remaining);
[[nodiscard]] bool is_initialised() noexcept;

// Callbacks of aclInit (called with the configuration text; immediately if already initialised) and of aclFinalize. A
// function is registered once per kind: registering it again replaces its user data. Removing one that is not
// registered returns 100000.
using InitialiseFunction = int (*)(const char* text, std::size_t length, void* user_data);
using FinaliseFunction = int (*)(void* user_data);
Status register_initialise_callback(std::int32_t kind, InitialiseFunction function, void* user_data);
Status unregister_initialise_callback(std::int32_t kind, InitialiseFunction function);
Status register_finalise_callback(std::int32_t kind, FinaliseFunction function, void* user_data);
Status unregister_finalise_callback(std::int32_t kind, FinaliseFunction function);

}  // namespace canopy
