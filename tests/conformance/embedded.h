// SPDX-License-Identifier: Apache-2.0
// A program's embedded image as canopy-cc makes it, made by hand: the image of kernels.cpp, one launch site for each
// kernel that a test names, and host variables. One object for one image; it may be registered any number of times.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "canopy/launch.h"
#include "fixture.h"

namespace conformance {

class Embedded {
public:
    explicit Embedded(const char* path = CANOPY_TEST_KERNELS) {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        image.version = CANOPY_LAUNCH_VERSION;
        image.bytes = bytes.data();
        image.size = bytes.size();
        image.source = "kernels.cpp";
        sites.resize(std::size(kernels));
        for (std::size_t index = 0; index < std::size(kernels); ++index) {
            sites[index].key = kernels[index];
            sites[index].image = &image;
            sites[index].function = &host_functions[index];
        }
        image.sites = sites.data();
        image.sites_end = sites.data() + sites.size();
        variables = {{&host_word, "global_word", sizeof(host_word)}, {&host_missing, "no_such_word", 4}};
        image.variables = variables.data();
        image.variable_count = static_cast<uint32_t>(variables.size());
    }
    ~Embedded() { canopyUnregisterImage(&image); }
    Embedded(const Embedded&) = delete;
    Embedded& operator=(const Embedded&) = delete;

    CanopyLaunchSite& site(const std::string& kernel) {
        for (CanopyLaunchSite& each : sites)
            if (kernel == each.key) return each;
        ADD_FAILURE() << "no site for " << kernel;
        return sites.front();
    }

    // kernel<<<blocks, 0, stream>>>(values...)
    template <class... Values>
    int launch(const std::string& kernel, uint32_t blocks, aclrtStream stream, Values... values) {
        uint64_t slots[sizeof...(Values) + 1] = {};
        std::size_t count = 0;
        ((std::memcpy(&slots[count++], &values, sizeof(values))), ...);
        const CanopyConfiguration configuration = {{blocks, 1, 1}, {0, 0, 0}, 0, stream};
        return canopyLaunch(&site(kernel), &configuration, slots, count * sizeof(uint64_t));
    }

    static constexpr const char* kernels[] = {"increment",   "nothing",         "identify",       "set_word",
                                              "read_global", "mixed_arguments", "add_atomically", "no_such_kernel"};
    char host_functions[std::size(kernels)] = {};
    std::vector<char> bytes;
    CanopyEmbeddedImage image = {};
    std::vector<CanopyLaunchSite> sites;
    uint32_t host_word = 0;
    uint32_t host_missing = 0;
    std::vector<CanopyEmbeddedVariable> variables;
};

}  // namespace conformance
