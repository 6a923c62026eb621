// SPDX-License-Identifier: Apache-2.0
#include "device/image.h"

#include <utility>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;

Status check_list(const Image& image, const ImageKernel& kernel) {
    for (const FusedList& list : image.fused) {
        if (list.name != kernel.name) continue;
        if (std::uint64_t{list.slots} * 8 == kernel.arguments_size) return {};
        return fail(bad_image, "fused kernel {} of the image has {} bytes of arguments and {} slots", list.name,
                    kernel.arguments_size, list.slots);
    }
    return fail(bad_image, "the fusion note of the image does not mention kernel {}", kernel.name);
}

}  // namespace

Result<Image> read_image(std::span<const std::byte> file) {
    Expected<ImageFile> read = read_image_file(file);
    if (!read.ok()) return fail(bad_image, "{}", read.message());
    Image image{std::move(*read), file, {}};
    if (image.fusion.empty()) return image;
    Result<std::vector<FusedList>> lists = read_fused_lists(image.fusion, image.parts.size());
    if (!lists.ok()) return lists.status();
    image.fused = std::move(*lists);
    for (const ImageKernel& kernel : image.kernels) CANOPY_TRY(check_list(image, kernel));
    return image;
}

}  // namespace canopy
