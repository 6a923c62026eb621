// SPDX-License-Identifier: Apache-2.0
// Launches from a trace (check/trace.h), to be checked again.
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "check/launch_check.h"

namespace canopy::check {

// What a core told, with the numbers of its line.
struct TracedEvent {
    std::size_t core = 0;
    std::string kind;
    std::vector<std::uint64_t> numbers;
    std::vector<CanopyCheckAccess> accesses;
    std::vector<std::uint64_t> lanes;  // two for each access
    std::string name;
};

struct TracedLaunchFacts {
    LaunchFacts facts;
    std::vector<CoreFacts> cores;
    std::vector<TracedEvent> events;
};

namespace replaying {

inline std::uint64_t hexadecimal(std::istream& line) {
    std::string word;
    line >> word;
    return std::stoull(word, nullptr, 16);
}

inline const void* pointer(std::uint64_t address) { return reinterpret_cast<const void*>(address); }

inline CanopyCheckAccess access_of(std::istream& line, std::uint64_t* lanes) {
    CanopyCheckAccess access{};
    unsigned kind = 0, memory = 0, atomic = 0, element_type = 0, whole = 0, lanes_per_bit = 0;
    line >> kind >> memory >> atomic >> access.element >> element_type >> whole;
    access.address = pointer(hexadecimal(line));
    line >> access.bytes >> access.step >> access.pieces >> access.repeat_step >> access.repeats;
    access.tensor = pointer(hexadecimal(line));
    line >> access.tensor_bytes >> lanes_per_bit;
    access.kind = static_cast<std::uint8_t>(kind);
    access.memory = static_cast<std::uint8_t>(memory);
    access.atomic = static_cast<std::uint8_t>(atomic);
    access.element_type = static_cast<std::uint8_t>(element_type);
    access.whole_register = static_cast<std::uint8_t>(whole);
    access.lanes_per_bit = static_cast<std::uint8_t>(lanes_per_bit);
    std::string word;
    if (line >> word) {
        lanes[0] = std::stoull(word, nullptr, 16);
        lanes[1] = hexadecimal(line);
        access.lanes = lanes;  // for now; the event moves them
    }
    return access;
}

inline bool is_hexadecimal(const std::string& kind, std::size_t index) {
    if (kind == "buffer") return index == 2 || index == 3;
    if (kind == "word" || kind == "cache") return index == 1;
    return kind == "raw" && (index == 0 || index == 3);
}

inline TracedEvent event_of(std::size_t core, const std::string& kind, std::istream& line) {
    TracedEvent event{core, kind, {}, {}, {}, {}};
    const bool operation = kind == "operation" || kind == "call";
    if (kind == "not_modelled" || kind == "misuse") return event;
    for (std::string word; (!operation || event.numbers.size() < 9) && line >> word;)
        event.numbers.push_back(std::stoull(word, nullptr, is_hexadecimal(kind, event.numbers.size()) ? 16 : 10));
    if (operation) line >> event.name;
    return event;
}

inline LaunchFacts launch_of(std::istream& line) {
    LaunchFacts facts;
    line >> facts.kernel >> facts.architecture >> facts.blocks >> facts.vector_cores >> facts.cube_cores >> facts.mix >>
        facts.autosync >> facts.cores_of_chip;
    facts.line = [](const void* instruction) {
        return CanopyCheckSite{nullptr, "raw",
                               static_cast<std::uint32_t>(reinterpret_cast<std::uint64_t>(instruction))};
    };
    return facts;
}

inline CoreFacts core_of(std::istream& line) {
    CoreFacts facts;
    line >> facts.block >> facts.sub_index >> facts.cube;
    for (CoreFacts::Memory& memory : facts.memory) {
        std::string word;
        line >> word;
        memory = {std::stoull(word, nullptr, 16), std::stoull(word.substr(word.find(':') + 1))};
    }
    return facts;
}

}  // namespace replaying

// Throws if the text is not a trace.
inline std::vector<TracedLaunchFacts> read_trace(std::istream& file) {
    std::vector<TracedLaunchFacts> launches;
    for (std::string text; std::getline(file, text);) {
        std::istringstream line(text);
        std::size_t launch = 0;
        std::string word;
        line >> launch >> word;
        if (word == "launch") {
            launches.resize(std::max(launches.size(), launch));
            launches[launch - 1].facts = replaying::launch_of(line);
            continue;
        }
        TracedLaunchFacts& of = launches.at(launch - 1);
        if (word == "core") {
            std::size_t number = 0;
            line >> number;
            of.cores.resize(std::max(of.cores.size(), number + 1));
            of.cores[number] = replaying::core_of(line);
            continue;
        }
        const std::size_t core = std::stoull(word);
        line >> word;
        if (word == "access") {
            TracedEvent& event = of.events.back();
            std::uint64_t lanes[2] = {};
            event.accesses.push_back(replaying::access_of(line, lanes));
            event.lanes.insert(event.lanes.end(), lanes, lanes + 2);
        } else {
            of.events.push_back(replaying::event_of(core, word, line));
        }
        if (!line && !line.eof()) throw std::runtime_error("not a line of a trace: " + text);
    }
    for (TracedLaunchFacts& launch : launches)
        for (TracedEvent& event : launch.events)
            for (std::size_t i = 0; i < event.accesses.size(); ++i)
                if (event.accesses[i].lanes != nullptr) event.accesses[i].lanes = &event.lanes[2 * i];
    return launches;
}

// The same calls once more. Texts that a trace does not have are made of their line.
inline void replay(const TracedEvent& event, CoreCheck& core) {
    const auto number = [&](std::size_t index) { return static_cast<std::uint32_t>(event.numbers.at(index)); };
    const auto site = [&](std::size_t index) { return CanopyCheckSite{event.kind.c_str(), "kernel", number(index)}; };
    if (event.kind == "operation" || event.kind == "call") {
        CanopyCheckOperation operation{};
        operation.pipe = static_cast<std::uint8_t>(number(0));
        operation.flow = static_cast<std::uint8_t>(number(1));
        operation.unit_flag = static_cast<std::uint8_t>(number(2));
        operation.flags = number(3);
        operation.m = number(4), operation.n = number(5), operation.k = number(6);
        operation.access_count = static_cast<std::uint32_t>(event.accesses.size());
        operation.accesses = event.accesses.data();
        operation.site = {event.name.c_str(), "kernel", number(8)};
        if (event.kind == "call")
            core.region(CANOPY_CHECK_REGION_CALL, true, &operation);
        else
            core.operation(operation);
    } else if (event.kind == "flag") {
        core.flag(number(0) != 0, number(1), number(2), static_cast<std::int32_t>(event.numbers.at(3)), site(4));
    } else if (event.kind == "barrier") {
        core.barrier(number(0), site(1));
    } else if (event.kind == "data_barrier") {
        core.data_barrier(number(0), site(1));
    } else if (event.kind == "buffer") {
        CanopyCheckBuffer buffer{};
        buffer.site = site(10);
        buffer.event = number(0), buffer.buffers = number(1);
        buffer.queue = replaying::pointer(event.numbers.at(2));
        buffer.address = replaying::pointer(event.numbers.at(3));
        buffer.bytes = event.numbers.at(4);
        buffer.depth = static_cast<std::int32_t>(number(5));
        buffer.source = static_cast<std::uint8_t>(number(6));
        buffer.destination = static_cast<std::uint8_t>(number(7));
        buffer.memory = static_cast<std::uint8_t>(number(8));
        buffer.bound = static_cast<std::uint8_t>(number(9));
        core.buffer(buffer);
    } else if (event.kind == "event_id") {
        core.event_id(number(0), number(1), number(2), static_cast<std::int32_t>(event.numbers.at(3)), site(4));
    } else if (event.kind == "mutex") {
        core.mutex(number(0) != 0, number(1), number(2), site(3));
    } else if (event.kind == "core_flag") {
        core.core_flag(number(0) != 0, number(1), number(2), number(3), site(4));
    } else if (event.kind == "meet") {
        core.meet(number(0), number(1), number(2) != 0, number(3), number(4), site(5));
    } else if (event.kind == "word") {
        core.word(number(0), replaying::pointer(event.numbers.at(1)), site(2));
    } else if (event.kind == "cache") {
        core.cache(number(0), replaying::pointer(event.numbers.at(1)), site(2));
    } else if (event.kind == "region") {
        core.region(number(0), number(1) != 0, nullptr);
    } else if (event.kind == "raw") {
        core.raw(replaying::pointer(event.numbers.at(0)), number(1), number(2),
                 replaying::pointer(event.numbers.at(3)));
    } else if (event.kind == "order") {
        core.order(number(0), number(1), site(2));
    } else if (event.kind == "end") {
        core.end(number(0) != 0);
    }
}

inline void replay(const TracedLaunchFacts& launch, const CheckOptions& options, FindingSink& sink) {
    const auto check = make_launch_check(launch.facts, options, sink);
    std::vector<CoreCheck*> cores;
    cores.reserve(launch.cores.size());
    for (const CoreFacts& facts : launch.cores) cores.push_back(&check->core(facts));
    for (const TracedEvent& event : launch.events) replay(event, *cores.at(event.core));
    check->end();
}

}  // namespace canopy::check
