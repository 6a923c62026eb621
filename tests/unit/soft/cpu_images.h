// SPDX-License-Identifier: Apache-2.0
// The images of CPU kernels that unit tests load, and launches of their kernels.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "soft/soft_device.h"

namespace canopy::test {

inline std::vector<std::byte> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {bytes, bytes + text.size()};
}

inline std::unique_ptr<Module> load_cpu_image(Device& device, const std::string& path) {
    auto module = device.load_cpu(read_file(path), "kernels.so");
    EXPECT_TRUE(module.ok());
    return module.ok() ? std::move(*module) : nullptr;
}

// A launch whose arguments are the bytes of a plain structure. The command points to them; submitting it copies them.
template <class Arguments>
Command cpu_launch(const Kernel* kernel, const Arguments& arguments, std::uint32_t blocks = 1) {
    Command command(Opcode::cpu_kernel);
    command.launch = {};
    command.launch.kernel = kernel;
    command.launch.set_arguments(&arguments);
    command.launch.arguments_size = sizeof arguments;
    command.launch.blocks = blocks;
    return command;
}

}  // namespace canopy::test
