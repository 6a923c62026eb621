// SPDX-License-Identifier: Apache-2.0
// A captured graph whose operator is replaced at every replay, by another stream and while the replay is already
// running: the replay waits for an external event before the operator until the update has been made.
#include <cmath>

#include "check.h"

namespace {

constexpr std::uint32_t count = 8;

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream(), updates = programs::new_stream();
    aclrtEvent updated = nullptr;
    CHECK(aclrtCreateEventWithFlag(&updated, ACL_EVENT_EXTERNAL));
    float* x = programs::to_device(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
    float* y = programs::to_device(std::vector<float>(count, 1.1f));
    float* out = programs::to_device(std::vector<float>(count));
    {
        programs::Kernels kernels;
        aclmdlRI model = nullptr;
        aclrtTaskGrp group = nullptr;
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        CHECK(aclrtStreamWaitEvent(stream, updated));
        CHECK(aclrtResetEvent(updated, stream));
        CHECK(aclmdlRICaptureTaskGrpBegin(stream));
        CHECK(kernels.launch("add_scaled", 1, stream, x, y, out, 1.0f, count));
        CHECK(aclmdlRICaptureTaskGrpEnd(stream, &group));
        CHECK(aclmdlRICaptureEnd(stream, &model));
        float alpha = 4;
        for (int loop = 1; loop <= 2; ++loop, alpha += 2) {
            CHECK(aclmdlRIExecuteAsync(model, stream));
            CHECK(aclmdlRICaptureTaskUpdateBegin(updates, group));
            CHECK(kernels.launch("add_scaled", 1, updates, x, y, out, alpha, count));
            CHECK(aclmdlRICaptureTaskUpdateEnd(updates));
            CHECK(aclrtRecordEvent(updated, updates));
            CHECK(aclrtSynchronizeStream(stream));
            const std::vector<float> found = programs::to_host(out, count);
            for (std::uint32_t i = 0; i < count; ++i)
                REQUIRE(std::fabs(found[i] - (static_cast<float>(i + 1) + alpha * 1.1f)) < 1e-4f);
            std::printf("loop%d: %.1f to %.1f\n", loop, found.front(), found.back());
        }
        CHECK(aclmdlRIDestroy(model));
    }
    for (float* memory : {x, y, out}) CHECK(aclrtFree(memory));
    for (aclrtStream each : {stream, updates}) CHECK(aclrtDestroyStream(each));
    CHECK(aclrtDestroyContext(context));  // the event lives until the process ends
    std::printf("model_update: two replays, two operators\n");
}
