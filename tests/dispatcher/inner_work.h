// SPDX-License-Identifier: Apache-2.0
// Requests of the tests to an inner runtime. The pointer at offset 40 is part of the layout that other projects use.
#pragma once

#include <cstdint>

struct InnerWork {
    enum Kind : std::uint64_t {
        add = 0,       // adds 10 * value + variant to *to
        fail = 1,      // returns value
        hold = 2,      // writes the variant to to[0], waits for *gate, writes it to to[1]
        meet = 3,      // counts in to[variant] and waits for `value` blocks: all blocks must be in the same code
        count = 4,     // *to = how often this runtime has counted since it was loaded
        settings = 5,  // *to = the value passed to init
        crash = 6,     // traps; with several blocks only the first one traps, the others never end
        stay = 7,      // never ends
    };
    std::uint64_t kind = add;
    std::uint64_t* to = nullptr;
    std::uint64_t value = 0;
    std::uint64_t* gate = nullptr;
    std::uint64_t unused = 0;
    void* device_arguments = nullptr;
};
static_assert(sizeof(InnerWork) == 48);
