// SPDX-License-Identifier: Apache-2.0
// A pipeline of three CPU kernels in two processes, connected by queues:
//
//     process A:  texts -> Decode -> Scale
//     process B:                           -> Sum -> the host, which compares
//
// B starts A, gives it the right to put into one of its queues, and tells it the queue's number.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../device.h"
#include "acl/acl.h"
#include "acl/acl_tdt_queue.h"
#include "stages.h"

namespace {

constexpr int items = 1000;
constexpr int numbersPerItem = 200;
constexpr float factor = 0.5f;
constexpr std::int32_t tenSeconds = 10000;

int NumberAt(int item, int place) { return (item * 7 + place * 3) % 1000; }

// A binary of the stages, and a stream for each one that runs.
class Stages {
public:
    Stages() {
        std::ifstream file(STAGES, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(file)), {});
        aclrtBinaryLoadOption option = {};
        option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
        option.value.cpuKernelMode = 2;  // the bytes of a shared object
        aclrtBinaryLoadOptions options = {&option, 1};
        CHECK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary_));
    }
    void Start(const char* name, StageArguments arguments) {
        aclrtFuncHandle function = nullptr;
        CHECK(aclrtRegisterCpuFunc(binary_, name, name, &function));
        aclrtStream stream = nullptr;
        CHECK(aclrtCreateStream(&stream));
        streams_.push_back(stream);
        aclrtLaunchKernelAttr noTimeLimit = {};  // the usual one is 28 seconds
        noTimeLimit.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
        noTimeLimit.value.timeout = 0;
        aclrtLaunchKernelCfg config = {&noTimeLimit, 1};
        CHECK(aclrtLaunchKernelWithHostArgs(function, 1, stream, &config, &arguments, sizeof arguments, nullptr, 0));
    }
    // Waits until every stage has seen the end of the stream. Fails if one failed.
    void Finish() {
        for (aclrtStream stream : streams_) {
            CHECK(aclrtSynchronizeStream(stream));
            CHECK(aclrtDestroyStream(stream));
        }
        CHECK(aclrtBinaryUnLoad(binary_));
    }

private:
    aclrtBinHandle binary_ = nullptr;
    std::vector<aclrtStream> streams_;
};

std::uint32_t NewQueue(std::uint32_t depth) {
    acltdtQueueAttr* attributes = acltdtCreateQueueAttr();
    CHECK(acltdtSetQueueAttr(attributes, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
    std::uint32_t queue = 0;
    CHECK(acltdtCreateQueue(attributes, &queue));
    CHECK(acltdtDestroyQueueAttr(attributes));
    return queue;
}

// Process A: decodes and scales, and puts the results into a queue of B.
int RunProcessA(std::uint32_t scaled) {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    std::uint32_t rights = 0;
    CHECK(acltdtAttachQueue(scaled, tenSeconds, &rights));  // waits for B's grant
    const std::uint32_t texts = NewQueue(16), decoded = NewQueue(8);
    Stages stages;
    stages.Start("Decode", {texts, decoded, 0});
    stages.Start("Scale", {decoded, scaled, factor});
    for (int item = 0; item < items; ++item) {
        std::string text;
        for (int place = 0; place < numbersPerItem; ++place) text += std::to_string(NumberAt(item, place)) + " ";
        CHECK(acltdtEnqueueData(texts, text.data(), text.size(), nullptr, 0, tenSeconds, 0));
    }
    CHECK(acltdtEnqueueData(texts, " ", 1, nullptr, 0, tenSeconds, 0));  // no number in it: the end
    stages.Finish();
    CHECK(acltdtDestroyQueue(texts));
    CHECK(acltdtDestroyQueue(decoded));
    // What is still in B's queue stays there when this process ends.
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}

// This program again, as process A.
pid_t StartProcessA(std::uint32_t queue) {
    const std::string number = std::to_string(queue);
    const pid_t process = fork();
    if (process == 0) {
        execl("/proc/self/exe", "data_pipeline", number.c_str(), nullptr);
        _exit(1);
    }
    return process;
}

// Process B: sums, and compares on the host.
int RunProcessB() {
    CHECK(aclInit(nullptr));
    CHECK(aclrtSetDevice(0));
    const std::uint32_t scaled = NewQueue(8), sums = NewQueue(8);
    const pid_t processA = StartProcessA(scaled);
    CHECK(acltdtGrantQueue(scaled, processA, ACL_TDT_QUEUE_PERMISSION_ENQUEUE, 0));
    Stages stages;
    stages.Start("Sum", {scaled, sums, 0});
    int wrong = 0;
    for (int item = 0; item < items; ++item) {
        float sum = 0, expected = 0;
        std::size_t size = 0;
        CHECK(acltdtDequeueData(sums, &sum, sizeof sum, &size, nullptr, 0, tenSeconds));
        for (int place = 0; place < numbersPerItem; ++place) expected += factor * float(NumberAt(item, place));
        if (sum != expected) ++wrong;
    }
    stages.Finish();
    int status = 0;
    waitpid(processA, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "process A failed\n");
        ++wrong;
    }
    CHECK(acltdtDestroyQueue(scaled));
    CHECK(acltdtDestroyQueue(sums));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    std::printf("data_pipeline: 3 stages in 2 processes, %d elements, %d wrong\n", items, wrong);
    return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    return count == 2 ? RunProcessA(static_cast<std::uint32_t>(std::stoul(arguments[1]))) : RunProcessB();
}
