// SPDX-License-Identifier: Apache-2.0
// Base of the tests in which another process is killed. Each operation is tried in three ways:
//
//   at every beginning and end of a system call of its thread, one after the other until the operation ends (ptrace);
//   at such a place chosen at random and some instructions further;
//   at any moment of a process that repeats the operation, with all its threads.
//
// Sanitizers do not follow a process that is stopped at any instruction: there only the last. CANOPY_TEST_DEATHS=n sets
// the number of rounds of the last two ways, for each operation.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "fixtures/fixture.h"
#include "until.h"
#include "victim.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

// What this process has.
struct Possessions {
    std::size_t descriptors = 0, mappings = 0, threads = 0, kibibytes = 0;
    static Possessions now() {
        Possessions found;
        const auto entries = [](const char* folder) {
            std::size_t count = 0;
            if (DIR* open = opendir(folder)) {
                while (readdir(open)) ++count;
                closedir(open);
            }
            return count;
        };
        found.descriptors = entries("/proc/self/fd");
        found.threads = entries("/proc/self/task");
        std::ifstream maps("/proc/self/maps"), status("/proc/self/status");
        for (std::string line; std::getline(maps, line);) ++found.mappings;
        for (std::string word; status >> word;)
            if (std::size_t size = 0; (word == "RssAnon:" || word == "RssShmem:") && status >> size)
                found.kibibytes += size;
        return found;
    }
    // The allocator may take some memory in the meantime, and the pool of the last process whose items were taken after
    // its death is given back when the next one ends; what is lost in every round is more.
    [[nodiscard]] bool no_more_than(const Possessions& before) const {
        return descriptors <= before.descriptors + 1 && threads <= before.threads &&
               (sanitized || (mappings <= before.mappings + 4 && kibibytes <= before.kibibytes + 2048));
    }
};

class Survivor : public conformance::DeviceTest {
protected:
    struct Case {
        // The argument of the operation; the process is there, and has not done anything yet.
        std::function<std::string(const Victim&)> before;
        // It is ready and has told this.
        std::function<void(const std::string&)> ready = [](const std::string&) {};
        // It is dead; `ended`: the operation had ended before.
        std::function<void(bool ended)> after;
        // While it repeats the operation, and after its death.
        std::function<void()> meanwhile, afterwards;
    };

    void survive(const std::string& operation, const Case& tried) {
        const long wanted = std::getenv("CANOPY_TEST_DEATHS") ? std::atol(std::getenv("CANOPY_TEST_DEATHS")) : 0;
        const long steps = sanitized ? 0 : wanted ? wanted : 60;
        const long moments = wanted ? wanted : sanitized ? 10 : 100;
        for (int round = 0; round < 4; ++round) die_in_loop(operation, tried);
        const Possessions before = Possessions::now();
        long stops = 0;
        if (!sanitized) {
            bool ended = false;
            while (!ended && !HasFailure()) ended = die_once(operation, tried, ++stops, 0);
            ASSERT_GT(stops, 2) << operation;
        }
        for (long round = 0; round < steps && !HasFailure(); ++round)
            die_once(operation, tried, static_cast<long>(random_() % static_cast<unsigned long>(stops)),
                     static_cast<long>(random_() % 600));
        for (long round = 0; round < moments && !HasFailure(); ++round) die_in_loop(operation, tried);
        Possessions now;
        EXPECT_TRUE(eventually(
            [&] {
                now = Possessions::now();
                return now.no_more_than(before);
            },
            std::chrono::seconds(10)));
        std::printf(
            "%-18s killed at all %ld system-call stops, after random steps %ld times, at random moments %ld times; "
            "descriptors %zu -> %zu, mappings %zu -> %zu, threads %zu -> %zu, KiB %zu -> %zu\n",
            operation.c_str(), stops, steps, moments + 4, before.descriptors, now.descriptors, before.mappings,
            now.mappings, before.threads, now.threads, before.kibibytes, now.kibibytes);
        RecordProperty(operation + "_stops", static_cast<int>(stops));
        RecordProperty(operation + "_deaths", static_cast<int>(stops + steps + moments + 4));
    }

    void pass_some_time() { usleep(static_cast<useconds_t>(random_() % 1500)); }
    // Until a random moment.
    void repeat_some_time(const std::function<void()>& what) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random_() % 1500);
        while (std::chrono::steady_clock::now() < end && !HasFailure()) what();
    }

    static std::size_t free_memory() {
        std::size_t free = 0, total = 0;
        EXPECT_ACL_OK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
        return free;
    }
    static std::size_t same(const void* memory, std::size_t size, unsigned char value) {
        std::vector<unsigned char> bytes(size);
        EXPECT_ACL_OK(aclrtMemcpy(bytes.data(), size, memory, size, ACL_MEMCPY_DEVICE_TO_HOST));
        return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), value));
    }

private:
    bool start(Victim& victim, const Case& tried) {
        const std::string told = victim.prepare(tried.before(victim));
        EXPECT_TRUE(told.starts_with("ready ")) << "the process did not get as far as its operation";
        if (HasFailure()) return false;
        tried.ready(told.substr(6));
        return !HasFailure();
    }
    bool die_once(const std::string& operation, const Case& tried, long stop, long instructions) {
        SCOPED_TRACE(operation + " at stop " + std::to_string(stop) + " and " + std::to_string(instructions));
        Victim victim(operation);
        if (!start(victim, tried)) return true;
        const bool ended = victim.die_at(stop, instructions);
        EXPECT_FALSE(victim.failed());
        tried.after(ended);
        return ended;
    }
    void die_in_loop(const std::string& operation, const Case& tried) {
        SCOPED_TRACE(operation + " in a loop");
        Victim victim(operation);
        if (!start(victim, tried)) return;
        victim.die_after(tried.meanwhile ? tried.meanwhile : [this] { pass_some_time(); });
        EXPECT_FALSE(victim.failed());
        tried.afterwards ? tried.afterwards() : tried.after(false);
    }

    std::mt19937_64 random_{2024};
};
