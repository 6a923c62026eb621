// SPDX-License-Identifier: Apache-2.0
// Copies and fills that several threads make, below the interface: how they are cut, stopped, and give way.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "device/engine/memory/pieces.h"
#include "soft/soft_device.h"
#include "until.h"

namespace canopy {
namespace {

using test::TestQueue;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t page = 4096;

Command copy_of(void* to, const void* from, std::size_t width, std::size_t height = 1, std::size_t to_pitch = 0,
                std::size_t from_pitch = 0) {
    Command command(Opcode::copy);
    command.copy = {device_address(to),          device_address(from),           width, height,
                    to_pitch ? to_pitch : width, from_pitch ? from_pitch : width};
    return command;
}

Command fill_of(void* to, std::uint32_t value, std::uint32_t element_size, std::size_t count) {
    Command command(Opcode::fill);
    command.fill = {device_address(to), count, value, element_size};
    return command;
}

// ---- pieces --------------------------------------------------------------------------------------------------------

TEST(MemoryPieces, SmallWorkIsNotLarge) {
    char byte = 0;
    EXPECT_FALSE(is_large(copy_of(&byte, &byte, tuning::large_copy - 1)));
    EXPECT_TRUE(is_large(copy_of(&byte, &byte, tuning::large_copy)));
    EXPECT_TRUE(is_large(copy_of(&byte, &byte, 1024, tuning::large_copy / 1024)));
    EXPECT_FALSE(is_large(fill_of(&byte, 1, 4, tuning::large_fill / 4 - 1)));
    EXPECT_TRUE(is_large(fill_of(&byte, 1, 4, tuning::large_fill / 4)));
    EXPECT_FALSE(is_large(Command(Opcode::write_value)));
}

TEST(MemoryPieces, RangesThatTouchEachOtherDivideAndThoseThatOverlapDoNot) {
    std::vector<char> bytes(64);
    char* const at = bytes.data();
    EXPECT_TRUE(MemoryPieces::divides(copy_of(at, at + 16, 16)));
    EXPECT_TRUE(MemoryPieces::divides(copy_of(at + 16, at, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at, at + 15, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at + 15, at, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at, at, 16)));
    EXPECT_TRUE(MemoryPieces::divides(fill_of(at, 1, 1, 64)));
}

TEST(MemoryPieces, RowsCountWithTheirGaps) {
    std::vector<char> bytes(128);
    char* const at = bytes.data();
    EXPECT_TRUE(MemoryPieces::divides(copy_of(at, at + 28, 4, 4, 8, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at, at + 27, 4, 4, 8, 16)));
    EXPECT_TRUE(MemoryPieces::divides(copy_of(at + 52, at, 4, 4, 8, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at + 51, at, 4, 4, 8, 16)));
    EXPECT_FALSE(MemoryPieces::divides(copy_of(at, at + 64, 4, 4, 2, 8))) << "rows of the destination overlap";
}

TEST(MemoryPieces, RunInAnyOrder) {
    constexpr std::size_t size = 3 * mib + 77;
    for (const std::size_t offset : {0u, 1u, 4095u}) {
        std::vector<std::uint8_t> source(size), target(size + offset + 64, 0xEE);
        std::iota(source.begin(), source.end(), std::uint8_t{0});
        std::vector<std::uint8_t> expected = target;
        std::copy(source.begin(), source.end(), expected.begin() + offset);
        const MemoryPieces copy(copy_of(target.data() + offset, source.data(), size));
        EXPECT_GE(copy.count(), 4u);
        for (std::uint32_t piece = copy.count(); piece-- > 0;) copy.run(piece);
        EXPECT_TRUE(target == expected);

        const MemoryPieces fill(fill_of(target.data() + offset, 0x04030201, 4, size / 4));
        for (std::size_t i = 0; i < size / 4 * 4; ++i) expected[offset + i] = static_cast<std::uint8_t>(1 + i % 4);
        for (std::uint32_t piece = fill.count(); piece-- > 0;) fill.run(piece);
        EXPECT_TRUE(target == expected);
    }
}

TEST(MemoryPieces, WordsPastTheCachesKeepTheirBytesAtAnyAddress) {
    const std::size_t count = tuning::copy_past_caches / 4 + 5;
    constexpr std::size_t room = 128;  // before and behind it together
    const std::vector<std::uint32_t> expected(count, 0x04030201);
    std::vector<std::uint8_t> target(count * 4 + room);
    const std::vector<std::uint8_t> untouched(room, 0);
    for (const std::size_t offset : {0u, 1u, 2u, 3u, 63u}) {
        std::memset(target.data(), 0, target.size());
        std::uint8_t* const begin = target.data() + room / 2 + offset;
        std::uint8_t* const end = begin + count * 4;
        const MemoryPieces fill(fill_of(begin, 0x04030201, 4, count));
        for (std::uint32_t piece = 0; piece < fill.count(); ++piece) fill.run(piece);
        EXPECT_EQ(std::memcmp(begin, expected.data(), count * 4), 0) << "offset " << offset;
        EXPECT_TRUE(std::equal(target.data(), begin, untouched.data()));
        EXPECT_TRUE(std::equal(end, target.data() + target.size(), untouched.data()));
    }
}

// ---- in queues -----------------------------------------------------------------------------------------------------

// Address space of 16 GiB that shows the same few pages again and again, so that filling it takes long and needs no
// memory. Its last page is separate.
class LongMemory {
public:
    LongMemory() {
        void* range = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        EXPECT_NE(range, MAP_FAILED);
        bytes_ = static_cast<std::uint8_t*>(range);
        const int file = memfd_create("long memory", MFD_CLOEXEC);
        EXPECT_EQ(ftruncate(file, step), 0);
        for (std::size_t at = 0; at < size; at += step) map(at, step, MAP_SHARED, file);
        map(size - page, page, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        close(file);
    }
    ~LongMemory() { munmap(bytes_, size); }
    LongMemory(const LongMemory&) = delete;
    LongMemory& operator=(const LongMemory&) = delete;

    [[nodiscard]] Command fill() const { return fill_of(bytes_, 1, 1, size); }
    [[nodiscard]] bool begun() const {
        const auto& first = *reinterpret_cast<const volatile std::uint8_t*>(bytes_);
        return first != 0;
    }
    [[nodiscard]] bool ended() const { return bytes_[size - 1] != 0; }

private:
    static constexpr std::size_t size = std::size_t{16} << 30;
    static constexpr std::size_t step = 16 * mib;
    void map(std::size_t at, std::size_t bytes, int flags, int file) const {
        EXPECT_NE(mmap(bytes_ + at, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0), MAP_FAILED);
    }
    std::uint8_t* bytes_ = nullptr;
};

class SharedCopies : public testing::TestWithParam<std::uint32_t> {
protected:
    void SetUp() override { device_ = test::open_soft_device(GetParam()); }
    std::unique_ptr<Device> device_;
};

TEST_P(SharedCopies, AbortEndsOneInTheMiddle) {
    TestQueue queue(*device_);
    for (int round = 0; round < 3; ++round) {
        const LongMemory memory;
        std::atomic<std::uint64_t> counter{0};
        queue.submit(memory.fill());
        queue.count(counter);
        ASSERT_TRUE(eventually([&] { return memory.begun(); }));
        queue->abort();
        EXPECT_FALSE(memory.ended());
        EXPECT_TRUE(queue.failures().empty());
        EXPECT_EQ(counter.load(), 1u) << "calls of the runtime are made even when they are dropped";
        queue.finish(queue.count(counter));
        EXPECT_EQ(counter.load(), 2u);
    }
}

TEST_P(SharedCopies, StopEndsOneAndKeepsWhatFollows) {
    TestQueue queue(*device_);
    const LongMemory memory;
    std::vector<std::uint8_t> after(tuning::large_fill + 1);
    queue.submit(memory.fill());
    const std::uint64_t last = queue.submit(fill_of(after.data(), 3, 1, after.size()));
    ASSERT_TRUE(eventually([&] { return memory.begun(); }));
    queue->stop_running();
    queue.finish(last);
    EXPECT_FALSE(memory.ended());
    EXPECT_EQ(queue.failures(), std::vector<FaultKind>{FaultKind::aborted});
    EXPECT_EQ(after, std::vector<std::uint8_t>(after.size(), 3));
}

TEST_P(SharedCopies, AbortEndsOneInAGraph) {
    const LongMemory memory;
    const Command command = memory.fill();
    const GraphLane lane = {std::span(&command, 1)};
    GraphPlan plan;
    plan.lanes = std::span(&lane, 1);
    Result<Executable*> graph = device_->prepare(plan);
    ASSERT_TRUE(graph.ok());
    TestQueue queue(*device_);
    Command replay(Opcode::replay);
    replay.replay = {*graph, nullptr, 0, 0};
    queue.submit(replay);
    ASSERT_TRUE(eventually([&] { return memory.begun(); }));
    queue->abort();
    EXPECT_FALSE(memory.ended());
    std::atomic<std::uint64_t> counter{0};
    queue.finish(queue.count(counter));
    (*graph)->release();
}

TEST_P(SharedCopies, QueueEndsWithOneInIt) {
    const LongMemory memory;
    TestQueue queue(*device_);
    queue.submit(memory.fill());
    ASSERT_TRUE(eventually([&] { return memory.begun(); }));
    queue.end();
    EXPECT_FALSE(memory.ended());
}

TEST_P(SharedCopies, GiveThreadsToQueuesThatAreReady) {
    if (GetParam() == 1) GTEST_SKIP() << "its only thread copies";
    const LongMemory memory;
    TestQueue busy(*device_), other(*device_);
    busy.submit(memory.fill());
    ASSERT_TRUE(eventually([&] { return memory.begun(); }));
    std::atomic<std::uint64_t> counter{0};
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(other->wait(other.count(counter), Deadline::after(60 * second)), WaitOutcome::done);
    EXPECT_FALSE(memory.ended());
    EXPECT_EQ(counter.load(), 20u);
    busy->abort();
}

TEST_P(SharedCopies, FailAtTheFirstBadAddress) {
    constexpr std::size_t size = tuning::large_fill;
    void* range = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(range, MAP_FAILED);
    auto* const bytes = static_cast<std::uint8_t*>(range);
    std::uint8_t* const holes[] = {bytes + 5 * mib + 8 * page, bytes + 6 * mib + 8 * page, bytes + 12 * mib};
    for (std::uint8_t* hole : holes) ASSERT_EQ(mprotect(hole, page, PROT_NONE), 0);
    TestQueue queue(*device_);
    for (int round = 0; round < 50; ++round) {
        queue.finish(queue.submit(fill_of(bytes, 1, 1, size)));
        const TestQueue::Failure failure = queue.last_failure();
        EXPECT_EQ(failure.kind, FaultKind::memory);
        EXPECT_EQ(failure.opcode, Opcode::fill);
        const auto hole = reinterpret_cast<std::uintptr_t>(holes[0]);
        EXPECT_TRUE(failure.address >= hole && failure.address < hole + page) << failure.what;
    }
    EXPECT_EQ(queue.failures().size(), 50u);
    munmap(range, size);
}

TEST_P(SharedCopies, BlockingOnesAreCompleteWhenTheyReturn) {
    constexpr std::size_t size = tuning::large_fill + 333;
    std::vector<std::thread> callers;
    for (std::uint8_t number = 1; number <= 4; ++number) {
        callers.emplace_back([&, number] {
            std::vector<std::uint8_t> first(size), second(size);
            for (std::uint8_t round = 0; round < 10; ++round) {
                const auto value = static_cast<std::uint8_t>(number * 50 + round);
                EXPECT_TRUE(device_->fill({device_address(first.data()), size, value, 1}).ok());
                EXPECT_TRUE(
                    device_->copy({device_address(second.data()), device_address(first.data()), size, 1, size, size})
                        .ok());
                EXPECT_EQ(second.front(), value);
                EXPECT_EQ(std::memcmp(second.data(), second.data() + 1, size - 1), 0);
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
}

TEST_P(SharedCopies, BlockingOneDoesNotWaitForAQueue) {
    const LongMemory memory;
    TestQueue busy(*device_);
    busy.submit(memory.fill());
    ASSERT_TRUE(eventually([&] { return memory.begun(); }));
    std::vector<std::uint8_t> first(tuning::large_copy + 1, 4), second(first.size());
    EXPECT_TRUE(device_
                    ->copy({device_address(second.data()), device_address(first.data()), first.size(), 1, first.size(),
                            first.size()})
                    .ok());
    EXPECT_EQ(first, second);
    EXPECT_FALSE(memory.ended());
    busy->abort();
}

TEST_P(SharedCopies, GuardedCodeMakesBlockingOnesAlone) {
    struct Copies {
        Device& device;
        std::vector<std::uint8_t> first, second;
        Status status;
    };
    Copies copies{*device_,
                  std::vector<std::uint8_t>(tuning::large_copy + 1, 6),
                  std::vector<std::uint8_t>(tuning::large_copy + 1),
                  {}};
    Fault fault;
    const Fiber::Exit how = Executor::current()->run(
        nullptr,
        [](void* data) {
            auto* all = static_cast<Copies*>(data);
            const std::size_t size = all->first.size();
            all->status = all->device.copy(
                {device_address(all->second.data()), device_address(all->first.data()), size, 1, size, size});
        },
        &copies, nullptr, fault);
    EXPECT_EQ(how, Fiber::Exit::finished);
    EXPECT_TRUE(copies.status.ok());
    EXPECT_EQ(copies.first, copies.second);
}

TEST_P(SharedCopies, DeviceEndsRightAfterABlockingOne) {
    std::vector<std::uint8_t> bytes(tuning::large_fill + 1);
    for (std::uint8_t round = 1; round < 50; ++round) {
        EXPECT_TRUE(device_->fill({device_address(bytes.data()), bytes.size(), round, 1}).ok());
        device_ = test::open_soft_device(GetParam());
        EXPECT_EQ(bytes.back(), round);
    }
}

INSTANTIATE_TEST_SUITE_P(Workers, SharedCopies, testing::Values(1u, 2u, 8u));

}  // namespace
}  // namespace canopy
