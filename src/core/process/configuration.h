// SPDX-License-Identifier: Apache-2.0
// What aclInit and aclFinalize do: the JSON file, the count of initialisations, and the callbacks that follow both.
// All functions from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/process/settings.h"

namespace canopy {

// What a configuration file says. An absent value means the default of the runtime.
struct Configuration {
    std::optional<std::int32_t> default_device;
    bool process_wide_error_text = false;
    std::optional<std::uint32_t> operator_queue_limit;
    std::optional<std::uint64_t> aicore_stack_size;
    std::optional<std::uint64_t> simt_stack_size;
    std::optional<std::uint64_t> simt_divergence_stack_size;
    std::optional<std::uint64_t> simt_printf_fifo_size;
    std::optional<std::uint64_t> simd_printf_fifo_size_per_core;
    bool dump = false;        // the file has a dump section that is not empty
    bool profiler = false;    // the file has a profiler section that is switched on
    SettingsChange settings;  // the section "canopy"
    std::string normalised;   // the whole text without blanks and in one order, for comparison; "{}" without a file
};

// Reads the text of a configuration file (configuration_parse.cpp).
// 100006 when it is no JSON object or nested deeper than 10; when a value is not allowed: 100009 in the dump section,
// 100010 in the profiler section, 148048 for max_opqueue_num, 100000 elsewhere.
Result<Configuration> parse_configuration(std::string_view text);

// path: null or empty means no file. 100002 when initialised before (and the reference is counted).
Status initialise(const char* path);
// Ends all initialisations at once. 100037 when there is none.
Status finalise();
// Ends one initialisation; `remaining` gets how many are left. The last one finalises.
Status finalise_reference(std::uint64_t* remaining);
[[nodiscard]] bool is_initialised() noexcept;

// The device that threads use which set none; empty when the configuration names none.
[[nodiscard]] std::optional<std::int32_t> configured_default_device() noexcept;
// True when aclInit's file set up a dump.
[[nodiscard]] bool configured_dump() noexcept;

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
