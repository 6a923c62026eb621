// SPDX-License-Identifier: Apache-2.0
// What checked launches need to know about the code of an image beside its kernels.
//
// Threads: any.
#pragma once

#include <canopy/kernel_check.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foundation/mutex.h"

namespace canopy {

class CheckingCode {
public:
    std::string missing;   // why the loaded code tells a checker nothing, as a clause; empty: it does
    bool autosync = true;  // compiled for automatic synchronisation

    // Where its code is: an object file, and the address at which it was loaded.
    void set_code(std::string file, std::uintptr_t load_address) {
        code_file_ = std::move(file);
        load_address_ = load_address;
    }

    // The line of the call that returns to that instruction. The texts live as long as this object.
    CanopyCheckSite line(const void* return_address);

private:
    CanopyCheckSite find(const void* return_address) CANOPY_REQUIRES(mutex_);

    std::string code_file_;
    std::uintptr_t load_address_ = 0;
    Mutex mutex_;
    std::vector<std::byte> object_ CANOPY_GUARDED_BY(mutex_);  // read by the first search
    std::unordered_map<const void*, CanopyCheckSite> lines_ CANOPY_GUARDED_BY(mutex_);
    std::deque<std::string> files_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
