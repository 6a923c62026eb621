// SPDX-License-Identifier: Apache-2.0
// Settings of the simulated machine, read from the environment once when the runtime is created. aclInit's JSON file
// can change the ones that may change before the first device is opened.
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

// The highest level of fusion allowed for a kernel.
enum class FusionLevel : std::uint8_t {
    off,     // every step waits for all earlier ones
    steps,   // steps wait only where they share memory
    chains,  // and run block by block where possible
    loops,   // and become compiled loops where possible
};

struct Settings {
    // CANOPY_DEVICE: soft, null, apart; or a list like "soft,apart": the kind of each device, the last one repeated.
    std::vector<std::string> kinds = {"soft"};
    std::uint32_t device_count = 4;  // CANOPY_DEVICE_COUNT
    const Chip* chip = nullptr;      // CANOPY_CHIP, by name; never null once read
    std::uint64_t memory = 0;        // CANOPY_DEVICE_MEMORY: bytes per device, with K/M/G/T
    std::uint32_t workers = 0;       // CANOPY_WORKERS: threads per device; 0: by machine
    bool checking = false;           // CANOPY_CHECK=1
    std::string checked;             // CANOPY_CHECK=race,memory: what launches are checked for; empty: nothing
    std::string check_options;
    std::uint32_t cpu_cores = 0;              // CANOPY_CPU_CORES: CPU cores per device; 0: as many as the chip has
    bool cpu_pinned = false;                  // CANOPY_CPU_PINNING=1: pins each CPU core to a processor
    bool cpu_isolated = false;                // CANOPY_CPU_KERNELS: thread, or process (a separate one)
    FusionLevel fusion = FusionLevel::loops;  // CANOPY_FUSION: off, steps, chains, loops
    bool fusion_checked = false;              // CANOPY_FUSION_CHECK=1: compares every fused launch with its steps
    bool quiet = false;                       // CANOPY_QUIET=1: nothing is printed on standard error
    std::uint64_t cache_size = 0;             // CANOPY_CACHE_SIZE: bytes of compiled code kept on disk
    std::string profile;                      // CANOPY_PROFILE: a file for the profile of the process; empty: none
    std::uint32_t profile_wanted = 0;         // CANOPY_PROFILE_WANT: what it holds, bits of record::Wanted
    bool black_box = false;                   // CANOPY_BLACKBOX=1: the last records survive a crash
    std::uint32_t stack_size = 0;             // bytes of a block's stack; 0: default
    std::uintptr_t place = 0;                 // where device addresses begin, if that is free; 0: anywhere
    std::vector<std::uint32_t> visible;       // physical device numbers after ASCEND_RT_VISIBLE_DEVICES
    std::vector<std::string> problems;        // messages about values that could not be understood
    // What set each value, by its key in the file ("chip"): the variable's name, "aclInit", or chosen_by_kernels.
    // Absent: the default.
    std::map<std::string, std::string, std::less<>> origins;

    [[nodiscard]] const std::string& kind_of(std::uint32_t device) const noexcept {
        return kinds[device < kinds.size() ? device : kinds.size() - 1];
    }
    // True if this process can address the memory of every device.
    [[nodiscard]] bool all_addressable() const noexcept;
};

// The "canopy" section of a configuration file; each value means the same as the variable of that name.
struct SettingsChange {
    std::optional<std::uint32_t> device_count;
    std::optional<std::string> chip;
    std::optional<std::uint64_t> memory;
    std::optional<std::uint32_t> workers;
    std::optional<bool> checking;
    std::optional<std::uintptr_t> place;  // not in files

    [[nodiscard]] bool empty() const noexcept {
        return !device_count && !chip && !memory && !workers && !checking && !place;
    }
};

Settings read_settings();

inline constexpr const char* chosen_by_kernels = "the program's kernels";
// The settings with the chip the program's kernels were compiled for, unless the user chose one; nullptr: the default
// chip.
Settings choose_chip(Settings settings, const Chip* chip);

// The settings with a change applied. Values must already be checked against the limits above.
Settings change_settings(Settings settings, const SettingsChange& change);

// The smallest memory a device can be given.
inline constexpr std::uint64_t smallest_memory = 64ull << 20;

// All settings, what set them and what could not be understood, as JSON; for the command line.
std::string describe_settings(const Settings& settings);

}  // namespace canopy
