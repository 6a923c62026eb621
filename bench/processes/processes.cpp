// SPDX-License-Identifier: Apache-2.0
// What passes between two processes, and how fast: messages by queue, streams released by notify and event, memory
// imported, and the answer after a process was killed. Two child processes, pinned to two processors, do it, so that
// nothing else of this program disturbs them. Both awake: the receiver looks all the time, or would not sleep for so
// short a time. Parked: the receiver has slept for a while when the message is sent.
#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <map>

#include "acl/acl_tdt_queue.h"
#include "harness/child.h"
#include "processes/chains.h"
#include "processes/wires.h"

namespace bench {
namespace {

using Json = nlohmann::ordered_json;
using Wires = std::map<Wire, std::unique_ptr<Connection>>;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t gibibyte = std::size_t{1} << 30;

// ---- the leader -----------------------------------------------------------------------------------------------------

class Leader {
public:
    explicit Leader(const Options& options) : options_(options), message_(mebibyte) {
        create_queues(partner_.control(), partner_.pid());
        for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Wire::count_of_wires); ++i)
            if (auto opened = open_wire(static_cast<Wire>(i), Side::leader, partner_.control(), partner_.descriptors()))
                wires_[static_cast<Wire>(i)] = std::move(opened);
        partner_.ask(Task::open_wires);
        partner_.finish();
    }

    Json hops(std::size_t size, std::uint32_t count, int rounds, const std::vector<Wire>& wires) {
        std::vector<Contender> contenders;
        for (const Wire wire : wires)
            if (wires_.contains(wire))
                contenders.push_back({name_of(wire), [=, this] { return hop(wire, size, count); }});
        take_turns(contenders, options_.rounds(rounds));
        return to_json(contenders);
    }
    Json parked(const std::vector<Wire>& wires) {
        std::map<Wire, std::vector<double>> times;
        for (int round = 0; round < options_.rounds(40); ++round)
            for (const Wire wire : wires)
                if (wires_.contains(wire)) parked_hops(wire, times[wire]);
        Json all;
        for (const auto& [wire, values] : times) all[name_of(wire)] = to_json(summarise(values));
        return all;
    }
    Json rates(const std::vector<Wire>& wires) {
        std::vector<Contender> contenders;
        for (const Wire wire : wires)
            if (wires_.contains(wire)) contenders.push_back({name_of(wire), [=, this] { return rate(wire); }});
        take_turns(contenders, options_.rounds(40));
        return to_json(contenders);
    }
    Json chains() {
        Chain chain(session_, Side::leader);
        std::vector<double> notify, event, lines;
        chain.lead_notify(partner_, most_hops);
        chain.lead_event(partner_, event_hops);
        for (int round = 0; round < options_.rounds(60); ++round) {
            for (const double time : chain.lead_notify(partner_, most_hops)) notify.push_back(time);
            for (const double time : chain.lead_event(partner_, event_hops)) event.push_back(time);
            lines.push_back(hop(Wire::line, short_message, 2'000));
        }
        return {{"notify", to_json(summarise(notify))},
                {"event", to_json(summarise(event))},
                {"cache line", to_json(summarise(lines))}};
    }
    // First: the first thing that the partner has of this process. Again: with the connection there.
    Json imports() {
        const DeviceMemory memory(gibibyte);
        Control& control = partner_.control();
        BENCH_CHECK(aclrtIpcMemGetExportKey(memory.get(), gibibyte, control.text[0], sizeof(control.text[0]),
                                            ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        std::vector<double> first, again;
        for (int round = 0; round < options_.rounds(100); ++round) {
            partner_.ask(Task::import_memory);
            partner_.finish();
            first.push_back(static_cast<double>(control.numbers[0]));
            again.push_back(static_cast<double>(control.numbers[1]));
        }
        BENCH_CHECK(aclrtIpcMemClose(control.text[0]));
        return {{"first", to_json(summarise(first))}, {"again", to_json(summarise(again))}};
    }

private:
    double hop(Wire wire, std::size_t size, std::uint32_t count) {
        const std::uint32_t warm_up = count / 4 + 1;
        Connection& connection = *wires_[wire];
        partner_.ask(Task::answer, static_cast<std::uint32_t>(wire), warm_up + count, static_cast<std::uint32_t>(size));
        const double time = time_each(warm_up, count, [&](std::size_t times) {
            for (std::size_t i = 0; i < times; ++i) {
                connection.send(message_.data(), size);
                connection.receive(message_.data(), size);
            }
        });
        partner_.finish();
        return time / 2;
    }
    void parked_hops(Wire wire, std::vector<double>& times) {
        constexpr std::uint32_t count = 8;
        Connection& connection = *wires_[wire];
        partner_.ask(Task::answer_time, static_cast<std::uint32_t>(wire), count, short_message);
        for (std::uint32_t i = 0; i < count; ++i) {
            usleep(2'000);
            const std::uint64_t sent = StampClock::read();
            connection.send(message_.data(), short_message);
            connection.receive(message_.data(), short_message);
            std::uint64_t arrived = 0;
            std::memcpy(&arrived, message_.data(), sizeof(arrived));
            times.push_back(clock_.nanoseconds(arrived - sent));
        }
        partner_.finish();
    }
    double rate(Wire wire) {
        constexpr std::uint32_t count = 20'000;
        Connection& connection = *wires_[wire];
        partner_.ask(Task::consume, static_cast<std::uint32_t>(wire), count, short_message);
        partner_.await_step(1);  // it may have slept; its waking is no part of a rate
        const double time = time_each(0, count, [&](std::size_t times) {
            for (std::size_t i = 0; i < times; ++i) connection.send(message_.data(), short_message);
            connection.receive(message_.data(), short_message);
        });
        partner_.finish();
        return time;
    }

    const Options& options_;
    Session session_;
    Partner partner_;
    StampClock clock_;
    Wires wires_;
    std::vector<char> message_;
};

// Time from the partner's end to the answer of a thread that waits for it here.
Json deaths(const Options& options) {
    const StampClock clock;
    std::vector<double> notify, queue;
    for (int round = 0; round < options.rounds(20); ++round) {
        Partner partner;
        Control& control = partner.control();
        const bool by_queue = round % 2 == 0;
        partner.ask(by_queue ? Task::die_on_queue : Task::die_on_notify);
        partner.await_step(1);
        std::uint64_t answered = 0;
        if (by_queue) {
            std::uint32_t permission = 0;
            char data[short_message];
            std::size_t length = 0;
            BENCH_CHECK(acltdtAttachQueue(control.queues[0], 1'000, &permission));
            partner.make_step();
            if (acltdtDequeueData(control.queues[0], data, sizeof(data), &length, nullptr, 0, -1) == ACL_SUCCESS)
                throw std::runtime_error("a dead process has sent something");
            answered = StampClock::read();
        } else {
            const Stream stream;
            aclrtNotify shared = nullptr;
            BENCH_CHECK(aclrtNotifyImportByKey(&shared, control.text[1], ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT));
            BENCH_CHECK(aclrtWaitAndResetNotify(shared, stream.get(), 0));
            partner.make_step();
            if (aclrtSynchronizeStream(stream.get()) == ACL_SUCCESS)
                throw std::runtime_error("a dead process has recorded a notify");
            answered = StampClock::read();
            aclrtDestroyNotify(shared);
        }
        partner.await_death();
        (by_queue ? queue : notify).push_back(clock.nanoseconds(answered - control.numbers[0]));
    }
    return {{"queue", to_json(summarise(queue))}, {"notify", to_json(summarise(notify))}};
}

// ---- the partner ----------------------------------------------------------------------------------------------------

struct PartnerState {
    Session session;
    Wires wires;
    std::unique_ptr<Chain> chain;
    std::vector<char> message = std::vector<char>(mebibyte);
};

PartnerState& partner_state() {
    static PartnerState state;
    return state;
}

void import_memory(Control& control) {
    void* first = nullptr;
    void* second = nullptr;
    const std::uint64_t begin = now();
    BENCH_CHECK(aclrtIpcMemImportByKey(&first, control.text[0], ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
    const std::uint64_t middle = now();
    BENCH_CHECK(aclrtIpcMemImportByKey(&second, control.text[0], ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT));
    const std::uint64_t end = now();
    BENCH_CHECK(aclrtIpcMemClose(control.text[0]));
    BENCH_CHECK(aclrtIpcMemClose(control.text[0]));
    control.numbers[0] = middle - begin;
    control.numbers[1] = end - middle;
}

// Some time later, when the leader sleeps.
[[noreturn]] void die(Control& control) {
    make_partner_step(control);
    await_leader_step(control, 1);
    usleep(5'000);
    control.numbers[0] = StampClock::read();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void serve(Control& control, const Descriptors& descriptors) {
    PartnerState& state = partner_state();
    const auto wire = static_cast<Wire>(control.wire);
    const std::size_t size = control.size;
    char* const message = state.message.data();
    switch (control.task) {
        case Task::open_wires:
            attach_queues(control);
            for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Wire::count_of_wires); ++i)
                state.wires[static_cast<Wire>(i)] =
                    open_wire(static_cast<Wire>(i), Side::partner, control, descriptors);
            return;
        case Task::answer: {
            Connection& connection = *state.wires[wire];
            for (std::uint32_t i = 0; i < control.count; ++i) {
                connection.receive(message, size);
                connection.send(message, size);
            }
            return;
        }
        case Task::answer_time: {
            Connection& connection = *state.wires[wire];
            for (std::uint32_t i = 0; i < control.count; ++i) {
                connection.receive(message, size);
                const std::uint64_t arrived = StampClock::read();
                std::memcpy(message, &arrived, sizeof(arrived));
                connection.send(message, size);
            }
            return;
        }
        case Task::consume: {
            Connection& connection = *state.wires[wire];
            make_partner_step(control);
            for (std::uint32_t i = 0; i < control.count; ++i) connection.receive(message, size);
            connection.send(message, size);
            return;
        }
        case Task::notify_chain:
        case Task::event_chain:
            if (!state.chain) state.chain = std::make_unique<Chain>(state.session, Side::partner);
            if (control.task == Task::notify_chain)
                state.chain->follow_notify(control);
            else
                state.chain->follow_event(control);
            return;
        case Task::import_memory:
            return import_memory(control);
        case Task::die_on_notify: {
            aclrtNotify notify = nullptr;
            BENCH_CHECK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
            BENCH_CHECK(aclrtNotifyGetExportKey(notify, control.text[1], sizeof(control.text[1]),
                                                ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
            die(control);
        }
        case Task::die_on_queue:
            create_queues(control, getppid());
            die(control);
    }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

double median(const Json& numbers, const char* name) {
    return numbers.contains(name) ? numbers[name]["p50"].get<double>() : 0;
}

std::string list_rivals(const Json& numbers, const std::vector<const char*>& names) {
    std::string text;
    for (const char* name : names) {
        text += text.empty() ? "" : "; ";
        text += numbers.contains(name) ? fmt::format("{} {}", name, nanoseconds_text(median(numbers, name)))
                                       : fmt::format("{} not installed", name);
    }
    return text;
}

Verdict verdict(bool reached) { return reached ? Verdict::reached : Verdict::missed; }

void add_hop(Report& report, const char* name, const char* what, const Json& numbers, double line) {
    const double ours = median(numbers, name[0] == 'e' ? "event" : "notify");
    report.add({fmt::format("processes-{}", name), what,
                fmt::format("p50 {}, p99 {}", nanoseconds_text(ours),
                            nanoseconds_text(numbers[name[0] == 'e' ? "event" : "notify"]["p99"].get<double>())),
                "p50 <= 4 cache-line hops", "cache line " + nanoseconds_text(line),
                times_text(ours / line) + " a cache-line hop", verdict(ours <= 4 * line), numbers});
}

}  // namespace

Json child_processes(const Options& options) {
    stay_on(Side::leader);
    Json all;
    Leader leader(options);
    using enum Wire;
    all["hop"] =
        leader.hops(short_message, 500, 200, {queue, line, pipe, pipe_polled, socket, boost, boost_polled, zero_mq});
    all["parked"] = leader.parked({queue, pipe, socket, boost, zero_mq});
    all["rate"] = leader.rates({queue, pipe, socket, boost, boost_polled, zero_mq});
    all["mebibyte"] = leader.hops(mebibyte, 20, 40, {buffer, queue, memory, pipe, socket});
    all["chains"] = leader.chains();
    all["imports"] = leader.imports();
    all["deaths"] = deaths(options);
    return all;
}

int serve_processes() {
    stay_on(Side::partner);
    return serve_leader(&serve);
}

void measure_processes(Environment& environment) {
    const Json all = run_child("processes", "", environment.options);
    Report& report = environment.report;

    const Json& hop = all["hop"];
    const double ours = median(hop, "Canopy"), line = median(hop, "cache line");
    const double pipe = std::min(median(hop, "pipe"), median(hop, "pipe polled"));
    report.add(
        {"processes-hop", "queue hop between processes, 64 bytes, both awake", nanoseconds_text(ours),
         "<= 1/5 of a pipe, <= 4 cache-line hops",
         list_rivals(hop, {"cache line", "pipe", "pipe polled", "Unix socket", "Boost", "Boost polled", "ZeroMQ"}),
         fmt::format("1/{:.1f} of a pipe, {} a cache-line hop", pipe / ours, times_text(ours / line)),
         verdict(ours * 5 <= pipe && ours <= 4 * line), hop});

    const Json& parked = all["parked"];
    report.add({"processes-parked", "the same, receiver parked", nanoseconds_text(median(parked, "Canopy")),
                "<= pipe + 1 us", list_rivals(parked, {"pipe", "Unix socket", "Boost", "ZeroMQ"}),
                times_text(median(parked, "Canopy") / median(parked, "pipe")) + " a pipe",
                verdict(median(parked, "Canopy") <= median(parked, "pipe") + 1'000), parked});

    const Json& rate = all["rate"];
    const double boost = std::min(median(rate, "Boost"), median(rate, "Boost polled"));
    report.add({"processes-rate", "64-byte messages, one producer, one consumer",
                fmt::format("{:.1f} M/s", 1e3 / median(rate, "Canopy")), ">= 10 x Boost",
                list_rivals(rate, {"pipe", "Unix socket", "Boost", "Boost polled", "ZeroMQ"}) + " a message",
                times_text(boost / median(rate, "Canopy")) + " Boost", verdict(boost >= 10 * median(rate, "Canopy")),
                rate});

    const Json& large = all["mebibyte"];
    const double buffer = median(large, "Canopy by buffer"), copy = median(large, "Canopy");
    report.add({"processes-buffer", "1 MiB by buffer", nanoseconds_text(buffer), "<= 1/50 of a Unix socket",
                list_rivals(large, {"memcpy twice", "pipe", "Unix socket"}),
                fmt::format("1/{:.0f} of a Unix socket", median(large, "Unix socket") / buffer),
                verdict(buffer * 50 <= median(large, "Unix socket")), large});
    report.add({"processes-copy", "1 MiB by EnqueueData and DequeueData", nanoseconds_text(copy),
                "<= 1.2 x memcpy in and out, < pipe", list_rivals(large, {"memcpy twice", "pipe", "Unix socket"}),
                fmt::format("{} memcpy in and out, 1/{:.1f} of a pipe",
                            times_text(copy / median(large, "memcpy twice")), median(large, "pipe") / copy),
                verdict(copy <= 1.2 * median(large, "memcpy twice") && copy < median(large, "pipe")), large});

    const Json& chains = all["chains"];
    const double chain_line = median(chains, "cache line");
    add_hop(report, "notify", "notify hop between streams of two processes, both awake", chains, chain_line);
    add_hop(report, "event", "event hop between streams of two processes, both awake", chains, chain_line);

    const Json& imports = all["imports"];
    const double first = median(imports, "first"), again = median(imports, "again");
    report.add({"processes-import", "import of a block of 1 GiB", fmt::format("{:.1f} us", first / 1e3), "<= 100 us",
                "", "", verdict(first <= 100e3), imports});
    report.add({"processes-import-again", "the same again", fmt::format("{:.1f} us", again / 1e3), "<= 5 us", "", "",
                verdict(again <= 5e3), imports});

    const Json& deaths = all["deaths"];
    const double slowest =
        std::max(deaths["queue"]["highest"].get<double>(), deaths["notify"]["highest"].get<double>());
    report.add({"processes-kill", "a waiter's answer after kill -9 of the other process",
                fmt::format("queue {:.2f} ms, notify {:.2f} ms, longest {:.2f} ms", median(deaths, "queue") / 1e6,
                            median(deaths, "notify") / 1e6, slowest / 1e6),
                "<= 10 ms", "", "", verdict(slowest <= 10e6), deaths});
}

}  // namespace bench
