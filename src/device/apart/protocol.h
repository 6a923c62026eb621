// SPDX-License-Identifier: Apache-2.0
// The messages between a device of kind apart and the process that runs its kernels, over a socket that keeps message
// boundaries. Both sides come from the same library file, so layouts may change. A message may be followed by bytes and
// may carry a file descriptor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/driver.h"

namespace canopy::apart {

inline constexpr std::size_t most_bytes = 64 * 1024;  // after a message
// Stands for the description of a faulting address in the text of a failure: only the program knows its allocations.
inline constexpr char described_by_owner = '\x01';

enum class Ask : std::uint32_t {
    open,    // open the device: `text` is the chip; map its memory file at `address`, `size` bytes
    map,     // map a file at `address`, `size` bytes from `offset` on
    unmap,   // undo that
    load,    // load the image in the file, `size` bytes, as code number `code`
    unload,  // unload it
    symbol,  // look up the symbol `text` of that code
    read,    // answer with `size` bytes at `address`
    write,   // write the bytes that follow to `address`
    launch,  // run kernel number `kernel` of the code on lane `lane`; answered when it has ended
    stop,    // end launch `number` soon; not answered
    close,   // forget the lane; not answered
};

struct Request {
    Ask ask = Ask::open;
    std::uint32_t lane = 0;
    std::uint64_t number = 0;  // of the answer
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
    std::uint64_t code = 0;
    std::uint64_t timeout = 0;
    std::uint32_t kernel = 0;
    std::uint32_t blocks = 0;
    std::uint32_t block_offset = 0;
    std::uint32_t dynamic_size = 0;
    std::uint32_t arguments_size = 0;
    std::uint32_t priority = 0;
    std::uint32_t workers = 0;
    std::uint32_t stack_size = 0;
    bool batch = false;
    char text[256] = {};
};

enum class Tell : std::uint32_t {
    answered,  // anything but a launch; failed if `code` is not 0, `text` says why
    ended,     // a launch; failed if `fault` is not none
    print,     // the bytes that follow are for standard output
};

struct Reply {
    Tell tell = Tell::answered;
    std::int32_t code = 0;
    std::uint64_t number = 0;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t thread = 0;
    FaultKind fault = FaultKind::none;
    std::uint32_t block = 0;
    char text[1024] = {};
};

}  // namespace canopy::apart
