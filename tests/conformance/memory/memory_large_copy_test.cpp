// SPDX-License-Identifier: Apache-2.0
// Copies and memsets that are large enough for several threads: every byte arrives, whatever the alignment, the
// direction, the pitches and the number of workers, and failures look like those of small ones.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "fixtures/capture_fixture.h"
#include "fixtures/own_process.h"

namespace conformance {
namespace {

constexpr size_t mib = size_t{1} << 20;
// One thread; several threads; several threads past the caches.
struct Range {
    size_t size, to, from;  // to, from: offsets in memory with aligned beginnings
};
constexpr Range ranges[] = {{8 * mib - 1, 0, 0},     {8 * mib, 0, 0},           {8 * mib, 1, 0},
                            {9 * mib + 13, 0, 7},    {17 * mib + 13, 4093, 33}, {33 * mib + 7, 0, 0},
                            {33 * mib + 7, 4093, 33}};

// Bytes that differ from their neighbours, from page to page and from seed to seed.
std::vector<uint8_t> pattern(size_t size, uint32_t seed) {
    std::vector<uint8_t> bytes(size);
    uint64_t state = seed + 1;
    for (size_t at = 0; at < size; at += sizeof state) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        std::memcpy(&bytes[at], &state, std::min(sizeof state, size - at));
    }
    return bytes;
}

// Device memory with these bytes, freed sooner than at the end of the test.
class DeviceBytes {
public:
    explicit DeviceBytes(const std::vector<uint8_t>& bytes) {
        EXPECT_ACL_OK(aclrtMalloc(&memory_, bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST));
        EXPECT_ACL_OK(aclrtMemcpy(memory_, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    }
    ~DeviceBytes() { EXPECT_ACL_OK(aclrtFree(memory_)); }
    DeviceBytes(const DeviceBytes&) = delete;
    DeviceBytes& operator=(const DeviceBytes&) = delete;
    [[nodiscard]] uint8_t* get() const { return static_cast<uint8_t*>(memory_); }

private:
    void* memory_ = nullptr;
};

class PinnedBytes {
public:
    explicit PinnedBytes(const std::vector<uint8_t>& bytes) {
        EXPECT_ACL_OK(aclrtMallocHost(&memory_, bytes.size()));
        std::copy(bytes.begin(), bytes.end(), get());
    }
    ~PinnedBytes() { EXPECT_ACL_OK(aclrtFreeHost(memory_)); }
    PinnedBytes(const PinnedBytes&) = delete;
    PinnedBytes& operator=(const PinnedBytes&) = delete;
    [[nodiscard]] uint8_t* get() const { return static_cast<uint8_t*>(memory_); }

private:
    void* memory_ = nullptr;
};

class MemoryLargeCopy : public CaptureTest {
protected:
    void SetUp() override {
        CaptureTest::SetUp();
        if (!device_computes()) GTEST_SKIP() << "this device moves no bytes in streams";
    }
    void finish() { ASSERT_ACL_OK(aclrtSynchronizeStream(stream_)); }
    void expect_bytes(const uint8_t* device, const std::vector<uint8_t>& expected) {
        const std::vector<uint8_t> found = read_back(device, expected.size());
        if (found == expected) return;
        const auto [at, wanted] = std::mismatch(found.begin(), found.end(), expected.begin());
        ADD_FAILURE() << "byte " << at - found.begin() << " of " << expected.size() << " is " << int{*at}
                      << " instead of " << int{*wanted};
    }
};

TEST_F(MemoryLargeCopy, EveryByteArrives) {
    for (const auto& [size, to, from] : ranges) {
        const std::vector<uint8_t> source = pattern(size + from, 1);
        std::vector<uint8_t> target = pattern(size + to + 64, 2);
        const DeviceBytes first_memory(source);
        uint8_t* const first = first_memory.get();
        const DeviceBytes second_memory(target);
        uint8_t* const second = second_memory.get();
        ASSERT_ACL_OK(aclrtMemcpy(second + to, size, first + from, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
        std::copy_n(source.begin() + from, size, target.begin() + to);
        expect_bytes(second, target);
    }
}

TEST_F(MemoryLargeCopy, EveryByteArrivesInAStream) {
    for (const auto& [size, to, from] : ranges) {
        const std::vector<uint8_t> source = pattern(size + from, 3);
        std::vector<uint8_t> target = pattern(size + to + 64, 4);
        const PinnedBytes host_memory(source);
        uint8_t* const host = host_memory.get();
        const DeviceBytes first_memory(pattern(size + from, 5));
        uint8_t* const first = first_memory.get();
        const DeviceBytes second_memory(target);
        uint8_t* const second = second_memory.get();
        // Each copy needs all of the one before it.
        ASSERT_ACL_OK(aclrtMemcpyAsync(first, size + from, host, size + from, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtMemcpyAsync(second + to, size, first + from, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtMemsetAsync(first, size + from, 0, size + from, stream_));
        finish();
        std::copy_n(source.begin() + from, size, target.begin() + to);
        expect_bytes(second, target);
        expect_bytes(first, std::vector<uint8_t>(size + from, 0));
    }
}

struct Rows {
    size_t width, height, to_pitch, from_pitch;
};
constexpr Rows all_rows[] = {
    {1000, 9000, 1000, 1000},           // no gaps
    {1000, 9000, 1024, 1003},           // many rows in a piece
    {mib + 5, 9, mib + 4096, mib + 5},  // a row is longer than a piece
    {4999999, 8, 5000000, 5000003},     // past the caches
    {4999, 7000, 5001, 5000},           // the same with shorter rows
    {4900000, 2, 5000000, 5000001}      // two rows
};

TEST_F(MemoryLargeCopy, RowsArriveAndGapsStay) {
    for (const bool in_stream : {false, true}) {
        for (const Rows& rows : all_rows) {
            const std::vector<uint8_t> source = pattern(rows.from_pitch * rows.height, 6);
            std::vector<uint8_t> target = pattern(rows.to_pitch * rows.height, 7);
            const DeviceBytes first_memory(source);
            uint8_t* const first = first_memory.get();
            const DeviceBytes second_memory(target);
            uint8_t* const second = second_memory.get();
            if (in_stream) {
                ASSERT_ACL_OK(aclrtMemcpy2dAsync(second, rows.to_pitch, first, rows.from_pitch, rows.width, rows.height,
                                                 ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
                finish();
            } else {
                ASSERT_ACL_OK(aclrtMemcpy2d(second, rows.to_pitch, first, rows.from_pitch, rows.width, rows.height,
                                            ACL_MEMCPY_DEFAULT));
            }
            for (size_t row = 0; row < rows.height; ++row)
                std::copy_n(source.begin() + row * rows.from_pitch, rows.width, target.begin() + row * rows.to_pitch);
            expect_bytes(second, target);
        }
    }
}

TEST_F(MemoryLargeCopy, OverlapIsCopiedAsIfThroughABuffer) {
    constexpr size_t size = 9 * mib + 11;
    for (const bool in_stream : {false, true}) {
        for (const size_t distance : {size_t{1}, size_t{4096}, mib + 3, 5 * mib}) {
            for (const bool upwards : {false, true}) {
                const std::vector<uint8_t> before = pattern(size + distance, 8);
                const DeviceBytes memory_memory(before);
                uint8_t* const memory = memory_memory.get();
                uint8_t* const to = upwards ? memory + distance : memory;
                uint8_t* const from = upwards ? memory : memory + distance;
                if (in_stream) {
                    ASSERT_ACL_OK(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
                    finish();
                } else {
                    ASSERT_ACL_OK(aclrtMemcpy(to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE));
                }
                std::vector<uint8_t> expected = before;
                std::copy_n(before.begin() + (from - memory), size, expected.begin() + (to - memory));
                expect_bytes(memory, expected);
            }
        }
    }
}

TEST_F(MemoryLargeCopy, MemsetReachesEveryByteAndNoOther) {
    for (const Range& range : ranges) {
        const size_t size = range.size, offset = range.to;
        for (const bool in_stream : {false, true}) {
            std::vector<uint8_t> expected = pattern(size + offset + 64, 9);
            const DeviceBytes memory_memory(expected);
            uint8_t* const memory = memory_memory.get();
            if (in_stream) {
                ASSERT_ACL_OK(aclrtMemsetAsync(memory + offset, size, 0xA5, size, stream_));
                finish();
            } else {
                ASSERT_ACL_OK(aclrtMemset(memory + offset, size, 0xA5, size));
            }
            std::fill_n(expected.begin() + offset, size, uint8_t{0xA5});
            expect_bytes(memory, expected);
        }
    }
}

TEST_F(MemoryLargeCopy, MemsetOfWordsKeepsTheirBytesInOrder) {
    constexpr uint32_t value = 0x04030201;
    for (const size_t count : {4 * mib + 777, 8 * mib + 777}) {
        for (const size_t offset : {size_t{0}, size_t{4}, size_t{4092}}) {
            for (const bool in_stream : {false, true}) {
                std::vector<uint8_t> expected = pattern(count * 4 + offset + 64, 10);
                const DeviceBytes memory_memory(expected);
                uint8_t* const memory = memory_memory.get();
                if (in_stream) {
                    ASSERT_ACL_OK(aclrtMemsetD32Async(memory + offset, count * 4, value, count, stream_));
                    finish();
                } else {
                    ASSERT_ACL_OK(aclrtMemsetD32(memory + offset, count * 4, value, count));
                }
                for (size_t i = 0; i < count; ++i) std::memcpy(&expected[offset + i * 4], &value, 4);
                expect_bytes(memory, expected);
            }
        }
    }
}

TEST_F(MemoryLargeCopy, GraphRepeatsIt) {
    constexpr size_t size = 17 * mib + 3;
    std::vector<uint8_t> source = pattern(size, 11);
    const PinnedBytes host_memory(source);
    uint8_t* const host = host_memory.get();
    const DeviceBytes first_memory(pattern(size, 12));
    uint8_t* const first = first_memory.get();
    const DeviceBytes second_memory(pattern(size, 13));
    uint8_t* const second = second_memory.get();
    const DeviceBytes third_memory(pattern(size, 14));
    uint8_t* const third = third_memory.get();
    begin();
    ASSERT_ACL_OK(aclrtMemcpyAsync(first, size, host, size, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    join(stream_, other_);
    ASSERT_ACL_OK(increment(stream_));
    ASSERT_ACL_OK(aclrtMemcpyAsync(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
    ASSERT_ACL_OK(aclrtMemcpyAsync(third, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE, other_));
    join(other_, stream_);
    ASSERT_ACL_OK(aclrtMemsetAsync(first, size, 0, size, stream_));
    ASSERT_ACL_OK(increment(stream_));
    const aclmdlRI graph = end();
    for (uint32_t round = 0; round < 5; ++round) {
        std::copy_n(source.begin(), size, host);
        replay(graph, stream_);
        expect_bytes(second, source);
        expect_bytes(third, source);
        expect_bytes(first, std::vector<uint8_t>(size, 0));
        EXPECT_EQ(count(), 2 * round + 2);
        source = pattern(size, 20 + round);
    }
}

TEST_F(MemoryLargeCopy, EventAfterItIsStampedWhenAllThreadsAreDone) {
    constexpr size_t size = 24 * mib;
    const std::vector<uint8_t> source = pattern(size, 15);
    const DeviceBytes first_memory(source);
    uint8_t* const first = first_memory.get();
    const DeviceBytes second_memory(pattern(size, 16));
    uint8_t* const second = second_memory.get();
    aclrtEvent before = plain_event(), after = plain_event(), latest = plain_event();
    for (int round = 0; round < 20; ++round) {
        ASSERT_ACL_OK(aclrtRecordEvent(before, stream_));
        ASSERT_ACL_OK(aclrtMemcpyAsync(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_));
        ASSERT_ACL_OK(aclrtRecordEvent(after, stream_));
        ASSERT_ACL_OK(aclrtRecordEvent(latest, stream_));
        ASSERT_ACL_OK(aclrtSynchronizeEvent(latest));
        float copy = 0, nothing = 0;
        ASSERT_ACL_OK(aclrtEventElapsedTime(&copy, before, after));
        ASSERT_ACL_OK(aclrtEventElapsedTime(&nothing, after, latest));
        EXPECT_GT(copy, 0);
        EXPECT_GE(nothing, 0);
    }
    expect_bytes(second, source);
}

TEST_F(MemoryLargeCopy, StreamsAndThreadsCopyAtTheSameTime) {
    constexpr size_t size = 17 * mib + 4099;
    constexpr int threads = 4, rounds = 3;
    std::atomic<int> good{0};
    std::vector<std::thread> all;
    for (int number = 0; number < threads; ++number) {
        all.emplace_back([&, number] {
            EXPECT_ACL_OK(aclrtSetDevice(0));
            aclrtStream stream = nullptr;
            EXPECT_ACL_OK(aclrtCreateStream(&stream));
            void *first = nullptr, *second = nullptr;
            EXPECT_ACL_OK(aclrtMalloc(&first, size, ACL_MEM_MALLOC_HUGE_FIRST));
            EXPECT_ACL_OK(aclrtMalloc(&second, size, ACL_MEM_MALLOC_HUGE_FIRST));
            std::vector<uint8_t> back(size);
            for (int round = 0; round < rounds; ++round) {
                const std::vector<uint8_t> source = pattern(size, 100u * number + round);
                EXPECT_ACL_OK(aclrtMemcpy(first, size, source.data(), size, ACL_MEMCPY_HOST_TO_DEVICE));
                EXPECT_ACL_OK(aclrtMemcpyAsync(second, size, first, size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
                EXPECT_ACL_OK(aclrtMemsetAsync(first, size, 1, size, stream));
                EXPECT_ACL_OK(aclrtSynchronizeStream(stream));
                EXPECT_ACL_OK(aclrtMemcpy(back.data(), size, second, size, ACL_MEMCPY_DEVICE_TO_HOST));
                if (back == source) good.fetch_add(1);
            }
            EXPECT_ACL_OK(aclrtFree(first));
            EXPECT_ACL_OK(aclrtFree(second));
            EXPECT_ACL_OK(aclrtDestroyStream(stream));
            EXPECT_ACL_OK(aclrtResetDevice(0));
        });
    }
    for (std::thread& thread : all) thread.join();
    EXPECT_EQ(good.load(), threads * rounds);
}

// Host memory with one page in it that cannot be accessed.
class MemoryWithHole {
public:
    explicit MemoryWithHole(size_t size) : size_(size) {
        void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        bytes_ = static_cast<uint8_t*>(memory);
        std::fill_n(bytes_, size, uint8_t{7});
        hole_ = bytes_ + size / 2 / page * page;
        EXPECT_EQ(mprotect(hole_, page, PROT_NONE), 0);
    }
    ~MemoryWithHole() { munmap(bytes_, size_); }
    MemoryWithHole(const MemoryWithHole&) = delete;
    MemoryWithHole& operator=(const MemoryWithHole&) = delete;

    [[nodiscard]] uint8_t* bytes() const { return bytes_; }
    [[nodiscard]] bool in_hole(const void* address) const {
        return address >= hole_ && address < static_cast<const void*>(hole_ + page);
    }
    void close() const { mprotect(hole_, page, PROT_READ | PROT_WRITE); }

private:
    static constexpr size_t page = 4096;
    size_t size_;
    uint8_t* bytes_ = nullptr;
    uint8_t* hole_ = nullptr;
};

TEST_F(MemoryLargeCopy, BadAddressInTheMiddleFailsTheTaskAsInASmallCopy) {
    if (!device_reaches_all_memory()) GTEST_SKIP() << "another process would read the memory";
    for (const size_t size : {size_t{16384}, 9 * mib, 40 * mib}) {
        const MemoryWithHole host(size);
        const DeviceBytes device_memory(pattern(size, 17));
        uint8_t* const device = device_memory.get();
        ASSERT_ACL_OK(aclrtMemcpyAsync(device, size, host.bytes(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "access to address", aclrtSynchronizeStream(stream_));
        ASSERT_ACL_OK(aclrtMemcpyAsync(host.bytes(), size, device, size, ACL_MEMCPY_DEVICE_TO_HOST, stream_));
        EXPECT_ACL_FAILS(ACL_ERROR_RT_DRV_INTERNAL_ERROR, "access to address", aclrtSynchronizeStream(stream_));
        host.close();
        ASSERT_ACL_OK(aclrtMemcpyAsync(device, size, host.bytes(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
        finish();
    }
}

// What the program's own handler has seen.
const MemoryWithHole* hole_to_close = nullptr;
std::atomic<int> holes_closed{0}, closed_elsewhere{0};
pid_t copying_thread = 0;

void close_hole(int, siginfo_t* info, void*) {
    if (!hole_to_close || !hole_to_close->in_hole(info->si_addr)) _exit(2);
    hole_to_close->close();
    holes_closed.fetch_add(1);
    if (gettid() != copying_thread) closed_elsewhere.fetch_add(1);
}

void program_handles_its_own_faults() {
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = &close_hole;
    ASSERT_EQ(sigaction(SIGSEGV, &action, nullptr), 0);
    copying_thread = gettid();
    ASSERT_ACL_OK(aclInit(nullptr));
    ASSERT_ACL_OK(aclrtSetDevice(0));
    constexpr size_t size = 16 * mib;
    void* device = nullptr;
    ASSERT_ACL_OK(aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST));
    for (int round = 0; round < 10; ++round) {
        const MemoryWithHole host(size);
        hole_to_close = &host;
        ASSERT_ACL_OK(aclrtMemset(device, size, round, size));
        ASSERT_ACL_OK(aclrtMemcpy(host.bytes(), size, device, size, ACL_MEMCPY_DEVICE_TO_HOST));
        EXPECT_EQ(host.bytes()[0], round);
        EXPECT_EQ(std::memcmp(host.bytes(), host.bytes() + 1, size - 1), 0);
        EXPECT_EQ(holes_closed.load(), round + 1);
    }
    EXPECT_EQ(closed_elsewhere.load(), 0);
    EXPECT_ACL_OK(aclrtFree(device));
    EXPECT_ACL_OK(aclrtResetDevice(0));
    EXPECT_ACL_OK(aclFinalize());
}

TEST(MemoryLargeCopyDeathTest, ProgramHandlesItsOwnFaultsInABlockingCopy) {
    if (!device_reaches_all_memory()) GTEST_SKIP() << "another process would read the memory";
    EXPECT_IN_OWN_PROCESS(program_handles_its_own_faults);
}

}  // namespace
}  // namespace conformance
