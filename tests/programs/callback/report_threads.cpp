// SPDX-License-Identifier: Apache-2.0
// One stream and two threads of the program: callbacks run on the one that processes reports, host functions on the
// other.
#include <pthread.h>

#include <atomic>

#include "check.h"

namespace {

// A thread that loops in `process` until told to end.
class Taker {
public:
    Taker(aclError (*process)(std::int32_t), aclrtContext context)
        : thread_([this, process, context] {
              CHECK(aclrtSetCurrentContext(context));
              while (!end_.load()) {
                  const aclError code = process(10);
                  // These codes are expected before it is subscribed and while there is nothing to do.
                  REQUIRE(code == ACL_SUCCESS || code == ACL_ERROR_RT_THREAD_SUBSCRIBE ||
                          code == ACL_ERROR_RT_REPORT_TIMEOUT);
                  std::this_thread::yield();
              }
          }),
          number_(static_cast<std::uint64_t>(thread_.native_handle())) {}
    ~Taker() { finish(); }
    Taker(const Taker&) = delete;
    Taker& operator=(const Taker&) = delete;

    std::uint64_t number() const { return number_; }
    void finish() {
        end_.store(true);
        if (thread_.joinable()) thread_.join();
    }

private:
    std::atomic<bool> end_{false};
    std::thread thread_;
    std::uint64_t number_;
};

struct Calls {
    std::uint64_t expected_thread = 0;
    std::atomic<int> count{0}, elsewhere{0};
};

void count_call(void* argument) {
    auto* calls = static_cast<Calls*>(argument);
    calls->count.fetch_add(1);
    if (static_cast<std::uint64_t>(pthread_self()) != calls->expected_thread) calls->elsewhere.fetch_add(1);
}

constexpr int rounds = 20;

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    auto* word = programs::to_device(std::vector<std::uint32_t>{0});
    Taker reports(aclrtProcessReport, context), functions(aclrtProcessHostFunc, context);
    Calls callbacks, host_functions;
    callbacks.expected_thread = reports.number();
    host_functions.expected_thread = functions.number();
    CHECK_CODE(ACL_ERROR_RT_STREAM_NO_CB_REG, aclrtLaunchCallback(count_call, &callbacks, ACL_CALLBACK_BLOCK, stream));
    CHECK(aclrtSubscribeReport(reports.number(), stream));
    CHECK(aclrtSubscribeHostFunc(functions.number(), stream));
    {
        programs::Kernels kernels;
        for (int round = 0; round < rounds; ++round) {
            CHECK(kernels.launch("add_one", 1, stream, word));
            CHECK(aclrtLaunchCallback(count_call, &callbacks, ACL_CALLBACK_BLOCK, stream));
            CHECK(aclrtLaunchHostFunc(stream, count_call, &host_functions));
        }
        CHECK(aclrtSynchronizeStream(stream));
    }
    REQUIRE(callbacks.count.load() == rounds && callbacks.elsewhere.load() == 0);
    REQUIRE(host_functions.count.load() == rounds && host_functions.elsewhere.load() == 0);
    REQUIRE(programs::to_host(word, 1)[0] == rounds);
    CHECK(aclrtUnSubscribeReport(reports.number(), stream));
    functions.finish();
    CHECK(aclrtUnSubscribeHostFunc(host_functions.expected_thread, stream));  // works after its thread has ended too
    reports.finish();
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtDestroyContext(context));
    std::printf("report_threads: %d callbacks, %d host functions\n", rounds, rounds);
}
