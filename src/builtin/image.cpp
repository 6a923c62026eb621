// SPDX-License-Identifier: Apache-2.0
#include "builtin/image.h"

#ifdef CANOPY_BUILTIN_IMAGE

__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".local canopy_builtin_image_begin, canopy_builtin_image_end\n"
    "canopy_builtin_image_begin:\n"
    ".incbin \"" CANOPY_BUILTIN_IMAGE
    "\"\n"
    "canopy_builtin_image_end:\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const std::byte canopy_builtin_image_begin[];
__attribute__((visibility("hidden"))) extern const std::byte canopy_builtin_image_end[];
}

namespace canopy {

std::span<const std::byte> builtin_image() noexcept { return {canopy_builtin_image_begin, canopy_builtin_image_end}; }

}  // namespace canopy

#else

namespace canopy {

std::span<const std::byte> builtin_image() noexcept { return {}; }

}  // namespace canopy

#endif
