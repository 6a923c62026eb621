// SPDX-License-Identifier: Apache-2.0
// The body of every function that is declared but not implemented yet. Called by generated code only.
#pragma once

namespace canopy {

// Sets an error message that names the function; returns 207000.
int not_implemented(const char* function) noexcept;

}  // namespace canopy
