// SPDX-License-Identifier: Apache-2.0
#include "replay.h"

#include <fmt/core.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "acl/acl.h"
#include "canopy/canopy.h"
#include "foundation/files.h"
#include "foundation/json.h"

namespace canopy_tool {
namespace {

using canopy::Json;

constexpr int most_attempts = 16;
constexpr std::int64_t failed_block = -1, all_blocks = -2;

// Where the memory lay, this process may have mapped something else; the next one has it elsewhere. The first one asks
// for the layout without randomness, which a debugger gives too.
[[noreturn]] void start_anew(const ReplayOptions& options, int attempt, std::ostream& problems) {
    const int persona = personality(0xFFFFFFFF);
    const bool fixed = attempt == 0;
    personality(static_cast<unsigned long>(fixed ? persona | ADDR_NO_RANDOMIZE : persona & ~ADDR_NO_RANDOMIZE));
    const std::string next = std::to_string(attempt + 1);
    std::vector<const char*> words = {"canopy", "replay", options.folder.c_str(), "--attempt", next.c_str()};
    if (!options.block.empty()) words.insert(words.end(), {"--block", options.block.c_str()});
    words.push_back(nullptr);
    execv("/proc/self/exe", const_cast<char* const*>(words.data()));
    problems << "canopy replay: cannot start itself: " << std::strerror(errno) << '\n';
    std::exit(1);
}

// Replaces this process.
int start_gdb(const ReplayOptions& options, std::ostream& problems) {
    std::string text;
    const std::optional<Json> facts =
        canopy::read_file(options.folder + "/replay.json", text) ? canopy::parse_json(text) : std::nullopt;
    const Json* kernel = facts ? facts->find("kernel") : nullptr;
    if (!kernel || !kernel->is_string()) {
        problems << "canopy replay: " << options.folder << " is no complete dump of a failed launch\n";
        return 1;
    }
    char self[4096] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return 1;
    std::vector<std::string> words = {"gdb",  "-q",
                                      "-iex", "set breakpoint pending on",
                                      "-iex", "set debuginfod enabled off",
                                      "-ex",  "break " + kernel->text(),
                                      "-ex",  "run"};
    words.insert(words.end(), options.gdb_arguments.begin(), options.gdb_arguments.end());
    words.insert(words.end(), {"--args", self, "replay", options.folder});
    if (!options.block.empty()) words.insert(words.end(), {"--block", options.block});
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execvp("gdb", pointers.data());
    problems << "canopy replay: cannot start gdb: " << std::strerror(errno) << '\n';
    return 1;
}

bool read_block(const std::string& text, std::int64_t& block) {
    block = failed_block;
    if (text.empty()) return true;
    if (text == "all") {
        block = all_blocks;
        return true;
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), block);
    return error == std::errc() && end == text.data() + text.size() && block >= 0;
}

int print_outcome(const Json& outcome, bool all, std::ostream& out) {
    out << fmt::format("recorded: {}\n          {}\n", outcome.at("recorded").text(), outcome.at("memory").text());
    const std::string what =
        all ? fmt::format("all {} blocks", outcome.at("blocks").get<unsigned>())
            : fmt::format("block {} of {}", outcome.at("block").get<unsigned>(), outcome.at("blocks").get<unsigned>());
    const int code = outcome.at("code").get<int>();
    if (code == 0) {
        out << fmt::format("replay:   {} of {} did not fail\n", what, outcome.at("kernel").text());
        return 0;
    }
    const bool same = outcome.at("same").get<bool>();
    out << fmt::format("replay:   {} (code {})\n          {}: {}\n", outcome.at("message").text(), code, what,
                       same ? "the same failure" : "another failure");
    return same ? 0 : 3;
}

}  // namespace

int replay(const ReplayOptions& options, std::ostream& out, std::ostream& problems) {
    std::int64_t block = failed_block;
    if (!read_block(options.block, block)) {
        problems << "canopy replay: --block " << options.block << " is neither a number nor \"all\"\n";
        return 2;
    }
    if (options.gdb) return start_gdb(options, problems);
    const int attempt = options.attempt.empty() ? 0 : std::atoi(options.attempt.c_str());
    // One thread runs the block, and a debugger may stop it for as long as it likes.
    for (const char* name : {"CANOPY_DEVICE", "CANOPY_DUMP_EXCEPTION", "CANOPY_DUMP_EXCEPTION_BEFORE",
                             "ASCEND_DUMP_SCENE", "ASCEND_RT_VISIBLE_DEVICES", "CANOPY_DEVICE_COUNT"})
        unsetenv(name);
    setenv("CANOPY_WORKERS", "1", 1);
    const char* text = nullptr;
    if (const int code = canopyReplay(options.folder.c_str(), block, &text); code != 0) {
        const char* why = aclGetRecentErrMsg();
        problems << fmt::format("canopy replay: {} (code {})\n", why ? why : "it failed", code);
        return 1;
    }
    const Json outcome = canopy::parse_json(text).value();
    if (!outcome.at("place_taken").get<bool>()) return print_outcome(outcome, block == all_blocks, out);
    if (attempt < most_attempts) start_anew(options, attempt, problems);
    problems << "canopy replay: the addresses of the memory were taken in every process that was started\n";
    return 1;
}

}  // namespace canopy_tool
