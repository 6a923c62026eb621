// SPDX-License-Identifier: Apache-2.0
#include "device/soft/code/checking_code.h"

#include <algorithm>
#include <cstdlib>

#include "device/execution/source_line.h"
#include "foundation/files.h"

namespace canopy {

CanopyCheckSite CheckingCode::line(const void* return_address) {
    MutexLock lock(mutex_);
    const auto [entry, fresh] = lines_.try_emplace(return_address);
    if (fresh) entry->second = find(return_address);
    return entry->second;
}

// Without the dynamic loader: a thread that unloads a library holds its lock, and may wait for this launch.
CanopyCheckSite CheckingCode::find(const void* return_address) {
    if (object_.empty() && !read_file(code_file_, object_)) return {};
    const std::uintptr_t call = reinterpret_cast<std::uintptr_t>(return_address) - 1;
    // "at FILE:LINE" or "near FILE:LINE"
    const std::string text = source_line_in(object_, call - load_address_);
    const std::size_t begin = text.find(' '), colon = text.rfind(':');
    if (begin == std::string::npos || colon == std::string::npos || colon < begin) return {};
    const std::string file = text.substr(begin + 1, colon - begin - 1);
    auto known = std::find(files_.begin(), files_.end(), file);
    if (known == files_.end()) known = files_.insert(known, file);
    const unsigned long line = std::strtoul(text.c_str() + colon + 1, nullptr, 10);
    return {nullptr, known->c_str(), static_cast<std::uint32_t>(line)};
}

}  // namespace canopy
