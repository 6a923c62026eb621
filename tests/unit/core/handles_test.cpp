// SPDX-License-Identifier: Apache-2.0
// Handle tables: which object a handle names, when the handle becomes invalid, and races between the two.
#include "core/base/handles.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace canopy {
namespace {

struct Object {
    std::atomic<std::uint64_t> value{0};  // the handle, while the object lives
    std::atomic<int> recycled{0};
    void recycle() noexcept {
        value.store(0);
        recycled.fetch_add(1);
    }
};

Handle open(HandleTable<Object>& table) {
    return table.open([](Object& object, Handle self) { object.value.store(self); });
}

TEST(Handles, NameTheObjectTheyWereMadeFor) {
    HandleTable<Object> table(HandleKind::stream);
    const Handle first = open(table), second = open(table);
    EXPECT_NE(first, second);
    EXPECT_EQ(kind_of(first), HandleKind::stream);
    EXPECT_EQ(table.pin(first)->value.load(), first);
    EXPECT_EQ(table.pin(second)->value.load(), second);
    EXPECT_EQ(table.live(), 2u);
}

TEST(Handles, EndWithClose) {
    HandleTable<Object> table(HandleKind::event);
    const Handle handle = open(table);
    EXPECT_TRUE(table.alive(handle));
    EXPECT_TRUE(table.close(handle));
    EXPECT_FALSE(table.alive(handle));
    EXPECT_FALSE(table.pin(handle));
    EXPECT_FALSE(table.close(handle));
    EXPECT_EQ(table.live(), 0u);
    EXPECT_NE(table.peek(handle), nullptr) << "the slot stays";
}

TEST(Handles, DoNotComeBackWhenTheirSlotIsUsedAgain) {
    HandleTable<Object> table(HandleKind::event);
    std::set<Handle> seen;
    for (int i = 0; i < 1000; ++i) {
        const Handle handle = open(table);
        EXPECT_TRUE(seen.insert(handle).second);
        for (Handle old : {*seen.begin(), *seen.rbegin()})
            if (old != handle) EXPECT_FALSE(table.alive(old));
        EXPECT_TRUE(table.close(handle));
    }
}

TEST(Handles, NumbersThatWereNeverGivenOutAreRefused) {
    HandleTable<Object> table(HandleKind::notify);
    const Handle handle = open(table);
    for (Handle wrong : {Handle{0}, ~Handle{0}, handle + 1, handle ^ (Handle{1} << 56), handle + (Handle{1} << 32),
                         Handle{0x7FFF00001234}, handle & 0xFFFFFFFF}) {
        EXPECT_FALSE(table.alive(wrong));
        EXPECT_FALSE(table.pin(wrong));
        EXPECT_FALSE(table.close(wrong));
    }
    EXPECT_TRUE(table.alive(handle));
}

TEST(Handles, ObjectIsRecycledWhenTheLastPinGoes) {
    HandleTable<Object> table(HandleKind::stream);
    const Handle handle = open(table);
    Object* object = table.peek(handle);
    {
        Pin<Object> first = table.pin(handle);
        Pin<Object> second = table.pin(handle);
        EXPECT_TRUE(table.close(handle));
        EXPECT_EQ(object->recycled.load(), 0);
        Pin<Object> moved = std::move(first);
        EXPECT_EQ(object->recycled.load(), 0);
        EXPECT_NE(open(table), handle);
    }
    EXPECT_EQ(object->recycled.load(), 1);
}

TEST(Handles, TableWithALimitFillsUp) {
    HandleTable<Object> table(HandleKind::stream, 300);
    std::vector<Handle> handles;
    for (int i = 0; i < 300; ++i) handles.push_back(open(table));
    EXPECT_EQ(open(table), 0u);
    EXPECT_TRUE(table.close(handles[7]));
    EXPECT_NE(open(table), 0u);
    EXPECT_EQ(open(table), 0u);
}

TEST(Handles, VisitorSeesEveryLiveObject) {
    HandleTable<Object> table(HandleKind::stream);
    std::set<Handle> expected;
    for (int i = 0; i < 600; ++i) {
        const Handle handle = open(table);
        if (i % 3)
            expected.insert(handle);
        else
            table.close(handle);
    }
    std::set<Handle> found;
    table.for_each([&](Pin<Object> object) { found.insert(object->value.load()); });
    EXPECT_EQ(found, expected);
}

// Threads open, pin and close the same few slots. A pinned object is always the one its handle names, exactly one
// thread closes each handle, and in the end every object has been recycled.
TEST(Handles, PinsClosesAndOpensRace) {
    HandleTable<Object> table(HandleKind::event);
    constexpr int slots = 4, threads = 6, rounds = 20000;
    std::atomic<Handle> current[slots];
    for (auto& handle : current) handle.store(open(table));
    std::atomic<int> opened{slots}, closed{0}, mismatches{0};
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
        running.emplace_back([&, t] {
            std::uint32_t random = 12345u + static_cast<std::uint32_t>(t);
            for (int i = 0; i < rounds; ++i) {
                random = random * 1664525u + 1013904223u;
                std::atomic<Handle>& slot = current[(random >> 8) % slots];
                const Handle handle = slot.load();
                if ((random >> 20) % 8 == 0) {
                    if (table.close(handle)) {
                        closed.fetch_add(1);
                        slot.store(open(table));
                        opened.fetch_add(1);
                    }
                } else if (Pin<Object> pin = table.pin(handle)) {
                    if (pin->value.load() != handle) mismatches.fetch_add(1);
                }
            }
        });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(mismatches.load(), 0);
    EXPECT_EQ(table.live(), static_cast<std::uint32_t>(opened.load() - closed.load()));
    table.for_each([&](Pin<Object> object) { EXPECT_TRUE(table.close(object->value.load())); });
    EXPECT_EQ(table.live(), 0u);
}

}  // namespace
}  // namespace canopy
