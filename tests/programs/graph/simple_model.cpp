// SPDX-License-Identifier: Apache-2.0
// Two operators and a copy, captured in global mode and replayed four times. During the capture, the program switches
// its own thread to relaxed mode to load data that is not part of the graph. The graph is printed to modelRI.json.
#include <cmath>
#include <cstdio>
#include <fstream>

#include "check.h"

namespace {

constexpr std::uint32_t count = 8;

// The blocking copy is forbidden in this thread until the thread switches to relaxed mode.
void bring_in(float* to, const std::vector<float>& values) {
    const std::size_t bytes = values.size() * sizeof(float);
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    CHECK(aclmdlRICaptureThreadExchangeMode(&mode));
    REQUIRE(mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
    CHECK(aclrtMemcpy(to, bytes, values.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(aclmdlRICaptureThreadExchangeMode(&mode));
    REQUIRE(mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
}

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream stream = programs::new_stream();
    float* x = programs::to_device(std::vector<float>(count));
    float* y = programs::to_device(std::vector<float>(count, 1.1f));
    float* two = programs::to_device(std::vector<float>(count, 2));
    float* sum = programs::to_device(std::vector<float>(count));
    float* product = programs::to_device(std::vector<float>(count));
    float* result = nullptr;
    CHECK(aclrtMallocHost(reinterpret_cast<void**>(&result), count * sizeof(float)));
    {
        programs::Kernels kernels;
        CHECK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        CHECK(kernels.launch("add_scaled", 1, stream, x, y, sum, 2.0f, count));
        bring_in(x, {1, 2, 3, 4, 5, 6, 7, 8});
        CHECK(kernels.launch("multiply", 2, stream, sum, two, product, count));
        CHECK(aclrtMemcpyAsync(result, count * sizeof(float), product, count * sizeof(float), ACL_MEMCPY_DEVICE_TO_HOST,
                               stream));
        aclmdlRI model = nullptr;
        CHECK(aclmdlRICaptureEnd(stream, &model));
        CHECK(aclmdlRIDebugJsonPrint(model, "./modelRI.json", 0));
        REQUIRE(std::ifstream("modelRI.json").peek() == '{' || std::ifstream("modelRI.json").peek() == '[');
        REQUIRE(programs::to_host(product, count) == std::vector<float>(count));  // nothing has run yet
        for (int replay = 0; replay < 4; ++replay) {
            std::memset(result, 0, count * sizeof(float));
            CHECK(aclmdlRIExecuteAsync(model, stream));
            CHECK(aclrtSynchronizeStream(stream));
            for (std::uint32_t i = 0; i < count; ++i)
                REQUIRE(std::fabs(result[i] - (6.4f + 2 * static_cast<float>(i))) < 1e-4f);
        }
        CHECK(aclmdlRIDestroy(model));
    }
    std::printf("simple_model: %.1f to %.1f, four times\n", result[0], result[count - 1]);
    for (float* memory : {x, y, two, sum, product}) CHECK(aclrtFree(memory));
    CHECK(aclrtFreeHost(result));
    CHECK(aclrtDestroyStreamForce(stream));
    CHECK(aclrtDestroyContext(context));
    std::remove("modelRI.json");
}
