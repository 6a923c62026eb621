// SPDX-License-Identifier: Apache-2.0
// Notifies and events between processes, when one of them is killed.
#include "survivor.h"

namespace {

constexpr int ended_code = 507010, unknown_code = 107017;

// 0 or "a process has ended"; 0 if the operation had ended.
void expect_outcome(int code, bool ended) {
    EXPECT_TRUE(code == 0 || (!ended && code == ended_code)) << code << ", ended " << ended;
}

// A notify of this process.
class OwnNotify : public Survivor {
protected:
    void SetUp() override {
        Survivor::SetUp();
        ASSERT_ACL_OK(aclrtCreateNotify(&notify_, 0));
        char key[65] = {};
        ASSERT_ACL_OK(aclrtNotifyGetExportKey(notify_, key, sizeof key, 2));
        key_ = key;
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
        Survivor::TearDown();
    }
    // A wait that has begun before this process heard of the death may end with it.
    void use() {
        EXPECT_TRUE(eventually([&] { return aclrtNotifyBatchReset(&notify_, 1) == 0; }));
        int code = 0;
        for (int attempt = 0; attempt < 2; ++attempt) {
            EXPECT_ACL_OK(aclrtRecordNotify(notify_, stream_));
            EXPECT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
            code = aclrtSynchronizeStream(stream_);
            if (code == 0) break;
            EXPECT_EQ(code, ended_code);
            const std::string text = conformance::recent_error();
            EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;  // told once
        }
        EXPECT_EQ(code, 0);
    }
    aclrtNotify notify_ = nullptr;
    std::string key_;
};

TEST_F(OwnNotify, SurvivesImports) {
    survive("import_notify", {.before = [this](const Victim&) { return key_; }, .after = [this](bool) { use(); }});
}

TEST_F(OwnNotify, SurvivesRecords) {
    survive("record_notify",
            {.before = [this](const Victim&) { return key_; },
             .ready = [this](const std::string&) { EXPECT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0)); },
             .after =
                 [this](bool ended) {
                     expect_outcome(aclrtSynchronizeStream(stream_), ended);
                     use();
                 }});
}

TEST_F(OwnNotify, SurvivesWaits) {
    survive("wait_notify", {.before =
                                [this](const Victim&) {
                                    EXPECT_ACL_OK(aclrtRecordNotify(notify_, stream_));
                                    EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
                                    return key_;
                                },
                            .after = [this](bool) { use(); }});
}

// A notify of the other process. This one waits for it.
class ForeignNotify : public Survivor {
protected:
    Case one(bool recorded) {
        return {.before = [](const Victim&) { return std::string(); },
                .ready =
                    [this](const std::string& key) {
                        key_ = key;
                        EXPECT_ACL_OK(aclrtNotifyImportByKey(&notify_, key.c_str(), 0));
                        EXPECT_ACL_OK(aclrtWaitAndResetNotify(notify_, stream_, 0));
                    },
                .after =
                    [this, recorded](bool ended) {
                        const int code = aclrtSynchronizeStream(stream_);
                        if (recorded)
                            expect_outcome(code, ended);
                        else
                            EXPECT_EQ(code, ended_code);
                        EXPECT_TRUE(eventually([&] { return aclrtRecordNotify(notify_, stream_) == ended_code; }));
                        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
                        EXPECT_ACL_OK(aclrtDestroyNotify(notify_));
                        EXPECT_EQ(aclrtNotifyImportByKey(&notify_, key_.c_str(), 0), unknown_code);
                    }};
    }
    aclrtNotify notify_ = nullptr;
    std::string key_;
};

TEST_F(ForeignNotify, SurvivesExports) { survive("export_notify", one(false)); }
TEST_F(ForeignNotify, SurvivesRecords) { survive("record_own_notify", one(true)); }

class OwnEvent : public Survivor {
protected:
    void SetUp() override {
        Survivor::SetUp();
        ASSERT_ACL_OK(aclrtCreateEventExWithFlag(&event_, ACL_EVENT_IPC));
        aclrtIpcEventHandle handle{};
        ASSERT_ACL_OK(aclrtIpcGetEventHandle(event_, &handle));
        handle_ = hex(handle);
    }
    void TearDown() override {
        EXPECT_ACL_OK(aclrtDestroyEvent(event_));
        Survivor::TearDown();
    }
    // A record is a new start, whatever happened to others.
    void use() {
        EXPECT_ACL_OK(aclrtRecordEvent(event_, stream_));
        EXPECT_ACL_OK(aclrtStreamWaitEvent(stream_, event_));
        EXPECT_ACL_OK(aclrtSynchronizeEvent(event_));
        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
    }
    // Waits for what the other process has recorded, if it has.
    void wait(bool ended) {
        int code = aclrtStreamWaitEvent(stream_, event_);
        if (code == 0) code = aclrtSynchronizeStream(stream_);
        expect_outcome(code, ended);
        expect_outcome(aclrtSynchronizeEvent(event_), ended);
        use();
    }
    aclrtEvent event_ = nullptr;
    std::string handle_;
};

TEST_F(OwnEvent, SurvivesOpening) {
    survive("open_event", {.before = [this](const Victim&) { return handle_; }, .after = [this](bool) { use(); }});
}
TEST_F(OwnEvent, SurvivesRecords) {
    survive("record_event",
            {.before = [this](const Victim&) { return handle_; }, .after = [this](bool ended) { wait(ended); }});
}
TEST_F(OwnEvent, SurvivesWaits) {
    survive("wait_event", {.before =
                               [this](const Victim&) {
                                   EXPECT_ACL_OK(aclrtRecordEvent(event_, stream_));
                                   return handle_;
                               },
                           .after = [this](bool) { use(); }});
}

class ForeignEvent : public Survivor {
protected:
    Case one(bool reached) {
        return {.before = [](const Victim&) { return std::string(); },
                .ready =
                    [this, reached](const std::string& text) {
                        for (std::size_t i = 0; i < sizeof handle_.reserved; ++i)
                            handle_.reserved[i] =
                                static_cast<char>(std::strtoul(text.substr(2 * i, 2).c_str(), nullptr, 16));
                        EXPECT_ACL_OK(aclrtIpcOpenEventHandle(handle_, &event_));
                        if (!reached) EXPECT_ACL_OK(aclrtStreamWaitEvent(stream_, event_));
                    },
                .after =
                    [this, reached](bool ended) {
                        if (reached) {
                            int code = aclrtStreamWaitEvent(stream_, event_);
                            if (code == 0) code = aclrtSynchronizeStream(stream_);
                            expect_outcome(code, ended);
                        } else {
                            EXPECT_EQ(aclrtSynchronizeStream(stream_), ended_code);
                            EXPECT_EQ(aclrtSynchronizeEvent(event_), ended_code);
                        }
                        EXPECT_TRUE(eventually([&] { return aclrtRecordEvent(event_, stream_) == ended_code; }));
                        EXPECT_ACL_OK(aclrtSynchronizeStream(stream_));
                        EXPECT_ACL_OK(aclrtDestroyEvent(event_));
                        EXPECT_EQ(aclrtIpcOpenEventHandle(handle_, &event_), unknown_code);
                    }};
    }
    aclrtEvent event_ = nullptr;
    aclrtIpcEventHandle handle_{};
};

TEST_F(ForeignEvent, SurvivesExports) { survive("export_event", one(false)); }
TEST_F(ForeignEvent, SurvivesRecords) { survive("record_own_event", one(true)); }

}  // namespace
