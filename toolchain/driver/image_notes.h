// SPDX-License-Identifier: Apache-2.0
// What the notes of an image file say, as far as fusing needs it. A device reads them with more care when it loads the
// image; here a file that is no image is told from one that is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace canopy_cc {

struct NotedKernel {
    std::string name;
    std::uint32_t core_type = 0;
    std::uint32_t cube_ratio = 0;
    std::uint32_t vector_ratio = 0;
    std::uint32_t arguments_size = 0;
};

struct ImageNotes {
    std::vector<std::uint32_t> architectures;
    std::vector<NotedKernel> kernels;
};

// Fills `notes` from the bytes of a file; false when it is no kernel image.
bool read_image_notes(const std::string& file, ImageNotes& notes);

}  // namespace canopy_cc
