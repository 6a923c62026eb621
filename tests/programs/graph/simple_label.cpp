// SPDX-License-Identifier: Apache-2.0
// A model built from one persistent stream. A jump chooses between two labels by a word in device memory; each branch
// writes a different value, and both continue at a third label.
#include "check.h"

namespace {

constexpr std::uint32_t head = 0;

struct Labels {
    aclrtLabel branches[2] = {}, join = nullptr;
    aclrtLabelList choice = nullptr, one = nullptr;

    Labels() {
        for (aclrtLabel& label : branches) CHECK(aclrtCreateLabel(&label));
        CHECK(aclrtCreateLabel(&join));
        CHECK(aclrtCreateLabelList(branches, 2, &choice));
        CHECK(aclrtCreateLabelList(&join, 1, &one));
    }
    ~Labels() {
        for (aclrtLabelList list : {choice, one}) CHECK(aclrtDestroyLabelList(list));
        for (aclrtLabel label : {branches[0], branches[1], join}) CHECK(aclrtDestroyLabel(label));
    }
    Labels(const Labels&) = delete;
    Labels& operator=(const Labels&) = delete;
};

void record(const Labels& labels, void* index, std::uint64_t* result, aclrtStream stream) {
    CHECK(aclrtSwitchLabelByIndex(index, 2, labels.choice, stream));
    CHECK(aclrtSetLabel(labels.branches[0], stream));
    CHECK(aclrtValueWrite(result, 100, 0, stream));
    CHECK(aclrtSwitchLabelByIndex(index, 1, labels.one, stream));
    CHECK(aclrtSetLabel(labels.branches[1], stream));
    CHECK(aclrtValueWrite(result, 200, 0, stream));
    CHECK(aclrtSetLabel(labels.join, stream));
    CHECK(aclrtValueWrite(result + 1, 300, 0, stream));
}

}  // namespace

int main() {
    programs::Device device;
    aclrtContext context = nullptr;
    CHECK(aclrtCreateContext(&context, 0));
    aclrtStream recorded = nullptr, stream = programs::new_stream();
    CHECK(aclrtCreateStreamWithConfig(&recorded, 0, ACL_STREAM_PERSISTENT));
    auto* index = programs::to_device(std::vector<std::uint32_t>{0});
    auto* result = programs::to_device(std::vector<std::uint64_t>{0, 0});
    {
        Labels labels;
        aclmdlRI model = nullptr;
        CHECK(aclmdlRIBuildBegin(&model, 0));
        CHECK(aclmdlRIBindStream(model, recorded, head));
        record(labels, index, result, recorded);
        CHECK(aclmdlRIEndTask(model, recorded));
        CHECK(aclmdlRIBuildEnd(model, nullptr));
        REQUIRE((programs::to_host(result, 2) == std::vector<std::uint64_t>{0, 0}));  // recorded, not run
        for (const std::uint32_t chosen : {0u, 1u, 7u, 0u}) {                         // 7 selects the last label
            CHECK(aclrtMemcpy(index, sizeof(chosen), &chosen, sizeof(chosen), ACL_MEMCPY_HOST_TO_DEVICE));
            CHECK(aclmdlRIExecuteAsync(model, stream));
            CHECK(aclrtSynchronizeStream(stream));
            REQUIRE((programs::to_host(result, 2) == std::vector<std::uint64_t>{chosen == 0 ? 100u : 200u, 300u}));
        }
        CHECK(aclmdlRIUnbindStream(model, recorded));
        CHECK(aclmdlRIDestroy(model));
    }
    CHECK(aclrtFree(index));
    CHECK(aclrtFree(result));
    for (aclrtStream each : {recorded, stream}) CHECK(aclrtDestroyStream(each));
    CHECK(aclrtDestroyContext(context));
    std::printf("simple_label: both branches, and an index that is too large\n");
}
