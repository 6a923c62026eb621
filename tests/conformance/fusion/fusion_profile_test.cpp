// SPDX-License-Identifier: Apache-2.0
// Step times of fused kernels: one record for each block of each step, consistent with the order of the steps.
#include <algorithm>
#include <map>
#include <set>

#include "acl/super_kernel.h"
#include "fixtures/capture_fixture.h"
#include "fixtures/fusion_fixture.h"

namespace conformance {
namespace {

struct Profile {
    canopyFusionProfileHeader header{};
    std::vector<canopyFusionProfileRecord> records;
};

Profile read_profile(const void* buffer) {
    Profile profile;
    EXPECT_ACL_OK(aclrtMemcpy(&profile.header, sizeof(profile.header), buffer, sizeof(profile.header),
                              ACL_MEMCPY_DEVICE_TO_HOST));
    profile.records.resize(std::min(profile.header.count, profile.header.capacity));
    const std::size_t size = profile.records.size() * sizeof(canopyFusionProfileRecord);
    if (size != 0)
        EXPECT_ACL_OK(aclrtMemcpy(profile.records.data(), size,
                                  static_cast<const char*>(buffer) + profile.header.headerSize, size,
                                  ACL_MEMCPY_DEVICE_TO_HOST));
    return profile;
}

// Expects one record for each block of each step, with begin <= end.
void expect_blocks(const Profile& profile, const std::vector<uint32_t>& blocks) {
    EXPECT_EQ(profile.header.magic, CANOPY_FUSION_PROFILE_MAGIC);
    EXPECT_EQ(profile.header.version, CANOPY_FUSION_PROFILE_VERSION);
    EXPECT_EQ(profile.header.recordSize, sizeof(canopyFusionProfileRecord));
    EXPECT_EQ(profile.header.steps, blocks.size());
    std::set<std::pair<uint32_t, uint32_t>> expected, found;
    for (uint32_t step = 0; step < blocks.size(); ++step)
        for (uint32_t block = 0; block < blocks[step]; ++block) expected.emplace(step, block);
    for (const canopyFusionProfileRecord& record : profile.records) {
        EXPECT_TRUE(found.emplace(record.step, record.block).second) << record.step << ", " << record.block;
        EXPECT_LE(profile.header.begin, record.begin);
        EXPECT_LE(record.begin, record.end) << record.step << ", " << record.block;
        EXPECT_EQ(record.core, 0u);
    }
    EXPECT_EQ(found, expected);
}

void expect_in_order(const Profile& profile, uint32_t first, uint32_t second) {
    uint64_t end = 0, begin = UINT64_MAX;
    for (const canopyFusionProfileRecord& record : profile.records) {
        if (record.step == first) end = std::max(end, record.end);
        if (record.step == second) begin = std::min(begin, record.begin);
    }
    EXPECT_LE(end, begin) << "step " << second << " begins before step " << first << " is complete";
}

class FusionProfile : public FusionTest {
protected:
    static constexpr const char* profiled = R"(,"options":{"profiling":"1"})";

    // Steps over two buffers; each reads what the previous one wrote on all blocks.
    std::vector<Step> chain(const std::vector<uint32_t>& blocks) {
        float* buffers[2] = {device_array(std::vector<float>(4096, 1)), device_array(std::vector<float>(4096, 2))};
        std::vector<Step> steps;
        for (std::size_t index = 0; index < blocks.size(); ++index)
            steps.push_back({"add",
                             blocks[index],
                             {word(buffers[index % 2]), word(buffers[index % 2]), word(buffers[1 - index % 2]), 4096},
                             ""});
        return steps;
    }
    aclrtFuncHandle fused_with_profile(const std::vector<Step>& steps, const std::string& more = profiled) {
        FusedImage image = image_of(steps, more);
        image.trailing_slots = 2;
        aclrtFuncHandle handle = nullptr;
        EXPECT_ACL_OK(aclrtBinaryGetFunction(load(image.write()), "fused", &handle));
        return handle;
    }
    aclError launch_profiled(aclrtFuncHandle function, const std::vector<Step>& steps, void* buffer, uint64_t task) {
        std::vector<uint64_t> block = block_of(steps);
        block.insert(block.end(), {word(buffer), task});
        return aclrtLaunchKernelWithHostArgs(function, 1, stream_, nullptr, block.data(), block.size() * 8, nullptr, 0);
    }
};

TEST_F(FusionProfile, EveryBlockOfEveryStepHasOneRecord) {
    const std::vector<uint32_t> blocks = {4, 1, 7, 3};
    const std::vector<Step> steps = chain(blocks);
    aclrtFuncHandle function = fused_with_profile(steps);
    auto* buffer = device_array(std::vector<uint64_t>(4096, 0x5555555555555555));
    for (uint64_t task = 1; task < 4; ++task) {
        ASSERT_ACL_OK(launch_profiled(function, steps, buffer, task));
        ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
        if (!device_computes()) return;
        const Profile profile = read_profile(buffer);
        EXPECT_EQ(profile.header.task, task);
        EXPECT_GE(profile.header.capacity, (4096 * 8 - 64) / 32u);
        expect_blocks(profile, blocks);
        for (uint32_t step = 0; step + 1 < blocks.size(); ++step) expect_in_order(profile, step, step + 1);
        if (task == 2) ASSERT_ACL_OK(canopyFusionWait(function, -1));
    }
    EXPECT_EQ(report(function)["fused"][0]["variants"].size(), 1u)
        << "neither the buffer nor the number make another kernel necessary";
}

TEST_F(FusionProfile, StepsOfOneBlockHaveRecordsToo) {
    auto* log = device_array(std::vector<uint32_t>(64, 0));
    std::vector<Step> steps;
    for (uint64_t number = 0; number < 8; ++number) steps.push_back({"append", 1, {word(log), number}, ""});
    auto* buffer = device_array(std::vector<uint64_t>(256, 0));
    ASSERT_ACL_OK(launch_profiled(fused_with_profile(steps), steps, buffer, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    const Profile profile = read_profile(buffer);
    expect_blocks(profile, std::vector<uint32_t>(8, 1));
    for (uint32_t step = 0; step + 1 < 8; ++step) expect_in_order(profile, step, step + 1);
    EXPECT_EQ(read_back(log, 1)[0], 8u);
}

TEST_F(FusionProfile, RecordsBeyondTheAllocationAreCountedOnly) {
    const std::vector<Step> steps = chain({8, 8});
    auto* memory = device_array(std::vector<uint64_t>(1024, 7));
    uint64_t* const buffer = memory + 1024 - 8 - 3 * 4;  // room for three records
    ASSERT_ACL_OK(launch_profiled(fused_with_profile(steps), steps, buffer, 0));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (!device_computes()) return;
    const Profile profile = read_profile(buffer);
    EXPECT_GE(profile.header.capacity, 3u);
    EXPECT_LE(profile.header.capacity, 4u) << "an allocation has up to 32 bytes more than was asked for";
    EXPECT_EQ(profile.header.count, 16u);
    for (const uint64_t value : read_back(memory, 1024 - 8 - 12)) ASSERT_EQ(value, 7u);
}

TEST_F(FusionProfile, NothingIsWrittenToANullBuffer) {
    auto* counter = device_array<uint32_t>({0});
    const std::vector<Step> steps = {{"increment", 1, {word(counter)}, ""}, {"increment", 1, {word(counter)}, ""}};
    aclrtFuncHandle function = fused_with_profile(steps);
    ASSERT_ACL_OK(launch_profiled(function, steps, nullptr, 1));
    ASSERT_ACL_OK(aclrtSynchronizeStream(stream_));
    if (device_computes()) EXPECT_EQ(read_back(counter, 1)[0], 2u);
}

TEST_F(FusionProfile, ABufferThatIsNoDeviceMemoryIsRefused) {
    if (!device_computes()) GTEST_SKIP() << "the device has no memory of its own";
    const std::vector<Step> steps = chain({2, 2});
    aclrtFuncHandle function = fused_with_profile(steps);
    uint64_t host[64] = {};
    EXPECT_ACL_FAILS(107000, "profiling buffer", launch_profiled(function, steps, host, 0));
    auto* memory = device_array(std::vector<uint64_t>(64, 0));
    EXPECT_ACL_FAILS(107000, "profiling buffer",
                     launch_profiled(function, steps, reinterpret_cast<char*>(memory) + 4, 0));
}

TEST_F(FusionProfile, AListWithoutSlotsForItIsRefused) {
    const std::string file = image_of(chain({2, 2}), profiled).write();
    aclrtBinHandle binary = nullptr;
    EXPECT_ACL_FAILS(107000, "no slots for profiling",
                     aclrtBinaryLoadFromData(file.data(), file.size(), nullptr, &binary));
}

// ---- graphs --------------------------------------------------------------------------------------------------------

class FusionGraphProfile : public CaptureTest {};

TEST_F(FusionGraphProfile, ALaunchOfAGraphIsProfiledFromTheNextExecutionOn) {
    begin();
    for (uint32_t number = 0; number < 5; ++number) ASSERT_ACL_OK(append(stream_, number));
    aclmdlRI graph = end();
    ASSERT_ACL_OK(aclskOptimize(graph, nullptr));
    auto* buffer = device_array(std::vector<uint64_t>(256, 0));
    EXPECT_ACL_FAILS(107000, "index 1 is out of range", canopyFusionProfile(graph, 1, buffer));
    replay(graph, stream_);
    if (device_computes()) EXPECT_EQ(read_back(buffer, 1)[0], 0u);
    ASSERT_ACL_OK(canopyFusionProfile(graph, 0, buffer));
    for (int round = 0; round < 3; ++round) {
        replay(graph, stream_);
        if (!device_computes()) continue;
        const Profile profile = read_profile(buffer);
        expect_blocks(profile, std::vector<uint32_t>(5, 1));
        for (uint32_t step = 0; step + 1 < 5; ++step) expect_in_order(profile, step, step + 1);
    }
    ASSERT_ACL_OK(canopyFusionProfile(graph, 0, nullptr));
    ASSERT_ACL_OK(aclrtMemset(buffer, 256 * 8, 0, 256 * 8));
    replay(graph, stream_);
    if (!device_computes()) return;
    EXPECT_EQ(read_back(buffer, 1)[0], 0u) << "it goes on after it was ended";
    std::vector<uint32_t> log = take_log();
    EXPECT_EQ(log.size(), 25u);
    EXPECT_ACL_FAILS(107000, "profiling buffer", canopyFusionProfile(graph, 0, log.data()));
    replay(graph, stream_);
    EXPECT_EQ(take_log().size(), 5u) << "the graph stays as it was";
}

}  // namespace
}  // namespace conformance
