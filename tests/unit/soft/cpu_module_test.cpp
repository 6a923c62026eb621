// SPDX-License-Identifier: Apache-2.0
// Images of CPU kernels: what loads, what is refused and why, and that images do not affect each other.
#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/error_text.h"
#include "device/opaque_pointer.h"
#include "soft/cpu_images.h"

namespace canopy::test {
namespace {

std::string taken_text() {
    const char* text = take_error_text();
    return text ? text : "";
}

class CpuModuleTest : public testing::Test {
protected:
    void expect_refused(const std::vector<std::byte>& image, const std::string& reason) {
        take_error_text();
        auto module = device_->load_cpu(image, "kernels.so");
        ASSERT_FALSE(module.ok());
        EXPECT_EQ(module.status().code(), 107000);
        EXPECT_NE(taken_text().find(reason), std::string::npos) << reason;
    }
    // {variant, calls of the inline variable, calls of the template's variable}
    std::array<std::uint64_t, 3> identify(Module& module) {
        const std::uint64_t address = reinterpret_cast<std::uint64_t>(answer_);
        queue_.finish(queue_.submit(cpu_launch(module.kernel("identify"), address)));
        return {answer_[0], answer_[1], answer_[2]};
    }

    std::unique_ptr<Device> device_ = open_soft_device(2);
    TestQueue queue_{*device_};
    alignas(8) std::uint64_t answer_[3] = {};
};

TEST_F(CpuModuleTest, AKernelIsAFunctionOfTheImage) {
    auto module = load_cpu_image(*device_, CPU_IMAGE_1);
    Kernel* kernel = module->kernel("identify");
    ASSERT_NE(kernel, nullptr);
    EXPECT_EQ(kernel->info->name, "identify");
    EXPECT_EQ(kernel->info->core, CoreType::cpu);
    EXPECT_EQ(module->kernel("identify"), kernel);
    EXPECT_TRUE(kernel->address);
    EXPECT_GT(module->code().size, 0u);
    EXPECT_EQ(*static_cast<int*>(opaque_pointer(module->symbol("some_data")->address)), 7);
    EXPECT_EQ(module->symbol("some_data")->size, sizeof(int));
}

TEST_F(CpuModuleTest, AMissingFunctionIsNamedInTheLoadersWords) {
    auto module = load_cpu_image(*device_, CPU_IMAGE_1);
    take_error_text();
    EXPECT_EQ(module->kernel("no_such_kernel"), nullptr);
    const std::string text = taken_text();
    EXPECT_NE(text.find("no_such_kernel"), std::string::npos) << text;
    EXPECT_NE(text.find("undefined symbol"), std::string::npos) << text;
    EXPECT_EQ(module->kernel("some_data"), nullptr);
    EXPECT_NE(taken_text().find("is not a function"), std::string::npos);
}

TEST_F(CpuModuleTest, WhatIsNoSharedObjectForThisProcessorIsRefusedWithTheReason) {
    expect_refused({}, "is not an ELF file");
    const std::string json = "{\"op\": {}}";
    expect_refused({reinterpret_cast<const std::byte*>(json.data()),
                    reinterpret_cast<const std::byte*>(json.data()) + json.size()},
                   "is not an ELF file");
    std::vector<std::byte> image = read_file(CPU_IMAGE_1);
    std::vector<std::byte> cut(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(image.size() / 2));
    take_error_text();
    EXPECT_FALSE(device_->load_cpu(cut, "cut.so").ok());
    EXPECT_FALSE(taken_text().empty());

    auto other = image;
    const Elf64_Half machine = EM_RISCV;
    std::memcpy(other.data() + offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
    expect_refused(other, "the CPU cores of this device run");
    auto object = image;
    const Elf64_Half type = ET_REL;
    std::memcpy(object.data() + offsetof(Elf64_Ehdr, e_type), &type, sizeof type);
    expect_refused(object, "is not a shared object");
}

TEST_F(CpuModuleTest, TheLoadersReasonIsGivenWhenItRefuses) {
    expect_refused(read_file(CPU_IMAGE_UNRESOLVED), "function_that_nobody_defines");
}

TEST_F(CpuModuleTest, ImagesWithTheSameNamesNeverMix) {
    auto one = load_cpu_image(*device_, CPU_IMAGE_1);
    auto two = load_cpu_image(*device_, CPU_IMAGE_2);
    for (std::uint64_t call = 1; call <= 1000; ++call) {
        ASSERT_EQ(identify(*one), (std::array<std::uint64_t, 3>{1, call, call}));
        ASSERT_EQ(identify(*two), (std::array<std::uint64_t, 3>{2, call, call}));
    }
    EXPECT_TRUE(queue_.failures().empty());
}

TEST_F(CpuModuleTest, TheSameBytesAreOneImageUntilItsLastUserIsGone) {
    auto first = load_cpu_image(*device_, CPU_IMAGE_1);
    auto second = load_cpu_image(*device_, CPU_IMAGE_1);
    EXPECT_EQ(first->kernel("empty")->address, second->kernel("empty")->address);
    EXPECT_NE(first->kernel("empty"), second->kernel("empty"));  // each belongs to its own module
    EXPECT_EQ(identify(*first)[1], 1u);
    first.reset();
    EXPECT_EQ(identify(*second)[1], 2u);
    second.reset();
    auto fresh = load_cpu_image(*device_, CPU_IMAGE_1);
    EXPECT_EQ(identify(*fresh)[1], 1u) << "an unloaded image left its variables behind";
    EXPECT_EQ(identify(*fresh)[2], 2u);
}

TEST_F(CpuModuleTest, DevicesHaveTheVariablesOfAnImageToThemselves) {
    auto other = open_soft_device(1);
    auto here = load_cpu_image(*device_, CPU_IMAGE_1);
    auto there = load_cpu_image(*other, CPU_IMAGE_1);
    EXPECT_NE(here->kernel("empty")->address, there->kernel("empty")->address);
}

TEST_F(CpuModuleTest, ReplacedBytesAreTheNewOnes) {
    for (int round = 0; round < 20; ++round) {
        auto one = load_cpu_image(*device_, round % 2 == 0 ? CPU_IMAGE_1 : CPU_IMAGE_2);
        EXPECT_EQ(identify(*one)[0], round % 2 == 0 ? 1u : 2u);
        EXPECT_EQ(identify(*one)[1], 2u);
    }
}

}  // namespace
}  // namespace canopy::test
