// SPDX-License-Identifier: Apache-2.0
// The records by which a dispatcher finds the runtimes of a dispatcher whose process has ended. Here both are copies of
// the same object in this process, and the second one knows only the records.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "dispatcher_fixture.h"

namespace conformance {
namespace {

// A copy of the dispatcher with its own state.
class Copy {
public:
    Copy() {
        char path[] = "/tmp/canopy-dispatcher-test-XXXXXX";
        const int file = mkstemp(path);
        const std::string bytes = bytes_of(CANOPY_TEST_DISPATCHER);
        EXPECT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        close(file);
        library_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        EXPECT_NE(library_, nullptr) << dlerror();
        unlink(path);
        control_ = reinterpret_cast<Function>(dlsym(library_, "CanopyDispatcherControl"));
        run_ = reinterpret_cast<Function>(dlsym(library_, "CanopyDispatcherRun"));
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    ~Copy() {
        if (library_) dlclose(library_);
    }

    void ask(CanopyDispatcherRequest& request) const { EXPECT_EQ(control_(&request), 0u); }
    std::uint32_t run(CanopyDispatcherKeptCall call) const { return run_(&call); }

private:
    using Function = std::uint32_t (*)(void*);
    void* library_ = nullptr;
    Function control_ = nullptr, run_ = nullptr;
};

class DispatcherRecords : public ::testing::Test {
protected:
    std::uint64_t load(const Copy& dispatcher, const std::string& image) {
        CanopyDispatcherRequest request = {};
        request.verb = CANOPY_DISPATCHER_LOAD;
        request.kept = reinterpret_cast<std::uintptr_t>(records_.data());
        request.arguments.load = {reinterpret_cast<std::uintptr_t>(image.data()), image.size(), 0, 0};
        dispatcher.ask(request);
        EXPECT_EQ(request.result, expected_) << request.text;
        return request.arguments.load.runtime;
    }
    std::uint64_t call(const Copy& dispatcher, CanopyDispatcherVerb verb, std::uint64_t runtime, void* arguments = {}) {
        CanopyDispatcherRequest request = {};
        request.verb = verb;
        request.kept = reinterpret_cast<std::uintptr_t>(records_.data());
        request.arguments.call = {runtime, reinterpret_cast<std::uintptr_t>(arguments)};
        dispatcher.ask(request);
        return request.result;
    }
    std::uint64_t answer(const Copy& dispatcher, std::uint64_t runtime, InnerWork::Kind kind, std::uint64_t value = 0) {
        std::uint64_t word = 0;
        InnerWork work{kind, &word, value};
        EXPECT_EQ(dispatcher.run({runtime, reinterpret_cast<std::uintptr_t>(&work),
                                  reinterpret_cast<std::uintptr_t>(records_.data())}),
                  0u);
        return word;
    }
    CanopyDispatcherKept& record(std::uint64_t runtime) { return records_[runtime % records_.size()]; }

    std::vector<CanopyDispatcherKept> records_ = std::vector<CanopyDispatcherKept>(CANOPY_DISPATCHER_MAX_RUNTIMES);
    const std::string one_ = bytes_of(CANOPY_TEST_INNER_1), two_ = bytes_of(CANOPY_TEST_INNER_2);
    std::uint64_t expected_ = 0;
};

TEST_F(DispatcherRecords, TheSameBytesHaveTheirIdInTheNextProcessToo) {
    std::uint64_t setting = 7, id = 0;
    {
        const Copy first;
        id = load(first, one_);
        EXPECT_EQ(call(first, CANOPY_DISPATCHER_INIT, id, &setting), 0u);
        EXPECT_EQ(answer(first, id, InnerWork::count), 1u);
    }
    const Copy second;
    const std::string same = one_;  // the same bytes at another address
    EXPECT_EQ(load(second, same), id);
    EXPECT_EQ(record(id).loads, 2u);
    EXPECT_EQ(answer(second, id, InnerWork::settings), 701u);
    EXPECT_EQ(answer(second, id, InnerWork::count), 1u) << "its variables begin anew";
    for (int i = 0; i < 2; ++i) EXPECT_EQ(call(second, CANOPY_DISPATCHER_UNLOAD, id), 0u);
    EXPECT_EQ(record(id).runtime, 0u);
    EXPECT_EQ(call(second, CANOPY_DISPATCHER_UNLOAD, id), CANOPY_DISPATCHER_UNKNOWN_RUNTIME);
}

TEST_F(DispatcherRecords, WhatWasUnloadedBehindTheEndOfItsProcessLeavesNoTrace) {
    std::uint64_t setting = 7, id = 0;
    {
        const Copy first;
        id = load(first, one_);
        EXPECT_EQ(call(first, CANOPY_DISPATCHER_INIT, id, &setting), 0u);
    }
    const Copy second;
    EXPECT_EQ(call(second, CANOPY_DISPATCHER_UNLOAD, id), 0u);
    for (const CanopyDispatcherKept& one : records_) EXPECT_EQ(one.runtime + one.image + one.loads, 0u);
    const std::uint64_t again = load(second, one_);
    EXPECT_NE(again, id);
    EXPECT_EQ(answer(second, again, InnerWork::settings), 0u) << "it has what init gave to the old one";
    EXPECT_EQ(call(second, CANOPY_DISPATCHER_INIT, id, &setting), CANOPY_DISPATCHER_UNKNOWN_RUNTIME);
}

TEST_F(DispatcherRecords, NewRuntimesTakeNoSlotOfALostOne) {
    // All slots but one are taken by ids of a process that has ended.
    constexpr std::uint64_t free_slot = 5, slots = CANOPY_DISPATCHER_MAX_RUNTIMES;
    for (std::uint64_t slot = 0; slot < slots; ++slot)
        if (slot != free_slot)
            records_[slot] = {7 * slots + slot, reinterpret_cast<std::uintptr_t>(one_.data()), one_.size() - 1, 0, 1};
    records_[9].length = one_.size();
    const Copy dispatcher;
    const std::uint64_t id = load(dispatcher, two_);
    EXPECT_EQ(id % slots, free_slot);
    EXPECT_EQ(answer(dispatcher, id, InnerWork::add, 1), 12u);
    EXPECT_EQ(answer(dispatcher, 7 * slots + 9, InnerWork::add, 1), 11u) << "the lost one has its slot still";
    expected_ = CANOPY_DISPATCHER_FULL;
    load(dispatcher, bytes_of(CANOPY_TEST_INNER_3));
}

TEST_F(DispatcherRecords, AnInitThatFailsInTheNextProcessIsTold) {
    std::uint64_t setting = 7, id = 0;
    {
        const Copy first;
        id = load(first, one_);
        EXPECT_EQ(call(first, CANOPY_DISPATCHER_INIT, id, &setting), 0u);
    }
    setting = 999;  // the arguments are kept by address, so the runtime sees this value next time
    const Copy second;
    expected_ = 77;
    load(second, one_);
    EXPECT_EQ(call(second, CANOPY_DISPATCHER_UNLOAD, id), 0u);
    expected_ = 0;
    EXPECT_NE(load(second, one_), id);
}

}  // namespace
}  // namespace conformance
