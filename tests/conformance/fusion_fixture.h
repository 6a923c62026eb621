// SPDX-License-Identifier: Apache-2.0
// What the tests of fused kernels share: lists of steps over the kernels of kernels.cpp, made into images and launched,
// and the same steps launched one by one.
#pragma once

#include <canopy/fusion.h>

#include <nlohmann/json.hpp>

#include "fixture.h"
#include "fused_image.h"

namespace conformance {

// A step with the values of its slots.
struct Step {
    std::string kernel;
    std::uint32_t blocks = 1;
    std::vector<std::uint64_t> values;
    std::string more;
};

inline std::uint64_t word(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

class FusionTest : public KernelTest {
protected:
    void TearDown() override {
        for (aclrtBinHandle binary : binaries_) EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
        KernelTest::TearDown();
    }
    static FusedImage image_of(const std::vector<Step>& steps, const std::string& more = "") {
        FusedImage image;
        image.parts = {file_text(CANOPY_TEST_KERNELS)};
        image.more = more;
        for (const Step& step : steps)
            image.steps.push_back(
                {step.kernel, step.blocks, static_cast<std::uint32_t>(step.values.size()), step.more});
        return image;
    }
    static std::vector<std::uint64_t> block_of(const std::vector<Step>& steps) {
        std::vector<std::uint64_t> block = {0};
        for (const Step& step : steps) block.insert(block.end(), step.values.begin(), step.values.end());
        return block;
    }
    aclrtBinHandle load(const std::string& file) {
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_OK(aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
        if (binary) binaries_.push_back(binary);
        return binary;
    }
    aclrtFuncHandle fused(const std::vector<Step>& steps, const std::string& more = "") {
        aclrtFuncHandle handle = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(load(image_of(steps, more).write()), "fused", &handle));
        return handle;
    }
    aclError launch_fused(aclrtFuncHandle function, const std::vector<Step>& steps, aclrtStream stream) {
        std::vector<std::uint64_t> block = block_of(steps);
        return aclrtLaunchKernelWithHostArgs(function, 1, stream, nullptr, block.data(), block.size() * 8, nullptr, 0);
    }
    aclError launch_one_by_one(const std::vector<Step>& steps, aclrtStream stream) {
        for (Step step : steps)
            if (const aclError code =
                    aclrtLaunchKernelWithHostArgs(function(step.kernel.c_str()), step.blocks, stream, nullptr,
                                                  step.values.data(), step.values.size() * 8, nullptr, 0))
                return code;
        return ACL_SUCCESS;
    }
    void forget_last_binary() { binaries_.pop_back(); }
    static nlohmann::json report(const void* object) {
        const char* text = nullptr;
        EXPECT_ACL_OK(canopyFusionReport(object, &text));
        return text ? nlohmann::json::parse(text) : nlohmann::json();
    }

private:
    std::vector<aclrtBinHandle> binaries_;
};

}  // namespace conformance
