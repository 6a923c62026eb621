// SPDX-License-Identifier: Apache-2.0
// Launches of kernels with checking code: what the checker is told, also when they fail.
#if defined(CHECKED_KERNELS_IMAGE)
#include "base/error_text.h"
#include "device/image.h"
#include "device/opaque_pointer.h"
#include "foundation/files.h"
#include "foundation/image_writer.h"
#include "recording_checker.h"
#include "soft/soft_device.h"

namespace canopy::test {
namespace {

constexpr std::uint32_t tile = 256, blocks = 8;

class CheckedLaunches : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override {
        ASSERT_TRUE(read_file(CHECKED_KERNELS_IMAGE, image_));
        open(GetParam());
    }

    void open(std::uint32_t workers) {
        DeviceOptions options;
        options.chip = find_chip("Ascend910B1");
        options.memory = std::uint64_t{64} << 20;
        options.workers = workers;
        options.launch_checker = &checker_;
        Result<std::unique_ptr<Device>> device = open_device(*find_kind("soft"), options);
        ASSERT_TRUE(device.ok());
        device_ = std::move(*device);
        queue_ = std::make_unique<TestQueue>(*device_);
        to_ = buffer();
        from_ = buffer();
        for (std::uint32_t i = 0; i < 2 * tile * blocks; ++i) from_[i] = static_cast<float>(i);
    }
    // For each vector core of groups, of which there are two for a block.
    float* buffer() {
        Result<DeviceAddress> memory = device_->allocate(2 * tile * blocks * sizeof(float), memory_default);
        EXPECT_TRUE(memory.ok());
        return static_cast<float*>(opaque_pointer(*memory));
    }
    void load(std::span<const std::byte> image) {
        Result<std::unique_ptr<Module>> module = device_->load(image);
        ASSERT_TRUE(module.ok()) << take_error_text();
        module_ = std::move(*module);
    }
    // The image without its checking code, and with a text for it.
    [[nodiscard]] std::string without_code(const std::string& text) const {
        Image image = std::move(*read_image(image_));
        std::erase_if(image.targets, [](const ImageTarget& target) { return target.name == CANOPY_CHECK_TARGET; });
        image.check_text = text;
        return write_image(image);
    }
    void run(const char* name, std::uint64_t timeout = 0) {
        Kernel* kernel = module_->kernel(name);
        ASSERT_NE(kernel, nullptr);
        const void* arguments[] = {to_, from_};
        Command command(Opcode::launch);
        command.launch = {};
        command.launch.kernel = kernel;
        command.launch.set_arguments(arguments);
        command.launch.arguments_size = sizeof arguments;
        command.launch.blocks = blocks;
        command.launch.timeout = timeout;
        queue_->finish(queue_->submit(command));
    }
    [[nodiscard]] bool copied() const { return std::equal(from_, from_ + std::size_t{tile} * blocks, to_); }

    RecordingChecker checker_;
    std::vector<std::byte> image_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<TestQueue> queue_;
    std::unique_ptr<Module> module_;
    float *to_ = nullptr, *from_ = nullptr;
};

TEST_P(CheckedLaunches, AreDoneAndTellWhatTheyTouched) {
    load(image_);
    run("copies");
    EXPECT_TRUE(copied());
    EXPECT_EQ(checker_.in_short(), std::vector<std::string>());
    const auto ended = checker_.ended();
    ASSERT_EQ(ended.size(), 1u);
    EXPECT_EQ(ended[0].kernel, "copies");
    std::uint64_t read = 0, written = 0;
    for (const check::TouchedRange& range : ended[0].touched)
        (range.written ? written : read) += range.end - range.begin;
    EXPECT_EQ(read, tile * blocks * sizeof(float));
    EXPECT_EQ(written, tile * blocks * sizeof(float));
}

TEST_P(CheckedLaunches, FindARaceWithTheLinesOfBothSides) {
    load(image_);
    run("race");
    EXPECT_TRUE(copied());
    EXPECT_EQ(checker_.in_short().front(), "race.pipe 20 25");
    EXPECT_EQ(queue_->failures().size(), 0u);
}

TEST_P(CheckedLaunches, OfOneBlockAreCheckedToo) {
    load(image_);
    const void* arguments[] = {to_, from_};
    Command command(Opcode::launch);
    command.launch = {};
    command.launch.kernel = module_->kernel("race");
    command.launch.set_arguments(arguments);
    command.launch.arguments_size = sizeof arguments;
    command.launch.blocks = 1;
    queue_->finish(queue_->submit(command));
    EXPECT_EQ(checker_.in_short().front(), "race.pipe 20 25");
}

TEST_P(CheckedLaunches, TellWhatTheyFoundAlsoIfABlockFaults) {
    load(image_);
    run("race_and_fault");
    EXPECT_EQ(queue_->last_failure().kind, FaultKind::exception);
    EXPECT_EQ(queue_->last_failure().kernel, "race_and_fault");
    ASSERT_FALSE(checker_.findings().empty());
    EXPECT_EQ(checker_.in_short().front(), "race.pipe 20 25");
    EXPECT_EQ(checker_.ended().size(), 1u);
}

TEST_P(CheckedLaunches, TellWhatTheyFoundAlsoIfABlockHangs) {
    load(image_);
    run("race_and_hang", 50'000'000);
    EXPECT_EQ(queue_->last_failure().kind, FaultKind::timeout);
    ASSERT_FALSE(checker_.findings().empty());
    EXPECT_EQ(checker_.in_short().front(), "race.pipe 20 25");
}

TEST_P(CheckedLaunches, TellWhatTheyFoundAlsoIfBlocksWaitForEver) {
    load(image_);
    run("race_and_wait");
    EXPECT_EQ(queue_->last_failure().kind, FaultKind::timeout);
    ASSERT_FALSE(checker_.findings().empty());
    EXPECT_EQ(checker_.in_short().front(), "race.pipe 20 25");
}

TEST_P(CheckedLaunches, FailIfTheCheckerSaysSo) {
    checker_.stops = true;
    load(image_);
    run("race");
    ASSERT_EQ(queue_->failures().size(), 1u);
    EXPECT_EQ(queue_->last_failure().kind, FaultKind::exception);
}

TEST_P(CheckedLaunches, TellNothingIfTheyAreNotWanted) {
    checker_.wanted = false;
    load(image_);
    run("race");
    EXPECT_TRUE(copied());
    EXPECT_TRUE(checker_.findings().empty());
    EXPECT_TRUE(checker_.ended().empty());
}

TEST_P(CheckedLaunches, LeaveOutABlockThatIsNotWanted) {
    checker_.unwanted_block = 3;
    load(image_);
    run("copies");
    EXPECT_TRUE(copied());
    const std::uint64_t left_out = reinterpret_cast<std::uint64_t>(to_ + 3 * tile);
    const auto ended = checker_.ended();
    ASSERT_EQ(ended.size(), 1u);
    for (const check::TouchedRange& range : ended[0].touched)
        EXPECT_TRUE(range.end <= left_out || range.begin >= left_out + tile * sizeof(float)) << range.begin;
}

TEST_P(CheckedLaunches, OfImagesWithoutCodeSayWhy) {
    const std::string bare = without_code("");
    load(std::as_bytes(std::span(bare)));
    run("race");
    EXPECT_TRUE(copied());
    ASSERT_EQ(checker_.unchecked().size(), 1u);
    EXPECT_EQ(checker_.unchecked()[0].first, "race");
    EXPECT_EQ(checker_.unchecked()[0].second,
              "its image has no checking code; compile it again with canopy-cc --check");
    const std::string lost = without_code("0123");
    load(std::as_bytes(std::span(lost)));
    run("race");
    EXPECT_EQ(checker_.unchecked().back().second, "there is no text called 0123");
    EXPECT_TRUE(checker_.ended().empty());
}

TEST_P(CheckedLaunches, UseCodeThatIsMadeFromTheText) {
    Image image = std::move(*read_image(image_));
    for (const ImageTarget& target : image.targets)
        if (target.name == CANOPY_CHECK_TARGET) checker_.its_code.assign(target.object.begin(), target.object.end());
    checker_.known_text = "abc";
    const std::string bare = without_code("abc");
    load(std::as_bytes(std::span(bare)));
    run("race");
    ASSERT_FALSE(checker_.findings().empty());
    EXPECT_TRUE(checker_.unchecked().empty());
}

// Variables of the image are the same for launches that are checked and others.
TEST_P(CheckedLaunches, ShareVariablesWithOthers) {
    load(image_);
    const auto variable = module_->symbol("launches");
    ASSERT_TRUE(variable);
    *static_cast<int*>(opaque_pointer(variable->address)) = 100;
    run("counts");
    checker_.wanted = false;
    run("counts");
    EXPECT_EQ(*static_cast<int*>(opaque_pointer(variable->address)), 102);
}

INSTANTIATE_TEST_SUITE_P(Workers, CheckedLaunches, testing::Values(1u, 2u, 8u));

}  // namespace
}  // namespace canopy::test
#endif
