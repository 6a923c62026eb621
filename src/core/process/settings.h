// SPDX-License-Identifier: Apache-2.0
// What the environment says about the machine to simulate, read once when the runtime is made. The JSON file of
// aclInit can change the parts that are allowed to change before the first device is opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <canopy/chips.h>

namespace canopy {

inline constexpr std::uint32_t max_devices = 64;
inline constexpr std::uint32_t max_workers = 1024;
inline constexpr std::uint32_t max_cpu_cores = 256;

// The highest form a fused kernel may take.
enum class FusionLevel : std::uint8_t {
    off,     // every step waits for those before it
    steps,   // steps wait where they share memory
    chains,  // and run block by block where they can
    loops,   // and become compiled loops where they can
};

struct Settings {
    std::string backend = "soft";             // CANOPY_DEVICE: soft, null
    std::uint32_t device_count = 4;           // CANOPY_DEVICE_COUNT
    const Chip* chip = nullptr;               // CANOPY_CHIP, by name; never null once read
    std::uint64_t memory = 0;                 // CANOPY_DEVICE_MEMORY: bytes of one device, with K/M/G/T
    std::uint32_t workers = 0;                // CANOPY_WORKERS: threads of one device; 0: by machine
    bool checking = false;                    // CANOPY_CHECK=1
    std::uint32_t cpu_cores = 0;              // CANOPY_CPU_CORES: CPU cores of one device; 0: as many as the chip has
    bool cpu_pinned = false;                  // CANOPY_CPU_PINNING=1: each to one processor
    bool cpu_isolated = false;                // CANOPY_CPU_KERNELS: thread, or process: CPU kernels in one of their own
    FusionLevel fusion = FusionLevel::loops;  // CANOPY_FUSION: off, steps, chains, loops
    bool fusion_checked = false;              // CANOPY_FUSION_CHECK=1: every fused launch is compared with its steps
    bool quiet = false;                       // CANOPY_QUIET=1: nothing is said on the standard error
    std::uint64_t cache_size = 0;             // CANOPY_CACHE_SIZE: bytes of compiled code that are kept on disk
    std::uint32_t stack_size = 0;             // bytes of a block's stack; 0: default
    std::vector<std::uint32_t> visible;       // ASCEND_RT_VISIBLE_DEVICES applied: physical number of each device
    std::vector<std::string> problems;        // what could not be understood, in words
    // Who chose a value, by the name of its key in the file ("chip"): the variable, "aclInit", or chosen_by_kernels.
    // Absent: the default.
    std::map<std::string, std::string, std::less<>> origins;
};

// What the section "canopy" of a configuration file may say; each value means the same as the variable of its name.
struct SettingsChange {
    std::optional<std::uint32_t> device_count;
    std::optional<std::string> chip;
    std::optional<std::uint64_t> memory;
    std::optional<std::uint32_t> workers;
    std::optional<bool> checking;

    [[nodiscard]] bool empty() const noexcept { return !device_count && !chip && !memory && !workers && !checking; }
};

Settings read_settings();

// Where compiled code is kept, and how many bytes of it. Read from the environment each time: programs may choose
// another folder while they run.
struct CacheSettings {
    std::string folder;      // CANOPY_CACHE_DIR, else canopy in XDG_CACHE_HOME, else in ~/.cache; empty: none
    std::uint64_t size = 0;  // CANOPY_CACHE_SIZE; 0: nothing is kept
};
CacheSettings cache_settings();

inline constexpr const char* chosen_by_kernels = "the program's kernels";
// The settings with the chip that the kernels of the program were compiled for, unless a person chose one; nullptr: the
// default chip.
Settings choose_chip(Settings settings, const Chip* chip);

// The settings with a change applied. Values must have been checked against the limits above.
Settings change_settings(Settings settings, const SettingsChange& change);

// "512M", "2G", "4096": bytes. Empty when it is no size.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;
// The smallest memory a device can be given.
inline constexpr std::uint64_t smallest_memory = 64ull << 20;

// What everything is set to, who chose it and what could not be understood, as JSON; for the command line.
std::string describe_settings(const Settings& settings);

}  // namespace canopy
