// SPDX-License-Identifier: Apache-2.0
// What is told about findings: joined, as text, as JSON and SARIF, without what is suppressed.
#include "check/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "check/report/findings_file.h"
#include "foundation/files.h"
#include "foundation/json.h"

namespace canopy::check {
namespace {

Place place(unsigned line, const char* access, const char* pipe, std::int64_t block = 0) {
    Place made;
    made.file = "src/rows.cpp";
    made.line = line;
    made.operation = "DataCopy";
    made.operand = "source";
    made.access = access;
    made.pipe = pipe;
    made.core = "aiv(" + std::to_string(block) + ")";
    made.block = block;
    made.address = 0x4000;
    made.bytes = 8192;
    made.number = 7;
    return made;
}

Finding hazard(unsigned first = 41, unsigned second = 36, std::int64_t block = 0) {
    Finding finding;
    finding.id = "race.pipe";
    finding.kind = "WAR";
    finding.kernel = "scale_rows";
    finding.memory = "UB";
    finding.headline = "Potential WAR hazard detected at UB";
    finding.explanation = "no order: needs MTE3_V behind the read";
    finding.missing = "MTE3_V";
    finding.places = {place(first, "read", "PIPE_MTE3", block), place(second, "write", "PIPE_V", block)};
    finding.places[1].operation = "Muls";
    finding.places[1].operand = "destination";
    return finding;
}

Finding warning() {
    Finding finding = hazard(10, 11);
    finding.id = "sync.end";
    finding.level = Level::warning;
    return finding;
}

// A report that prints into a text, with a folder for its files.
class ReportTest : public testing::Test {
protected:
    Report& report() {
        if (!report_)
            report_ = std::make_unique<Report>(
                Options{checks, options}, process, [this](std::string_view text) { printed += text; }, false, problems);
        return *report_;
    }
    [[nodiscard]] std::string path(const char* name) const { return folder_->path() + "/" + name; }
    [[nodiscard]] std::vector<Json> lines_of(const std::string& file) const {
        std::vector<Json> lines;
        std::ifstream text(file);
        for (std::string row; std::getline(text, row);) lines.push_back(parse_json(row).value());
        return lines;
    }
    void write(const std::string& file, std::string_view text) const { ASSERT_TRUE(write_file(file, text)); }
    void end_report() { report_.reset(); }

    CheckOptions checks;
    ReportOptions options;
    std::int64_t process = 12;
    std::string printed;
    std::vector<std::string> problems;

private:
    Expected<TemporaryFolder> folder_ = TemporaryFolder::create("report_test");
    std::unique_ptr<Report> report_;
};

TEST_F(ReportTest, TextHasBothLinesTheMissingOrderAndTheCount) {
    for (std::int64_t block = 0; block < 4; ++block) {
        Finding finding = hazard(41, 36, block);
        finding.count = 6;
        report().add(finding);
    }
    EXPECT_EQ(printed, "");
    report().tell();
    EXPECT_EQ(printed,
              "====== ERROR: Potential WAR hazard detected at UB in kernel scale_rows on device 0\n"
              "======    PIPE_MTE3 Read  of 8192 bytes at UB+0x4000 in block aiv(0): DataCopy, source, at "
              "src/rows.cpp:41\n"
              "======    PIPE_V    Write of 8192 bytes at UB+0x4000 in block aiv(0): Muls, destination, at "
              "src/rows.cpp:36\n"
              "======    no order: needs MTE3_V behind the read. 24 times in blocks 0..3\n");
}

TEST_F(ReportTest, PlacesWithoutAnAccessAreNamed) {
    Finding finding;
    finding.id = "host.free";
    finding.headline = "illegal free()";
    finding.places.resize(2);
    finding.places[0].operation = "aclrtFree";
    finding.places[0].file = "main.cpp";
    finding.places[0].line = 3;
    finding.places[1].operation = "aclrtLaunchKernel";
    report().add(finding);
    report().tell();
    EXPECT_EQ(printed,
              "====== ERROR: illegal free()\n"
              "======    aclrtFree, at main.cpp:3\n"
              "======    aclrtLaunchKernel\n");
}

TEST_F(ReportTest, WhatIsShownDoesNotDependOnTheOrderOfThreads) {
    std::vector<std::thread> threads;
    for (std::int64_t block = 0; block < 8; ++block)
        threads.emplace_back([this, block, &to = report()] { to.add(hazard(41, 36, 7 - block)); });
    for (std::thread& thread : threads) thread.join();
    report().tell();
    EXPECT_NE(printed.find("in block aiv(0): DataCopy"), std::string::npos) << printed;
    EXPECT_NE(printed.find("8 times in blocks 0..7"), std::string::npos) << printed;
}

TEST_F(ReportTest, OtherLinesAreOtherFindingsAndNothingIsToldTwice) {
    report().add(hazard(41, 36));
    report().add(hazard(41, 37));
    report().tell();
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 8);
    printed.clear();
    report().add(hazard(41, 36));
    report().tell();
    EXPECT_EQ(printed, "");
    EXPECT_EQ(report().errors(), 2u);
}

TEST_F(ReportTest, OnlyClassesThatAreAskedForAreKept) {
    checks.classes.race = false;
    const auto found = [this](const char* id) {
        Finding finding = hazard();
        finding.id = id;
        report().add(finding);
        const bool kept = report().errors() > 0;
        end_report();
        return kept;
    };
    EXPECT_FALSE(found("race.core"));
    EXPECT_TRUE(found("cache.line"));
    EXPECT_TRUE(found("sync.set"));
    EXPECT_FALSE(found("host.leak"));
    checks.classes.leaks = true;
    EXPECT_TRUE(found("host.leak"));
}

TEST_F(ReportTest, KernelsHaveTheNamesOfTheirSource) {
    Finding finding = hazard();
    finding.kernel = "_ZN7kernels4axpyIfLj2048EEEvPT_S2_S1_j";
    report().add(finding);
    report().tell();
    EXPECT_NE(printed.find(" in kernel kernels::axpy<float, 2048u> on device 0\n"), std::string::npos) << printed;
    EXPECT_TRUE(report().has_error_in(finding.kernel));
    EXPECT_FALSE(report().has_error_in("scale_rows"));
}

TEST_F(ReportTest, ErrorsComeFirst) {
    report().add(warning());
    report().add(hazard());
    report().tell();
    EXPECT_LT(printed.find("ERROR"), printed.find("WARNING"));
}

TEST_F(ReportTest, StrictMakesWarningsErrors) {
    report().add(warning());
    EXPECT_EQ(report().errors(), 0u);
    end_report();
    options.strict = true;
    report().add(warning());
    EXPECT_EQ(report().errors(), 1u);
}

TEST_F(ReportTest, NotesArePrintedWhenAskedForAndAlwaysWritten) {
    Finding note = hazard();
    note.level = Level::note;
    options.json = path("notes.jsonl");
    report().add(note);
    report().tell();
    EXPECT_EQ(printed, "");
    EXPECT_EQ(lines_of(options.json).size(), 1u);
    end_report();
    options.notes = true;
    report().add(note);
    report().tell();
    EXPECT_TRUE(printed.starts_with("====== NOTE: ")) << printed;
}

TEST_F(ReportTest, TextEndsAfterAHundredFindingsAndJsonHasAll) {
    options.json = path("many.jsonl");
    for (unsigned line = 1; line <= 150; ++line) report().add(hazard(line, 500));
    report().finish({});
    EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 100 * 4 + 2);
    EXPECT_NE(printed.find("further findings are counted"), std::string::npos);
    EXPECT_NE(printed.find("canopy check: 150 errors, 0 warnings"), std::string::npos) << printed;
    EXPECT_EQ(lines_of(options.json).size(), 151u);
}

TEST_F(ReportTest, JsonAgreesWithTheText) {
    options.json = path("findings.jsonl");
    report().add(hazard());
    report().tell();
    const Json line = lines_of(options.json).at(0);
    EXPECT_EQ(line.at("text").text(), printed);
    EXPECT_EQ(line.at("schema").get<int>(), 1);
    EXPECT_EQ(line.at("id").text(), "race.pipe");
    EXPECT_EQ(line.at("level").text(), "error");
    EXPECT_EQ(line.at("kind").text(), "WAR");
    EXPECT_EQ(line.at("kernel").text(), "scale_rows");
    EXPECT_EQ(line.at("memory").text(), "UB");
    EXPECT_EQ(line.at("missing").text(), "MTE3_V");
    EXPECT_EQ(line.at("blocks").get<std::vector<unsigned>>(), std::vector<unsigned>{0});
    const Json& access = line.at("accesses").at(1);
    EXPECT_EQ(access.at("file").text(), "src/rows.cpp");
    EXPECT_EQ(access.at("line").get<unsigned>(), 36u);
    EXPECT_EQ(access.at("access").text(), "write");
    EXPECT_EQ(access.at("pipe").text(), "V");
    EXPECT_EQ(access.at("core").text(), "aiv");
    EXPECT_EQ(access.at("address").get<unsigned>(), 0x4000u);
    EXPECT_EQ(access.at("bytes").get<unsigned>(), 8192u);
}

TEST_F(ReportTest, LinesOfAProcessGetTheirLastCountsAndThoseOfOthersStay) {
    options.json = path("shared.jsonl");
    report().add(hazard());
    report().tell();
    ASSERT_FALSE(append_lines(options.json, "{\"schema\":1,\"process\":13,\"id\":\"race.core\"}\n"));
    report().add(hazard());
    Summary launches;
    launches.kernels = 2;
    launches.launches = 5;
    report().finish(launches);
    const std::vector<Json> lines = lines_of(options.json);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].at("process").get<int>(), 13);
    EXPECT_EQ(lines[1].at("count").get<int>(), 2);
    ASSERT_TRUE(is_summary(lines[2]));
    const Summary read = summary_of(lines[2]);
    EXPECT_EQ(read.errors, 1u);
    EXPECT_EQ(read.launches, 5u);
    EXPECT_EQ(lines[2].at("text").text(), "canopy check: 1 error, 0 warnings, 0 notes in 2 kernels, 5 launches\n");
    EXPECT_TRUE(printed.ends_with(lines[2].at("text").text()));
}

TEST_F(ReportTest, KernelsThatWereNotCheckedAreNamed) {
    Summary launches;
    launches.not_checked = {{"rope", "its image has no text to compile"}};
    report().finish(launches);
    EXPECT_EQ(printed,
              "canopy check: 0 errors, 0 warnings, 0 notes in 0 kernels, 0 launches; not checked inside: 1 kernel\n"
              "canopy check: not checked inside: rope: its image has no text to compile\n");
}

TEST_F(ReportTest, FilesThatCannotBeWrittenAreNamedOnce) {
    options.json = path("no/such/folder.jsonl");
    report().add(hazard());
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_NE(problems[0].find("folder.jsonl cannot be written"), std::string::npos);
    report().tell();
    report().add(hazard(1, 2));
    report().finish({});
    const std::size_t first = printed.find("cannot be written");
    ASSERT_NE(first, std::string::npos);
    EXPECT_EQ(printed.find("cannot be written", first + 1), std::string::npos);
}

TEST_F(ReportTest, ASuppressedFindingIsCountedOnly) {
    write(path("known"), "# known\nrace.* kernel=scale_* file=rows.cpp:36 with=*rows.cpp:41  # why\nrace.core\n");
    options.suppress = {path("known")};
    report().add(hazard());
    report().add(hazard(41, 37));
    report().finish({});
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(printed.find("rows.cpp:36"), std::string::npos) << printed;
    EXPECT_NE(printed.find("1 error, "), std::string::npos) << printed;
    EXPECT_NE(printed.find("; 1 suppressed"), std::string::npos) << printed;
    EXPECT_NE(printed.find("a suppression that nothing fits: " + path("known") + ":3: race.core"), std::string::npos)
        << printed;
}

TEST_F(ReportTest, WrittenSuppressionsSuppressTheirFindingsOnly) {
    options.write_suppressions = path("written");
    Finding strange = hazard(3, 4);
    strange.places[0].file = "a folder/[x]*.cpp";
    strange.kernel = "scale<float, 3>";
    report().add(hazard());
    report().add(strange);
    report().tell();
    report().add(hazard());
    report().tell();
    end_report();
    printed.clear();
    options.suppress = {options.write_suppressions};
    options.write_suppressions.clear();
    report().add(hazard());
    report().add(strange);
    report().add(hazard(41, 99));
    report().finish({});
    EXPECT_TRUE(problems.empty()) << problems[0];
    EXPECT_NE(printed.find("1 error, 0 warnings, 0 notes in 0 kernels, 0 launches; 2 suppressed\n"), std::string::npos)
        << printed;
}

TEST_F(ReportTest, BadSuppressionsAreNamedWithTheirLine) {
    write(path("bad"), "kernel=x\nrace.pipe colour=red\nrace.pipe file=\nrace.pipe file=a.cpp:b\nrace.pipe\n");
    options.suppress = {path("bad"), path("missing")};
    report().add(hazard());
    ASSERT_EQ(problems.size(), 5u);
    for (int line = 1; line <= 4; ++line)
        EXPECT_TRUE(problems[static_cast<std::size_t>(line - 1)].starts_with(path("bad") + ":" + std::to_string(line)))
            << problems[static_cast<std::size_t>(line - 1)];
    EXPECT_NE(problems[4].find("missing cannot be read"), std::string::npos);
    EXPECT_EQ(report().errors(), 0u);  // the last line holds
}

TEST_F(ReportTest, FindingsInIgnoredFilesOnlyAreDropped) {
    options.ignored = {"*/vendor/*"};
    Finding both = hazard();
    both.places[0].file = "/x/vendor/a.h";
    Finding inside = both;
    inside.places[1].file = "/x/vendor/b.h";
    report().add(both);
    report().add(inside);
    EXPECT_EQ(report().errors(), 1u);
}

TEST_F(ReportTest, SarifHasARuleAResultAndBothPlaces) {
    options.sarif = path("findings.sarif");
    report().add(hazard());
    report().finish({});
    std::string text;
    ASSERT_TRUE(read_file(options.sarif, text));
    const Json document = parse_json(text).value();
    EXPECT_EQ(document.at("version").text(), "2.1.0");
    const Json& run = document.at("runs").at(0);
    EXPECT_EQ(run.at("tool").at("driver").at("rules").at(0).at("id").text(), "race.pipe");
    const Json& result = run.at("results").at(0);
    EXPECT_EQ(result.at("ruleId").text(), "race.pipe");
    EXPECT_EQ(result.at("level").text(), "error");
    const auto line = [](const Json& location) {
        return location.at("physicalLocation").at("region").at("startLine").get<unsigned>();
    };
    EXPECT_EQ(line(result.at("locations").at(0)), 36u);
    EXPECT_EQ(line(result.at("relatedLocations").at(0)), 41u);
    EXPECT_EQ(result.at("message").at("text").text() + printed.substr(printed.rfind("canopy check")), printed);
}

TEST_F(ReportTest, TheCpuTwinsNamesComeBesideOurs) {
    options.twin_names = true;
    Finding outside = hazard();
    outside.id = "memory.tensor";
    report().add(outside);
    report().tell();
    EXPECT_NE(printed.find(" on device 0 (ErrorWrite3)\n"), std::string::npos) << printed;
}

TEST_F(ReportTest, AChildStartsWithoutFindings) {
    report().add(hazard());
    report().before_fork();
    report().forget(13);
    EXPECT_EQ(report().errors(), 0u);
    report().add(hazard());
    report().tell();
    EXPECT_NE(printed.find("rows.cpp:36"), std::string::npos);
}

TEST_F(ReportTest, WhatWasFoundSinceAPositionIncludesWhatWasKnown) {
    report().add(hazard());
    const std::uint64_t position = report().position();
    EXPECT_TRUE(report().lines_since(position).empty());
    report().add(hazard(1, 2));
    report().add(hazard());
    EXPECT_EQ(report().lines_since(position).size(), 2u);
}

TEST(Blocks, AreStretches) {
    Blocks blocks;
    for (const std::uint32_t block : {3u, 1u, 2u, 9u, 7u, 9u, 0u}) blocks.add(block);
    EXPECT_EQ(blocks.text(), "blocks 0..3, 7, 9");
    EXPECT_EQ(blocks.numbers(), (std::vector<std::uint32_t>{0, 1, 2, 3, 7, 9}));
    Blocks one;
    one.add(5);
    EXPECT_EQ(one.text(), "block 5");
}

// ---- options --------------------------------------------------------------------------------------------------------

Options read(std::string_view text, std::vector<std::string>& problems) {
    Options options;
    read_options(text, options, problems);
    return options;
}

TEST(CheckOptions, AreReadAsAShellWould) {
    std::vector<std::string> problems;
    const Options options = read(
        "--strict --json='/a b' --sarif /c\\ d  --kernel \"x*,y\" --block 3 --first=2 --autosync off --leaks "
        "--suppress /s,/t --exit-code 5 --dsb all --names twin --without 7",
        problems);
    EXPECT_TRUE(problems.empty()) << problems[0];
    EXPECT_TRUE(options.report.strict);
    EXPECT_FALSE(options.report.notes);
    EXPECT_EQ(options.report.json, "/a b");
    EXPECT_EQ(options.report.sarif, "/c d");
    EXPECT_EQ(options.report.kernels, (std::vector<std::string>{"x*", "y"}));
    EXPECT_EQ(options.report.suppress, (std::vector<std::string>{"/s", "/t"}));
    EXPECT_EQ(options.report.block, 3u);
    EXPECT_EQ(options.report.first, 2u);
    EXPECT_EQ(options.report.exit_code, 5);
    EXPECT_EQ(options.check.autosync, false);
    EXPECT_EQ(options.check.without, 7u);
    EXPECT_TRUE(options.check.classes.leaks);
    EXPECT_TRUE(options.check.data_barrier_all);
    EXPECT_TRUE(options.report.twin_names);
}

TEST(CheckOptions, QuotedWordsComeBack) {
    std::vector<std::string> problems;
    EXPECT_EQ(read("--json " + quoted("/it's \"a\" \\ b"), problems).report.json, "/it's \"a\" \\ b");
    EXPECT_TRUE(problems.empty());
}

TEST(CheckOptions, EachBadPartIsNamedAndTheOthersHold) {
    struct Case {
        const char* text;
        const char* problem;
    };
    for (const Case& bad :
         {Case{"--colour", "--colour is not an option of canopy check"},
          Case{"race", "race is not an option of canopy check"}, Case{"--strict=1", "--strict does not take a value"},
          Case{"--json", "--json requires a value"}, Case{"--json ''", "--json: the name of a file is missing"},
          Case{"--block -1", "--block: -1 is not a number from 0 to 4294967295"},
          Case{"--exit-code 256", "--exit-code: 256 is not a number from 0 to 255"},
          Case{"--autosync maybe", "--autosync: maybe is not on or off"},
          Case{"--kernel a,,b", "--kernel: a part of the list is empty"},
          Case{"--first 99999999999999999999",
               "--first: 99999999999999999999 is not a number from 0 "
               "to 18446744073709551615"},
          Case{"--stop --stop", "--stop is given twice"}, Case{"--names 'twin", "a quote is not closed"}}) {
        std::vector<std::string> problems;
        const Options options = read("--notes " + std::string(bad.text), problems);
        ASSERT_EQ(problems.size(), 1u) << bad.text;
        EXPECT_EQ(problems[0], bad.problem);
        EXPECT_TRUE(options.report.notes);
        EXPECT_EQ(options.report.exit_code, 66);
    }
}

TEST(CheckOptions, RelativeFilesAreOfTheFolderOfTheStart) {
    std::vector<std::string> problems;
    EXPECT_EQ(read("--json x.jsonl", problems).report.json, (std::filesystem::current_path() / "x.jsonl").string());
}

TEST(CheckOptions, AnyTextIsReadToItsEnd) {
    constexpr std::string_view letters = "--json=file with:1 '\"\\*?[,#\n\t\xff";
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::string text;
        for (std::uint32_t length = random() % 40; length > 0; --length) text += letters[random() % letters.size()];
        std::vector<std::string> problems;
        read(text, problems);
        Suppressions suppressions;
        suppressions.parse(text, "file", problems);
        suppressions.cover(hazard());
        EXPECT_EQ(read(check::quoted(text), problems).report.exit_code, 66);
    }
}

}  // namespace
}  // namespace canopy::check
