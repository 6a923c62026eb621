// SPDX-License-Identifier: Apache-2.0
// Two streams synchronise by host waits, by an event and by a notify, and waits time out before the work ends.
#include "check.h"

namespace {

class Meeting {
public:
    Meeting() : word_(programs::to_device(std::vector<std::uint32_t>{1})) {
        CHECK(aclrtCreateEvent(&event_));
        CHECK(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT));
    }
    ~Meeting() {
        CHECK(aclrtDestroyNotify(notify_));
        CHECK(aclrtDestroyEvent(event_));
        CHECK(aclrtDestroyStreamForce(slow_));
        CHECK(aclrtDestroyStreamForce(quick_));
        CHECK(aclrtFree(word_));
    }
    void by_synchronisation();
    void by_event();
    void by_notify();

private:
    void start_slow_work() {
        running_.set(0);
        told_.set(0);
        CHECK(kernels_.launch("run_until_told", 1, slow_, running_.on_device(), told_.on_device()));
        CHECK(kernels_.launch("add_one", 1, slow_, word_));
        running_.wait();
    }
    void double_on_quick() { CHECK(kernels_.launch("times_two", 1, quick_, word_)); }
    void expect_and_set(std::uint32_t expected, std::uint32_t next) {
        REQUIRE(programs::to_host(word_, 1)[0] == expected);
        CHECK(aclrtMemcpy(word_, 4, &next, 4, ACL_MEMCPY_HOST_TO_DEVICE));
    }

    programs::Kernels kernels_;
    programs::Signal running_, told_;
    aclrtStream slow_ = programs::new_stream(), quick_ = programs::new_stream();
    std::uint32_t* word_;
    aclrtEvent event_ = nullptr;
    aclrtNotify notify_ = nullptr;
};

void Meeting::by_synchronisation() {
    start_slow_work();
    CHECK_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(slow_, 10));
    told_.set();
    CHECK(aclrtSynchronizeStream(slow_));
    double_on_quick();
    CHECK(aclrtSynchronizeStream(quick_));
    expect_and_set(4, 2);
}

void Meeting::by_event() {
    start_slow_work();
    CHECK(aclrtRecordEvent(event_, slow_));
    CHECK_CODE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(event_, 10));
    CHECK(aclrtStreamWaitEvent(quick_, event_));
    CHECK(aclrtResetEvent(event_, quick_));
    double_on_quick();
    told_.set();
    CHECK(aclrtSynchronizeStream(quick_));
    expect_and_set(6, 3);
    CHECK(aclrtRecordEvent(event_, slow_));
    CHECK(aclrtSynchronizeEvent(event_));
}

void Meeting::by_notify() {
    CHECK(aclrtWaitAndResetNotify(notify_, quick_, 0));  // the wait may be queued before the record
    double_on_quick();
    start_slow_work();
    CHECK(aclrtRecordNotify(notify_, slow_));
    CHECK_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(quick_, 10));
    told_.set();
    CHECK(aclrtSynchronizeStreamWithTimeout(quick_, -1));
    CHECK(aclrtSynchronizeStream(slow_));
    expect_and_set(8, 0);
}

}  // namespace

int main() {
    programs::Device device;
    Meeting meeting;
    meeting.by_synchronisation();
    meeting.by_event();
    meeting.by_notify();
    std::printf("streams_that_meet: 4 6 8\n");
}
