// SPDX-License-Identifier: Apache-2.0
#include "core/process/version.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/variables.h"

namespace canopy {
namespace {

std::string directory_above(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool is_package_name(std::string_view name) {
    return !name.empty() && name.size() < 128 && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](unsigned char letter) {
               return std::isalnum(letter) || letter == '_' || letter == '-' || letter == '.';
           });
}

std::string lower(std::string_view text) {
    std::string result(text);
    for (char& letter : result) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return result;
}

// Takes the leading digits off `rest`; -1 if there are none.
std::int32_t take_number(std::string_view& rest) {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0) return -1;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return number;
}

// The (negative) contribution of a pre-release name: "-rc.2", ".alpha001", "RC1".
std::int32_t pre_release(std::string_view suffix) {
    struct Stage {
        std::string_view name;
        std::int32_t below;
    };
    constexpr std::array stages = {Stage{"alpha", 300}, Stage{"beta", 200}, Stage{"rc", 100}};
    const std::string text = lower(suffix);
    for (const Stage& stage : stages) {
        const std::size_t at = text.find(stage.name);
        if (at == std::string::npos) continue;
        std::string_view rest = std::string_view(text).substr(at + stage.name.size());
        while (!rest.empty() && (rest.front() == '.' || rest.front() == '-')) rest.remove_prefix(1);
        return std::min(std::max(take_number(rest), 0), 99) - stage.below;
    }
    return 0;
}

}  // namespace

std::string install_root() {
    if (const auto root = environment_variable("ASCEND_HOME_PATH")) return std::string(*root);
    Dl_info facts{};
    if (dladdr(reinterpret_cast<const void*>(&install_root), &facts) == 0 || facts.dli_fname == nullptr) return ".";
    char* real = realpath(facts.dli_fname, nullptr);
    const std::string library = real != nullptr ? real : facts.dli_fname;
    std::free(real);
    return directory_above(directory_above(library));
}

Result<std::string> package_version(std::string_view package) {
    if (!is_package_name(package)) return fail(code::invalid_file, "\"{}\" is not the name of a package", package);
    const std::string path = fmt::format("{}/share/info/{}/version.info", install_root(), package);
    std::ifstream file(path);
    if (!file) return fail(code::invalid_file, "package {} has no version file {}", package, path);
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos || lower(std::string_view(line).substr(0, equals)) != "version") continue;
        std::string version = line.substr(equals + 1);
        while (!version.empty() && std::isspace(static_cast<unsigned char>(version.back()))) version.pop_back();
        while (!version.empty() && std::isspace(static_cast<unsigned char>(version.front()))) version.erase(0, 1);
        if (!version.empty()) return version;
    }
    return fail(code::invalid_file, "{} has no line \"Version=...\"", path);
}

Result<std::int32_t> version_number(std::string_view version) {
    std::array<std::int64_t, 3> parts{};
    std::string_view rest = version;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        std::string_view behind = rest;
        if (part > 0) {
            if (!behind.starts_with('.')) break;
            behind.remove_prefix(1);
        }
        const std::int32_t number = take_number(behind);
        if (number < 0) {
            if (part == 0) return fail(code::internal, "\"{}\" does not begin with a number", version);
            break;
        }
        parts[part] = number;
        rest = behind;
    }
    const std::int64_t value = parts[0] * 10'000'000 + parts[1] * 100'000 + parts[2] * 1'000 + pre_release(rest);
    if (value > INT32_MAX) return fail(code::internal, "version \"{}\" is too large for a number", version);
    return static_cast<std::int32_t>(value);
}

}  // namespace canopy
