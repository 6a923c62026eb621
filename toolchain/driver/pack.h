// SPDX-License-Identifier: Apache-2.0
// Writes the image file that canopy/kernel_image.h describes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel.h"

namespace canopy_cc {

struct PackedTarget {
    std::string name;
    std::string object;
};

// A whole image inside an image of fused kernels.
using PackedPart = std::string;

struct ImageContent {
    std::uint32_t format_version = 0;  // 0: the current one
    std::uint32_t kernel_abi = 0;      // 0: the current one
    std::vector<std::uint32_t> architectures;
    std::string producer;
    std::vector<KernelDescription> kernels;
    std::vector<PackedTarget> targets;
    std::vector<PackedPart> parts;
    std::string fusion;  // JSON; empty: no kernel is a fused one
};

// The bytes of the file.
std::string pack_image(const ImageContent& content);

}  // namespace canopy_cc
