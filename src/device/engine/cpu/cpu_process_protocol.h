// SPDX-License-Identifier: Apache-2.0
// The messages between a device and the process that runs its CPU kernels, over a socket that keeps message boundaries.
// Both sides come from the same build, so layouts may change. `map` and `load` carry a file descriptor.
#pragma once

#include <cstdint>

namespace canopy::cpu_process {

enum class Ask : std::uint32_t {
    map,     // map the file at `address`, `size` bytes from `file_offset` on
    unmap,   // undo that; not answered
    load,    // open the shared object in the file as image number `image`
    unload,  // close that image
    launch,  // run the function `symbol` of that image with the arguments at `address`
};

struct Request {
    Ask ask;
    std::uint32_t blocks;
    std::uint32_t offset;  // number of the first block
    std::uint32_t with_block;
    std::uint64_t number;  // of the launch, or of the request; the reply repeats it
    std::uint64_t image;
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t file_offset;
    std::uint64_t asleep;  // of a launch: device memory that counts its blocks that wait in the runtime; 0: none
    char symbol[512];
};

enum class Tell : std::uint32_t {
    answered,  // map, load: failed unless `text` is empty
    ended,     // a launch: all blocks have returned; `result` is that of the first one that returned non-zero
    threw,     // the same, but a block threw an exception
    missing,   // a launch: its function was not found
    fault,     // a block received `signal`; the process ends
};

struct Reply {
    Tell tell;
    std::uint32_t block;
    std::uint32_t result;
    std::int32_t signal;
    std::uint64_t number;
    std::uint64_t address;
    char text[256];
};

}  // namespace canopy::cpu_process
