// SPDX-License-Identifier: Apache-2.0
// A shared object that cannot be loaded: nobody defines what it calls.
#include <cstdint>

extern "C" std::uint32_t function_that_nobody_defines(void*);
extern "C" std::uint32_t empty(void* arguments) { return function_that_nobody_defines(arguments); }
