// SPDX-License-Identifier: Apache-2.0
// Lists of steps: the contents of a fused kernel before it is decided which steps wait for which. Images carry them
// (format: include/canopy/kernel_image.h), and core makes them from the tasks of a graph. Core turns a list and the
// arguments of a launch into a plan (src/core/fusion/fusion.h).
//
// Threads: plain values, no shared state.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"

namespace canopy {

// A kernel identified by its name and its part of the image. `kernel` and `module` are set once it is loaded.
struct ListedKernelName {
    std::uint32_t part = 0;
    std::string name;
    const Kernel* kernel = nullptr;
    Module* module = nullptr;
};

struct ListChoice {
    std::uint64_t key = 0;
    ListedKernelName kernel;
};

// The kernel to run and its number of blocks are read from memory when the step is reached.
struct DynamicStep {
    std::uint32_t key_slot = no_slot;
    std::uint32_t blocks_slot = no_slot;
    std::uint32_t wait_slot = no_slot;  // its word is 1 once the others may be read
    std::vector<ListChoice> choices;    // ordered by key
};

struct ListStep {
    std::uint32_t number = 0;  // its index in the user's list
    ListedKernelName kernel;
    std::uint32_t blocks = 1;
    std::uint32_t dynamic_size = 0;
    std::uint64_t timeout = 0;
    std::int32_t stream = 0;
    std::uint32_t slot = 0;  // where its own argument block begins in the fused one
    std::uint32_t slots = 0;
    // Slots of the addresses it reads and writes. Empty optionals: unknown.
    std::optional<std::vector<std::uint32_t>> inputs, outputs;
    std::vector<std::uint32_t> after;  // earlier steps that streams and events order before it
    std::vector<std::uint32_t> wait_slots, notify_slots, reset_slots;
    std::optional<DynamicStep> dynamic;
};

struct FusedList {
    std::string name;
    std::uint32_t blocks = 1;
    std::uint32_t slots = 0;
    std::map<std::string, std::string, std::less<>> options;
    std::vector<ListStep> steps;
    std::vector<std::uint32_t> temporaries;  // slots of memory that nothing reads after the steps
    std::uint32_t profile_slot = no_slot;    // of a buffer for step times; the next slot holds a number

    [[nodiscard]] bool option(std::string_view name) const {
        const auto found = options.find(name);
        return found != options.end() && found->second == "1";
    }
    [[nodiscard]] Preload preload() const {
        const auto found = options.find("preload-code");
        if (found == options.end() || found->second == "none") return Preload::none;
        return found->second == "max" ? Preload::all : Preload::next_step;
    }
    // Every step waits until all steps that streams and events order before it are complete.
    [[nodiscard]] bool in_full_order() const {
        const auto early_start = options.find("early-start");
        return option("debug-sync-all") || (early_start != options.end() && early_start->second == "0");
    }
};

// A kernel of an image that is a list of steps. Never launched itself: core builds fused kernels from it and stores
// them here.
struct ListKernel : Kernel {
    KernelInfo own_info;
    FusedList list;
    mutable std::shared_ptr<void> made;         // core's; guarded by core
    mutable std::atomic<void*> known{nullptr};  // `made` as a plain pointer, once it is set
};

// Reads the JSON of a FUSION note. Fails with 107000 and the reason if it is damaged.
Result<std::vector<FusedList>> read_fused_lists(std::string_view json, std::size_t parts);

}  // namespace canopy
