// SPDX-License-Identifier: Apache-2.0
// Fixture for tests of profiling: a folder for results, and a session in it.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <vector>

#include "acl/acl_prof.h"
#include "fixtures/fixture.h"
#include "fixtures/own_process.h"

namespace conformance {

// Functions that clients look up by name.
template <class Function>
Function* looked_up(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

class ProfileTest : public KernelTest {
protected:
    void TearDown() override {
        EXPECT_ACL_OK(aclprofStop(nullptr));
        EXPECT_ACL_OK(aclprofFinalize());
        for (aclprofConfig* config : configs_) aclprofDestroyConfig(config);
        KernelTest::TearDown();
    }
    aclprofConfig* config(uint64_t mask, std::vector<uint32_t> devices = {0}) {
        aclprofConfig* made =
            aclprofCreateConfig(devices.empty() ? nullptr : devices.data(), static_cast<uint32_t>(devices.size()),
                                ACL_AICORE_NONE, nullptr, mask);
        EXPECT_NE(made, nullptr) << recent_error();
        if (made) configs_.push_back(made);
        return made;
    }
    aclError init() { return aclprofInit(folder_.path().c_str(), folder_.path().size()); }
    // A running session.
    aclprofConfig* start(uint64_t mask) {
        EXPECT_ACL_OK(init());
        aclprofConfig* const made = config(mask);
        EXPECT_ACL_OK(aclprofStart(made));
        return made;
    }
    // Names of what is in the folder for results.
    [[nodiscard]] std::vector<std::string> results() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
            names.push_back(entry.path().filename().string());
        return names;
    }

    TemporaryDirectory folder_;

private:
    std::vector<aclprofConfig*> configs_;
};

}  // namespace conformance
