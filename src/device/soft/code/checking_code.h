// SPDX-License-Identifier: Apache-2.0
// What checked launches need to know about the code of an image beside its kernels.
//
// Threads: any.
#pragma once

#include <canopy/kernel_check.h>

#include <deque>
#include <string>
#include <unordered_map>

#include "foundation/mutex.h"

namespace canopy {

class CheckingCode {
public:
    std::string missing;   // why the loaded code tells a checker nothing, as a clause; empty: it does
    bool autosync = true;  // compiled for automatic synchronisation

    // The line of the call that returns to that instruction. The texts live as long as this object.
    CanopyCheckSite line(const void* return_address);

private:
    Mutex mutex_;
    std::unordered_map<const void*, CanopyCheckSite> lines_ CANOPY_GUARDED_BY(mutex_);
    std::deque<std::string> files_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy
