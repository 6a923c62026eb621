// SPDX-License-Identifier: Apache-2.0
#include "harness/session.h"

#include <fmt/core.h>

#include <stdexcept>

namespace bench {

void check(aclError code, const char* call) {
    if (code == ACL_SUCCESS) [[likely]]
        return;
    const char* text = aclGetRecentErrMsg();
    throw std::runtime_error(fmt::format("{} gave {}: {}", call, code, text ? text : "no text"));
}

void check_order(const std::vector<Stamp>& stamps, std::uint64_t since) {
    for (const Stamp& stamp : stamps) {
        if (stamp.begin < since || stamp.end < stamp.begin) throw std::runtime_error("kernels ran out of order");
        since = stamp.end;
    }
}

Session::Session() {
    BENCH_CHECK(aclInit(nullptr));
    BENCH_CHECK(aclrtSetDevice(0));
    BENCH_CHECK(aclrtBinaryLoadFromFile(CANOPY_BENCH_KERNELS, nullptr, &binary_));
}

Session::~Session() {
    if (binary_) aclrtBinaryUnLoad(binary_);
    aclrtResetDevice(0);
    aclFinalize();
}

aclrtFuncHandle Session::function(const char* name) const {
    aclrtFuncHandle handle = nullptr;
    BENCH_CHECK(aclrtBinaryGetFunction(binary_, name, &handle));
    return handle;
}

}  // namespace bench
