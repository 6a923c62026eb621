// SPDX-License-Identifier: Apache-2.0
// Kernel images as data: what an image file says about its kernels and which targets it carries code for. The format
// is written down in include/canopy/kernel_image.h. Backend-neutral; a backend picks a target and loads its bytes.
//
// Threads: values without hidden state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/backend.h"
#include "device/fused_list.h"

namespace canopy {

struct ImageKernel {
    KernelInfo info;
    std::string entry;   // symbol of the function that takes the argument block
    std::string symbol;  // symbol of the kernel's own function
};

struct ImageTarget {
    std::string name;                   // "x86-64-v3"
    std::span<const std::byte> object;  // points into the bytes given to read_image
};

struct Image {
    std::uint32_t kernel_abi = 0;
    std::vector<std::uint32_t> architectures;
    std::string producer;
    std::vector<ImageKernel> kernels;
    std::vector<ImageTarget> targets;
    // Of an image of fused kernels, which has no targets: whole image files inside the bytes given to read_image, and
    // what each of the kernels does with theirs.
    std::vector<std::span<const std::byte>> parts;
    std::vector<FusedList> fused;
};

// Refuses with 107000 and a text that says what was found: no ELF file, a truncated or damaged one, one for another
// machine, one without a Canopy note, one of another format version.
Result<Image> read_image(std::span<const std::byte> file);

// The architectures alone, from the notes, without a look at the code. Empty when the file is no image.
std::vector<std::uint32_t> image_architectures(std::span<const std::byte> file);

// The command that makes this image anew for a chip architecture.
std::string rebuild_command(const Image& image, std::uint32_t architecture);

}  // namespace canopy
