// SPDX-License-Identifier: Apache-2.0
// A shared object that cannot be loaded: it calls a function that is defined nowhere.
#include <cstdint>

extern "C" std::uint32_t function_that_nobody_defines(void*);
extern "C" std::uint32_t write_value(void* arguments) { return function_that_nobody_defines(arguments); }
