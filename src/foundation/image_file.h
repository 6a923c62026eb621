// SPDX-License-Identifier: Apache-2.0
// Kernel images as data: the description of the kernels and the targets with code. The format is documented in
// include/canopy/kernel_image.h. A device picks a target and loads its bytes.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/kernel_info.h"
#include "foundation/problem.h"

namespace canopy {

struct ImageKernel : KernelInfo {
    std::string entry;   // symbol of the function that takes the argument block
    std::string symbol;  // symbol of the kernel's function itself
};

struct ImageTarget {
    std::string name;  // "x86-64-v3"
    std::span<const std::byte> object;
};

// Does not own the bytes of targets and parts: they belong to the file that was read or to the writer's caller.
struct ImageFile {
    std::uint32_t kernel_abi = 0;
    std::vector<std::uint32_t> architectures;
    std::string producer;
    std::vector<ImageKernel> kernels;
    std::vector<ImageTarget> targets;
    // An image of fused kernels has no targets. It has parts, which are whole image files, and JSON that says what each
    // kernel does with them.
    std::vector<std::span<const std::byte>> parts;
    std::string fusion;
    // For checkers.
    bool autosync = true;    // compiled for automatic synchronisation
    std::string check_text;  // name of the text for checking code, in the cache of compiled code; empty: none
};

// A problem says what is wrong: not an ELF file, truncated or damaged, for another machine, without a Canopy note, or
// of another format version. The JSON of fused kernels is not checked.
Expected<ImageFile> read_image_file(std::span<const std::byte> file);

// Only the architectures, from the notes, without checking the code. Empty if the file is not an image.
std::vector<std::uint32_t> image_architectures(std::span<const std::byte> file);

// The command that recompiles this image for a chip architecture.
std::string rebuild_command(const ImageFile& image, std::uint32_t architecture);

}  // namespace canopy
