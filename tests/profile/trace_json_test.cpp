// SPDX-License-Identifier: Apache-2.0
#include "profile/trace_json.h"

#include <sys/stat.h>
#include <zlib.h>

#include "profile/details.h"
#include "profile_maker.h"
#include "trace_checker.h"

namespace canopy::profile {
namespace {

class TraceJsonTest : public ProfileTest {
protected:
    CheckedTrace trace(ProfileFile& file) {
        const Problem problem = write_trace_json(file, path("trace.json"), &counts_);
        EXPECT_FALSE(problem) << problem.message();
        text_ = content(path("trace.json"));
        EXPECT_EQ(counts_.bytes, text_.size());
        return check_trace(text_);
    }
    static const Json* find(const CheckedTrace& trace, const std::string& name, const std::string& phase = "X") {
        for (const Json& event : trace.events)
            if (event.at("name") == name && event.at("ph") == phase) return &event;
        return nullptr;
    }
    TraceCounts counts_;
    std::string text_;
};

TEST_F(TraceJsonTest, Example_HasEveryRecord) {
    ProfileFile file = example();
    const CheckedTrace trace = this->trace(file);
    EXPECT_EQ(trace.processes.at("example"), 4711u * 1024 + 6 * 32 + 31);
    EXPECT_EQ(trace.processes.at("CANN"), 4711u * 1024 + 7 * 32 + 31);
    EXPECT_EQ(trace.processes.at("Ascend Hardware"), 4711u * 1024 + 13 * 32);
    EXPECT_EQ(trace.slices.at("CANN"), 7);
    EXPECT_EQ(trace.slices.at("Ascend Hardware"), 5 + 2);  // tasks, nodes
    EXPECT_EQ(trace.slices.at("Workers"), 5);
    EXPECT_EQ(trace.slices.at("Copies"), 1);
    EXPECT_EQ(trace.counters, 3);
    EXPECT_EQ(trace.ranges, 1);
    EXPECT_EQ(trace.instants, 4);
    EXPECT_EQ(trace.arrows.at("HostToDevice"), 5);
    EXPECT_EQ(trace.arrows.at("EventWait"), 1);
    EXPECT_EQ(trace.arrows.at("MsTx"), 1);
}

TEST_F(TraceJsonTest, Example_HasTheNamesAndArgumentsOfTheField) {
    ProfileFile file = example();
    const CheckedTrace trace = this->trace(file);
    const Json* const call = find(trace, "AscendCL@aclrtMemcpyAsync");
    ASSERT_TRUE(call);
    EXPECT_EQ(nanoseconds_of(call->at("ts")), first_unix_time + 1'000);
    EXPECT_EQ(nanoseconds_of(call->at("dur")), 1'000);
    EXPECT_EQ(call->at("tid"), 100);
    for (const char* key : {"Thread Id", "Mode", "level", "id", "item_id", "connection_id"})
        EXPECT_TRUE(call->at("args").contains(key)) << key;
    EXPECT_TRUE(find(trace, "Runtime@rtStreamSynchronize"));
    EXPECT_EQ(find(trace, "AscendCL@aclrtMalloc")->at("args").at("code"), 207001);

    const Json* const copy = find(trace, "MEMCPY_ASYNC");
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->at("args").at("size(B)"), std::uint64_t{8} << 30);
    EXPECT_EQ(copy->at("args").at("operation"), "host to device");
    EXPECT_NEAR(copy->at("args").at("bandwidth(GB/s)").get<double>(), 214'748.364, 0.001);
    EXPECT_EQ(copy->at("args").at("connection_id"), call->at("args").at("connection_id"));
    ASSERT_TRUE(find(trace, "sum"));
    for (const char* key :
         {"Model Id", "Task Type", "Physic Stream Id", "Task Id", "Batch Id", "Subtask Id", "connection_id"})
        EXPECT_TRUE(copy->at("args").contains(key)) << key;
    for (const char* name : {"EVENT_RECORD", "EVENT_WAIT", "MODEL_EXECUTE", "scale"})
        EXPECT_TRUE(find(trace, name)) << name;
    EXPECT_EQ(find(trace, "EVENT_WAIT")->at("args").at("released by"), "stream 1 task 2");
    EXPECT_TRUE(find(trace, "warm \"up\"\n"));
    const Json* const facts = find(trace, "canopy_profile", "M");
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->at("args").at("lost_records"), 0);
    EXPECT_EQ(facts->at("args").at("damage"), "");
}

TEST_F(TraceJsonTest, AnyBytesInNames_AreEscaped) {
    std::string bytes;
    for (int i = 1; i < 256; ++i) bytes += static_cast<char>(i);
    ProfileMaker maker(path("bytes"));
    maker.host_thread(main_thread, 5, bytes);
    maker.writer().fact("program", bytes);
    maker.call(main_thread, bytes, 0, 10, link_of(1, 1));
    maker.task(runtime_thread, {TaskType::kernel}, bytes + "</script>", link_of(1, 1), 0, 10, 1);
    maker.mark(main_thread, bytes, {MarkForm::range}, 1, 0, 10);
    maker.block(first_worker, std::string(10'000, '"'), 0, link_of(1, 1), 0, 10);
    maker.finish();
    ProfileFile file = open("bytes");
    const CheckedTrace trace = this->trace(file);
    EXPECT_EQ(trace.slices.at("Ascend Hardware"), 1);
    for (const char one : text_)
        if (one != '\n') ASSERT_GE(static_cast<unsigned char>(one), 0x20);
}

TEST_F(TraceJsonTest, EmptyProfile_IsAnArray) {
    ProfileMaker maker(path("empty"));
    maker.finish();
    ProfileFile file = open("empty");
    EXPECT_EQ(trace(file).events.size(), 1u);  // the facts
}

TEST_F(TraceJsonTest, LostRecordsAndDamage_AreShown) {
    {
        ProfileMaker maker(path("cut"));
        maker.call(main_thread, "aclrtMalloc", 0, 10);
        maker.writer().lost(main_thread, 3);
        maker.finish(false);
    }
    ProfileFile file = open("cut");
    const CheckedTrace trace = this->trace(file);
    const Json* const facts = find(trace, "canopy_profile", "M");
    EXPECT_EQ(facts->at("args").at("lost_records"), 3);
    EXPECT_NE(facts->at("args").at("damage").text().find("did not close"), std::string::npos);
    EXPECT_NE(text_.find("3 records were lost"), std::string::npos);
}

// Calls without tasks, tasks without calls, waits for what was not recorded, the same links again and again.
TEST_F(TraceJsonTest, ArrowsWithOneEnd_AreNotDrawn) {
    ProfileMaker maker(path("ends"));
    maker.call(main_thread, "aclrtA", 0, 10, link_of(1, 1));
    maker.call(main_thread, "aclrtB", 20, 30, link_of(1, 2));
    maker.call(main_thread, "aclnnC", 15, 35, link_of(1, 2));
    maker.task(runtime_thread, {TaskType::kernel}, "k", link_of(1, 2), 40, 50);
    maker.task(runtime_thread, {TaskType::kernel}, "k", link_of(1, 2), 60, 70);
    maker.task(runtime_thread, {TaskType::kernel}, "k", link_of(1, 3), 80, 90);
    maker.task(runtime_thread, {TaskType::wait}, "", link_of(2, 1), 10, 20);
    maker.detail(runtime_thread, Detail::released_by, link_of(2, 1), link_of(9, 9));
    maker.task(runtime_thread, {TaskType::wait}, "", link_of(2, 2), 30, 45);
    maker.detail(runtime_thread, Detail::released_by, link_of(2, 2), link_of(1, 2));
    maker.task(runtime_thread, {TaskType::wait}, "", link_of(3, 1), 30, 45);
    maker.detail(runtime_thread, Detail::released_by, link_of(3, 1), link_of(1, 2));
    maker.mark(main_thread, "m", {MarkForm::moment_on_stream}, link_of(4, 4), 0, 0);
    maker.finish();
    ProfileFile file = open("ends");
    const CheckedTrace trace = this->trace(file);
    EXPECT_EQ(trace.arrows.at("HostToDevice"), 1);
    EXPECT_EQ(trace.arrows.at("EventWait"), 2);
    EXPECT_FALSE(trace.arrows.contains("MsTx"));
}

// Sums over the trace are those of the records.
TEST_F(TraceJsonTest, ManyRecords_AgreeWithTheirTrace) {
    std::uint64_t time = 0;
    {
        ProfileMaker maker(path("many"));
        for (std::uint32_t i = 1; i <= 3'000; ++i) {
            const std::uint64_t at = std::uint64_t{1000} * i;
            maker.call(main_thread, "aclrtLaunchKernel", at, at + 100, link_of(i % 7, i));
            maker.task(runtime_thread, {TaskType::kernel}, "k" + std::to_string(i % 50), link_of(i % 7, i), at + 50,
                       at + 50 + i % 900);
            time += i % 900;
        }
        maker.finish();
    }
    ProfileFile file = open("many");
    const CheckedTrace trace = this->trace(file);
    EXPECT_EQ(trace.slices.at("CANN"), 3'000);
    EXPECT_EQ(trace.arrows.at("HostToDevice"), 3'000);
    std::int64_t sum = 0;
    for (const Json& event : trace.events)
        if (event.at("ph") == "X" && trace.process_of(event) == "Ascend Hardware")
            sum += nanoseconds_of(event.at("dur"));
    EXPECT_EQ(sum, static_cast<std::int64_t>(time));
}

TEST_F(TraceJsonTest, CompressedFile_HoldsTheSame) {
    ProfileFile file = example();
    trace(file);
    ASSERT_FALSE(write_trace_json(file, path("trace.json.gz")));
    gzFile zipped = gzopen(path("trace.json.gz").c_str(), "rb");
    ASSERT_TRUE(zipped);
    std::string text(text_.size() + 1, '\0');
    text.resize(static_cast<std::size_t>(gzread(zipped, text.data(), static_cast<unsigned>(text.size()))));
    gzclose(zipped);
    EXPECT_EQ(text, text_);
    struct stat facts {};
    ASSERT_EQ(stat(path("trace.json.gz").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

TEST_F(TraceJsonTest, UnwritablePaths_AreProblems) {
    ProfileFile file = example();
    EXPECT_NE(write_trace_json(file, path("no/folder.json")).message().find("No such file"), std::string::npos);
    EXPECT_NE(write_trace_json(file, "/dev/full").message().find("No space"), std::string::npos);
    EXPECT_NE(write_trace_json(file, folder_->path()).message(), "");
}

// Every cut and many changed bytes give a trace that is whole, or a problem when the file is opened.
TEST_F(TraceJsonTest, DamagedProfiles_GiveWholeTraces) {
    example();
    const std::string whole = content(path("example"));
    for (std::size_t i = 0; i < 100; ++i) {
        std::string bytes = whole;
        if (i % 2 == 0)
            bytes.resize(whole.size() * i / 100);
        else
            bytes[i * 7919 % bytes.size()] ^= static_cast<char>(1 + i % 255);
        ASSERT_TRUE(write_file(path("damaged"), bytes));
        Expected<ProfileFile> file = ProfileFile::open(path("damaged"));
        if (!file.ok()) continue;
        ASSERT_FALSE(write_trace_json(*file, path("trace.json")));
        ASSERT_TRUE(parse_json(content(path("trace.json"))));
    }
}

}  // namespace
}  // namespace canopy::profile
