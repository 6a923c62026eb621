// SPDX-License-Identifier: Apache-2.0
// The page: one HTML file that shows a profile in a browser and loads nothing from anywhere. It holds the script and
// the style of page/ and, compressed, all records. Written in passes, so memory does not grow with the records.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <string_view>

#include "foundation/problem.h"
#include "profile/profile_file.h"
#include "profile/summary.h"

namespace canopy::profile {

struct PageOptions {
    std::string title;                 // empty: the program's name
    const Summary* summary = nullptr;  // of the same file, if it was made before
};

// Writes the page for its owner only, in place of a file that is there. No page is left behind if it fails.
Problem write_page(ProfileFile& file, const std::string& path, const PageOptions& options = {});

// The page without a profile, which is to go where `page_mark` is.
std::string_view page_template() noexcept;
inline constexpr std::string_view page_mark = "@PROFILE@";

}  // namespace canopy::profile
