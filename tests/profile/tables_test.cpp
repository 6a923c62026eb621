// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <random>
#include <regex>
#include <set>

#include "foundation/json.h"
#include "profile/csv.h"
#include "profile/result_folder.h"
#include "profile_maker.h"
#include "trace_checker.h"

namespace canopy::profile {
namespace {

// A reader that shares no code with the writer: cells in quotes may hold commas, quotes and line breaks.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
    std::vector<std::vector<std::string>> rows(1, {""});
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::string& cell = rows.back().back();
        if (quoted && text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"')
            cell += text[++i];
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted && text[i] == ',')
            rows.back().emplace_back();
        else if (!quoted && text[i] == '\n')
            rows.push_back({""});
        else
            cell += text[i];
    }
    EXPECT_FALSE(quoted);
    EXPECT_EQ(rows.back(), std::vector<std::string>{""});  // a line break ends the last row
    rows.pop_back();
    for (const auto& row : rows) {
        EXPECT_EQ(row.size(), rows.front().size());
        for (const std::string& cell : row) EXPECT_FALSE(cell.empty());
    }
    return rows;
}

class TablesTest : public ProfileTest {
protected:
    void write(ProfileFile& file) {
        std::filesystem::create_directory(path("out"));
        const WrittenTables written = write_tables(file, summarise(file), path("out"), "7");
        EXPECT_FALSE(written.problem) << written.problem.message();
        for (const std::string& one : written.files) files_.insert(one.substr(one.rfind('/') + 1));
    }
    std::vector<std::vector<std::string>> table(const std::string& name) {
        return rows_of(content(path("out/" + name + "_7.csv")));
    }
    std::set<std::string> files_;
};

TEST_F(TablesTest, Columns_AreThoseOfTheField) {
    ProfileFile file = example();
    write(file);
    const std::vector<std::pair<std::string, std::string>> headers = {
        {"op_summary",
         "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,OP State,Task Type,Task Start "
         "Time(us),Task "
         "Duration(us),Task Wait Time(us),Block Num,HF32 Eligible,Mix Block Num,Input Shapes,Input Data Types,Input "
         "Formats,Output Shapes,Output Data Types,Output Formats,Context "
         "ID,aicore_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles"},
        {"op_statistic",
         "Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)"},
        {"api_statistic", "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance"},
        {"task_time", "Device_id,kernel_name,kernel_type,stream_id,task_id,task_time(us),task_start(us),task_stop(us)"},
        {"step_trace",
         "Device_id,Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP "
         "Time(us),Iteration "
         "Refresh(us),Data Aug Bound(us),Model ID,Reduce Start(us),Reduce Duration(us)"},
        {"msprof_tx",
         "Device_id,pid,tid,category,event_type,payload_type,payload_value,Start_time(us),End_time(us),message_type,"
         "message,"
         "domain,Device Start_time(us),Device End_time(us)"}};
    for (const auto& [name, header] : headers) {
        const std::string text = content(path("out/" + name + "_7.csv"));
        EXPECT_EQ(text.substr(0, text.find('\n')), header);
        table(name);
    }
    EXPECT_TRUE(files_.contains("memory_record_7.csv"));
    EXPECT_TRUE(files_.contains("msprof_tx_7.json"));
}

TEST_F(TablesTest, Cells_AreTheRecords) {
    ProfileFile file = example();
    write(file);
    const auto operators = table("op_summary");
    ASSERT_EQ(operators.size(), 1u + 3);
    EXPECT_EQ(operators[1][6], "sum");
    EXPECT_EQ(operators[1][9], "AI_VECTOR_CORE");
    EXPECT_EQ(operators[1][10], "1763500000000043.000");
    EXPECT_EQ(operators[1][11], "10.000");
    EXPECT_EQ(operators[1][12], "0.000");
    EXPECT_EQ(operators[1][13], "1");
    EXPECT_EQ(operators[1][16], "N/A");
    EXPECT_EQ(operators[3][6], "scale");
    EXPECT_EQ(operators[3][22], "1");  // place in the graph

    const auto statistic = table("op_statistic");
    ASSERT_EQ(statistic.size(), 3u);
    EXPECT_EQ(statistic[1][9], "50.000");
    const auto tasks = table("task_time");
    ASSERT_EQ(tasks.size(), 1u + 5 + 2);
    EXPECT_EQ(std::vector(tasks[1].begin(), tasks[1].begin() + 5),
              (std::vector<std::string>{"0", "MEMCPY_ASYNC", "MEMCPY_ASYNC", "1", "1"}));
    const auto functions = table("api_statistic");
    ASSERT_EQ(functions.size(), 1u + 7);
    EXPECT_EQ(functions[1], (std::vector<std::string>{"host", "acl", "aclrtMalloc", "30.000", "1", "30.000", "30.000",
                                                      "30.000", "0.000"}));
    const auto steps = table("step_trace");
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[1][4], "1763500000000090.000");
    EXPECT_EQ(steps[1][5], "88.500");
    const auto marks = table("msprof_tx");
    ASSERT_EQ(marks.size(), 1u + 3);
    EXPECT_EQ(marks[1][10], "warm \"up\"\n");
    EXPECT_EQ(marks[1][4], "push/pop");
    EXPECT_EQ(marks[3][4], "marker_ex");
    EXPECT_EQ(marks[3][12], "1763500000000053.000");
    EXPECT_EQ(table("memory_record")[2][2], "12.000");
    ASSERT_TRUE(parse_json(content(path("out/msprof_tx_7.json"))));
}

// Streams may count their steps alike; the begin of a step may be missing.
TEST_F(TablesTest, Steps_AreFromTheirBeginToTheirEnd) {
    {
        ProfileMaker maker(path("steps"));
        const auto point = [&](std::uint32_t stream, StepForm form, std::uint64_t at) {
            Record& record = maker.add(runtime_thread, Kind::step_point, 0, at, at);
            record.object = StepObject{form}.packed();
            record.argument = 1;
            record.link = link_of(stream, 1);
        };
        point(1, StepForm::start, 0);
        point(2, StepForm::start, 10'000);
        point(2, StepForm::end, 50'000);
        point(1, StepForm::end, 100'000);
        point(1, StepForm::end, 120'000);
        maker.finish();
    }
    ProfileFile file = open("steps");
    write(file);
    const auto steps = table("step_trace");
    ASSERT_EQ(steps.size(), 4u);
    EXPECT_EQ(steps[1][5], "40.000");
    EXPECT_EQ(steps[2][5], "100.000");
    EXPECT_EQ(steps[3][5], "N/A");
}

TEST_F(TablesTest, Sums_AgreeWithRecordsAndSummary) {
    {
        ProfileMaker maker(path("many"));
        for (std::uint32_t i = 1; i <= 5'000; ++i) {
            const std::uint64_t at = std::uint64_t{1000} * i;
            maker.call(main_thread, i % 3 == 0 ? "aclrtMalloc" : "aclrtFree", at, at + i % 800);
            maker.task(4 + i % 3, {TaskType::kernel}, "k" + std::to_string(i % 11), link_of(1, i), at, at + i % 999, 1);
        }
        maker.finish();
    }
    ProfileFile file = open("many");
    write(file);
    double time = 0, calls = 0;
    std::uint64_t expected = 0, expected_calls = 0, last = 0;
    for (std::uint32_t i = 1; i <= 5'000; ++i) {
        expected += i % 999;
        expected_calls += i % 800;
    }
    const auto tasks = table("task_time");
    for (std::size_t i = 1; i < tasks.size(); ++i) {
        time += std::stod(tasks[i][5]);
        EXPECT_GT(std::stoull(tasks[i][4]), last);  // by time
        last = std::stoull(tasks[i][4]);
    }
    for (std::size_t i = 1; const auto& row : table("api_statistic"))
        if (i++ > 1) calls += std::stod(row[3]);
    EXPECT_EQ(std::llround(time * 1000), static_cast<long long>(expected));
    EXPECT_EQ(std::llround(calls * 1000), static_cast<long long>(expected_calls));
    double of_summary = 0, of_table = 0;
    for (const KernelSummary& kernel : summarise(file).kernels) of_summary += kernel.runs.total;
    for (std::size_t i = 1; const auto& row : table("op_statistic"))
        if (i++ > 1) of_table += std::stod(row[5]);
    EXPECT_EQ(of_summary, static_cast<double>(expected));
    EXPECT_EQ(std::llround(of_table * 1000), static_cast<long long>(expected));
}

TEST_F(TablesTest, EmptyProfile_HasNoTables) {
    ProfileMaker maker(path("empty"));
    maker.finish();
    ProfileFile file = open("empty");
    write(file);
    EXPECT_TRUE(files_.empty());
}

TEST_F(TablesTest, FolderThatIsGone_IsAProblem) {
    ProfileFile file = example();
    EXPECT_NE(write_tables(file, summarise(file), path("gone"), "1").problem.message().find("No such file"),
              std::string::npos);
}

class ResultFolderTest : public ProfileTest {};

TEST_F(ResultFolderTest, Folder_HasTheNamesOfTheField) {
    ProfileFile file = example();
    Expected<std::string> made = write_result_folder(file, folder_->path());
    ASSERT_TRUE(made.ok()) << made.message();
    const std::string folder = *made;
    EXPECT_TRUE(
        std::regex_match(folder.substr(folder.rfind('/') + 1), std::regex("PROF_[0-9]{6}_[0-9]{17}_00004711[A-R]{8}")))
        << folder;
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        struct stat facts {};
        ASSERT_EQ(stat(entry.path().c_str(), &facts), 0);
        EXPECT_EQ(facts.st_mode & 0777, entry.is_directory() ? 0700u : 0600u) << entry.path();
        names.insert(
            std::regex_replace(std::filesystem::relative(entry.path(), folder).string(), std::regex("[0-9]{14}"), "*"));
    }
    for (const char* name : {"host/info.json", "device_0/info.json", "profile.canopyprof", "timeline.html",
                             "mindstudio_profiler_output/msprof_*.json", "mindstudio_profiler_output/op_summary_*.csv",
                             "mindstudio_profiler_output/README.txt"})
        EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_EQ(content(folder + "/profile.canopyprof"), content(path("example")));

    Expected<std::string> again = write_result_folder(file, folder_->path());
    ASSERT_TRUE(again.ok());
    EXPECT_NE(*again, folder);
}

// Numbers that no program makes, without the texts that they name.
std::vector<Record> forged_records(std::mt19937_64& random) {
    const auto odd = [&random]() -> std::uint64_t {
        const std::uint64_t values[] = {0, UINT64_MAX, UINT32_MAX, random(), random() % 8, std::uint64_t{1} << 63};
        return values[random() % std::size(values)];
    };
    std::vector<Record> records(200);
    for (Record& record : records) {
        record.kind = random() % static_cast<std::uint64_t>(Kind::count_);
        record.begin = odd();
        record.duration = odd() & longest_duration;
        record.name = odd() & last_name;
        record.object = static_cast<std::uint32_t>(odd());
        record.argument = static_cast<std::uint32_t>(odd());
        record.link = odd();
    }
    return records;
}

TEST_F(ResultFolderTest, ForgedRecords_GiveWholeFiles) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 6; ++i) {
        {
            ProfileMaker maker(path("forged"), random());
            maker.writer().fact("cost_of_a_record_ns", "inf");
            maker.writer().device(0, "soft", "\xff", UINT32_MAX, 0, 0, UINT32_MAX, UINT64_MAX);
            maker.writer().clock(first_tick + random() % 3, INT64_MAX);
            maker.writer().records(7, forged_records(random));
            maker.writer().close();
        }
        ProfileFile file = open("forged");
        const Expected<std::string> folder = write_result_folder(file, folder_->path());
        ASSERT_TRUE(folder.ok()) << folder.message();
        for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
            if (entry.path().extension() == ".csv") rows_of(content(entry.path()));
            if (entry.path().extension() != ".json") continue;
            const auto json = parse_json(content(entry.path()));
            ASSERT_TRUE(json) << entry.path();
            if (!json->is_array()) continue;
            for (const Json& event : json->list())
                if (event.contains("dur")) EXPECT_GE(event.at("dur").get<double>(), 0) << event.dump();
        }
    }
}

TEST_F(ResultFolderTest, UnwritableParent_IsAProblem) {
    ProfileFile file = example();
    EXPECT_FALSE(write_result_folder(file, path("none")).ok());
    EXPECT_FALSE(write_result_folder(file, path("example")).ok());
}

}  // namespace
}  // namespace canopy::profile
