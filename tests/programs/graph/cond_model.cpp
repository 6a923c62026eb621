// SPDX-License-Identifier: Apache-2.0
// Captured graphs whose tasks depend on a word in device memory: a branch, a loop and a switch. The bodies are captured
// on another stream while the enclosing graph is still being captured.
#include <functional>

#include "check.h"

namespace {

constexpr std::uint32_t count = 8;

class Program {
public:
    Program() : stream_(programs::new_stream()), inner_(programs::new_stream()) {
        x_ = programs::to_device(std::vector<float>(count));
        one_ = programs::to_device(std::vector<float>(count, 1));
    }
    ~Program() {
        for (float* memory : {x_, one_}) CHECK(aclrtFree(memory));
        for (aclrtStream stream : {stream_, inner_}) CHECK(aclrtDestroyStream(stream));
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // With `selects`, a kernel before the condition writes the word; otherwise the word has its default at every
    // replay. Body i adds 10^i to the vector; the body of a loop also decrements the word.
    aclmdlRI capture(aclmdlRICondTaskType type, std::uint32_t bodies, std::uint32_t value, bool selects) {
        CHECK(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
        aclmdlRI model = nullptr, inner_models[3] = {}, result = nullptr;
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        CHECK(aclmdlRICaptureGetInfo(stream_, &status, &model));
        REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE && model != nullptr);
        aclmdlRICondHandle handle = nullptr;
        CHECK(aclmdlRICondHandleCreate(model, value, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle));
        std::uint64_t* selector = nullptr;
        CHECK(aclmdlRICondHandleGetCondPtr(handle, &selector));
        if (selects) CHECK(kernels_.launch("write_selector", 1, stream_, selector, std::uint64_t{value + 1}));
        CHECK(aclmdlRIAddCondTask({handle, type, bodies, inner_models}, stream_, 0));
        float amount = 1;
        for (std::uint32_t i = 0; i < bodies; ++i, amount *= 10) {
            CHECK(aclmdlRICaptureToModelRIBegin(inner_, inner_models[i], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
            CHECK(kernels_.launch("add_scaled", 1, inner_, x_, one_, x_, amount, count));
            if (type == ACL_MODEL_RI_COND_TYPE_WHILE) CHECK(kernels_.launch("lower_selector", 1, inner_, selector));
            CHECK(aclmdlRICaptureEnd(inner_, &result));
        }
        CHECK(aclmdlRICaptureEnd(stream_, &result));
        REQUIRE(result == model);
        return result;
    }
    // Replays twice and expects each replay to add `amount` to the vector.
    void expect(aclmdlRI model, float amount) {
        for (int replay = 0; replay < 2; ++replay) {
            const auto before = programs::to_host(x_, count);
            CHECK(aclmdlRIExecuteAsync(model, stream_));
            CHECK(aclrtSynchronizeStream(stream_));
            const auto after = programs::to_host(x_, count);
            for (std::uint32_t i = 0; i < count; ++i) REQUIRE(after[i] == before[i] + amount);
        }
        CHECK(aclmdlRIDestroy(model));
    }

private:
    programs::Kernels kernels_;
    aclrtStream stream_, inner_;
    float *x_ = nullptr, *one_ = nullptr;
};

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    {
        Program program;
        constexpr auto branch = ACL_MODEL_RI_COND_TYPE_IF, loop = ACL_MODEL_RI_COND_TYPE_WHILE,
                       choice = ACL_MODEL_RI_COND_TYPE_SWITCH;
        program.expect(program.capture(branch, 2, 1, false), 1);
        program.expect(program.capture(branch, 2, 0, false), 10);
        program.expect(program.capture(branch, 1, 0, false), 0);
        program.expect(program.capture(branch, 2, 0, true), 1);
        program.expect(program.capture(loop, 1, 3, false), 3);
        program.expect(program.capture(loop, 1, 3, true), 4);
        program.expect(program.capture(choice, 3, 0, false), 1);
        program.expect(program.capture(choice, 3, 1, true), 100);
    }
    CHECK(aclrtDestroyContext(context));
    std::printf("cond_model: branches, loops and choices\n");
}
