// SPDX-License-Identifier: Apache-2.0
#include "profile/summary.h"

#include <random>

#include "profile/block_balance.h"
#include "profile/details.h"
#include "profile/duration_sums.h"
#include "profile/interval_union.h"
#include "profile_maker.h"

namespace canopy::profile {
namespace {

class SummaryTest : public ProfileTest {};

const KernelSummary* kernel(const Summary& summary, const std::string& name) {
    for (const KernelSummary& one : summary.kernels)
        if (one.name == name) return &one;
    return nullptr;
}

bool finds(const Summary& summary, Finding::About about, const std::string& text) {
    for (const Finding& finding : summary.findings)
        if (finding.about == about && finding.text.find(text) != std::string::npos) return true;
    return false;
}

TEST_F(SummaryTest, Example_HasTheFiguresOfItsConstruction) {
    ProfileFile file = example();
    const Summary summary = summarise(file);
    EXPECT_EQ(summary.time, 99'500);  // from the push at 500 to the end of the range
    EXPECT_EQ(summary.tasks, 5u);
    EXPECT_EQ(summary.lost, 0u);
    EXPECT_EQ(summary.damage, "");
    EXPECT_EQ(summary.cost_of_a_record, 20);

    ASSERT_EQ(summary.kernels.size(), 2u);
    const KernelSummary* const scale = kernel(summary, "scale");
    ASSERT_TRUE(scale);
    EXPECT_EQ(scale->runs.count, 2u);
    EXPECT_EQ(scale->in_graphs, 2u);
    EXPECT_EQ(scale->runs.total, 10'000);
    EXPECT_EQ(scale->runs.least, 5'000);
    EXPECT_EQ(scale->blocks, 4u);
    EXPECT_EQ(scale->share, 0.5);
    float spark = 0;
    for (const float bin : scale->spark) spark += bin;
    EXPECT_EQ(spark, 10'000);
    ASSERT_TRUE(kernel(summary, "sum"));
    EXPECT_EQ(kernel(summary, "sum")->core, CoreKind::vector);

    ASSERT_EQ(summary.streams.size(), 2u);
    EXPECT_EQ(summary.streams[0].busy, 40'000 + 500 + 17'000);
    EXPECT_EQ(summary.streams[1].busy, 10'000);
    EXPECT_EQ(summary.streams[1].waiting, 35'000);
    EXPECT_EQ(summary.streams[1].idle, 99'500 - 45'000);
    ASSERT_EQ(summary.streams[1].waits.size(), 1u);
    EXPECT_EQ(summary.streams[1].waits[0].released_by, 1u);
    EXPECT_TRUE(summary.streams[1].waits[0].work_is_copy);
    EXPECT_EQ(summary.streams[1].waits[0].work, "host to device");

    ASSERT_EQ(summary.devices.size(), 1u);
    EXPECT_EQ(summary.devices[0].busy, 40'500 + 17'000);  // two streams, from 2 to 42.5 us and from 43 to 60 us
    EXPECT_EQ(summary.devices[0].worker_time, 10'000 + 2 * (10 + 4'900));
    EXPECT_EQ(summary.devices[0].memory_peak, 12'288u);
    EXPECT_EQ(summary.devices[0].memory_at_end, 8192u);

    ASSERT_EQ(summary.copies.size(), 1u);
    EXPECT_EQ(summary.copies[0].bytes, std::uint64_t{8} << 30);
    EXPECT_NEAR(summary.copies[0].bandwidth(), 8.59e9 / 40'000, 1'000);
    ASSERT_EQ(summary.replays.size(), 1u);
    EXPECT_EQ(summary.replays[0].name, "graph");
    EXPECT_EQ(summary.replays[0].nodes, 2u);

    EXPECT_EQ(summary.calls[0].name, "aclrtMalloc");
    EXPECT_EQ(summary.calls[0].failed, 1u);
    EXPECT_EQ(summary.calls[0].device_idle, 30'000);
}

TEST_F(SummaryTest, Example_HasItsFindings) {
    ProfileFile file = example();
    const Summary summary = summarise(file);
    EXPECT_TRUE(finds(summary, Finding::About::waiting_stream,
                      "Stream 2 waited 35 % of the time for the copy (host to device) on stream 1 (35.0 us, once)"));
    EXPECT_TRUE(finds(summary, Finding::About::few_blocks, "1 launch of `sum` with one block: 1 of 48 cores busy"));
    EXPECT_TRUE(finds(summary, Finding::About::host_bound, "Host bound: the device was idle 42 % of the time"));
    EXPECT_TRUE(finds(summary, Finding::About::host_bound, "while the host was in aclrtMalloc (1 call)"));
    EXPECT_TRUE(finds(summary, Finding::About::slow_copies, "Copies (host to device) took 40 % of the time"));
    for (std::size_t i = 1; i < summary.findings.size(); ++i)
        EXPECT_GE(summary.findings[i - 1].stake, summary.findings[i].stake);
}

// Of an event that no task recorded, the host did it; who wrote a value is not known.
TEST_F(SummaryTest, WaitsThatNoTaskEnded_SayWhatTheyWaitedFor) {
    ProfileMaker maker(path("waits"));
    maker.task(runtime_thread, {TaskType::wait}, "wait for event", link_of(1, 1), 0, 40'000);
    maker.task(runtime_thread, {TaskType::wait_value}, "wait for value", link_of(2, 1), 0, 100'000);
    maker.finish();
    ProfileFile file = open("waits");
    const Summary summary = summarise(file);
    EXPECT_EQ(summary.streams.at(0).waits.at(0).released_by, by_the_host);
    EXPECT_EQ(summary.streams.at(1).waits.at(0).released_by, by_a_write);
    EXPECT_TRUE(finds(summary, Finding::About::waiting_stream, "Stream 1 waited 40 % of the time for the host ("));
    EXPECT_TRUE(finds(summary, Finding::About::waiting_stream, "Stream 2 waited 100 % of the time for a value in mem"));
}

// The time of workers is in blocks, in kernels that are one block, and in steps of fused launches.
TEST_F(SummaryTest, Utilisation_IsOfAllThatWorkersRan) {
    const TaskObject vector{TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector)};
    const TaskObject fused{TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector), 0, task_fused};
    const auto utilisation = [&](bool many, bool blocks) {
        ProfileMaker maker(path("utilisation"));
        maker.device(0, 2);
        maker.worker(first_worker, 0);
        maker.writer().thread(second_worker, 9, ThreadRole::cpu_core, 0, "CPU core");
        maker.task(first_worker, vector, "one", link_of(1, 1), 0, 20'000, 1);
        maker.task(first_worker, fused, "fused", link_of(1, 2), 20'000, 30'000, 1);
        maker.add(first_worker, Kind::step, maker.name("step"), 22'000, 30'000).link = link_of(1, 2);
        if (many) maker.task(first_worker, vector, "many", link_of(1, 3), 30'000, 100'000, 2);
        if (blocks) maker.block(first_worker, "many", 0, link_of(1, 3), 30'000, 52'000);
        maker.block(second_worker, "cpu", 0, link_of(1, 4), 0, 100'000);
        maker.finish();
        ProfileFile file = open("utilisation");
        return summarise(file).devices.at(0).utilisation;
    };
    EXPECT_DOUBLE_EQ(utilisation(false, false).value_or(0), 0.14);
    EXPECT_DOUBLE_EQ(utilisation(true, true).value_or(0), 0.25);
    EXPECT_FALSE(utilisation(true, false));  // blocks were not recorded
}

// Kernels that take turns have even and odd numbers.
TEST(BlockBalanceTest, ASampleHasAllKernels) {
    BlockBalance balance;
    for (std::uint32_t i = 0; i < 280'000; ++i)
        for (std::uint64_t block = 0; block < 2; ++block) {
            Record record{};
            record.name = 1 + i % 2;
            record.link = link_of(1, i);
            record.duration = 10 + 20 * block;
            balance.add(record, 1);
        }
    const auto kernels = balance.kernels(2);
    ASSERT_EQ(kernels.size(), 2u);
    for (const auto& [name, kernel] : kernels) EXPECT_NEAR(kernel.lost, 140'000 * 10, 140'000) << name;
}

TEST_F(SummaryTest, UnevenBlocks_AreFound) {
    ProfileMaker maker(path("uneven"));
    maker.device(0, 4);
    maker.task(runtime_thread, {TaskType::kernel, static_cast<std::uint8_t>(CoreKind::vector)}, "k", link_of(1, 1), 0,
               100'000, 4);
    for (std::uint32_t i = 0; i < 4; ++i) maker.block(10 + i, "k", i, link_of(1, 1), 0, i == 3 ? 100'000 : 20'000);
    maker.finish();
    ProfileFile file = open("uneven");
    const Summary summary = summarise(file);
    EXPECT_TRUE(
        finds(summary, Finding::About::imbalance, "the slowest of 4 blocks of `k` took 100 us, 2.5 x the average"));
}

TEST_F(SummaryTest, SmallKernelsAndManySynchronisations_AreFound) {
    ProfileMaker maker(path("small"));
    maker.device(0, 1);
    for (std::uint32_t i = 1; i <= 200; ++i) {
        const std::uint64_t at = std::uint64_t{10'000} * i;
        maker.call(main_thread, "aclrtLaunchKernel", at, at + 2'000, link_of(1, i));
        maker.call(main_thread, "aclrtSynchronizeStream", at + 2'000, at + 6'000);
        maker.task(runtime_thread, {TaskType::kernel}, "tiny", link_of(1, i), at + 2'500, at + 5'500, 8);
    }
    maker.finish();
    ProfileFile file = open("small");
    const Summary summary = summarise(file);
    EXPECT_TRUE(finds(summary, Finding::About::small_kernels, "200 launches of about 3.0"));
    EXPECT_TRUE(finds(summary, Finding::About::synchronisations, "200 synchronisations between 200 launches"));
}

TEST_F(SummaryTest, LostRecordsAndFailures_AreFindings) {
    ProfileMaker maker(path("lost"));
    maker.task(runtime_thread, {TaskType::kernel, 0, 0, task_failed}, "bad", link_of(1, 1), 0, 1000, 1);
    maker.writer().lost(runtime_thread, 17);
    maker.finish();
    ProfileFile file = open("lost");
    const Summary summary = summarise(file);
    EXPECT_EQ(summary.lost, 17u);
    EXPECT_TRUE(finds(summary, Finding::About::lost_records, "17 records were lost"));
    EXPECT_TRUE(finds(summary, Finding::About::failures, "A launch failed, `bad` once"));
}

TEST_F(SummaryTest, EmptyProfile_HasNoFigures) {
    ProfileMaker maker(path("empty"));
    maker.finish();
    ProfileFile file = open("empty");
    const Summary summary = summarise(file);
    EXPECT_EQ(summary.time, 0);
    EXPECT_EQ(summary.records, 0u);
    EXPECT_TRUE(summary.findings.empty());
}

TEST_F(SummaryTest, OneRecord_IsTheWholeTime) {
    ProfileMaker maker(path("one"));
    maker.task(runtime_thread, {TaskType::kernel}, "k", link_of(1, 1), 100, 350, 1);
    maker.finish();
    ProfileFile file = open("one");
    const Summary summary = summarise(file);
    EXPECT_EQ(summary.time, 250);
    EXPECT_EQ(summary.kernels.at(0).runs.median, 250);
}

// Details that begin the next part of the file belong to the last record before.
TEST_F(SummaryTest, DetailsAcrossParts_BelongToTheirRecord) {
    ProfileMaker maker(path("parts"));
    const TaskObject copy{TaskType::copy, static_cast<std::uint8_t>(CopyKind::device_to_host)};
    const std::uint64_t copies = most_records_in_chunk;  // the last record of every second part
    maker.detail(runtime_thread, Detail::bytes, 1, 5);   // of a record that was lost
    for (std::uint64_t i = 0; i < copies; ++i) {
        maker.task(runtime_thread, copy, "", link_of(1, static_cast<std::uint32_t>(i)), i * 10, i * 10 + 5, UINT32_MAX);
        maker.detail(runtime_thread, Detail::bytes, link_of(1, static_cast<std::uint32_t>(i)), 7);
    }
    maker.finish();
    ProfileFile file = open("parts");
    std::uint64_t seen = 0;
    visit_detailed(file, [&](const Thread&, const Detailed& one) {
        EXPECT_EQ(one.bytes(), 7u);
        EXPECT_EQ(one.record.link, link_of(1, static_cast<std::uint32_t>(seen)));
        ++seen;
    });
    EXPECT_EQ(seen, copies);
}

TEST(IntervalUnionTest, AgreesWithCounting) {
    std::mt19937 random(1);
    IntervalUnion intervals;
    std::vector<bool> covered(5000);
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t begin = random() % 4900, end = begin + random() % 40;
        intervals.add(begin, end);
        for (std::uint64_t at = begin; at < end; ++at) covered[at] = true;
    }
    intervals.settle();
    EXPECT_EQ(intervals.total(), static_cast<std::uint64_t>(std::count(covered.begin(), covered.end(), true)));
    for (int i = 0; i < 300; ++i) {
        const std::uint64_t begin = random() % 5000, end = begin + random() % (5000 - begin);
        EXPECT_EQ(intervals.covered(begin, end),
                  static_cast<std::uint64_t>(std::count(covered.begin() + begin, covered.begin() + end, true)));
    }
}

TEST(DurationSumsTest, MedianIsNearTheMiddle) {
    std::mt19937_64 random(1);
    for (const int bits : {3, 10, 30, 43}) {
        DurationSums sums;
        std::vector<std::uint64_t> values;
        for (int i = 0; i < 999; ++i) values.push_back(random() >> (64 - bits));
        for (const std::uint64_t value : values) sums.add(value);
        std::sort(values.begin(), values.end());
        TemporaryFolder folder = std::move(TemporaryFolder::create("sums")).value();
        ProfileMaker maker(folder.path() + "/p");
        maker.finish();
        ProfileFile file = std::move(ProfileFile::open(folder.path() + "/p")).value();
        EXPECT_NEAR(sums.durations(file).median, static_cast<double>(values[499]) / 2,
                    static_cast<double>(values[499]) * 0.025);
        EXPECT_EQ(sums.durations(file).most, static_cast<double>(values.back()) / 2);
    }
}

}  // namespace
}  // namespace canopy::profile
