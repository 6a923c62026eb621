// SPDX-License-Identifier: Apache-2.0
// Makes profiles whose content is known. A tick is half a nanosecond.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foundation/files.h"
#include "profile/profile_file.h"
#include "profile/profile_writer.h"

namespace canopy::profile {

constexpr std::uint64_t first_tick = 1'000'000;
constexpr std::int64_t first_unix_time = 1'763'500'000'000'000'000;

class ProfileMaker {
public:
    explicit ProfileMaker(const std::string& path, std::uint64_t process = 4711) : path_(path) {
        FileHead head;
        head.process = process;
        head.unix_time = first_unix_time;
        head.monotonic_time = 5'000'000'000;
        head.ticks = first_tick;
        Expected<ProfileWriter> writer = ProfileWriter::create(path, head);
        EXPECT_TRUE(writer.ok()) << writer.message();
        writer_.emplace(std::move(writer).value());
        writer_->text(0, "");
    }
    ProfileWriter& writer() { return *writer_; }

    std::uint32_t name(const std::string& text) {
        const auto [place, added] = names_.try_emplace(text, static_cast<std::uint32_t>(names_.size() + 1));
        if (added) writer_->text(place->second, text);
        return place->second;
    }
    void host_thread(std::uint32_t number, std::uint32_t id, const std::string& name) {
        writer_->thread(number, id, ThreadRole::host, 0, name);
    }
    void worker(std::uint32_t number, std::uint32_t index) {
        writer_->thread(number, 1000 + number, ThreadRole::worker, index, "worker " + std::to_string(index));
    }
    void device(std::uint32_t number, std::uint32_t workers) {
        writer_->device(number, "soft", "Ascend910B4", 24, 48, 4, workers, 1 << 30);
    }

    // Times are nanoseconds since the begin of the profile.
    Record& add(std::uint32_t thread, Kind kind, std::uint32_t name, std::uint64_t begin, std::uint64_t end) {
        Record record{};
        record.kind = static_cast<std::uint64_t>(kind);
        record.name = name;
        record.begin = first_tick + 2 * begin;
        record.duration = 2 * (end - begin);
        auto& records = records_[thread];
        records.push_back(record);
        return records.back();
    }
    void call(std::uint32_t thread, const std::string& function, std::uint64_t begin, std::uint64_t end,
              std::uint64_t link = 0, std::uint32_t code = 0) {
        Record& record = add(thread, Kind::call, name(function), begin, end);
        record.link = link;
        record.object = code;
        record.argument = link != 0 ? 1 : 0;
    }
    Record& task(std::uint32_t thread, const TaskObject& object, const std::string& kernel, std::uint64_t link,
                 std::uint64_t begin, std::uint64_t end, std::uint32_t argument = 0) {
        Record& record = add(thread, Kind::task, kernel.empty() ? 0 : name(kernel), begin, end);
        record.object = object.packed();
        record.link = link;
        record.argument = argument;
        return record;
    }
    void detail(std::uint32_t thread, Detail what, std::uint64_t link, std::uint64_t value) {
        Record record{};
        record.kind = static_cast<std::uint64_t>(Kind::detail);
        record.object = static_cast<std::uint32_t>(what);
        record.link = link;
        record.begin = value;
        records_[thread].push_back(record);
    }
    void block(std::uint32_t thread, const std::string& kernel, std::uint32_t number, std::uint64_t link,
               std::uint64_t begin, std::uint64_t end) {
        Record& record = add(thread, Kind::block, name(kernel), begin, end);
        record.object = number;
        record.link = link;
    }
    void memory(std::uint32_t thread, MemoryObject object, std::uint64_t at, std::uint64_t size, std::uint64_t in_use) {
        Record& record = add(thread, Kind::memory, name("Memory"), at, at);
        record.object = object.packed();
        record.duration = size;
        record.link = in_use;
    }
    void mark(std::uint32_t thread, const std::string& text, MarkArgument argument, std::uint64_t link,
              std::uint64_t begin, std::uint64_t end) {
        const std::uint32_t number = first_free_text + static_cast<std::uint32_t>(texts_++);
        writer_->text(number, text);
        Record& record = add(thread, Kind::mark, name("default"), begin, end);
        record.object = number;
        record.argument = argument.packed();
        record.link = link;
    }

    // Writes the records; each thread's in the order in which they were added.
    void finish(bool close = true) {
        for (const auto& [thread, records] : records_) writer_->records(thread, records);
        records_.clear();
        writer_->clock(first_tick + 2'000'000'000, 6'000'000'000);
        if (close) writer_->close();
        EXPECT_FALSE(writer_->problem()) << writer_->problem().message();
    }

private:
    std::string path_;
    std::optional<ProfileWriter> writer_;
    std::map<std::string, std::uint32_t> names_;
    std::map<std::uint32_t, std::vector<Record>> records_;
    std::size_t texts_ = 0;
};

constexpr std::uint32_t main_thread = 1, first_worker = 2, second_worker = 3, runtime_thread = 4;

// 100 us of a program: stream 1 copies 40 us, stream 2 waits for it 35 us and runs "sum" with one block, stream 1
// replays a graph of two nodes. The host spends 30 us in aclrtMalloc meanwhile.
inline void make_example(ProfileMaker& maker) {
    maker.device(0, 2);
    maker.writer().stream(1, 0, 0);
    maker.writer().stream(2, 0, 0);
    maker.host_thread(main_thread, 100, "main");
    maker.worker(first_worker, 0);
    maker.worker(second_worker, 1);
    maker.writer().thread(runtime_thread, 104, ThreadRole::runtime, 0, "runtime");
    maker.writer().fact("program", "/opt/bin/example");
    maker.writer().fact("cost_of_a_record_ns", "20");

    maker.call(main_thread, "aclrtMemcpyAsync", 1'000, 2'000, link_of(1, 1));
    maker.call(main_thread, "aclrtRecordEvent", 2'000, 2'500, link_of(1, 2));
    maker.call(main_thread, "aclrtStreamWaitEvent", 3'000, 3'500, link_of(2, 1));
    maker.call(main_thread, "aclrtLaunchKernel", 4'000, 5'000, link_of(2, 2));
    maker.call(main_thread, "aclmdlRIExecuteAsync", 6'000, 7'000, link_of(1, 3));
    maker.call(main_thread, "aclrtMalloc", 65'000, 95'000, 0, 207001);
    maker.call(main_thread, "rtStreamSynchronize", 95'100, 99'000);

    const TaskObject copy{TaskType::copy, static_cast<std::uint8_t>(CopyKind::host_to_device)};
    const TaskObject vector{TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector)};
    maker.task(runtime_thread, copy, "copy", link_of(1, 1), 2'000, 42'000, UINT32_MAX);
    maker.detail(runtime_thread, Detail::bytes, link_of(1, 1), std::uint64_t{8} << 30);
    maker.task(runtime_thread, {TaskType::signal}, "record event", link_of(1, 2), 42'000, 42'500);
    maker.task(runtime_thread, {TaskType::wait}, "wait for event", link_of(2, 1), 8'000, 43'000);
    maker.detail(runtime_thread, Detail::waits_for, link_of(2, 1), 9);
    maker.detail(runtime_thread, Detail::released_by, link_of(2, 1), link_of(1, 2));
    maker.task(first_worker, vector, "sum", link_of(2, 2), 43'000, 53'000, 1);
    maker.task(runtime_thread, {TaskType::replay}, "graph", link_of(1, 3), 43'000, 60'000);
    for (std::uint32_t i = 0; i < 2; ++i) {
        Record& node =
            maker.task(runtime_thread, vector, "scale", link_of(1, 3), 44'000 + i * 5'000, 49'000 + i * 5'000, 2);
        node.kind = static_cast<std::uint64_t>(Kind::node);
        maker.detail(runtime_thread, Detail::place, link_of(1, 3), i);
        maker.block(first_worker, "scale", 0, link_of(1, 3), 53'000 + i * 10, 53'010 + i * 10);
        maker.block(second_worker, "scale", 1, link_of(1, 3), 44'000 + i * 5'000, 48'900 + i * 5'000);
    }
    maker.memory(main_thread, {MemoryChange::allocated, 0}, 500, 4096, 4096);
    maker.memory(main_thread, {MemoryChange::allocated, 0}, 64'000, 8192, 12'288);
    maker.memory(main_thread, {MemoryChange::freed, 0}, 64'500, 4096, 8192);
    maker.mark(main_thread, "warm \"up\"\n", {MarkForm::pushed}, 0, 500, 7'500);
    maker.mark(main_thread, "phase", {MarkForm::range, MarkSource::mstx}, 12, 6'000, 100'000);
    maker.mark(main_thread, "here", {MarkForm::moment_on_stream}, link_of(2, 3), 7'200, 7'200);
    maker.mark(runtime_thread, "here", {MarkForm::moment_on_stream, MarkSource::stamp, true}, link_of(2, 3), 53'000,
               53'000);
    Record& step = maker.add(runtime_thread, Kind::step_point, 0, 1'500, 1'500);
    step.argument = 1;
    Record& end = maker.add(runtime_thread, Kind::step_point, 0, 90'000, 90'000);
    end.argument = 1;
    end.object = StepObject{StepForm::end}.packed();
}

// A folder for the files of a test.
class ProfileTest : public testing::Test {
protected:
    void SetUp() override {
        Expected<TemporaryFolder> made = TemporaryFolder::create("profile-test");
        ASSERT_TRUE(made.ok()) << made.message();
        folder_.emplace(std::move(made).value());
    }
    [[nodiscard]] std::string path(const std::string& name) const { return folder_->path() + "/" + name; }
    ProfileFile open(const std::string& name) const {
        Expected<ProfileFile> file = ProfileFile::open(path(name));
        EXPECT_TRUE(file.ok()) << file.message();
        return std::move(file).value();
    }
    std::string content(const std::string& file) const {
        std::string text;
        EXPECT_TRUE(read_file(file, text)) << file;
        return text;
    }
    ProfileFile example() {
        ProfileMaker maker(path("example"));
        make_example(maker);
        maker.finish();
        return open("example");
    }

    std::optional<TemporaryFolder> folder_;
};

}  // namespace canopy::profile
