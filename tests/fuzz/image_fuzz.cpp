// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the readers of kernel images. The preset `fuzz` defines
// FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION, so that checksums do not hide the code behind them.
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error_text.h"
#include "device/image.h"
#include "foundation/elf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto image = canopy::read_image(bytes);
    if (image.ok()) (void)canopy::rebuild_command(image.value(), 2201);
    if (const auto file = canopy::ElfFile::read(bytes); file.ok()) {
        (void)file.value().symbols().ok();
        for (const canopy::ElfSection& section : file.value().sections())
            if (section.type == SHT_NOTE) (void)canopy::ElfFile::notes(section).ok();
    }
    (void)canopy::read_fused_lists({reinterpret_cast<const char*>(data), size}, 2).ok();
    canopy::take_error_text();
    return 0;
}
