// SPDX-License-Identifier: Apache-2.0
// The executable of the process that runs CPU kernels, embedded in the library: it needs no installed file.
#include "device/engine/cpu/cpu_process.h"

__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".local canopy_cpu_process_begin, canopy_cpu_process_end\n"
    "canopy_cpu_process_begin:\n"
    ".incbin \"" CANOPY_CPU_PROCESS_PROGRAM
    "\"\n"
    "canopy_cpu_process_end:\n"
    ".previous\n");

extern "C" {
__attribute__((visibility("hidden"))) extern const std::byte canopy_cpu_process_begin[];
__attribute__((visibility("hidden"))) extern const std::byte canopy_cpu_process_end[];
}

namespace canopy {

std::span<const std::byte> cpu_process_program() noexcept { return {canopy_cpu_process_begin, canopy_cpu_process_end}; }

}  // namespace canopy
