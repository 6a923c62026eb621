// SPDX-License-Identifier: Apache-2.0
// A model of five persistent streams. The first compares two words in device memory and either continues in the second
// stream or starts the third; both start the fourth, which starts the fifth, where the model ends. The model runs
// twice, with the word changed in between.
#include <cmath>

#include "check.h"

namespace {

constexpr std::uint32_t head = 0, when_started = 0x7FFFFFFF, count = 8;

class Program {
public:
    Program() : stream_(programs::new_stream()) {
        for (aclrtStream& stream : lanes_) CHECK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
        selector_ = programs::to_device(std::vector<std::int32_t>{1, 1});
        step_ = programs::to_device(std::vector<float>(count, 1.2f));
        for (int i = 0; i < 3; ++i) {
            base_[i] = programs::to_device(std::vector<float>(count, static_cast<float>(i + 1)));
            data_[i] = programs::to_device(std::vector<float>(count));
        }
        build();
    }
    ~Program() {
        for (aclrtStream stream : lanes_) CHECK(aclmdlRIUnbindStream(model_, stream));
        CHECK(aclmdlRIDestroy(model_));
        CHECK(aclrtFree(selector_));
        CHECK(aclrtFree(step_));
        for (float* memory : base_) CHECK(aclrtFree(memory));
        for (float* memory : data_) CHECK(aclrtFree(memory));
        for (aclrtStream stream : lanes_) CHECK(aclrtDestroyStream(stream));
        CHECK(aclrtDestroyStream(stream_));
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void run(std::int32_t selector) {
        CHECK(aclrtMemcpy(selector_, sizeof(selector), &selector, sizeof(selector), ACL_MEMCPY_HOST_TO_DEVICE));
        CHECK(aclmdlRIExecuteAsync(model_, stream_));
        CHECK(aclrtSynchronizeStream(stream_));
    }
    void expect(int which, float value) const {
        for (const float found : programs::to_host(data_[which], count)) REQUIRE(std::fabs(found - value) < 1e-5f);
    }

private:
    // data = base + 2 * step
    void compute(int which, aclrtStream stream) {
        CHECK(kernels_.launch("add_scaled", 2, stream, base_[which], step_, data_[which], 2.0f, count));
    }
    void build() {
        auto [first, second, third, fourth, fifth] = lanes_;
        CHECK(aclmdlRIBuildBegin(&model_, 0));
        for (aclrtStream stream : lanes_)
            CHECK(aclmdlRIBindStream(model_, stream, stream == first ? head : when_started));
        CHECK(aclrtSwitchStream(selector_, ACL_RT_EQUAL, selector_ + 1, ACL_RT_SWITCH_INT32, second, nullptr, first));
        CHECK(aclrtActiveStream(third, first));
        compute(0, second);
        CHECK(aclrtActiveStream(fourth, second));
        compute(1, third);
        CHECK(aclrtActiveStream(fourth, third));
        compute(2, fourth);
        CHECK(aclrtActiveStream(fifth, fourth));
        CHECK(aclmdlRIEndTask(model_, fifth));
        CHECK(aclmdlRIBuildEnd(model_, nullptr));
    }
    programs::Kernels kernels_;
    aclrtStream stream_, lanes_[5] = {};
    std::int32_t* selector_ = nullptr;
    float *step_ = nullptr, *base_[3] = {}, *data_[3] = {};
    aclmdlRI model_ = nullptr;
};

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    {
        Program program;
        program.run(1);
        program.expect(0, 3.4f);
        program.expect(1, 0);
        program.expect(2, 5.4f);
        program.run(2);
        program.expect(1, 4.4f);
    }
    CHECK(aclrtDestroyContext(context));
    std::printf("model_switch: 3.4, 0.0, 5.4, then 4.4\n");
}
