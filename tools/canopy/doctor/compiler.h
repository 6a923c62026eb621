// SPDX-License-Identifier: Apache-2.0
// Asks the kernel compiler of a tree what it accepts. Each answer is cached.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace canopy_tool {

class Compiler {
public:
    explicit Compiler(const std::filesystem::path& tree) : program_((tree / "bin/canopy-cc").string()) {}

    // Each returns an empty string, or the compiler's error. Without a compiler in the tree it is always empty.
    std::string refuses_chip(const std::string& name);
    std::string refuses_architecture(const std::string& name);
    // A flag, with its value if that is a separate argument.
    std::string refuses_flag(const std::vector<std::string>& words);

private:
    std::string answer(const std::vector<std::string>& words);

    std::string program_;
    std::map<std::vector<std::string>, std::string> answers_;
};

}  // namespace canopy_tool
