// SPDX-License-Identifier: Apache-2.0
// CPU kernels in a separate process: they do the same work, and the program survives whatever they do.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "base/error_text.h"
#include "device/opaque_pointer.h"
#include "soft/cpu_images.h"

namespace canopy::test {
namespace {

std::unique_ptr<Device> open_isolated_device() {
    DeviceOptions options;
    options.chip = &default_chip();
    options.memory = std::uint64_t{64} << 20;
    options.workers = 2;
    options.cpu_isolated = true;
    auto device = open_device(*find_kind("soft"), options);
    EXPECT_TRUE(device.ok());
    return std::move(*device);
}

class CpuProcessTest : public testing::Test {
protected:
    void SetUp() override { words_ = static_cast<std::uint64_t*>(opaque_pointer(*device_->allocate(4096, 0))); }
    void TearDown() override { EXPECT_TRUE(device_->release(device_address(words_)).ok()); }

    template <class Arguments>
    void run(const char* name, const Arguments& arguments, std::uint32_t blocks = 1, std::uint64_t timeout = 0) {
        Command command = cpu_launch(module_->kernel(name), arguments, blocks);
        command.launch.timeout = timeout;
        queue_.finish(queue_.submit(command));
    }
    void expect_next_works() {
        const std::size_t before = queue_.failures().size();
        words_[0] = 0;
        run("identify", reinterpret_cast<std::uint64_t>(words_));
        EXPECT_EQ(words_[0], 1u);
        EXPECT_EQ(queue_.failures().size(), before) << queue_.last_failure().what;
    }
    TestQueue::Failure failure_of(const char* name, std::uint64_t argument = 0, std::uint64_t timeout = 0) {
        const std::size_t before = queue_.failures().size();
        run(name, argument, 1, timeout);
        EXPECT_EQ(queue_.failures().size(), before + 1) << name;
        const TestQueue::Failure failure = queue_.last_failure();
        EXPECT_EQ(failure.kernel, name);
        expect_next_works();
        return failure;
    }

    std::unique_ptr<Device> device_ = open_isolated_device();
    std::unique_ptr<Module> module_ = load_cpu_image(*device_, CPU_IMAGE_1);
    TestQueue queue_{*device_};
    std::uint64_t* words_ = nullptr;
};

TEST_F(CpuProcessTest, KernelsWorkOnDeviceMemoryAndKeepTheirVariables) {
    EXPECT_TRUE(device_->info().cpu_isolated);
    for (std::uint64_t call = 1; call <= 50; ++call) {
        run("identify", reinterpret_cast<std::uint64_t>(words_));
        ASSERT_EQ(words_[0], 1u);
        ASSERT_EQ(words_[1], call);
    }
    EXPECT_TRUE(queue_.failures().empty());
}

TEST_F(CpuProcessTest, ImagesWithTheSameNamesNeverMixThereEither) {
    auto other = load_cpu_image(*device_, CPU_IMAGE_2);
    for (std::uint64_t call = 1; call <= 20; ++call) {
        run("identify", reinterpret_cast<std::uint64_t>(words_));
        ASSERT_EQ(words_[0], 1u);
        ASSERT_EQ(words_[2], call);
        const auto address = reinterpret_cast<std::uint64_t>(words_);
        queue_.finish(queue_.submit(cpu_launch(other->kernel("identify"), address)));
        ASSERT_EQ(words_[0], 2u);
        ASSERT_EQ(words_[2], call);
    }
}

TEST_F(CpuProcessTest, PointersOfTheArgumentsIntoThemselvesArriveThere) {
    struct Arguments {
        std::uint64_t pointer = 0;
        std::uint64_t answer[3] = {};
    } arguments;
    const Placeholder holder = {0, 8};
    Command command = cpu_launch(module_->kernel("identify"), arguments);
    command.launch.placeholders = &holder;
    command.launch.placeholder_count = 1;
    queue_.finish(queue_.submit(command));
    EXPECT_TRUE(queue_.failures().empty()) << queue_.last_failure().what;
}

TEST_F(CpuProcessTest, BlocksOfALaunchMeetAndKnowTheirNumbers) {
    struct {
        std::uint64_t arrived, seen, rounds;
    } meeting = {reinterpret_cast<std::uint64_t>(words_), reinterpret_cast<std::uint64_t>(words_ + 1), 3};
    for (const char* name : {"RunCpuKernelWithBlock", "meet_others"}) {
        std::fill(words_, words_ + 8, 0);
        run(name, meeting, 7);
        EXPECT_EQ(words_[0], 21u);
        for (int block = 0; block < 7; ++block) EXPECT_EQ(words_[1 + block], 1u) << name;
    }
    EXPECT_TRUE(queue_.failures().empty());
}

TEST_F(CpuProcessTest, CommandsOfOtherStreamsReachAKernelThroughMemory) {
    words_[0] = 0;
    const auto address = reinterpret_cast<std::uint64_t>(words_);
    const std::uint64_t last = queue_.submit(cpu_launch(module_->kernel("wait_for_word"), address));
    TestQueue other(*device_);
    Command write(Opcode::write_value);
    write.value = {device_address(words_), 5, {}};
    other.finish(other.submit(write));
    queue_.finish(last);
    EXPECT_EQ(words_[0], 6u);
}

TEST_F(CpuProcessTest, ReturnValuesAndExceptionsAreTold) {
    auto failure = failure_of("return_value", 17);
    EXPECT_EQ(failure.kind, FaultKind::returned);
    EXPECT_EQ(failure.result, 17u);
    failure = failure_of("throw_exception");
    EXPECT_EQ(failure.kind, FaultKind::exception);
    EXPECT_NE(failure.what.find("out of cheese"), std::string::npos) << failure.what;
}

TEST_F(CpuProcessTest, ACrashEndsTheProcessOfTheKernelsOnly) {
    auto failure = failure_of("write_to", 0x10);
    EXPECT_EQ(failure.kind, FaultKind::exception);
    EXPECT_EQ(failure.address, 0x10u);
    EXPECT_EQ(failure_of("trap").kind, FaultKind::trap);
    EXPECT_NE(failure_of("divide", 0).what.find("divided by zero"), std::string::npos);
    EXPECT_NE(failure_of("call_abort").what.find("abort"), std::string::npos);
    EXPECT_EQ(failure_of("run_off_stack").kind, FaultKind::exception);
    failure = failure_of("end_process");
    EXPECT_EQ(failure.kind, FaultKind::exception);
    EXPECT_NE(failure.what.find("exit status 3"), std::string::npos) << failure.what;
}

TEST_F(CpuProcessTest, AKernelThatDoesNotEndIsEndedInTime) {
    for (const char* name : {"never_end", "sleep_for_ever", "allocate_for_ever"})
        EXPECT_EQ(failure_of(name, 0, 20 * millisecond).kind, FaultKind::timeout) << name;
}

TEST_F(CpuProcessTest, AbortingTheStreamEndsItsKernel) {
    TestQueue other(*device_);
    const std::uint64_t nothing = 0;
    Command command = cpu_launch(module_->kernel("never_end"), nothing, 2);
    command.launch.timeout = UINT64_MAX;
    const std::uint64_t last = other.submit(command);
    other->abort();
    EXPECT_EQ(other->completed(), last);
    expect_next_works();
}

TEST_F(CpuProcessTest, WhatDoesNotLoadIsToldWithTheReason) {
    take_error_text();
    auto module = device_->load_cpu(read_file(CPU_IMAGE_UNRESOLVED), "unresolved.so");
    ASSERT_FALSE(module.ok());
    EXPECT_EQ(module.status().code(), 107000);
    const char* text = take_error_text();
    ASSERT_NE(text, nullptr);
    EXPECT_NE(std::string(text).find("function_that_nobody_defines"), std::string::npos) << text;
    EXPECT_EQ(module_->kernel("no_such_kernel"), nullptr);
}

}  // namespace
}  // namespace canopy::test
