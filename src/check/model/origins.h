// SPDX-License-Identifier: Apache-2.0
// The lines of the host program that allocations come from, as places of findings.
#pragma once

#include <canopy/kernel_check.h>

#include <charconv>
#include <deque>
#include <string>
#include <string_view>

#include "foundation/mutex.h"

namespace canopy::check {

// Keeps the texts that it makes. Any thread.
class Origins {
public:
    // Of "aclrtMalloc at main.cpp:12"; what is not known is left out.
    CanopyCheckSite site_of(std::string_view origin) {
        if (origin.empty()) return {};
        const std::size_t at = origin.find(" at "), colon = origin.rfind(':');
        CanopyCheckSite site{};
        const MutexLock lock(mutex_);
        site.operation = keep(origin.substr(0, at));
        if (at == std::string_view::npos || colon == std::string_view::npos || colon < at) return site;
        site.file = keep(origin.substr(at + 4, colon - at - 4));
        const std::string_view line = origin.substr(colon + 1);
        std::from_chars(line.data(), line.data() + line.size(), site.line);
        return site;
    }

private:
    const char* keep(std::string_view text) CANOPY_REQUIRES(mutex_) {
        for (const std::string& kept : texts_)
            if (kept == text) return kept.c_str();
        return texts_.emplace_back(text).c_str();
    }

    Mutex mutex_;
    std::deque<std::string> texts_ CANOPY_GUARDED_BY(mutex_);
};

}  // namespace canopy::check
