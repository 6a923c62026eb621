// SPDX-License-Identifier: Apache-2.0
// The order of streams and the host: which uses of memory are found unordered, and which are not.
#include "check/host/host_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <tuple>

namespace canopy::check {
namespace {

constexpr std::uint64_t buffer = 0x10000, other_buffer = 0x20000, size = 0x1000;

class Findings final : public FindingSink {
public:
    void add(Finding finding) override { all.push_back(std::move(finding)); }
    std::vector<Finding> all;
};

// A stream of commands whose work is done when the test says so.
class HostOrderTest : public testing::Test {
protected:
    struct Stream {
        HostOrder::Agent* agent = nullptr;
        std::uint32_t number = 0;
        std::uint64_t submitted = 0;
        std::uint64_t completed = 0;
    };

    Stream& stream() {
        Stream& made = streams_.emplace_back();
        made.number = static_cast<std::uint32_t>(streams_.size());
        made.agent = order.add_stream(made.number, 0, [&made] { return made.completed; });
        return made;
    }
    static HostCommand command(HostCommand::Kind kind, std::uintptr_t line) {
        HostCommand made;
        made.kind = kind;
        made.call = {"aclrtCall", line};
        return made;
    }
    std::uint64_t submit(Stream& to, HostCommand made) {
        made.task = static_cast<std::uint32_t>(++to.submitted);
        order.submit(*to.agent, std::span(&made, 1));
        return to.submitted;
    }
    std::uint64_t kernel(Stream& on, std::uintptr_t line) {
        HostCommand made = command(HostCommand::Kind::kernel, line);
        made.kernel = "scale";
        return submit(on, std::move(made));
    }
    void end(const Stream& on, std::uint64_t number, UseKind kind, std::uint64_t begin = buffer,
             std::uint64_t bytes = size) {
        TouchedRange range;
        range.begin = begin;
        range.end = begin + bytes;
        range.written = kind != UseKind::read;
        range.atomic = kind == UseKind::atomic ? 1 : 0;
        range.site = {"DataCopy", "rows.cpp", 41};
        order.kernel_ended(on.number, static_cast<std::uint32_t>(number), {range});
    }
    std::uint64_t copy(Stream& on, std::uintptr_t line, UseKind kind, std::uint64_t begin = buffer,
                       std::uint64_t bytes = size) {
        HostCommand made = command(HostCommand::Kind::plain, line);
        made.copy = true;
        made.use_count = 1;
        made.uses[0] = {begin, bytes, 1, 0, kind};
        return submit(on, std::move(made));
    }
    std::uint64_t record(Stream& on, FenceName on_event, std::uint64_t value) {
        HostCommand made = command(HostCommand::Kind::signal, 0);
        made.fence = on_event;
        made.value = value;
        return submit(on, std::move(made));
    }
    std::uint64_t wait(Stream& on, FenceName on_event, std::uint64_t value) {
        HostCommand made = command(HostCommand::Kind::wait, 0);
        made.fence = on_event;
        made.value = value;
        return submit(on, std::move(made));
    }
    // Kind and lines of the only finding, "" if there is none.
    std::string found() {
        if (findings.all.empty()) return "";
        if (findings.all.size() > 1) return std::to_string(findings.all.size()) + " findings";
        const Finding& one = findings.all[0];
        return one.id + " " + one.kind + " " + std::to_string(one.places[0].line) + " " +
               std::to_string(one.places[1].line);
    }

    Findings findings;
    HostOrder order{findings,
                    {[](const HostCall& call) {
                         Place place;
                         place.file = "main.cpp";
                         place.line = static_cast<unsigned>(call.from);
                         return place;
                     },
                     nullptr}};
    std::deque<Stream> streams_;
    static constexpr FenceName event = 1, notify = 2;
    int executable = 0;
};

TEST_F(HostOrderTest, KernelsOnTwoStreamsThatWriteOneBufferAreUnordered) {
    Stream &one = stream(), &two = stream();
    const auto first = kernel(one, 10), second = kernel(two, 11);
    end(two, second, UseKind::write);  // ends first
    end(one, first, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAW 10 11");
    EXPECT_EQ(findings.all[0].places[0].bytes, size);
    EXPECT_EQ(findings.all[0].level, Level::error);
}

TEST_F(HostOrderTest, AnEventBetweenThemOrdersThem) {
    Stream &one = stream(), &two = stream();
    const auto first = kernel(one, 10);
    record(one, event, 1);
    wait(two, event, 1);
    const auto second = kernel(two, 11);
    end(one, first, UseKind::write);
    end(two, second, UseKind::write);
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, AnEventRecordedTooEarlyDoesNot) {
    Stream &one = stream(), &two = stream();
    record(one, event, 1);
    const auto first = kernel(one, 10);
    wait(two, event, 1);
    copy(two, 12, UseKind::read);
    end(one, first, UseKind::write);
    EXPECT_EQ(found(), "host.stream RAW 10 12");
}

TEST_F(HostOrderTest, AWaitIsBoundToTheRecordBeforeIt) {
    Stream &one = stream(), &two = stream();
    const auto first = kernel(one, 9);
    record(one, event, 1);
    wait(two, event, 1);
    const auto second = kernel(one, 10);
    record(one, event, 2);
    copy(two, 12, UseKind::read);
    end(one, first, UseKind::read, other_buffer);
    end(one, second, UseKind::write);
    EXPECT_EQ(found(), "host.stream RAW 10 12");
}

TEST_F(HostOrderTest, WorkOfOneStreamIsInOrder) {
    Stream& one = stream();
    const auto first = kernel(one, 10);
    copy(one, 11, UseKind::write);
    end(one, first, UseKind::write);
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, ReadsNeedNoOrder) {
    Stream &one = stream(), &two = stream();
    copy(one, 10, UseKind::read);
    copy(two, 11, UseKind::read);
    EXPECT_EQ(found(), "");
    copy(two, 12, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAR 10 12");
}

TEST_F(HostOrderTest, AtomicAccessesOfOneKindNeedNoOrder) {
    Stream &one = stream(), &two = stream();
    const auto first = kernel(one, 10), second = kernel(two, 11);
    end(one, first, UseKind::atomic);
    end(two, second, UseKind::atomic);
    EXPECT_EQ(found(), "");
    copy(two, 12, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAW 10 12");
}

TEST_F(HostOrderTest, NeighboursDoNotConflict) {
    Stream &one = stream(), &two = stream();
    copy(one, 10, UseKind::write, buffer, 20);
    copy(two, 11, UseKind::write, buffer + 20, 20);
    EXPECT_EQ(found(), "");
    copy(two, 12, UseKind::write, buffer + 16, 8);
    EXPECT_EQ(found(), "host.stream WAW 10 12");
    EXPECT_EQ(findings.all[0].places[1].address, buffer + 16);
    EXPECT_EQ(findings.all[0].places[1].bytes, 4u);
}

TEST_F(HostOrderTest, RowsOfACopyAreExact) {
    Stream &one = stream(), &two = stream();
    HostCommand rows = command(HostCommand::Kind::plain, 10);
    rows.use_count = 1;
    rows.uses[0] = {buffer, 16, 4, 64, UseKind::write};
    submit(one, std::move(rows));
    copy(two, 11, UseKind::read, buffer + 16, 48);
    EXPECT_EQ(found(), "");
    copy(two, 12, UseKind::read, buffer + 64, 4);
    EXPECT_EQ(found(), "host.stream RAW 10 12");
}

TEST_F(HostOrderTest, TheHostOrdersWhatItHasWaitedFor) {
    Stream &one = stream(), &two = stream();
    const auto first = kernel(one, 10);
    end(one, first, UseKind::write);
    order.synchronised(*one.agent, first);
    EXPECT_TRUE(order.known_complete(*one.agent, first));
    copy(two, 11, UseKind::write);
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, AnEventThatTheHostHasSeenOrdersWhatWasBeforeIt) {
    Stream &one = stream(), &two = stream();
    copy(one, 10, UseKind::write);
    record(one, event, 1);
    copy(one, 11, UseKind::write, other_buffer);
    order.reached(event, 1);
    copy(two, 12, UseKind::write);
    EXPECT_EQ(found(), "");
    copy(two, 13, UseKind::write, other_buffer);
    EXPECT_EQ(found(), "host.stream WAW 11 13");
}

TEST_F(HostOrderTest, ANotifyOrdersAlsoWhenItsWaitWasSubmittedFirst) {
    Stream &one = stream(), &two = stream();
    HostCommand waiting = command(HostCommand::Kind::wait, 0);
    waiting.fence = notify;
    waiting.value = 1;
    waiting.clear = true;
    submit(two, std::move(waiting));
    copy(two, 11, UseKind::read);
    copy(one, 10, UseKind::write);
    HostCommand signal = command(HostCommand::Kind::signal, 0);
    signal.fence = notify;
    signal.value = 1;
    signal.change = [](std::uint64_t, std::uint64_t operand) { return operand; };
    submit(one, std::move(signal));
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, AFunctionOfTheProgramOrdersWhatTheHostDoesAfterIt) {
    Stream &one = stream(), &two = stream();
    copy(one, 10, UseKind::write);
    const auto function = submit(one, command(HostCommand::Kind::function, 11));
    order.function_begins(*one.agent, function);
    copy(two, 12, UseKind::write);
    order.function_ends(*one.agent, function);
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, AWaitThatSomethingUnknownHasEndedOrdersAll) {
    Stream &one = stream(), &two = stream();
    copy(one, 10, UseKind::write);
    const auto waited = wait(two, event, 1);
    copy(two, 11, UseKind::write);
    EXPECT_EQ(found(), "");
    two.completed = waited + 1;
    order.synchronised(*two.agent, waited + 1);
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, CopiesByTheHostAreNotes) {
    Stream& one = stream();
    copy(one, 10, UseKind::write);
    const CommandUse read{buffer, size, 1, 0, UseKind::read};
    order.used_by_host({"aclrtMemcpy", 20}, std::span(&read, 1));
    EXPECT_EQ(found(), "host.stream RAW 10 20");
    EXPECT_EQ(findings.all[0].level, Level::note);
}

TEST_F(HostOrderTest, AFreeOfMemoryInUseIsFound) {
    Stream& one = stream();
    copy(one, 10, UseKind::write);
    order.freed(buffer, size, {"aclrtFree", 20});
    EXPECT_EQ(found(), "host.free  10 20");
    EXPECT_EQ(findings.all[0].headline, "illegal free()");
}

TEST_F(HostOrderTest, AFreeBeforeTheKernelHasEndedIsFoundWhenItEnds) {
    Stream& one = stream();
    const auto number = kernel(one, 10);
    order.freed(buffer, size, {"aclrtFree", 20});
    EXPECT_EQ(found(), "");
    const auto later = kernel(one, 30);  // of the next owner of the memory
    end(one, number, UseKind::read);
    EXPECT_EQ(found(), "host.free  10 20");
    end(one, later, UseKind::write);
    EXPECT_EQ(findings.all.size(), 1u);
}

TEST_F(HostOrderTest, ANewOwnerOfMemoryHasNothingToDoWithTheLast) {
    Stream &one = stream(), &two = stream();
    const auto number = kernel(one, 10);
    copy(two, 11, UseKind::write);
    order.handed_over(buffer, size);
    end(one, number, UseKind::write);
    copy(two, 12, UseKind::write);
    EXPECT_EQ(found(), "");
    copy(one, 13, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAW 12 13");
}

TEST_F(HostOrderTest, AFreeAfterSynchronisationIsFine) {
    Stream& one = stream();
    const auto number = kernel(one, 10);
    end(one, number, UseKind::write);
    order.synchronised(*one.agent, number);
    order.freed(buffer, size, {"aclrtFree", 20});
    EXPECT_EQ(found(), "");
}

TEST_F(HostOrderTest, KernelsThatTellNothingGiveWarnings) {
    Stream &one = stream(), &two = stream();
    HostCommand silent = command(HostCommand::Kind::kernel, 10);
    silent.kernel = "opaque";
    silent.reachable = {{buffer, buffer + size}};
    submit(one, std::move(silent));
    copy(two, 11, UseKind::read);
    copy(two, 12, UseKind::write, buffer + 8, 8);
    one.completed = 1;
    kernel(one, 13);  // asks the stream
    EXPECT_EQ(found(), "host.stream  10 12");
    EXPECT_EQ(findings.all[0].level, Level::warning);
}

TEST_F(HostOrderTest, ACommandMayOutliveTheNameOfItsKernel) {
    Stream &one = stream(), &two = stream();
    {
        const auto name = std::make_unique<std::string>("a name that is too long for a small string");
        HostCommand made = command(HostCommand::Kind::kernel, 10);
        made.kernel = *name;
        submit(one, std::move(made));
    }
    end(one, 1, UseKind::write);
    copy(two, 11, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAW 10 11");
    EXPECT_EQ(findings.all[0].kernel, "a name that is too long for a small string");
}

// ---- graphs ----------------------------------------------------------------------------------------------------

class GraphOrderTest : public HostOrderTest {
protected:
    // Two lanes with a kernel each.
    void replay(Stream& on, std::vector<GraphModel::Edge> edges) {
        auto graph = std::make_shared<GraphModel>();
        graph->executable = &executable;
        graph->edges = std::move(edges);
        for (std::uintptr_t line : {10, 11}) {
            HostCommand task = command(HostCommand::Kind::kernel, line);
            task.kernel = "scale";
            graph->lanes.push_back({task});
        }
        HostCommand made = command(HostCommand::Kind::replay, 20);
        made.graph = std::move(graph);
        submit(on, std::move(made));
    }
    void end_task(std::uint32_t lane) {
        TouchedRange range;
        range.begin = buffer;
        range.end = buffer + size;
        range.written = true;
        order.kernel_ended(&executable, {lane, 0}, {range});
    }
};

TEST_F(GraphOrderTest, LanesWithoutAnEdgeAreUnordered) {
    Stream& one = stream();
    replay(one, {});
    end_task(0);
    end_task(1);
    EXPECT_EQ(found(), "host.stream WAW 10 11");
}

TEST_F(GraphOrderTest, AnEdgeOrdersLanes) {
    Stream& one = stream();
    replay(one, {{{0, 0}, {1, 0}}});
    end_task(0);
    end_task(1);
    copy(one, 30, UseKind::write);
    EXPECT_EQ(found(), "");
}

TEST_F(GraphOrderTest, AReplayIsBehindWhatItsStreamDidBefore) {
    Stream &one = stream(), &two = stream();
    copy(one, 9, UseKind::write);
    replay(one, {{{0, 0}, {1, 0}}});
    end_task(0);
    end_task(1);
    EXPECT_EQ(found(), "");
    copy(two, 12, UseKind::write);
    EXPECT_EQ(found(), "host.stream WAW 11 12");
}

TEST_F(GraphOrderTest, ReplaysOfOneGraphFollowEachOther) {
    Stream& one = stream();
    for (int round = 0; round < 3; ++round) replay(one, {{{0, 0}, {1, 0}}});
    for (int round = 0; round < 3; ++round) {
        end_task(0);
        end_task(1);
    }
    order.synchronised(*one.agent, one.submitted);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(order.remembered(), 0u);
}

TEST_F(GraphOrderTest, ManyGraphsTakeNoMoreRoomThanAFew) {
    Stream& one = stream();
    std::vector<int> executables(1000);
    for (int& executable : executables) {
        auto graph = std::make_shared<GraphModel>();
        graph->executable = &executable;
        for (int lane = 0; lane < 4; ++lane) graph->lanes.push_back({command(HostCommand::Kind::plain, 10)});
        HostCommand made = command(HostCommand::Kind::replay, 20);
        made.graph = std::move(graph);
        submit(one, std::move(made));
    }
    order.synchronised(*one.agent, one.submitted);
    EXPECT_LT(order.agents(), 300u);
    EXPECT_EQ(order.remembered(), 0u);
}

// ---- memory ----------------------------------------------------------------------------------------------------

TEST_F(HostOrderTest, NothingIsRememberedOnceAllIsSynchronised) {
    Stream &one = stream(), &two = stream();
    for (int round = 0; round < 100; ++round) {
        copy(one, 10, UseKind::write, buffer + 64 * round, 32);
        copy(two, 11, UseKind::write, other_buffer + 64 * round, 32);
    }
    EXPECT_EQ(order.remembered(), 200u);
    order.synchronised(*one.agent, one.submitted);
    order.synchronised(*two.agent, two.submitted);
    EXPECT_EQ(order.remembered(), 0u);
}

TEST_F(HostOrderTest, MemoryIsBoundedWhileOneStreamIsNeverSynchronised) {
    Stream &one = stream(), &two = stream();
    copy(two, 11, UseKind::write);
    for (int round = 0; round < 100'000; ++round) {
        copy(one, 10, UseKind::write, other_buffer + 64 * round, 32);
        if (round % 1000 == 999) order.synchronised(*one.agent, one.submitted);
    }
    EXPECT_LT(order.remembered(), 10'000u);
    copy(one, 12, UseKind::read);
    EXPECT_EQ(found(), "host.stream RAW 11 12");
}

// Random commands of three streams, compared with the order of commands as a relation.
TEST_F(HostOrderTest, FindsWhatAnOracleFinds) {
    std::mt19937 random(7);
    const auto below = [&](unsigned limit) { return static_cast<unsigned>(random() % limit); };
    for (int program = 0; program < 300; ++program) {
        Findings told;
        HostOrder host(told, {[](const HostCall& call) {
                                  Place place;
                                  place.line = static_cast<unsigned>(call.from);
                                  return place;
                              },
                              nullptr});
        struct Copy {
            unsigned stream, byte, bytes;
            bool write;
            std::set<int> before;
        };
        std::vector<Copy> copies;
        std::array<HostOrder::Agent*, 3> agents{};
        std::array<std::set<int>, 3> known;  // copies before what the stream does next
        std::set<int> host_knows;
        std::array<std::set<int>, 4> at_event;
        std::array<std::uint64_t, 4> records{};
        std::array<std::uint64_t, 3> submitted{};
        for (unsigned index = 0; index < 3; ++index) agents[index] = host.add_stream(index + 1, 0, [] { return 0; });
        const auto put = [&](unsigned stream, HostCommand command) {
            ++submitted[stream];
            known[stream].insert(host_knows.begin(), host_knows.end());
            host.submit(*agents[stream], std::span(&command, 1));
        };
        for (int step = 0; step < 25; ++step) {
            const unsigned stream = below(3), event_number = below(4);
            HostCommand command;
            command.fence = 1 + event_number;
            switch (below(6)) {
                case 0:
                    command.kind = HostCommand::Kind::signal;
                    command.value = ++records[event_number];
                    put(stream, command);
                    at_event[event_number] = known[stream];
                    break;
                case 1:
                    if (records[event_number] == 0) break;
                    command.kind = HostCommand::Kind::wait;
                    command.value = records[event_number];
                    put(stream, command);
                    known[stream].insert(at_event[event_number].begin(), at_event[event_number].end());
                    break;
                case 2:
                    if (below(4) != 0) break;
                    host.synchronised(*agents[stream], submitted[stream]);
                    host_knows.insert(known[stream].begin(), known[stream].end());
                    break;
                default: {
                    Copy made{stream, below(24), 1 + below(8), below(2) == 0, {}};
                    const int number = static_cast<int>(copies.size());
                    HostCommand use;
                    use.call = {"copy", static_cast<std::uintptr_t>(number)};
                    use.use_count = 1;
                    use.uses[0] = {buffer + made.byte, made.bytes, 1, 0, made.write ? UseKind::write : UseKind::read};
                    put(stream, use);
                    made.before = known[stream];
                    copies.push_back(made);
                    known[stream].insert(number);
                }
            }
        }
        std::set<std::pair<int, int>> wrong;
        for (int later = 0; later < static_cast<int>(copies.size()); ++later)
            for (int earlier = 0; earlier < later; ++earlier) {
                const Copy &a = copies[static_cast<std::size_t>(earlier)], &b = copies[static_cast<std::size_t>(later)];
                const bool overlap = a.byte < b.byte + b.bytes && b.byte < a.byte + a.bytes;
                if (overlap && (a.write || b.write) && b.before.count(earlier) == 0) wrong.insert({earlier, later});
            }
        std::set<std::pair<int, int>> found;
        for (const Finding& one : told.all)
            found.insert({static_cast<int>(one.places[0].line), static_cast<int>(one.places[1].line)});
        for (const auto& pair : found) EXPECT_EQ(wrong.count(pair), 1u) << "program " << program;
        // Later unordered uses of a byte may stand for earlier ones; the first one of a program is always found.
        EXPECT_EQ(found.empty(), wrong.empty()) << "program " << program;
    }
}

}  // namespace
}  // namespace canopy::check
