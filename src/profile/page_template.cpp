// SPDX-License-Identifier: Apache-2.0
// The built page, embedded: scripts/build_page.sh makes it from the sources in page/.
#include "profile/page.h"

__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".local canopy_page_begin, canopy_page_end\n"
    "canopy_page_begin:\n"
    ".incbin \"" CANOPY_PAGE
    "\"\n"
    "canopy_page_end:\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const char canopy_page_begin[];
__attribute__((visibility("hidden"))) extern const char canopy_page_end[];
}

namespace canopy::profile {

std::string_view page_template() noexcept {
    return {canopy_page_begin, static_cast<std::size_t>(canopy_page_end - canopy_page_begin)};
}

}  // namespace canopy::profile
