// SPDX-License-Identifier: Apache-2.0
// What the tests of CPU kernels share: a folder with descriptors and shared objects, and a binary of all the kernels of
// cpu_images/kernels.cpp, each under its own name.
#pragma once

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "fixture.h"
#include "holding.h"
#include "own_process.h"

namespace conformance {

inline std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// One entry of a descriptor, as programs write it.
inline std::string entry(const std::string& op_type, const std::string& function, const std::string& library,
                         const std::string& kind = "AICPUKernel") {
    return "\"" + op_type + "\": {\"opInfo\": {\"functionName\": \"" + function + "\", \"kernelSo\": \"" + library +
           "\", \"opKernelLib\": \"" + kind + "\", \"userDefined\": \"False\", \"computeCost\": \"100\"}}";
}

inline aclError load_file(const std::string& path, int mode, aclrtBinHandle* handle) {
    aclrtBinaryLoadOption option = {};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = mode;
    aclrtBinaryLoadOptions options = {&option, 1};
    return aclrtBinaryLoadFromFile(path.c_str(), &options, handle);
}

inline aclError load_data(const std::string& bytes, int mode, aclrtBinHandle* handle) {
    aclrtBinaryLoadOption option = {};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = mode;
    aclrtBinaryLoadOptions options = {&option, 1};
    return aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, handle);
}

class CpuKernelTest : public DeviceTest {
protected:
    void SetUp() override {
        DeviceTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device runs no kernels";
        words_ = device_array(std::vector<std::uint64_t>(128, 0));
        binary_ = loaded_data(bytes_of(CANOPY_TEST_CPU_1));
    }
    void TearDown() override {
        for (aclrtBinHandle binary : binaries_) EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
        DeviceTest::TearDown();
    }

    // Unloaded at the end of the test, unless `unload` did it.
    aclrtBinHandle kept(aclrtBinHandle binary) {
        if (binary) binaries_.push_back(binary);
        return binary;
    }
    aclrtBinHandle loaded_file(const std::string& path, int mode) {
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_OK(load_file(path, mode, &binary));
        return kept(binary);
    }
    aclrtBinHandle loaded_data(const std::string& bytes) {
        aclrtBinHandle binary = nullptr;
        EXPECT_ACL_OK(load_data(bytes, 2, &binary));
        return kept(binary);
    }
    void unload(aclrtBinHandle binary) {
        std::erase(binaries_, binary);
        EXPECT_ACL_OK(aclrtBinaryUnLoad(binary));
    }
    aclrtFuncHandle function(aclrtBinHandle binary, const char* op_type) {
        aclrtFuncHandle found = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(binary, op_type, &found));
        return found;
    }
    // Of the image loaded from memory, under its own name.
    aclrtFuncHandle kernel(const char* name) {
        aclrtFuncHandle found = nullptr;
        EXPECT_ACL_OK(aclrtRegisterCpuFunc(binary_, name, name, &found));
        return found;
    }
    template <class Block>
    static aclError launch(aclrtFuncHandle function, std::uint32_t blocks, aclrtStream stream, Block block,
                           aclrtLaunchKernelCfg* config = nullptr) {
        return aclrtLaunchKernelWithHostArgs(function, blocks, stream, config, &block, sizeof(block), nullptr, 0);
    }

    struct Write {
        std::uint64_t* to;
        std::uint64_t value;
    };
    // Runs a kernel that writes one word, and returns it.
    std::uint64_t written_by(aclrtFuncHandle function, std::uint64_t value = 0) {
        EXPECT_ACL_OK(launch(function, 1, stream_, Write{words_, value}));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
        return read_back(words_, 1)[0];
    }

    TemporaryDirectory folder_;
    std::uint64_t* words_ = nullptr;  // 128 of them, in device memory
    aclrtBinHandle binary_ = nullptr;

private:
    std::vector<aclrtBinHandle> binaries_;
};

}  // namespace conformance
