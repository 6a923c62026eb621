// SPDX-License-Identifier: Apache-2.0
// The program of a device's process, embedded in the library: it needs no installed file.
#include "device/apart/process.h"

__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".local canopy_device_stub_begin, canopy_device_stub_end\n"
    "canopy_device_stub_begin:\n"
    ".incbin \"" CANOPY_DEVICE_STUB
    "\"\n"
    "canopy_device_stub_end:\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const std::byte canopy_device_stub_begin[];
__attribute__((visibility("hidden"))) extern const std::byte canopy_device_stub_end[];
}

namespace canopy::apart {

std::span<const std::byte> stub_program() noexcept { return {canopy_device_stub_begin, canopy_device_stub_end}; }

}  // namespace canopy::apart
