// SPDX-License-Identifier: Apache-2.0
// The host side: loads an inner runtime, gives it tasks from one thread, replaces it by its second version from
// another, and checks that every task was done exactly once, first by the old version, then by the new one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "canopy/dispatcher.h"
#include "control.h"

namespace {

constexpr std::uint32_t tasks = 10000;

void check(aclError code, const char* call) {
    if (code == ACL_SUCCESS) return;
    const char* text = aclGetRecentErrMsg();
    std::fprintf(stderr, "%s failed with %d\n%s\n", call, code, text ? text : "");
    std::exit(1);
}
void check(const canopy::Dispatcher::Answer& answer, const char* call) {
    if (answer) return;
    std::fprintf(stderr, "%s failed with %d\n%s\n", call, answer.code, answer.text.c_str());
    std::exit(1);
}
#define CHECK(call) check((call), #call)

}  // namespace

int main() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    aclrtStream stream = nullptr;
    CHECK(aclrtCreateStream(&stream));
    std::uint32_t* results = nullptr;
    constexpr std::size_t bytes = tasks * sizeof(std::uint32_t);
    CHECK(aclrtMalloc(reinterpret_cast<void**>(&results), bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(results, bytes, 0, bytes));

    // Each chip has its platform's folder: the dispatcher and the runtimes, compiled together.
    const std::string chip = aclrtGetSocName();
    const std::string folder = chip.find("Ascend950") == 0 ? "inner_runtimes/a5/" : "inner_runtimes/a2a3/";
    const Settings settings = {3};
    canopy::Dispatcher dispatcher;
    std::uint64_t runtime = 0;
    CHECK(dispatcher.open(folder + "libcanopy_dispatcher.so"));
    CHECK(dispatcher.load(folder + "libcontrol_1.so", runtime));
    CHECK(dispatcher.init(runtime, &settings, sizeof settings));

    std::atomic<std::uint32_t> launched{0};
    std::thread replace([&] {
        CHECK(aclrtSetDevice(0));
        while (launched < tasks / 4) std::this_thread::yield();
        CHECK(dispatcher.swap(runtime, folder + "libcontrol_2.so", &settings, sizeof settings));
    });
    for (std::uint32_t i = 0; i < tasks; ++i) {
        const Task task = {results + i, i};
        CHECK(dispatcher.run(stream, runtime, 1, &task, sizeof task));
        // The first quarter is done before the replacement begins, the last one comes behind it; the tasks between are
        // launched while it happens.
        if (i + 1 == tasks / 4) CHECK(aclrtSynchronizeStream(stream));
        launched = i + 1;
        if (i + 1 == tasks * 3 / 4) replace.join();
    }
    CHECK(aclrtSynchronizeStream(stream));

    std::vector<std::uint32_t> seen(tasks);
    CHECK(aclrtMemcpy(seen.data(), bytes, results, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    std::uint32_t wrong = 0, by_version[3] = {};
    for (std::uint32_t i = 0; i < tasks; ++i) {
        const std::uint32_t version = seen[i] % 10;
        const bool right = seen[i] / 10 == settings.scale * i && (version == 1 || version == 2) &&
                           (version == 2 || by_version[2] == 0);
        wrong += right ? 0 : 1;
        if (right) ++by_version[version];
    }
    // Both had their share, or nothing was replaced while it ran.
    if (by_version[1] < tasks / 4 || by_version[2] < tasks / 4) ++wrong;
    std::printf("  %u tasks by version 1, then %u by version 2\n", by_version[1], by_version[2]);
    std::printf("inner_runtime on %s: %u elements, %u wrong\n", chip.c_str(), tasks, wrong);

    CHECK(dispatcher.unload(runtime));
    CHECK(dispatcher.close());
    CHECK(aclrtFree(results));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return wrong == 0 ? 0 : 1;
}
