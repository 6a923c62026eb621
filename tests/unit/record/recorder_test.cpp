// SPDX-License-Identifier: Apache-2.0
// Recording: rings, the collector and its listeners.
#include "record/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../until.h"
#include "record/keeping_listener.h"

namespace canopy::record {
namespace {

Record numbered(std::uint64_t number, profile::Kind kind = profile::Kind::task) {
    Record record{};
    record.begin = number;
    record.kind = static_cast<std::uint64_t>(kind);
    record.object = static_cast<std::uint32_t>(number);
    record.argument = static_cast<std::uint32_t>(number * 7);
    record.link = number * 3;
    return record;
}

bool whole(const Record& record) {
    return record.object == static_cast<std::uint32_t>(record.begin) &&
           record.argument == static_cast<std::uint32_t>(record.begin * 7) && record.link == record.begin * 3;
}

TEST(Recorder, WantsNothingWhileNobodyListens) {
    EXPECT_FALSE(wants(everything));
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, calls | blocks);
    EXPECT_TRUE(wants(calls));
    EXPECT_FALSE(wants(tasks));
    stop_listening(listener);
    EXPECT_FALSE(wants(everything));
}

TEST(Recorder, TellsEverythingWrittenBeforeAFlushInOrder) {
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    std::uint64_t number = 0;
    for (int round = 1; round <= 3; ++round) {
        for (int i = 0; i < 100; ++i) write(numbered(number++));
        flush();
        ASSERT_EQ(listener->all().size(), number);
    }
    write(numbered(number++));
    stop_listening(listener);
    const std::vector<Record> records = listener->all();
    ASSERT_EQ(records.size(), number);
    for (std::uint64_t i = 0; i < number; ++i) EXPECT_EQ(records[i].begin, i);
    EXPECT_EQ(listener->lost(), 0u);
}

TEST(Recorder, ListenersComeAndGoAndHearOnlyTheirTime) {
    const auto first = std::make_shared<KeepingListener>();
    const auto second = std::make_shared<KeepingListener>();
    listen(first, everything);
    write(numbered(1));
    listen(second, everything);
    write(numbered(2));
    stop_listening(first);
    write(numbered(3));
    stop_listening(second);
    write(numbered(4));  // by a thread that has not noticed yet
    const auto third = std::make_shared<KeepingListener>();
    listen(third, everything);
    write(numbered(5));
    stop_listening(third);
    stop_listening(third);  // has no effect
    const auto begins = [](KeepingListener& listener) {
        std::vector<std::uint64_t> numbers;
        for (const Record& record : listener.all()) numbers.push_back(record.begin);
        return numbers;
    };
    EXPECT_EQ(begins(*first), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(begins(*second), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(begins(*third), (std::vector<std::uint64_t>{5}));
}

TEST(Recorder, EachListenerHearsWhatItWantsAndDetailsFollowTheirRecord) {
    using profile::Kind;
    const auto for_tasks = std::make_shared<KeepingListener>();
    const auto for_nodes = std::make_shared<KeepingListener>();
    listen(for_tasks, tasks);
    listen(for_nodes, nodes | marks);
    EXPECT_TRUE(wants(tasks) && wants(nodes) && wants(marks));
    for (const Kind kind : {Kind::task, Kind::detail, Kind::node, Kind::detail, Kind::detail, Kind::call, Kind::mark})
        write(numbered(1, kind));
    flush();
    write(numbered(2, Kind::detail));  // of the mark
    stop_listening(for_tasks);
    stop_listening(for_nodes);
    const auto kinds = [](KeepingListener& listener) {
        std::vector<Kind> all;
        for (const Record& record : listener.all()) all.push_back(record.what());
        return all;
    };
    EXPECT_EQ(kinds(*for_tasks), (std::vector<Kind>{Kind::task, Kind::detail}));
    EXPECT_EQ(kinds(*for_nodes), (std::vector<Kind>{Kind::node, Kind::detail, Kind::detail, Kind::mark, Kind::detail}));
}

// Holds the collector until it is let go.
class SlowListener final : public KeepingListener {
public:
    void records(std::uint32_t thread, std::span<const Record> records) override {
        inside.store(true);
        EXPECT_TRUE(eventually([&] { return go_on.load(); }));
        KeepingListener::records(thread, records);
    }
    std::atomic<bool> inside{false};
    std::atomic<bool> go_on{false};
};

TEST(Recorder, CountsExactlyWhatAFullRingDrops) {
    const auto listener = std::make_shared<SlowListener>();
    listen(listener, everything);
    write(numbered(0));
    ASSERT_TRUE(eventually([&] { return listener->inside.load(); }));
    constexpr std::uint64_t count = 3 * Ring::capacity + 17;
    for (std::uint64_t i = 1; i < count; ++i) write(numbered(i));
    listener->go_on.store(true);
    stop_listening(listener);
    const std::vector<Record> records = listener->all();
    EXPECT_GE(records.size(), Ring::capacity - 1);
    EXPECT_EQ(records.size() + listener->lost(), count);
    EXPECT_EQ(records.back().begin, count - 1);
    for (std::size_t i = 1; i < records.size(); ++i) {
        ASSERT_TRUE(whole(records[i]));
        ASSERT_GT(records[i].begin, records[i - 1].begin);
    }
}

// Writers that overwrite what the collector copies: every record it tells is whole and in order, and the rest is
// counted.
TEST(Recorder, ManyWritersAgainstTheCollectorLoseNothingSilently) {
    constexpr std::uint64_t count = 3 * Ring::capacity;
    constexpr int writers = 4;
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i)
        threads.emplace_back([] {
            for (std::uint64_t number = 0; number < count; ++number) write(numbered(number));
        });
    for (std::thread& thread : threads) thread.join();
    stop_listening(listener);
    std::uint64_t told = 0;
    for (const auto& [thread, records] : listener->by_thread()) {
        told += records.size();
        for (std::size_t i = 0; i < records.size(); ++i) {
            ASSERT_TRUE(whole(records[i]));
            if (i > 0) ASSERT_GT(records[i].begin, records[i - 1].begin);
        }
        EXPECT_EQ(records.back().begin, count - 1);
    }
    EXPECT_EQ(listener->by_thread().size(), std::size_t{writers});
    EXPECT_EQ(told + listener->lost(), count * writers);
}

TEST(Recorder, RingsOfEndedThreadsServeLaterOnes) {
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    Ring* ring = nullptr;
    for (std::uint64_t number = 0; number < 20; ++number) {
        std::thread([&] {
            write(numbered(number));
            if (ring != nullptr) EXPECT_EQ(thread_records.ring, ring);
            ring = thread_records.ring;
        }).join();
        flush();
    }
    stop_listening(listener);
    EXPECT_EQ(listener->all().size(), 20u);
    EXPECT_EQ(listener->by_thread().size(), 20u);
}

// Written when the thread's objects are destroyed.
struct WritesAtTheEnd {
    ~WritesAtTheEnd() { write(numbered(2)); }
};

TEST(Recorder, AThreadThatIsTornDownLosesRecordsAndCountsThem) {
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    std::thread([] { write(numbered(0)); }).join();  // the recorder's own key is made before this one
    pthread_key_t key{};
    ASSERT_EQ(::pthread_key_create(&key, [](void*) { write(numbered(3)); }), 0);
    std::thread([key] {
        thread_local WritesAtTheEnd at_the_end;
        [[maybe_unused]] volatile auto* made = &at_the_end;
        ::pthread_setspecific(key, &key);
        write(numbered(1));
    }).join();
    stop_listening(listener);
    ::pthread_key_delete(key);
    std::vector<std::uint64_t> numbers;
    for (const Record& record : listener->all()) numbers.push_back(record.begin);
    EXPECT_EQ(numbers, (std::vector<std::uint64_t>{0, 1, 2}));
    EXPECT_EQ(listener->lost(), 1u);
}

TEST(Recorder, CodeThatMayBeLeftMakesNoRing) {
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    std::thread([] {
        write_if_prepared(numbered(1));
        EXPECT_EQ(thread_records.ring, nullptr);
        prepare_thread();
        write_if_prepared(numbered(2));
    }).join();
    stop_listening(listener);
    ASSERT_EQ(listener->all().size(), 1u);
    EXPECT_EQ(listener->all()[0].begin, 2u);
    EXPECT_EQ(listener->lost(), 1u);
}

TEST(Recorder, ThreadsHaveTheirNames) {
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    std::thread([] {
        name_thread(profile::ThreadRole::worker, 3, "worker 3");
        write(numbered(1));
    }).join();
    std::thread([] {
        pthread_setname_np(pthread_self(), "mine");
        write(numbered(1));
    }).join();
    write(numbered(2));
    flush();
    std::map<std::string, profile::Thread> by_name;
    for (const auto& [number, thread] : listener->threads()) by_name[thread.name] = thread;
    EXPECT_EQ(by_name["worker 3"].role, profile::ThreadRole::worker);
    EXPECT_EQ(by_name["worker 3"].index, 3u);
    EXPECT_EQ(by_name["mine"].role, profile::ThreadRole::host);
    EXPECT_EQ(by_name["main"].system_id, static_cast<std::uint32_t>(::getpid()));
    stop_listening(listener);
}

TEST(Recorder, ListenersThatComeLaterKnowTheStreamsAndForgetThemAtTheEnd) {
    static std::atomic<int> asked{0};
    asked = 0;
    set_source_of_facts([] {
        ++asked;
        tell_stream({.number = 1, .device = 0, .priority = 0});
    });
    const auto first = std::make_shared<KeepingListener>();
    const auto second = std::make_shared<KeepingListener>();
    tell_stream({.number = 9, .device = 0, .priority = 0});  // nobody listens
    listen(first, everything);
    tell_stream({.number = 2, .device = 3, .priority = 4});
    listen(second, everything);
    flush();
    set_source_of_facts(nullptr);
    EXPECT_EQ(asked.load(), 1);
    EXPECT_EQ(first->streams().size(), 2u);
    EXPECT_EQ(second->streams().size(), 2u);
    EXPECT_EQ(second->streams()[2].device, 3u);
    stop_listening(first);
    stop_listening(second);
    listen(first, everything);
    stop_listening(first);
    const auto third = std::make_shared<KeepingListener>();
    listen(third, everything);
    stop_listening(third);
    EXPECT_TRUE(third->streams().empty());
}

class ThrowingListener final : public KeepingListener {
public:
    void records(std::uint32_t, std::span<const Record>) override { throw std::bad_alloc(); }
};

TEST(Recorder, AListenerWithoutMemoryLosesItsRecordsAndIsTold) {
    const auto listener = std::make_shared<ThrowingListener>();
    const auto other = std::make_shared<KeepingListener>();
    listen(listener, everything);
    listen(other, everything);
    for (std::uint64_t i = 0; i < 10; ++i) write(numbered(i));
    stop_listening(listener);
    stop_listening(other);
    EXPECT_EQ(listener->lost(), 10u);
    EXPECT_EQ(other->all().size(), 10u);
    EXPECT_EQ(other->lost(), 0u);
}

TEST(RecorderFork, TheChildRecordsNothingUntilItAsksAndTheParentGoesOn) {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the thread sanitizer allows no new threads after a fork of a process that has several";
#endif
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    write(numbered(1));
    const pid_t child = ::fork();
    if (child == 0) {
        bool good = !wants(everything);
        write(numbered(2));  // into no ring of the parent
        flush();
        const auto own = std::make_shared<KeepingListener>();
        listen(own, everything);
        write(numbered(3));
        stop_listening(own);
        good = good && own->all().size() == 1 && own->all()[0].begin == 3;
        ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    write(numbered(4));
    stop_listening(listener);
    const std::vector<Record> records = listener->all();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].begin, 4u);
}

// ---- names ----------------------------------------------------------------------------------------------------------

TEST(Recorder, TheSameNameHasTheSameNumber) {
    static const char literal[] = "a literal";
    const std::uint32_t number = name_number("a literal");
    EXPECT_EQ(name_number_of_literal(literal), number);
    EXPECT_EQ(name_number_of_literal(literal), number);
    EXPECT_EQ(name_number(std::string("a literal")), number);
    EXPECT_NE(name_number("another"), number);
    EXPECT_EQ(name_number(""), profile::no_text);
    EXPECT_LT(number, profile::first_free_text);
    const std::uint32_t text = text_number("a literal");
    EXPECT_GE(text, profile::first_free_text);
    EXPECT_EQ(text_number("a literal"), text);
    const auto listener = std::make_shared<KeepingListener>();
    listen(listener, everything);
    EXPECT_EQ(listener->text_of(number), "a literal");
    EXPECT_EQ(listener->text_of(text), "a literal");
    const std::uint32_t long_text = text_number(std::string(10'000, 'x'));
    flush();
    EXPECT_EQ(listener->text_of(long_text), std::string(profile::longest_text, 'x'));
    stop_listening(listener);
}

TEST(Recorder, NumbersAreTheSameFromAllThreads) {
    constexpr int count = 200;
    std::vector<std::vector<std::uint32_t>> numbers(4);
    std::vector<std::thread> threads;
    for (auto& own : numbers)
        threads.emplace_back([&own] {
            for (int i = 0; i < count; ++i) own.push_back(name_number("of all threads " + std::to_string(i)));
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& own : numbers) EXPECT_EQ(own, numbers[0]);
}

}  // namespace
}  // namespace canopy::record
