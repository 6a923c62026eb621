// SPDX-License-Identifier: Apache-2.0
// Writes a profile of records given as lines of text, and its page: the tests of the page know every record this way.
//
//     write_page PROFILE PAGE < lines
//
// Lines: "thread NUMBER ID ROLE INDEX NAME", "text NUMBER HEX", "fact KEY VALUE", "stream NUMBER DEVICE PRIORITY",
// "device NUMBER CUBE VECTOR CPU WORKERS MEMORY CHIP", "lost THREAD COUNT", "end" (the writer closed the file) and
// "record THREAD KIND BEGIN DURATION NAME OBJECT ARGUMENT LINK". One tick is one nanosecond.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profile/page.h"
#include "profile/profile_writer.h"

namespace {

using namespace canopy::profile;

std::string bytes_of_hex(const std::string& hex) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

std::string rest_of(std::istream& line) {
    std::string rest;
    std::getline(line >> std::ws, rest);
    return rest;
}

// Records of one thread in a row go into one call, as a recording does it.
class Lines {
public:
    explicit Lines(ProfileWriter& writer) : writer_(writer) {}
    void read(std::istream& input) {
        for (std::string line; std::getline(input, line);) take(line);
        flush();
    }

private:
    void take(const std::string& line) {
        if (line.rfind("record ", 0) == 0) return take_record(line);
        flush();
        std::istringstream in(line);
        std::string what, word;
        std::uint64_t n[6] = {};
        in >> what;
        if (what == "thread") {
            in >> n[0] >> n[1] >> n[2] >> n[3];
            writer_.thread(number(n[0]), number(n[1]), static_cast<ThreadRole>(n[2]), number(n[3]), rest_of(in));
        } else if (what == "text") {
            in >> n[0];
            writer_.text(number(n[0]), bytes_of_hex(rest_of(in)));
        } else if (what == "fact") {
            in >> word;
            writer_.fact(word, rest_of(in));
        } else if (what == "stream") {
            in >> n[0] >> n[1] >> n[2];
            writer_.stream(number(n[0]), number(n[1]), number(n[2]));
        } else if (what == "device") {
            for (std::uint64_t& one : n) in >> one;
            writer_.device(number(n[0]), "soft", rest_of(in), number(n[1]), number(n[2]), number(n[3]), number(n[4]),
                           n[5]);
        } else if (what == "lost") {
            in >> n[0] >> n[1];
            writer_.lost(number(n[0]), n[1]);
        } else if (what == "end") {
            writer_.close();
        }
    }
    void take_record(const std::string& line) {
        unsigned thread = 0, kind = 0, name = 0;
        unsigned long long begin = 0, duration = 0, object = 0, argument = 0, link = 0;
        if (std::sscanf(line.c_str(), "record %u %u %llu %llu %u %llu %llu %llu", &thread, &kind, &begin, &duration,
                        &name, &object, &argument, &link) != 8)
            return;
        if (thread != thread_) flush();
        thread_ = thread;
        Record record{};
        record.begin = begin;
        record.duration = duration & longest_duration;
        record.kind = kind & 63;
        record.name = name & last_name;
        record.object = number(object);
        record.argument = number(argument);
        record.link = link;
        records_.push_back(record);
    }
    void flush() {
        if (!records_.empty()) writer_.records(thread_, records_);
        records_.clear();
    }
    static std::uint32_t number(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

    ProfileWriter& writer_;
    std::uint32_t thread_ = 0;
    std::vector<Record> records_;
};

int fail(const std::string& message) {
    std::cerr << message << "\n";
    return 1;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return fail("usage: write_page PROFILE PAGE < lines");
    std::ios::sync_with_stdio(false);
    canopy::profile::FileHead head;
    head.process = 4711;
    head.unix_time = 1'700'000'000'000'000'000;
    {
        auto writer = ProfileWriter::create(arguments[1], head);
        if (!writer.ok()) return fail(writer.message());
        Lines(*writer).read(std::cin);
        if (writer->problem()) return fail(writer->problem().message());
    }
    auto file = ProfileFile::open(arguments[1]);
    if (!file.ok()) return fail(file.message());
    if (const canopy::Problem problem = write_page(*file, arguments[2])) return fail(problem.message());
    return 0;
}
