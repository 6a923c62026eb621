// SPDX-License-Identifier: Apache-2.0
// Fixture for the toolchain tests: runs canopy-cc on a source, loads the image it wrote, and calls a kernel as a device
// would, with services that only record.
#pragma once

#include <canopy/kernel_abi.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/engine/code/image_module.h"

namespace canopy::test {

struct Compilation {
    int status = -1;
    std::string messages;  // standard output and standard error
    std::string image;     // contents of the file, empty if there is none
};

// What the services recorded during the last kernel call.
struct Recorded {
    CanopyBlock block{0, 1, 0, 1, CANOPY_CORE_VECTOR, 0, nullptr};
    int meetings = 0;
    std::uint32_t thread = 0;
    std::string printed;
};

// A software NPU of that chip.
Driver& driver_of(const Chip& chip);
Result<std::unique_ptr<Module>> load_on(const Chip& chip, std::span<const std::byte> image);

class Toolchain : public testing::Test {
protected:
    Toolchain();
    ~Toolchain() override;

    std::string write(const std::string& name, const std::string& text) const;
    // Compiles a file of the test's directory or of tests/toolchain/sources.
    Compilation compile_file(const std::string& path, const std::string& flags = "") const;
    Compilation compile(const std::string& text, const std::string& flags = "") const;
    Compilation run(const std::string& arguments) const;
    // Loads the image with the recording services. If the image is refused, fails an expectation and returns null.
    std::unique_ptr<Module> load(const Compilation& compilation) const;
    static std::unique_ptr<Module> load(const Compilation& compilation, Driver& driver);

    static void call(Module& module, const std::string& kernel, const void* arguments);
    static Recorded& recorded();
    static std::string source(const std::string& name);

    std::string directory_;
    std::string compiler_ = CANOPY_TEST_CC;
};

std::string read_whole(const std::string& path);

}  // namespace canopy::test

#define EXPECT_CONTAINS(text, part) EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ(std::string(text).find(part), std::string::npos) << (text)
