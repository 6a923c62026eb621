// SPDX-License-Identifier: Apache-2.0
// Lists of steps: what a fused kernel is made of, before anybody has decided what waits for what. Images carry them
// (include/canopy/kernel_image.h has the format), and core makes them from the tasks of a graph. Core turns a list and
// the arguments of a launch into a plan (src/core/fusion/fusion.h).
//
// Threads: values without hidden state.
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
#include "device/backend.h"

namespace canopy {

// A kernel by where it is found: in which part of an image, by which name. `kernel` and `module` are there once it is
// loaded.
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

// Which kernel runs, and on how many blocks, is read from memory when the step is reached.
struct DynamicStep {
    std::uint32_t key_slot = no_slot;
    std::uint32_t blocks_slot = no_slot;
    std::uint32_t wait_slot = no_slot;  // its word is 1 when the others may be read
    std::vector<ListChoice> choices;    // ordered by key
};

struct ListStep {
    std::uint32_t number = 0;  // its place in the list the user gave
    ListedKernelName kernel;
    std::uint32_t blocks = 1;
    std::uint32_t dynamic_size = 0;
    std::uint64_t timeout = 0;
    std::int32_t stream = 0;
    std::uint32_t slot = 0;  // where its own argument block begins in the fused one
    std::uint32_t slots = 0;
    // Addresses it reads and writes. Empty optionals: nothing is known.
    std::optional<std::vector<std::uint32_t>> inputs, outputs;
    std::vector<std::uint32_t> after;  // earlier steps that must be complete, by streams and events
    std::vector<std::uint32_t> wait_slots, notify_slots, reset_slots;
    std::optional<DynamicStep> dynamic;
};

struct FusedList {
    std::string name;
    std::uint32_t blocks = 1;
    std::uint32_t slots = 0;
    std::map<std::string, std::string, std::less<>> options;
    std::vector<ListStep> steps;
    std::vector<std::uint32_t> temporaries;  // slots: nothing reads what the steps leave there
    std::uint32_t profile_slot = no_slot;    // of a buffer for the times of steps, in front of a number

    [[nodiscard]] bool option(std::string_view name) const {
        const auto found = options.find(name);
        return found != options.end() && found->second == "1";
    }
    [[nodiscard]] Preload preload() const {
        const auto found = options.find("preload-code");
        if (found == options.end() || found->second == "none") return Preload::none;
        return found->second == "max" ? Preload::all : Preload::next_step;
    }
    // Every step waits for the whole of those that streams and events put in front of it.
    [[nodiscard]] bool in_full_order() const {
        const auto early_start = options.find("early-start");
        return option("debug-sync-all") || (early_start != options.end() && early_start->second == "0");
    }
};

// A kernel of an image that is a list. It is never launched itself: core makes fused kernels of it and keeps them with
// it.
struct ListKernel : Kernel {
    KernelInfo own_info;
    FusedList list;
    mutable std::shared_ptr<void> made;         // core's; guarded by core
    mutable std::atomic<void*> known{nullptr};  // the same, once it is there
};

// Reads the JSON of a FUSION note. 107000 and the reason when it is damaged.
Result<std::vector<FusedList>> read_fused_lists(std::string_view json, std::size_t parts);

}  // namespace canopy
