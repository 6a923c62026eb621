// SPDX-License-Identifier: Apache-2.0
// Kernel images as data: what an image file says about its kernels, and which targets it carries code for. The format
// is written down in include/canopy/kernel_image.h. A device picks a target and loads its bytes.
//
// Threads: values without hidden state.
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

// Does not own the bytes of targets and parts: those are in the file that was read, or the writer's caller has them.
struct ImageFile {
    std::uint32_t kernel_abi = 0;
    std::vector<std::uint32_t> architectures;
    std::string producer;
    std::vector<ImageKernel> kernels;
    std::vector<ImageTarget> targets;
    // An image of fused kernels has no targets but whole image files, and JSON that says what each kernel does with
    // them.
    std::vector<std::span<const std::byte>> parts;
    std::string fusion;
};

// A problem says what was found: not an ELF file, a truncated or damaged one, one for another machine, one without a
// Canopy note, one of another format version. The JSON of fused kernels is not looked into.
Expected<ImageFile> read_image_file(std::span<const std::byte> file);

// The architectures alone, from the notes, without a look at the code. Empty when the file is not an image.
std::vector<std::uint32_t> image_architectures(std::span<const std::byte> file);

// The command that compiles this image again for a chip architecture.
std::string rebuild_command(const ImageFile& image, std::uint32_t architecture);

}  // namespace canopy
