// SPDX-License-Identifier: Apache-2.0
// Kernels compiled by canopy-cc on a separate device: launched one by one, traced, and as compiled loops.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error_text.h"
#include "core/fusion/fused_loops.h"
#include "device/opaque_pointer.h"
#include "soft/fused_plan.h"

namespace canopy::test {

inline std::vector<std::byte> read_image_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

inline std::uint64_t word_of(float number) { return std::bit_cast<std::uint32_t>(number); }

class TracedKernels : public testing::Test {
protected:
    static constexpr std::uint32_t tile = 1024;

    void SetUp() override {
        take_error_text();
        setenv("CANOPY_CC", TRACED_KERNELS_COMPILER, 1);
        cache_ = testing::TempDir() + "canopy-loops-" + std::to_string(getpid());
        setenv("CANOPY_CACHE_DIR", cache_.c_str(), 1);
        device_ = open_soft_device(2);
        queue_ = std::make_unique<TestQueue>(*device_);
        auto module = device_->load(read_image_file(TRACED_KERNELS_IMAGE));
        ASSERT_TRUE(module.ok()) << take_error_text();
        module_ = std::move(*module);
    }

    void TearDown() override {
        std::error_code error;
        std::filesystem::remove_all(cache_, error);
    }

    Kernel& kernel(const char* name) {
        Kernel* found = module_->kernel(name);
        EXPECT_NE(found, nullptr) << name;
        return *found;
    }
    // The contents of a buffer: arbitrary bits, finite floats or finite halves. Which of two NaNs an operation
    // propagates depends on the compiler; that the result is a NaN does not.
    enum class Numbers { any, floats, halves };
    void* buffer(std::size_t size, std::uint32_t seed, Numbers numbers = Numbers::floats) {
        Result<DeviceAddress> memory = device_->allocate(size, memory_default);
        EXPECT_TRUE(memory.ok());
        regions_.push_back({*memory, size});
        fill(opaque_pointer(*memory), size, seed, numbers);
        return opaque_pointer(*memory);
    }
    static void fill(void* memory, std::size_t size, std::uint32_t seed, Numbers numbers) {
        std::mt19937 random(seed);
        std::uniform_real_distribution<float> usual(-20.0f, 20.0f);
        auto* words = static_cast<std::uint32_t*>(memory);
        for (std::size_t i = 0; i < size / 4; ++i) {
            std::uint32_t bits =
                random() % 8 == 0 ? static_cast<std::uint32_t>(random()) : std::bit_cast<std::uint32_t>(usual(random));
            if (numbers == Numbers::halves) bits &= 0xbfffbfffu;
            if (numbers == Numbers::floats && (bits & 0x7f800000u) == 0x7f800000u) bits &= 0xbfffffffu;
            words[i] = bits;
        }
    }
    Result<LaunchTrace> trace(const char* name, std::uint32_t blocks, const std::vector<std::uint64_t>& arguments) {
        TraceRequest request;
        request.kernel = &kernel(name);
        request.arguments = std::as_bytes(std::span(arguments));
        request.blocks = blocks;
        request.regions = regions_;
        return module_->trace(request);
    }
    static std::string reason() {
        const char* text = take_error_text();
        return text ? text : "";
    }

    std::string cache_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<TestQueue> queue_;
    std::unique_ptr<Module> module_;
    std::vector<DeviceRange> regions_;
};

}  // namespace canopy::test
