// SPDX-License-Identifier: Apache-2.0
// Made-up launches: what cores tell, and what a checker finds.
#pragma once

#include <canopy/kernel_check.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "check/launch_check.h"

namespace canopy::check {

// Keeps findings.
class KeptFindings : public FindingSink {
public:
    void add(Finding finding) override {
        const std::lock_guard lock(mutex_);
        findings.push_back(std::move(finding));
    }
    std::vector<Finding> findings;

private:
    std::mutex mutex_;
};

// "race.pipe RAW UB MTE2_V" for each finding, sorted.
inline std::vector<std::string> brief(const std::vector<Finding>& findings) {
    std::vector<std::string> texts;
    for (const Finding& finding : findings) {
        std::string text = finding.id;
        for (const std::string& word : {finding.kind, finding.memory, finding.missing})
            if (!word.empty()) text += " " + word;
        texts.push_back(text);
    }
    std::ranges::sort(texts);
    return texts;
}

// "race.pipe 10 11": the id of each finding and the lines of its places, sorted.
inline std::vector<std::string> with_lines(const std::vector<Finding>& findings) {
    std::vector<std::string> texts;
    for (const Finding& finding : findings) {
        std::string text = finding.id;
        for (const Place& place : finding.places) text += " " + std::to_string(place.line);
        texts.push_back(text);
    }
    std::ranges::sort(texts);
    return texts;
}

constexpr std::uint64_t ub_base = 0x10000000, l1_base = 0x20000000, l0a_base = 0x30000000, l0b_base = 0x38000000,
                        l0c_base = 0x40000000, global_base = 0x700000000000;

inline CanopyCheckSite at_line(std::uint32_t line, const char* operation = "Call") {
    return {operation, "kernel.cpp", line};
}

inline CanopyCheckAccess access_of(std::uint8_t kind, std::uint8_t memory, std::uint64_t address, std::uint64_t bytes,
                                   const char* operand = nullptr) {
    CanopyCheckAccess access{};
    access.address = reinterpret_cast<const void*>(address);
    access.bytes = bytes;
    access.pieces = access.repeats = 1;
    access.kind = kind;
    access.memory = memory;
    access.element = 1;
    access.operand = operand;
    return access;
}
inline CanopyCheckAccess reads(std::uint8_t memory, std::uint64_t address, std::uint64_t bytes) {
    return access_of(CANOPY_CHECK_READ, memory, address, bytes, "src");
}
inline CanopyCheckAccess writes(std::uint8_t memory, std::uint64_t address, std::uint64_t bytes) {
    return access_of(CANOPY_CHECK_WRITE, memory, address, bytes, "dst");
}
inline CanopyCheckAccess reads_ub(std::uint64_t offset, std::uint64_t bytes) {
    return reads(CANOPY_MEMORY_UB, ub_base + offset, bytes);
}
inline CanopyCheckAccess writes_ub(std::uint64_t offset, std::uint64_t bytes) {
    return writes(CANOPY_MEMORY_UB, ub_base + offset, bytes);
}
inline CanopyCheckAccess reads_gm(std::uint64_t offset, std::uint64_t bytes) {
    return reads(CANOPY_MEMORY_GLOBAL, global_base + offset, bytes);
}
inline CanopyCheckAccess writes_gm(std::uint64_t offset, std::uint64_t bytes) {
    return writes(CANOPY_MEMORY_GLOBAL, global_base + offset, bytes);
}

inline CoreFacts facts_of_core(std::uint32_t block, bool cube = false, std::uint32_t sub_index = 0) {
    CoreFacts facts;
    facts.block = block;
    facts.cube = cube;
    facts.sub_index = sub_index;
    // Cores have different memories at different addresses.
    const std::uint64_t place = (std::uint64_t{block} * 4 + (cube ? 0 : 1 + sub_index)) << 32;
    if (cube) {
        facts.memory[CANOPY_MEMORY_L1] = {place + l1_base, 512 * 1024};
        facts.memory[CANOPY_MEMORY_L0A] = {place + l0a_base, 64 * 1024};
        facts.memory[CANOPY_MEMORY_L0B] = {place + l0b_base, 64 * 1024};
        facts.memory[CANOPY_MEMORY_L0C] = {place + l0c_base, 128 * 1024};
    } else {
        facts.memory[CANOPY_MEMORY_UB] = {place + ub_base, 192 * 1024};
    }
    return facts;
}

// One core of a made-up launch.
class MadeUpCore {
public:
    explicit MadeUpCore(CoreCheck& core, const CoreFacts& facts) : core_(core), facts_(facts) {}

    CoreCheck& operator*() const { return core_; }
    // An instruction; addresses of its accesses in local memories are those of the first core.
    void does(std::uint8_t pipe, std::uint32_t line, std::vector<CanopyCheckAccess> accesses, std::uint32_t flags = 0,
              std::uint32_t m = 0, std::uint32_t n = 0, std::uint8_t unit_flag = 0) const {
        for (CanopyCheckAccess& access : accesses) move_to_core(access);
        CanopyCheckOperation operation{};
        operation.site = at_line(line);
        operation.pipe = pipe;
        operation.flags = flags;
        operation.m = m;
        operation.n = n;
        operation.unit_flag = unit_flag;
        operation.access_count = static_cast<std::uint32_t>(accesses.size());
        operation.accesses = accesses.data();
        core_.operation(operation);
    }
    // The same with what becomes of bytes that nobody has written (CanopyCheckFlow).
    void flows(std::uint8_t flow, std::uint8_t pipe, std::uint32_t line, std::vector<CanopyCheckAccess> accesses,
               std::uint32_t flags = 0) const {
        for (CanopyCheckAccess& access : accesses) move_to_core(access);
        CanopyCheckOperation operation{};
        operation.site = at_line(line);
        operation.pipe = pipe;
        operation.flow = flow;
        operation.flags = flags;
        operation.access_count = static_cast<std::uint32_t>(accesses.size());
        operation.accesses = accesses.data();
        core_.operation(operation);
    }
    void sets(std::uint32_t from, std::uint32_t to, std::int32_t id = 0, std::uint32_t line = 900) const {
        core_.flag(true, from, to, id, at_line(line, "SetFlag"));
    }
    void waits(std::uint32_t from, std::uint32_t to, std::int32_t id = 0, std::uint32_t line = 901) const {
        core_.flag(false, from, to, id, at_line(line, "WaitFlag"));
    }
    // A flag and its wait, one behind the other.
    void orders(std::uint32_t from, std::uint32_t to, std::int32_t id = 0) const {
        sets(from, to, id);
        waits(from, to, id);
    }
    void barrier(std::uint32_t pipe, std::uint32_t line = 902) const { core_.barrier(pipe, at_line(line)); }
    void sets_core_flag(std::uint32_t mode, std::uint32_t pipe, std::uint32_t id) const {
        core_.core_flag(true, mode, pipe, id, at_line(910, "CrossCoreSetFlag"));
    }
    void waits_core_flag(std::uint32_t mode, std::uint32_t id, std::uint32_t pipe = CANOPY_CHECK_S) const {
        core_.core_flag(false, mode, pipe, id, at_line(911, "CrossCoreWaitFlag"));
    }

private:
    void move_to_core(CanopyCheckAccess& access) const {
        if (access.memory == CANOPY_MEMORY_GLOBAL) return;
        const auto address = reinterpret_cast<std::uint64_t>(access.address);
        if (address >> 32 == 0)
            access.address = reinterpret_cast<const void*>(address + (facts_.memory[access.memory].base >> 32 << 32));
    }

    CoreCheck& core_;
    CoreFacts facts_;
};

class MadeUpLaunch {
public:
    explicit MadeUpLaunch(std::uint32_t blocks = 1, std::uint32_t architecture = 2201, CheckOptions options = {},
                          std::uint32_t vector_cores = 1, std::uint32_t cube_cores = 0) {
        facts.kernel = "kernel";
        facts.architecture = architecture;
        facts.blocks = blocks;
        facts.vector_cores = vector_cores;
        facts.cube_cores = cube_cores;
        facts.mix = cube_cores != 0;
        options_ = options;
    }

    // Before the first core: what else is known of the launch.
    LaunchFacts facts;

    MadeUpCore core(std::uint32_t block = 0, bool cube = false, std::uint32_t sub_index = 0) {
        if (check == nullptr) check = make_launch_check(facts, options_, sink);
        const CoreFacts core_facts = facts_of_core(block, cube, sub_index);
        CoreCheck& made = check->core(core_facts);
        cores.push_back(&made);
        return MadeUpCore(made, core_facts);
    }
    MadeUpCore cube(std::uint32_t block = 0) { return core(block, true); }

    // The cores wait for their pipes before they end, as kernels should.
    std::vector<std::string> end(bool waits = true) {
        for (CoreCheck* each : cores) {
            if (waits) each->barrier(CANOPY_CHECK_ALL, at_line(990));
            each->end(true);
        }
        touched = check->end();
        return brief(sink.findings);
    }

    KeptFindings sink;
    std::unique_ptr<LaunchCheck> check;
    std::vector<CoreCheck*> cores;
    std::vector<TouchedRange> touched;

private:
    CheckOptions options_;
};

using Found = std::vector<std::string>;

inline CheckOptions only(bool Classes::*wanted) {
    CheckOptions options;
    options.classes = {.race = false, .cache = false, .memory = false, .init = false, .sync = false, .host = false};
    options.classes.*wanted = true;
    return options;
}
inline CheckOptions only_races() { return only(&Classes::race); }

}  // namespace canopy::check
