// SPDX-License-Identifier: Apache-2.0
// Runs a fuzzing harness without libFuzzer: all files of the corpus, then the requested number of mutated inputs, the
// same ones each time. Understands the libFuzzer options that the tests use:
//
//     HARNESS [-runs=N] [-seed=N] [-max_len=N] [-max_total_time=SECONDS] [-dict=FILE] CORPUS_FOLDER...
//     HARNESS FILE...
//
// An input that ends the program, or takes 10 s of processor time, is saved as crash-HARNESS.
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int seconds_for_one_input = 10;

struct Options {
    std::uint64_t runs = UINT64_MAX, seed = 1, max_len = 4096, max_total_time = UINT64_MAX;
    std::string dictionary;
    std::vector<std::string> paths;
};

// The current input, for the signal handlers.
const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;
std::string crash_file;

void leave_input_behind(int number) {
    const char* text = number == SIGPROF ? "the input takes too long; it is in " : "the input is in ";
    const int file = open(crash_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    bool written = file >= 0 && write(file, current_data, current_size) >= 0;
    written &= write(STDERR_FILENO, text, strlen(text)) > 0;
    written &= write(STDERR_FILENO, crash_file.c_str(), crash_file.size()) > 0;
    written &= write(STDERR_FILENO, "\n", 1) > 0;
    signal(SIGABRT, SIG_DFL);
    abort();
}

void run_one(const std::string& input) {
    // A copy without spare capacity, so that the sanitizer sees any read past the end.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    current_data = bytes.data();
    current_size = bytes.size();
    const itimerval limit = {{0, 0}, {seconds_for_one_input, 0}};
    setitimer(ITIMER_PROF, &limit, nullptr);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

std::string contents_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// Lines like name="text" or "text", with \xNN for other bytes.
std::vector<std::string> read_dictionary(const std::string& path) {
    std::vector<std::string> words;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const std::size_t begin = line.find('"'), end = line.rfind('"');
        if (line.starts_with('#') || begin == std::string::npos || end <= begin) continue;
        std::string word;
        for (std::size_t at = begin + 1; at < end; ++at) {
            if (line[at] != '\\') {
                word += line[at];
            } else if (line[at + 1] == 'x') {
                word += static_cast<char>(std::stoi(line.substr(at + 2, 2), nullptr, 16));
                at += 3;
            } else {
                word += line[++at];
            }
        }
        words.push_back(word);
    }
    return words;
}

class Mutator {
public:
    Mutator(const std::vector<std::string>& corpus, std::vector<std::string> words, const Options& options)
        : corpus_(corpus), words_(std::move(words)), max_len_(options.max_len), random_(options.seed) {}

    std::string next() {
        std::string text = any(corpus_);
        if (text.size() > max_len_) {
            text = text.substr(below(text.size() - max_len_ + 1), max_len_);
        } else if (text.size() > 64 && below(4) == 0) {
            text = text.substr(0, below(text.size()));
        }
        for (std::size_t changes = 1 + below(8); changes > 0; --changes) change(text);
        if (text.size() > max_len_) text.resize(max_len_);
        return text;
    }

private:
    std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }
    const std::string& any(const std::vector<std::string>& from) { return from[below(from.size())]; }
    std::string piece(const std::string& text) {
        const std::size_t begin = below(text.size() + 1);
        return text.substr(begin, 1 + below(std::min<std::size_t>(text.size() - begin + 1, 256)));
    }

    void change(std::string& text) {
        const std::size_t at = below(text.size() + 1);
        switch (below(9)) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
                return;
            case 1:
                if (at < text.size()) text[at] = static_cast<char>(below(256));
                return;
            case 2:
                text.erase(at, 1 + below(below(4) == 0 ? 512 : 8));
                return;
            case 3:
                text.insert(at, piece(text));
                return;
            case 4:
                text.insert(at, piece(any(corpus_)));
                return;
            case 5:
                return set_number(text, at);
            case 6:
                text.insert(at, 1 + below(16), static_cast<char>(below(256)));
                return;
            case 7:
                if (!words_.empty()) text.insert(at, any(words_));
                return;
            default:
                return repeat(text, at);
        }
    }

    // Numbers at the limits of their types.
    void set_number(std::string& text, std::size_t at) {
        static constexpr std::int64_t numbers[] = {0,   1,     -1,    127,        128,        255,       256,
                                                   511, 32767, 65535, 2147483647, 4294967295, INT64_MAX, INT64_MIN};
        const std::int64_t number = numbers[below(std::size(numbers))];
        if (below(3) == 0) {
            text.insert(at, std::to_string(number));
            return;
        }
        const std::size_t size = std::size_t{1} << below(4);
        if (at + size <= text.size()) std::memcpy(text.data() + at, &number, size);
    }

    // Deep nesting and long sequences.
    void repeat(std::string& text, std::size_t at) {
        if (below(8) != 0) return;
        const std::string word = words_.empty() ? piece(text) : any(words_);
        std::string row;
        for (std::size_t count = below(2000); count > 0 && row.size() < max_len_; --count) row += word;
        text.insert(at, row);
    }

    const std::vector<std::string>& corpus_;
    std::vector<std::string> words_;
    std::size_t max_len_;
    std::mt19937_64 random_;
};

Options read_options(int count, char** arguments) {
    Options options;
    for (int index = 1; index < count; ++index) {
        const std::string_view argument = arguments[index];
        const auto is_number = [&](std::string_view name, std::uint64_t& value) {
            if (!argument.starts_with(name)) return false;
            std::from_chars(argument.data() + name.size(), argument.data() + argument.size(), value);
            return true;
        };
        if (is_number("-runs=", options.runs) || is_number("-seed=", options.seed) ||
            is_number("-max_len=", options.max_len) || is_number("-max_total_time=", options.max_total_time))
            continue;
        if (argument.starts_with("-dict=")) {
            options.dictionary = argument.substr(6);
        } else if (argument.starts_with('-')) {
            std::fprintf(stderr, "unknown option %s\n", arguments[index]);
            std::exit(2);
        } else {
            options.paths.emplace_back(argument);
        }
    }
    return options;
}

}  // namespace

extern "C" const char* __asan_default_options() { return "abort_on_error=1:allocator_may_return_null=1"; }
extern "C" const char* __ubsan_default_options() { return "abort_on_error=1:print_stacktrace=1"; }

int main(int count, char** arguments) {
    namespace fs = std::filesystem;
    const Options options = read_options(count, arguments);
    crash_file = "crash-" + fs::path(arguments[0]).filename().string();
    for (const int number : {SIGABRT, SIGPROF}) signal(number, &leave_input_behind);

    std::vector<std::string> corpus;
    bool folders = false;
    for (const std::string& path : options.paths) {
        if (!fs::is_directory(path)) {
            corpus.push_back(contents_of(path));
            continue;
        }
        folders = true;
        std::vector<fs::path> files;
        for (const auto& entry : fs::recursive_directory_iterator(path))
            if (entry.is_regular_file()) files.push_back(entry.path());
        std::sort(files.begin(), files.end());
        for (const fs::path& file : files) corpus.push_back(contents_of(file));
    }
    for (const std::string& input : corpus) run_one(input);
    if (!folders) return 0;
    if (corpus.empty()) {
        std::fprintf(stderr, "the corpus is empty\n");
        return 2;
    }
    Mutator mutator(corpus, read_dictionary(options.dictionary), options);
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::seconds(std::min<std::uint64_t>(options.max_total_time, 1000000));
    std::uint64_t runs = 0;
    for (; runs < options.runs && std::chrono::steady_clock::now() < end; ++runs) run_one(mutator.next());
    std::printf("%zu files and %llu changed ones\n", corpus.size(), static_cast<unsigned long long>(runs));
    return 0;
}
