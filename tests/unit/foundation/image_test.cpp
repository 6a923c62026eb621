// SPDX-License-Identifier: Apache-2.0
// Kernel images as canopy-cc writes them and devices read them: nothing is lost in between, and the reader answers any
// damage with 107000 and a reason.
#include "device/image.h"

#include <canopy/kernel_abi.h>
#include <canopy/kernel_image.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "base/error_text.h"
#include "foundation/elf.h"
#include "foundation/image_writer.h"

namespace canopy {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

ImageKernel add_kernel() {
    ImageKernel kernel;
    kernel.name = "add";
    kernel.entry = "canopy_entry_add";
    kernel.symbol = "_Z3addPh";
    kernel.source = "kernels/add.cpp";
    kernel.core = CoreType::mix;
    kernel.cube_ratio = 1;
    kernel.vector_ratio = 2;
    kernel.batch = true;
    kernel.arguments_size = 48;
    kernel.parameters = {{0, 8, 8}, {16, 20, 16}, {40, 4, 8}};
    kernel.simt = true;
    kernel.key = "void add(unsigned char *)";
    return kernel;
}

ImageFile two_kernels() {
    ImageFile content;
    content.architectures = {2201, 3510};
    content.producer = "a test";
    content.kernels = {add_kernel(), add_kernel()};
    content.kernels[1].name = "scale";
    content.kernels[1].parameters.clear();
    content.kernels[1].simt = false;
    content.kernels[1].key.clear();
    static const std::string baseline(100, 'b'), newest(77, 'n');
    content.targets = {{"x86-64-v2", bytes_of(baseline)}, {"x86-64-v4", bytes_of(newest)}};
    return content;
}

std::string refusal(std::span<const std::byte> image) {
    take_error_text();
    const auto result = read_image(image);
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), 107000);
    const char* text = take_error_text();
    return text == nullptr ? "" : text;
}

std::string refusal(const ImageFile& content) { return refusal(bytes_of(write_image(content))); }

#define EXPECT_CONTAINS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)

TEST(KernelImage, KeepsWhatTheDriverWrote) {
    const std::string file = write_image(two_kernels());
    const auto image = read_image(bytes_of(file));
    ASSERT_TRUE(image.ok()) << take_error_text();
    EXPECT_EQ(image.value().architectures, (std::vector<std::uint32_t>{2201, 3510}));
    EXPECT_EQ(image.value().producer, "a test");
    EXPECT_EQ(image.value().kernel_abi, CANOPY_KERNEL_ABI_VERSION);
    ASSERT_EQ(image.value().kernels.size(), 2u);
    const ImageKernel& add = image.value().kernels[0];
    EXPECT_EQ(add.name, "add");
    EXPECT_EQ(add.entry, "canopy_entry_add");
    EXPECT_EQ(add.symbol, "_Z3addPh");
    EXPECT_EQ(add.source, "kernels/add.cpp");
    EXPECT_EQ(add.core, CoreType::mix);
    EXPECT_EQ(add.cube_ratio, 1);
    EXPECT_EQ(add.vector_ratio, 2);
    EXPECT_TRUE(add.batch);
    EXPECT_EQ(add.arguments_size, 48u);
    ASSERT_EQ(add.parameters.size(), 3u);
    EXPECT_EQ(add.parameters[1].offset, 16u);
    EXPECT_EQ(add.parameters[1].size, 20u);
    EXPECT_EQ(add.parameters[1].alignment, 16u);
    EXPECT_TRUE(add.simt);
    EXPECT_EQ(add.key, "void add(unsigned char *)");
    EXPECT_EQ(image.value().kernels[1].name, "scale");
    EXPECT_FALSE(image.value().kernels[1].simt);
    EXPECT_EQ(image.value().kernels[1].key, "");
    ASSERT_EQ(image.value().targets.size(), 2u);
    EXPECT_EQ(image.value().targets[0].name, "x86-64-v2");
    EXPECT_EQ(image.value().targets[0].object.size(), 100u);
    EXPECT_EQ(image.value().targets[1].object.size(), 77u);
    EXPECT_EQ(image.value().targets[1].object[76], std::byte{'n'});
}

TEST(KernelImage, KernelsAreFoundByNameAndByKey) {
    DeviceOptions options;
    options.chip = &default_chip();
    options.memory = std::uint64_t{1} << 20;
    auto device = open_device(*find_kind("null"), options);
    ASSERT_TRUE(device.ok());
    const std::string file = write_image(two_kernels());
    auto module = (*device)->load(bytes_of(file));
    ASSERT_TRUE(module.ok()) << take_error_text();
    EXPECT_EQ((*module)->kernel_by_key("void add(unsigned char *)"), (*module)->kernel("add"));
    EXPECT_NE((*module)->kernel("add"), nullptr);
    EXPECT_EQ((*module)->kernel_by_key("void add(int *)"), nullptr);
    EXPECT_EQ((*module)->kernel_by_key(""), nullptr) << "kernels without a key are found by their name only";
}

TEST(KernelImage, TwoKernelsWithOneKeyAreRefused) {
    ImageFile content = two_kernels();
    content.kernels[1].key = content.kernels[0].key;
    EXPECT_CONTAINS(refusal(content), "two kernels with the key void add(unsigned char *)");
}

TEST(KernelImage, EveryTruncationIsRefused) {
    const std::string file = write_image(two_kernels());
    for (std::size_t size = 0; size < file.size(); ++size) {
        const std::vector<char> prefix(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size));
        const std::string text = refusal(std::as_bytes(std::span(prefix)));
        EXPECT_FALSE(text.empty()) << size;
        if (size >= 4) {
            EXPECT_CONTAINS(text, "truncated at byte " + std::to_string(size));
        }
    }
}

// Covers the notes and the code, but not the fields of the headers.
TEST(KernelImage, EveryChangedByteOfNotesAndCodeIsRefused) {
    const std::string file = write_image(two_kernels());
    const auto elf = ElfFile::read(bytes_of(file));
    ASSERT_TRUE(elf.ok());
    for (const char* name : {".note.canopy", ".canopy.x86-64-v2", ".canopy.x86-64-v4"}) {
        const ElfSection* section = elf.value().section(name);
        ASSERT_NE(section, nullptr);
        for (std::size_t at = section->offset; at < section->offset + section->bytes.size(); ++at) {
            std::string damaged = file;
            damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
            EXPECT_FALSE(refusal(bytes_of(damaged)).empty()) << name << " byte " << at;
        }
    }
}

TEST(KernelImage, RandomDamageNeverDoesHarm) {
    const std::string file = write_image(two_kernels());
    std::mt19937 random(2);
    std::size_t refused = 0;
    for (int round = 0; round < 10000; ++round) {
        std::vector<char> damaged(file.begin(), file.end());
        for (int change = 0; change < 1 + round % 5; ++change)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        if (round % 3 == 0) damaged.resize(random() % damaged.size());
        const auto image = read_image(std::as_bytes(std::span(damaged)));
        if (image.ok()) continue;
        EXPECT_EQ(image.status().code(), 107000);
        ++refused;
    }
    EXPECT_GT(refused, 5000u);
    take_error_text();
}

TEST(KernelImage, AnotherFormatVersionNamesTheRebuildCommand) {
    const std::string text = refusal(bytes_of(write_image(two_kernels(), 9)));
    EXPECT_CONTAINS(text, "format version 9");
    EXPECT_CONTAINS(text, "canopy-cc --image");
}

TEST(KernelImage, AForeignElfFileIsNamed) {
    std::string file = write_image(two_kernels());
    const std::size_t name = file.find(".note.canopy", file.find(".shstrtab") - 200);
    ASSERT_NE(name, std::string::npos);
    file[name + 1] = 'N';
    const auto ascend = std::uint16_t{0x1029};
    std::memcpy(file.data() + offsetof(Elf64_Ehdr, e_machine), &ascend, sizeof ascend);
    const std::string text = refusal(bytes_of(file));
    EXPECT_CONTAINS(text, "Ascend NPU");
    EXPECT_CONTAINS(text, "canopy-cc --image");
}

TEST(KernelImage, TextThatIsNoElfFileIsRefused) {
    EXPECT_CONTAINS(refusal(bytes_of(std::string("{\"json\": true}"))), "not an ELF file");
    EXPECT_CONTAINS(refusal(std::span<const std::byte>{}), "not an ELF file");
}

TEST(KernelImage, ValuesTheFormatForbidsAreRefused) {
    ImageFile content = two_kernels();
    content.kernels[1].name = "add";
    EXPECT_CONTAINS(refusal(content), "two kernels named add");

    content = two_kernels();
    content.kernels[0].name.clear();
    EXPECT_CONTAINS(refusal(content), "without a name");

    content = two_kernels();
    content.kernels[0].parameters[2].offset = 48;
    EXPECT_CONTAINS(refusal(content), "4 bytes at offset 48 of 48");

    content = two_kernels();
    content.kernels[0].parameters[2] = {0xfffffff8, 16, 8};
    EXPECT_CONTAINS(refusal(content), "at offset 4294967288");

    content = two_kernels();
    content.kernels[0].parameters[1].alignment = 24;
    EXPECT_CONTAINS(refusal(content), "alignment 24");

    content = two_kernels();
    content.kernels[0].parameters.assign(129, {0, 4, 8});
    EXPECT_CONTAINS(refusal(content), "129 parameters");

    content = two_kernels();
    content.kernels[0].core = static_cast<CoreType>(4);
    EXPECT_CONTAINS(refusal(content), "core type 4");

    content = two_kernels();
    content.architectures.clear();
    EXPECT_CONTAINS(refusal(content), "0 architectures");

    content = two_kernels();
    content.targets.clear();
    EXPECT_CONTAINS(refusal(content), "no code for any target");
}

TEST(KernelImage, LimitsThemselvesAreAllowed) {
    ImageFile content = two_kernels();
    content.kernels[0].parameters.assign(128, {40, 8, 8});
    EXPECT_TRUE(read_image(bytes_of(write_image(content))).ok());
}

TEST(Image, ArchitecturesAreReadFromTheNotesAlone) {
    const std::string image = write_image(two_kernels());
    EXPECT_EQ(image_architectures(bytes_of(image)), (std::vector<std::uint32_t>{2201, 3510}));
    std::string damaged = image;
    damaged[damaged.find(std::string(100, 'b'))] = 'x';  // code, which is not read here
    EXPECT_EQ(image_architectures(bytes_of(damaged)).size(), 2u);
    damaged = image;
    damaged[damaged.find("a test")] = 'x';  // notes
    EXPECT_TRUE(image_architectures(bytes_of(damaged)).empty());
    EXPECT_TRUE(image_architectures(bytes_of(image.substr(0, 40))).empty());
    EXPECT_TRUE(image_architectures({}).empty());
    take_error_text();
}

}  // namespace
}  // namespace canopy
