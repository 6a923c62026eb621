// SPDX-License-Identifier: Apache-2.0
// Running a block of a failed launch again, from the folder that CANOPY_DUMP_EXCEPTION left: with the same image,
// arguments and memory at the same addresses, in a process that has done nothing else. The folder holds
//
//     replay.json   the kernel, the launch, the device, the failure
//     image         the program's kernel image
//     memory        a dump file with the allocations that the arguments point at
//
// One call in a process.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace canopy {

inline constexpr std::int64_t failed_block = -1, all_blocks = -2;

struct ReplayOutcome {
    bool place_taken = false;  // the addresses are not free in this process; nothing has run
    std::string kernel;
    std::uint32_t block = 0;
    std::uint32_t blocks = 0;
    std::string recorded;       // the message of the failure
    std::string recorded_what;  // its last clause, which does not name the task
    int code = 0;               // of the replay; 0: it did not fail
    std::string message;
    std::string memory;  // when the contents were taken, and what is missing
};

// 107000 if the folder is no complete dump of a failure, 207000 if its block cannot run again.
Result<ReplayOutcome> replay(const std::string& folder, std::int64_t block);

}  // namespace canopy
