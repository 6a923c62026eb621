// SPDX-License-Identifier: Apache-2.0
// Opens the built library by path, as a program would: every function of the interface resolves.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    std::ifstream table(CANOPY_FUNCTIONS_TABLE);
    for (std::string line; std::getline(table, line);) {
        if (!line.empty() && line.front() != '#') names.push_back(line.substr(0, line.find('\t')));
    }
    return names;
}

TEST(LibrarySymbols, EveryFunctionOfTheInterfaceResolves) {
    void* library = dlopen(CANOPY_LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const std::vector<std::string> names = function_names();
    EXPECT_EQ(names.size(), 597u);
    for (const std::string& name : names) EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name;
    dlclose(library);
}

}  // namespace
