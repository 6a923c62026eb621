// SPDX-License-Identifier: Apache-2.0
// The names of loaded kernels by their addresses, for code that sees which kernel a thread runs but cannot keep it
// loaded: the monitor, which looks at other threads. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "foundation/kernel_info.h"

namespace canopy {

struct Kernel;

// Makes a kernel known from the construction of this object until its end. Without memory it stays unknown.
class KnownKernel {
public:
    KnownKernel() noexcept = default;
    KnownKernel(const Kernel& kernel, const KernelInfo& info) noexcept;
    KnownKernel(KnownKernel&& other) noexcept : kernel_(other.kernel_) { other.kernel_ = nullptr; }
    KnownKernel& operator=(KnownKernel&& other) noexcept {
        std::swap(kernel_, other.kernel_);
        return *this;
    }
    ~KnownKernel();

private:
    const Kernel* kernel_ = nullptr;
};

// What is known of the kernel at that address, which may be gone. False: nothing; the arguments stay as they are.
bool find_known_kernel(const Kernel* kernel, CoreType& core, std::string* name) noexcept;

}  // namespace canopy
