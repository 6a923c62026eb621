// SPDX-License-Identifier: Apache-2.0
#include "device/soft/code/checking_code.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "device/execution/source_line.h"

namespace canopy {

CanopyCheckSite CheckingCode::line(const void* return_address) {
    MutexLock lock(mutex_);
    const auto [entry, fresh] = lines_.try_emplace(return_address);
    CanopyCheckSite& site = entry->second;
    if (!fresh) return site;
    // "at FILE:LINE" or "near FILE:LINE"
    const std::string text = source_line(reinterpret_cast<std::uintptr_t>(return_address) - 1);
    const std::size_t begin = text.find(' '), colon = text.rfind(':');
    if (begin == std::string::npos || colon == std::string::npos || colon < begin) return site;
    const std::string file = text.substr(begin + 1, colon - begin - 1);
    auto known = std::find(files_.begin(), files_.end(), file);
    if (known == files_.end()) known = files_.insert(known, file);
    site.file = known->c_str();
    site.line = static_cast<std::uint32_t>(std::strtoul(text.c_str() + colon + 1, nullptr, 10));
    return site;
}

}  // namespace canopy
