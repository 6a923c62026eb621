// SPDX-License-Identifier: Apache-2.0
// What a device and the process that runs its CPU kernels say to each other, over a socket that keeps messages whole.
// Both sides are of one build: layouts need not last. File descriptors travel beside `map` and `load`.
#pragma once

#include <cstdint>

namespace canopy::cpu_process {

enum class Ask : std::uint32_t {
    map,     // show the file of device memory at `address`, `size` bytes
    load,    // open the shared object in the file as image number `image`
    unload,  // close that image
    launch,  // run the function `symbol` of that image with the arguments at `address`
};

struct Request {
    Ask ask;
    std::uint32_t blocks;
    std::uint32_t offset;  // number of the first block
    std::uint32_t with_block;
    std::uint64_t number;  // of the launch, or of the request that is answered
    std::uint64_t image;
    std::uint64_t address;
    std::uint64_t size;
    char symbol[512];
};

enum class Tell : std::uint32_t {
    answered,  // map, load: failed unless `text` is empty
    ended,     // a launch: all blocks have returned; `result` of the first that was not 0
    threw,     // the same, and a block ended by an exception
    missing,   // a launch: its function is not there
    fault,     // a block has hit signal `signal`: the process ends
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
