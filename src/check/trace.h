// SPDX-License-Identifier: Apache-2.0
// What kernels tell, written to a file, so that launches can be checked again without their kernels. Text, a line an
// event. Every line begins with the number of its launch; those of cores continue with the number of the core:
//
//     1 launch NAME architecture blocks vector_cores cube_cores mix autosync cores_of_chip
//     1 core 0 block sub_index cube base:size...           a pair for each CanopyMemory
//     1 0 operation pipe flow unit_flag flags m n k accesses LINE NAME
//     1 0 access kind memory atomic element element_type whole_register address bytes step pieces repeat_step repeats
//               tensor tensor_bytes lanes_per_bit [lanes lanes]
//     1 0 flag set from to id LINE                          and so on, fields in the order of canopy/kernel_check.h
//     1 0 end complete
//
// The accesses of an operation follow it. Addresses are hexadecimal.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "check/core_check.h"
#include "foundation/mutex.h"
#include "foundation/problem.h"

namespace canopy::check {

// Any thread.
class TraceFile {
public:
    // nullptr: the file cannot be written, and `problem` says why.
    static std::shared_ptr<TraceFile> create(const std::string& path, Problem& problem);
    ~TraceFile();
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

    [[nodiscard]] std::uint64_t next_launch() noexcept;
    // Whole lines.
    void write(const std::string& text) noexcept;
    void flush() noexcept;

private:
    explicit TraceFile(std::FILE* file) : file_(file) {}

    Mutex mutex_;
    std::FILE* const file_;
    std::uint64_t launches_ CANOPY_GUARDED_BY(mutex_) = 0;
};

// Passes everything on to `check`, and writes it to the file.
std::unique_ptr<LaunchCheck> traced(std::unique_ptr<LaunchCheck> check, const LaunchFacts& facts,
                                    std::shared_ptr<TraceFile> file);

}  // namespace canopy::check
