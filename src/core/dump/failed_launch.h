// SPDX-License-Identifier: Apache-2.0
// A launch that failed, as the writers of dumps see it: its arguments, and the memory they point at. Values; made on
// the thread that ran the launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/dump/dump_output.h"
#include "core/dump/kernel_arguments.h"
#include "core/dump/launch_dump.h"
#include "core/stream/stream.h"
#include "device/device.h"
#include "dump/dump_format.h"

namespace canopy {

// An allocation that the arguments point into.
struct FailedMemory {
    DeviceRange range;
    std::uint32_t argument_index = 0;  // of the first such argument
    std::uint64_t offset = 0;          // of its address in the allocation
    std::int32_t data_type = 0;
    DumpSource source;  // its contents: the memory itself, or a copy made before the launch
};

struct FailedLaunch {
    const Stream& stream;
    const TaskFailure& failure;
    int code = 0;
    std::string text;                  // of the whole message
    const KernelInfo& kernel;          // that was launched; not the step
    std::vector<std::byte> arguments;  // empty if they cannot be read
    std::vector<FailedMemory> memories;
    std::shared_ptr<const KeptMemories> kept;

    FailedLaunch(const Stream& of, const TaskFailure& failed, int with_code);
};

// The allocation as an input of a dump file: all of it, with one dimension.
dump::Tensor tensor_of(const FailedMemory& memory);
std::string hexadecimal(std::span<const std::byte> bytes);

// Writes the folder with which the block can be run again.
void write_replay_folder(const FailedLaunch& launch, const std::string& parent);

}  // namespace canopy
