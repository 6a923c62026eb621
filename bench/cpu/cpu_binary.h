// SPDX-License-Identifier: Apache-2.0
// A shared object for CPU cores, loaded from memory, with functions found by symbol.
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "harness/session.h"

namespace bench {

inline std::string file_bytes(const char* path) {
    std::ifstream file(path, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.empty()) throw std::runtime_error(std::string("cannot read ") + path);
    return bytes;
}

class CpuBinary {
public:
    explicit CpuBinary(const std::string& bytes) {
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 2;
        aclrtBinaryLoadOptions options = {&option, 1};
        BENCH_CHECK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary_));
    }
    ~CpuBinary() { aclrtBinaryUnLoad(binary_); }
    CpuBinary(const CpuBinary&) = delete;
    CpuBinary& operator=(const CpuBinary&) = delete;
    [[nodiscard]] aclrtFuncHandle function(const char* name) const {
        aclrtFuncHandle found = nullptr;
        BENCH_CHECK(aclrtRegisterCpuFunc(binary_, name, name, &found));
        return found;
    }

private:
    aclrtBinHandle binary_ = nullptr;
};

}  // namespace bench
