// SPDX-License-Identifier: Apache-2.0
// Queues between processes, when one of them is killed. Items are numbered: none is lost or comes twice, but for the
// one that the dead process had taken out.
#include <cstring>

#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"
#include "survivor.h"

namespace {

constexpr std::uint32_t all_rights = 7, depth = 8;
constexpr std::uint64_t first_of_victim = 1000;
constexpr std::size_t large_item = 128 << 10;
constexpr int empty_code = 207013, full_code = 207014, unknown_queue = 100032;
using Numbers = std::vector<std::uint64_t>;

std::uint32_t make_queue() {
    acltdtQueueAttr* attr = acltdtCreateQueueAttr();
    std::uint32_t queue = 0;
    EXPECT_ACL_OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    EXPECT_ACL_OK(acltdtCreateQueue(attr, &queue));
    EXPECT_ACL_OK(acltdtDestroyQueueAttr(attr));
    return queue;
}

enum class Form { small, large, buffer };

int put(std::uint32_t queue, std::uint64_t value, Form form = Form::small, int timeout = 0) {
    if (form == Form::buffer) {
        acltdtBuf buffer = nullptr;
        void* data = nullptr;
        std::size_t capacity = 0;
        EXPECT_ACL_OK(acltdtAllocBuf(large_item, ACL_TDT_NORMAL_MEM, &buffer));
        EXPECT_ACL_OK(acltdtGetBufData(buffer, &data, &capacity));
        for (std::size_t at = 0; at < large_item; at += 4096)
            std::memcpy(static_cast<char*>(data) + at, &value, sizeof value);
        EXPECT_ACL_OK(acltdtSetBufDataLen(buffer, large_item));
        const int code = acltdtEnqueue(queue, buffer, timeout);
        if (code != 0) EXPECT_ACL_OK(acltdtFreeBuf(buffer));
        return code;
    }
    const Numbers words(form == Form::small ? 1 : large_item / sizeof value, value);
    return acltdtEnqueueData(queue, words.data(), words.size() * sizeof value, nullptr, 0, timeout, 0);
}
int take(std::uint32_t queue, std::uint64_t& value, int timeout = 0) {
    acltdtBuf buffer = nullptr;
    const int code = acltdtDequeue(queue, &buffer, timeout);
    if (code != 0) return code;
    void* data = nullptr;
    std::size_t capacity = 0;
    EXPECT_ACL_OK(acltdtGetBufData(buffer, &data, &capacity));
    if (data == nullptr) return -1;
    std::memcpy(&value, data, sizeof value);
    // Whatever arrives is whole.
    for (std::size_t at = 0; at + sizeof value <= capacity && capacity == large_item; at += 4096)
        EXPECT_EQ(std::memcmp(static_cast<char*>(data) + at, &value, sizeof value), 0);
    EXPECT_ACL_OK(acltdtFreeBuf(buffer));
    return 0;
}
// What is in the queue, then it is empty.
Numbers rest(std::uint32_t queue) {
    Numbers all;
    std::uint64_t value = 0;
    int code = 0;
    while ((code = take(queue, value)) == 0) all.push_back(value);
    EXPECT_EQ(code, empty_code);
    return all;
}
void expect_consecutive(const Numbers& numbers) {
    for (std::size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1) << "at item " << i;
}

// Queues of this process.
class OwnQueue : public Survivor {
protected:
    void SetUp() override {
        Survivor::SetUp();
        source_ = make_queue();
        target_ = make_queue();
    }
    void TearDown() override {
        EXPECT_TRUE(eventually([this] { return acltdtDestroyQueue(source_) == 0; }, std::chrono::seconds(5)));
        EXPECT_TRUE(eventually([this] { return acltdtDestroyQueue(target_) == 0; }, std::chrono::seconds(5)));
        Survivor::TearDown();
    }
    std::string granted(const Victim& victim, std::uint64_t number) {
        for (const std::uint32_t queue : {source_, target_})
            EXPECT_ACL_OK(acltdtGrantQueue(queue, victim.process(), all_rights, 100));
        return std::to_string(source_) + " " + std::to_string(number) + " ";
    }
    std::string granted_both(const Victim& victim) {
        granted(victim, 0);
        return std::to_string(source_) + " " + std::to_string(target_) + " ";
    }
    void feed(std::uint32_t queue, Form form, int timeout) {
        const int code = put(queue, next_, form, timeout);
        EXPECT_TRUE(code == 0 || code == full_code) << code;
        if (code == 0) ++next_;
    }
    // The other process puts items in. One that says that it has, has.
    void survive_writes(const std::string& operation) {
        survive(operation, {.before =
                                [this](const Victim& victim) {
                                    EXPECT_EQ(put(source_, 1), 0);
                                    EXPECT_EQ(put(source_, 2, Form::buffer), 0);
                                    seen_.clear();
                                    return granted(victim, first_of_victim);
                                },
                            .after =
                                [this](bool ended) {
                                    EXPECT_EQ(put(source_, 3, Form::large), 0);
                                    const Numbers found = rest(source_);
                                    EXPECT_TRUE(found == Numbers({1, 2, first_of_victim, 3}) ||
                                                (!ended && found == Numbers({1, 2, 3})))
                                        << testing::PrintToString(found);
                                },
                            .meanwhile =
                                [this] {
                                    repeat_some_time([this] {
                                        std::uint64_t value = 0;
                                        const int code = take(source_, value, 1);
                                        EXPECT_TRUE(code == 0 || code == empty_code) << code;
                                        if (code == 0) seen_.push_back(value);
                                    });
                                },
                            .afterwards =
                                [this] {
                                    for (const std::uint64_t value : rest(source_)) seen_.push_back(value);
                                    ASSERT_GE(seen_.size(), 2u);
                                    EXPECT_EQ(seen_[0], 1u);
                                    EXPECT_EQ(seen_[1], 2u);
                                    for (std::size_t i = 2; i < seen_.size(); ++i)
                                        ASSERT_EQ(seen_[i], first_of_victim + i - 2);
                                }});
    }
    // The other process takes items out: at most the first one is gone with it.
    void survive_reads(const std::string& operation, Form form) {
        survive(operation,
                {.before =
                     [this, form](const Victim& victim) {
                         for (next_ = 1; next_ <= 4; ++next_) EXPECT_EQ(put(source_, next_, form), 0);
                         return granted(victim, 0);
                     },
                 .after =
                     [this](bool ended) {
                         const Numbers found = rest(source_);
                         EXPECT_TRUE(found == Numbers({2, 3, 4}) || (!ended && found == Numbers({1, 2, 3, 4})))
                             << testing::PrintToString(found);
                         EXPECT_EQ(put(source_, 5, Form::buffer), 0);
                         EXPECT_EQ(rest(source_), Numbers{5});
                     },
                 .meanwhile = [this, form] { repeat_some_time([this, form] { feed(source_, form, 1); }); },
                 .afterwards =
                     [this] {
                         const Numbers found = rest(source_);
                         expect_consecutive(found);
                         if (!found.empty()) EXPECT_EQ(found.back(), next_ - 1);
                     }});
    }
    // Items go from one queue to the other, by the other process. Those that arrive are followed by those that have not
    // left; `owned`: it may have taken one out for itself.
    void survive_passing(const std::string& operation, bool owned) {
        const auto check = [this, owned](bool ended) {
            Numbers all = seen_;
            for (const std::uint64_t value : rest(target_)) all.push_back(value);
            const std::size_t arrived = all.size();
            for (const std::uint64_t value : rest(source_)) all.push_back(value);
            for (std::size_t i = 0, expected = 1; i < all.size(); ++i, ++expected) {
                if (owned && i == arrived && all[i] == expected + 1) ++expected;
                ASSERT_EQ(all[i], expected) << testing::PrintToString(all) << ", " << arrived << " arrived";
            }
            ASSERT_TRUE(all.empty() ? owned && next_ <= 2
                                    : all.back() == next_ - 1 || (owned && all.back() == next_ - 2))
                << testing::PrintToString(all);
            if (ended && owned) EXPECT_EQ(arrived, 1u);
        };
        survive(operation, {.before =
                                [this](const Victim& victim) {
                                    seen_.clear();
                                    for (next_ = 1; next_ <= 3; ++next_)
                                        EXPECT_EQ(put(source_, next_, next_ % 2 ? Form::buffer : Form::small), 0);
                                    return granted_both(victim);
                                },
                            .after = check,
                            .meanwhile =
                                [this] {
                                    repeat_some_time([this] {
                                        feed(source_, next_ % 2 ? Form::buffer : Form::small, 0);
                                        std::uint64_t value = 0;
                                        const int code = take(target_, value, 0);
                                        EXPECT_TRUE(code == 0 || code == empty_code) << code;
                                        if (code == 0) seen_.push_back(value);
                                    });
                                },
                            .afterwards = [check] { check(false); }});
    }
    std::uint32_t source_ = 0, target_ = 0;
    std::uint64_t next_ = 0;
    Numbers seen_;
};

TEST_F(OwnQueue, SurvivesAttaching) {
    survive("attach", {.before = [this](const Victim& victim) { return granted(victim, 0); },
                       .after =
                           [this](bool) {
                               EXPECT_EQ(put(source_, 4, Form::buffer), 0);
                               EXPECT_EQ(rest(source_), Numbers{4});
                           }});
}
TEST_F(OwnQueue, SurvivesSmallItems) { survive_writes("put_small"); }
TEST_F(OwnQueue, SurvivesLargeItems) { survive_writes("put_large"); }
TEST_F(OwnQueue, SurvivesBuffers) { survive_writes("put_buffer"); }
TEST_F(OwnQueue, SurvivesChains) { survive_writes("put_chain"); }
TEST_F(OwnQueue, SurvivesReadersOfSmallItems) { survive_reads("take_small", Form::small); }
TEST_F(OwnQueue, SurvivesReadersOfLargeItems) { survive_reads("take_large", Form::large); }
TEST_F(OwnQueue, SurvivesReadersOfBuffers) { survive_reads("take_buffer", Form::buffer); }
TEST_F(OwnQueue, SurvivesReferences) { survive_passing("pass_reference", true); }
TEST_F(OwnQueue, SurvivesBindingOfRoutes) { survive_passing("bind", false); }
TEST_F(OwnQueue, SurvivesUnbindingOfRoutes) { survive_passing("unbind", false); }

// A queue of the other process with the items 1, 2.
class ForeignQueue : public Survivor {
protected:
    Case one(bool destroyed) {
        const auto check = [this, destroyed](bool ended) {
            std::uint64_t value = 0;
            int code = take(queue_, value, -1);
            EXPECT_TRUE(code == (ended && destroyed ? unknown_queue : 0) || (destroyed && code == unknown_queue))
                << code;
            if (code == 0) EXPECT_EQ(value, 2u);
            EXPECT_EQ(take(queue_, value, -1), unknown_queue);
            EXPECT_TRUE(eventually([&] { return put(queue_, 3, Form::buffer) == unknown_queue; }));
            EXPECT_EQ(take(queue_, value), unknown_queue);
        };
        return {.before = [](const Victim&) { return std::to_string(getpid()) + " "; },
                .ready =
                    [this](const std::string& number) {
                        queue_ = static_cast<std::uint32_t>(std::stoul(number));
                        std::uint32_t rights = 0;
                        std::uint64_t value = 0;
                        EXPECT_ACL_OK(acltdtAttachQueue(queue_, 10000, &rights));
                        EXPECT_ACL_OK(take(queue_, value));
                        EXPECT_EQ(value, 1u);
                    },
                .after = check,
                .afterwards = [check] { check(false); }};
    }
    std::uint32_t queue_ = 0;
};

TEST_F(ForeignQueue, SurvivesGrants) { survive("grant", one(false)); }
TEST_F(ForeignQueue, SurvivesItsEnd) { survive("destroy", one(true)); }

using ChannelSurvivor = Survivor;
TEST_F(ChannelSurvivor, IsNotTouched) {
    survive("channel", {.before = [](const Victim&) { return std::string(); },
                        .after =
                            [](bool) {
                                acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "survive", 2);
                                ASSERT_NE(channel, nullptr);
                                EXPECT_ACL_OK(acltdtDestroyChannel(channel));
                            }});
}

}  // namespace
