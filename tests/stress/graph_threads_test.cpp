// SPDX-License-Identifier: Apache-2.0
// Graphs and many threads: several graphs at once, one graph from several streams, graphs that are destroyed, changed
// and replayed at the same time, captures while other threads copy and synchronise, and replays that fail, are aborted
// or time out. CANOPY_STRESS_CALLS scales the number of repetitions.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <latch>
#include <memory>
#include <mutex>
#include <thread>

#include "graph_session.h"
#include "graph_world.h"

namespace {

using namespace graphs;

constexpr std::uint32_t words = 64;

int repetitions(int usual) {
    const char* text = std::getenv("CANOPY_STRESS_CALLS");
    return text ? std::max(1, static_cast<int>(usual * std::strtol(text, nullptr, 10) / 4000)) : usual;
}

std::string recent_error() {
    const char* text = aclGetRecentErrMsg();
    return text ? text : "";
}

template <class... Values>
void launch(aclrtFuncHandle function, std::uint32_t blocks, aclrtStream stream, Values... values) {
    std::uint64_t slots[] = {(std::uint64_t)(values)...};
    MUST(aclrtLaunchKernelWithHostArgs(function, blocks, stream, nullptr, slots, sizeof(slots), nullptr, 0));
}

// Throws unless `code` is 0 or one of `allowed`.
aclError one_of(aclError code, std::initializer_list<aclError> allowed, const char* call) {
    for (const aclError other : allowed)
        if (code == other) {
            aclGetRecentErrMsg();
            return code;
        }
    must(code, call);
    return code;
}

class Stream {
public:
    Stream() { MUST(aclrtCreateStream(&handle_)); }
    ~Stream() { aclrtDestroyStreamForce(handle_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator aclrtStream() const { return handle_; }  // NOLINT: it is one
    void synchronise() const { MUST(aclrtSynchronizeStream(handle_)); }

private:
    aclrtStream handle_ = nullptr;
};

class Event {
public:
    Event() { MUST(aclrtCreateEventExWithFlag(&handle_, ACL_EVENT_SYNC)); }
    ~Event() { aclrtDestroyEvent(handle_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void order(aclrtStream from, aclrtStream to) const {
        MUST(aclrtRecordEvent(handle_, from));
        MUST(aclrtStreamWaitEvent(to, handle_));
    }

private:
    aclrtEvent handle_ = nullptr;
};

// Cells in device memory, initially zero.
class Cells {
public:
    explicit Cells(std::size_t count) {
        const std::size_t size = count * words * 4;
        MUST(aclrtMalloc(reinterpret_cast<void**>(&memory_), size, ACL_MEM_MALLOC_HUGE_FIRST));
        MUST(aclrtMemset(memory_, size, 0, size));
    }
    ~Cells() { aclrtFree(memory_); }
    Cells(const Cells&) = delete;
    Cells& operator=(const Cells&) = delete;
    std::uint32_t* operator[](std::size_t cell) const { return memory_ + cell * words; }
    std::uint32_t read(std::size_t cell) const {
        std::uint32_t value = 0;
        MUST(aclrtMemcpy(&value, 4, (*this)[cell], 4, ACL_MEMCPY_DEVICE_TO_HOST));
        return value;
    }
    void write(std::size_t cell, std::uint64_t value) const {
        MUST(aclrtMemcpy((*this)[cell], 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    }

private:
    std::uint32_t* memory_ = nullptr;
};

aclmdlRI capture(aclrtStream stream, aclmdlRICaptureMode mode, const std::function<void()>& issue) {
    aclmdlRI graph = nullptr;
    MUST(aclmdlRICaptureBegin(stream, mode));
    issue();
    MUST(aclmdlRICaptureEnd(stream, &graph));
    return graph;
}

// Work with a fork and a join on three streams; it changes every word of the first cell.
class Work {
public:
    explicit Work(const Kernels& kernels) : kernels_(kernels), cells_(6) {}
    void issue(std::uint32_t salt) {
        mix(streams_[0], 0, 0, salt);
        fork_.order(streams_[0], streams_[1]);
        fork_.order(streams_[0], streams_[2]);
        mix(streams_[1], 1, 0, salt + 1);
        MUST(aclrtMemcpyAsync(cells_[2], words * 4, cells_[1], words * 4, ACL_MEMCPY_DEVICE_TO_DEVICE, streams_[1]));
        mix(streams_[2], 3, 0, salt + 2);
        mix(streams_[2], 4, 3, salt + 3);
        joins_[0].order(streams_[1], streams_[0]);
        joins_[1].order(streams_[2], streams_[0]);
        mix(streams_[0], 0, 2, salt + 4);
        mix(streams_[0], 0, 4, salt + 5);
    }
    aclmdlRI capture(aclmdlRICaptureMode mode, std::uint32_t salt) {
        return ::capture(streams_[0], mode, [&] { issue(salt); });
    }
    const Stream& stream() const { return streams_[0]; }
    std::uint32_t result() const { return cells_.read(0); }

private:
    void mix(aclrtStream stream, std::size_t out, std::size_t a, std::uint32_t salt) {
        launch(kernels_.mix, 1 + salt % 3, stream, cells_[out], cells_[a], cells_[a], salt, words);
    }
    const Kernels& kernels_;
    Cells cells_;
    std::array<Stream, 3> streams_;
    Event fork_, joins_[2];
};

class GraphThreads : public Session {
protected:
    void SetUp() override {
        Session::SetUp();
        if (!HasFatalFailure()) kernels_ = std::make_unique<Kernels>();
    }
    void TearDown() override {
        kernels_.reset();
        Session::TearDown();
    }
    // Runs each work on its own thread; an exception fails the test.
    void run(const std::vector<std::function<void()>>& works) {
        std::vector<std::thread> threads;
        std::latch start(static_cast<std::ptrdiff_t>(works.size()));
        for (const auto& work : works)
            threads.emplace_back([&work, &start, this] {
                try {
                    start.arrive_and_wait();
                    MUST(aclrtSetDevice(0));
                    work();
                } catch (const std::exception& problem) {
                    const std::lock_guard guard(mutex_);
                    ADD_FAILURE() << problem.what();
                    failed_ = true;
                }
            });
        for (std::thread& thread : threads) thread.join();
    }
    const Kernels& kernels() const { return *kernels_; }
    std::atomic<bool> failed_{false};

private:
    std::unique_ptr<Kernels> kernels_;
    std::mutex mutex_;
};

// The result of running the work `times` times, call by call.
std::uint32_t expected_after(const Kernels& kernels, int times, std::uint32_t salt) {
    Work work(kernels);
    for (int i = 0; i < times; ++i) work.issue(salt);
    work.stream().synchronise();
    return work.result();
}

TEST_F(GraphThreads, SeveralGraphsRunAtOnce) {
    const int replays = repetitions(200);
    const std::uint32_t expected = expected_after(kernels(), replays, 9);
    const auto work = [&] {
        Work own(kernels());
        const aclmdlRI graph = own.capture(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, 9);
        for (int i = 0; i < replays; ++i) {
            MUST(aclmdlRIExecuteAsync(graph, own.stream()));
            if (i % 32 == 0) own.stream().synchronise();
        }
        own.stream().synchronise();
        EXPECT_EQ(own.result(), expected);
        MUST(aclmdlRIDestroy(graph));
    };
    run({work, work, work, work});
}

TEST_F(GraphThreads, OneGraphFromSeveralStreamsAndThreadsRunsOneReplayAfterTheOther) {
    const int replays = repetitions(100);
    const std::uint32_t expected = expected_after(kernels(), 4 * replays, 9);
    Work shared(kernels());
    const aclmdlRI graph = shared.capture(ACL_MODEL_RI_CAPTURE_MODE_RELAXED, 9);
    const auto work = [&] {
        Stream first, second;
        for (int i = 0; i < replays; ++i) MUST(aclmdlRIExecuteAsync(graph, i % 2 == 0 ? first : second));
        first.synchronise();
        second.synchronise();
    };
    run({work, work, work, work});
    EXPECT_EQ(shared.result(), expected);
    MUST(aclmdlRIDestroy(graph));
}

// Two kernels of a group write the same number to two cells; the kernel after them counts the times the cells differ.
class Pair {
public:
    explicit Pair(const Kernels& kernels) : kernels_(kernels), cells_(4) {}
    aclmdlRI capture(aclrtStream stream, aclrtTaskGrp& group) {
        return ::capture(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, [&] {
            MUST(aclmdlRICaptureTaskGrpBegin(stream));
            write(stream, 1);
            MUST(aclmdlRICaptureTaskGrpEnd(stream, &group));
            launch(kernels_.compare, 1, stream, cells_[1], cells_[2], cells_[3]);
        });
    }
    void write(aclrtStream stream, std::uint32_t number) {
        launch(kernels_.spread, 1, stream, cells_[1], cells_[0], number, words);
        launch(kernels_.spread, 1, stream, cells_[2], cells_[0], number, words);
    }
    std::uint32_t differences() const { return cells_.read(3); }

private:
    const Kernels& kernels_;
    Cells cells_;
};

TEST_F(GraphThreads, AReplaySeesAllOfAnUpdateOrNothing) {
    const int replays = repetitions(400);
    Pair pair(kernels());
    Stream origin;
    aclrtTaskGrp group = nullptr;
    const aclmdlRI graph = pair.capture(origin, group);
    std::atomic<bool> done{false};
    const auto replay = [&] {
        Stream stream;
        for (int i = 0; i < replays && !failed_; ++i) {
            MUST(aclmdlRIExecuteAsync(graph, stream));
            if (i % 16 == 0) stream.synchronise();
        }
        stream.synchronise();
        done = true;
    };
    const auto update = [&] {
        Stream stream;
        for (std::uint32_t number = 2; !done && !failed_; ++number) {
            MUST(aclmdlRICaptureTaskUpdateBegin(stream, group));
            pair.write(stream, number);
            MUST(aclmdlRICaptureTaskUpdateEnd(stream));
            stream.synchronise();
        }
    };
    run({replay, replay, update});
    EXPECT_EQ(pair.differences(), 0u);
    MUST(aclmdlRIDestroy(graph));
}

TEST_F(GraphThreads, GraphsAreDestroyedUpdatedAndReplayedByDifferentThreads) {
    const int rounds = repetitions(200);
    // Graphs run concurrently, so each has its own memory.
    struct Slot {
        Pair pair;
        std::atomic<aclmdlRI> graph{nullptr};
        std::atomic<aclrtTaskGrp> group{nullptr};
    };
    std::array<Slot, 2> slots = {Slot{Pair(kernels())}, Slot{Pair(kernels())}};
    std::atomic<int> replays{0}, refusals{0}, left{3};
    const auto fill = [&](aclrtStream stream, Slot& slot) {
        aclrtTaskGrp group = nullptr;
        const aclmdlRI graph = slot.pair.capture(stream, group);
        slot.group = group;
        slot.graph = graph;
    };
    const auto replay = [&] {
        Stream stream;
        for (int i = 0; i < rounds && !failed_; ++i) {
            Slot& slot = slots[static_cast<std::size_t>(i) % slots.size()];
            const aclmdlRI graph = slot.graph;
            if (one_of(aclmdlRIExecuteAsync(graph, stream), {ACL_ERROR_RT_INVALID_HANDLE}, "execute") == 0) ++replays;
            if (i % 8 == 0) stream.synchronise();
        }
        stream.synchronise();
        --left;
    };
    const auto update = [&] {
        Stream stream;
        for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(rounds) && !failed_; ++i) {
            Slot& slot = slots[i % slots.size()];
            const aclrtTaskGrp group = slot.group;
            if (one_of(aclmdlRICaptureTaskUpdateBegin(stream, group), {ACL_ERROR_RT_INVALID_HANDLE}, "begin") != 0)
                continue;
            slot.pair.write(stream, 100 + i);
            one_of(aclmdlRICaptureTaskUpdateEnd(stream), {ACL_ERROR_RT_INVALID_HANDLE}, "end");
            if (i % 4 == 0) stream.synchronise();
            one_of(aclmdlRIUpdate(slot.graph), {ACL_ERROR_RT_INVALID_HANDLE, ACL_ERROR_INVALID_PARAM}, "update");
        }
        stream.synchronise();
        --left;
    };
    const Stream origin;
    for (Slot& slot : slots) fill(origin, slot);
    const auto destroy = [&] {
        Stream stream;
        for (std::size_t i = 0; left > 0 && !failed_; ++i) {
            Slot& slot = slots[i % slots.size()];
            if (one_of(aclmdlRIDestroy(slot.graph), {ACL_ERROR_RT_MODEL_RUNNING}, "destroy") == 0)
                fill(stream, slot);
            else
                ++refusals;
        }
    };
    run({replay, replay, update, destroy});
    for (Slot& slot : slots) {
        EXPECT_EQ(slot.pair.differences(), 0u);
        EXPECT_EQ(aclmdlRIDestroy(slot.graph), ACL_SUCCESS) << recent_error();
    }
    RecordProperty("replays", replays);
    RecordProperty("refusals", refusals);
}

TEST_F(GraphThreads, CapturesAreNotDisturbedByThreadsThatSynchroniseAndCopy) {
    const int rounds = repetitions(30);
    const std::uint32_t expected = expected_after(kernels(), 2, 9);
    std::atomic<int> capturing{3};
    const auto capture_often = [&](aclmdlRICaptureMode mode) {
        for (int i = 0; i < rounds && !failed_; ++i) {
            Work own(kernels());
            const aclmdlRI graph = own.capture(mode, 9);
            for (int replay = 0; replay < 2; ++replay) MUST(aclmdlRIExecuteAsync(graph, own.stream()));
            own.stream().synchronise();
            EXPECT_EQ(own.result(), expected);
            MUST(aclmdlRIDestroy(graph));
        }
        --capturing;
    };
    const auto disturb = [&] {
        Stream stream;
        Cells cells(2);
        std::vector<std::uint32_t> pageable(words, 7);
        aclrtEvent event = nullptr;
        MUST(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
        while (capturing > 0 && !failed_) {
            MUST(aclrtMemcpyAsync(cells[0], words * 4, pageable.data(), words * 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
            launch(kernels().mix, 1, stream, cells[1], cells[0], cells[0], 3u, words);
            MUST(aclrtRecordEvent(event, stream));
            MUST(aclrtSynchronizeEvent(event));
            MUST(aclrtMemset(cells[0], words * 4, 1, words * 4));
            MUST(aclrtMemcpy(pageable.data(), words * 4, cells[0], words * 4, ACL_MEMCPY_DEVICE_TO_HOST));
            aclrtStreamStatus status;
            MUST(aclrtStreamQuery(stream, &status));
            stream.synchronise();
            MUST(aclrtMemsetAsync(cells[0], words * 4, 2, words * 4, nullptr));
            MUST(aclrtSynchronizeStream(nullptr));
        }
        MUST(aclrtDestroyEvent(event));
    };
    run({[&] { capture_often(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL); },
         [&] { capture_often(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL); },
         [&] { capture_often(ACL_MODEL_RI_CAPTURE_MODE_RELAXED); }, disturb, disturb});
}

TEST_F(GraphThreads, AFaultNamesItsTaskAndTheNextReplayWorksWhateverRunsBeside) {
    const int rounds = repetitions(30);
    std::atomic<bool> done{false};
    const auto faulty = [&] {
        Work own(kernels());
        Cells cells(3);
        const aclmdlRI graph = capture(own.stream(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, [&] {
            own.issue(1);
            launch(kernels().fault_if, 1, own.stream(), cells[0]);
            launch(kernels().mix, 1, own.stream(), cells[1], cells[2], cells[2], 1u, words);
        });
        MUST(aclmdlRISetName(graph, "the faulty one"));
        for (int i = 0; i < rounds && !failed_; ++i) {
            const std::uint32_t before = cells.read(1);
            cells.write(0, 1);
            recent_error();
            MUST(aclmdlRIExecuteAsync(graph, own.stream()));
            EXPECT_EQ(aclrtSynchronizeStream(own.stream()), ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
            const std::string text = recent_error();
            EXPECT_NE(text.find("the faulty one"), std::string::npos) << text;
            EXPECT_NE(text.find("fault_if"), std::string::npos) << text;
            EXPECT_EQ(cells.read(1), before) << "the rest of a replay that failed is not run";
            cells.write(0, 0);
            MUST(aclmdlRIExecuteAsync(graph, own.stream()));
            own.stream().synchronise();
            EXPECT_NE(cells.read(1), before);
        }
        MUST(aclmdlRIDestroy(graph));
        done = true;
    };
    const auto beside = [&] {
        Work own(kernels());
        const aclmdlRI graph = own.capture(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, 9);
        int replays = 0;
        for (; !done && !failed_; ++replays) {
            MUST(aclmdlRIExecuteAsync(graph, own.stream()));
            own.stream().synchronise();
        }
        EXPECT_EQ(own.result(), expected_after(kernels(), replays, 9));
        MUST(aclmdlRIDestroy(graph));
    };
    run({faulty, beside});
}

TEST_F(GraphThreads, ReplaysThatStandStillTimeOutAndAreAborted) {
    const int rounds = repetitions(20);
    const auto work = [&] {
        Work own(kernels());
        Cells cells(3);
        const aclmdlRI graph = capture(own.stream(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, [&] {
            own.issue(1);
            MUST(aclrtValueWait(cells[0], 1, ACL_STREAM_WAIT_VALUE_EQ, own.stream()));
            launch(kernels().mix, 1, own.stream(), cells[1], cells[2], cells[2], 1u, words);
        });
        for (int i = 0; i < rounds && !failed_; ++i) {
            Stream stream;
            const std::uint32_t before = cells.read(1);
            cells.write(0, 0);
            MUST(aclmdlRIExecuteAsync(graph, stream));
            EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
            EXPECT_EQ(aclmdlRIDestroy(graph), ACL_ERROR_RT_MODEL_RUNNING);
            if (i % 2 == 0) {
                MUST(aclrtStreamAbort(stream));
                EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_STREAM_ABORT);
                EXPECT_EQ(cells.read(1), before);
            } else {
                cells.write(0, 1);
                stream.synchronise();
                EXPECT_NE(cells.read(1), before);
            }
            recent_error();
        }
        cells.write(0, 1);
        const std::uint32_t before = cells.read(1);
        MUST(aclmdlRIExecuteAsync(graph, own.stream()));
        own.stream().synchronise();
        EXPECT_NE(cells.read(1), before);
        MUST(aclmdlRIDestroy(graph));
    };
    run({work, work, work});
}

}  // namespace
