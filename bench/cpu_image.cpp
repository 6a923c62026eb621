// SPDX-License-Identifier: Apache-2.0
// A shared object with a CPU kernel that does nothing, and a mebibyte of data behind it.
#include <cstdint>

extern "C" {

__attribute__((visibility("default"), used)) extern const unsigned char ballast[1 << 20];
const unsigned char ballast[1 << 20] = {1};

__attribute__((visibility("default"))) std::uint32_t empty_cpu_kernel(void*) { return 0; }
}
