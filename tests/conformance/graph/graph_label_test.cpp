// SPDX-License-Identifier: Apache-2.0
// Labels: positions in built models, and jumps to them.
#include "fixtures/build_fixture.h"

namespace conformance {
namespace {

class GraphLabel : public BuildTest {
protected:
    void TearDown() override {
        for (aclrtLabelList list : lists_) EXPECT_ACL_OK(aclrtDestroyLabelList(list));
        for (aclrtLabel label : labels_) EXPECT_ACL_OK(aclrtDestroyLabel(label));
        BuildTest::TearDown();
    }
    aclrtLabel label() {
        aclrtLabel made = nullptr;
        EXPECT_ACL_OK(aclrtCreateLabel(&made));
        labels_.push_back(made);
        return made;
    }
    aclrtLabelList list(std::vector<aclrtLabel> labels) {
        aclrtLabelList made = nullptr;
        EXPECT_ACL_OK(aclrtCreateLabelList(labels.data(), labels.size(), &made));
        lists_.push_back(made);
        return made;
    }
    std::vector<aclrtLabel> labels_;
    std::vector<aclrtLabelList> lists_;
};

TEST_F(GraphLabel, AJumpGoesOnAtTheLabelWithTheIndex) {
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound();
    aclrtLabel first = label(), second = label(), last = label();
    aclrtLabelList branches = list({first, second}), join = list({last});
    ASSERT_ACL_OK(append(stream, 1));
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 2, branches, stream));
    ASSERT_ACL_OK(append(stream, 9));  // never reached
    ASSERT_ACL_OK(aclrtSetLabel(first, stream));
    ASSERT_ACL_OK(append(stream, 10));
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, join, stream));
    ASSERT_ACL_OK(aclrtSetLabel(second, stream));
    ASSERT_ACL_OK(append(stream, 20));
    ASSERT_ACL_OK(aclrtSetLabel(last, stream));
    ASSERT_ACL_OK(append(stream, 2));
    finish(stream);
    expect_replay({1, 10, 2});
    write(index, 1u);
    expect_replay({1, 20, 2});
    write(index, 2u);
    expect_replay({1, 20, 2});  // larger values select the last label
    write(index, UINT32_MAX);
    expect_replay({1, 20, 2});
    write(index, 0u);
    expect_replay({1, 10, 2});
}

TEST_F(GraphLabel, AJumpBackIsALoop) {
    if (!device_computes()) GTEST_SKIP() << "its kernel ends the loop";
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound();
    aclrtLabel again = label(), out = label();
    aclrtLabelList choice = list({again, again, again, out});
    ASSERT_ACL_OK(aclrtMemsetAsync(index, 4, 0, 4, stream));
    ASSERT_ACL_OK(aclrtSetLabel(again, stream));
    ASSERT_ACL_OK(append(stream, 5));
    ASSERT_ACL_OK(launch("increment", 1, stream, index));
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 4, choice, stream));
    ASSERT_ACL_OK(aclrtSetLabel(out, stream));
    ASSERT_ACL_OK(append(stream, 6));
    finish(stream);
    expect_replay({5, 5, 5, 6});
    expect_replay({5, 5, 5, 6});
}

TEST_F(GraphLabel, FewerLabelsThanTheListHasCanBeUsed) {
    auto* index = device_array<uint32_t>({1});
    aclrtStream stream = bound();
    aclrtLabel first = label(), second = label();
    aclrtLabelList both = list({first, second});
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, both, stream));
    ASSERT_ACL_OK(aclrtSetLabel(second, stream));
    ASSERT_ACL_OK(append(stream, 2));
    ASSERT_ACL_OK(aclrtSetLabel(first, stream));
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    expect_replay({1});
}

TEST_F(GraphLabel, AJumpMayLeaveItsStream) {
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound(), other = bound(later);
    aclrtLabel there = label();
    ASSERT_ACL_OK(append(stream, 1));
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, list({there}), stream));
    ASSERT_ACL_OK(append(stream, 9));
    ASSERT_ACL_OK(append(other, 8));
    ASSERT_ACL_OK(aclrtSetLabel(there, other));
    ASSERT_ACL_OK(append(other, 2));
    finish(other);
    expect_replay({1, 2});
}

TEST_F(GraphLabel, AModelDoesNotNeedItsLabelsAnyMoreWhenItIsComplete) {
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound();
    aclrtLabel there = label();
    aclrtLabelList one = list({there});
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, one, stream));
    ASSERT_ACL_OK(append(stream, 9));
    ASSERT_ACL_OK(aclrtSetLabel(there, stream));
    ASSERT_ACL_OK(append(stream, 1));
    finish(stream);
    ASSERT_ACL_OK(aclrtDestroyLabelList(one));
    ASSERT_ACL_OK(aclrtDestroyLabel(there));
    labels_.clear();
    lists_.clear();
    expect_replay({1});
    EXPECT_ACL_FAILS(107017, "not a live label", aclrtDestroyLabel(there));
    EXPECT_ACL_FAILS(107017, "not a live label list", aclrtDestroyLabelList(one));
    EXPECT_ACL_FAILS(107017, "not a live label", aclrtSetLabel(there, stream));
    EXPECT_ACL_FAILS(107017, "not a live label list", aclrtSwitchLabelByIndex(index, 1, one, stream));
}

TEST_F(GraphLabel, TheEndOfTheBuildingNeedsEveryLabel) {
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound();
    aclrtLabel there = label();
    aclrtLabelList one = list({there});
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, one, stream));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, stream));
    EXPECT_ACL_FAILS(107000, "not placed", aclmdlRIBuildEnd(model_, nullptr));
    ASSERT_ACL_OK(aclrtSetLabel(there, stream));
    ASSERT_ACL_OK(aclrtDestroyLabel(there));
    labels_.clear();
    EXPECT_ACL_FAILS(107017, "destroyed", aclmdlRIBuildEnd(model_, nullptr));
}

TEST_F(GraphLabel, BelongsToOneModel) {
    auto* index = device_array<uint32_t>({0});
    aclrtStream stream = bound();
    aclrtLabel elsewhere = label();
    aclmdlRI second = nullptr;
    ASSERT_ACL_OK(aclmdlRIBuildBegin(&second, 0));
    aclrtStream other = persistent();
    ASSERT_ACL_OK(aclmdlRIBindStream(second, other, head));
    ASSERT_ACL_OK(aclrtSetLabel(elsewhere, other));
    ASSERT_ACL_OK(aclrtSwitchLabelByIndex(index, 1, list({elsewhere}), stream));
    ASSERT_ACL_OK(aclmdlRIEndTask(model_, stream));
    EXPECT_ACL_FAILS(107000, "not placed", aclmdlRIBuildEnd(model_, nullptr));
    ASSERT_ACL_OK(aclmdlRIDestroy(second));
}

TEST_F(GraphLabel, HasOnePlace) {
    aclrtStream stream = bound();
    aclrtLabel one = label();
    ASSERT_ACL_OK(aclrtSetLabel(one, stream));
    EXPECT_ACL_FAILS(107000, "already placed", aclrtSetLabel(one, stream));
}

TEST_F(GraphLabel, PlacesAreInBoundStreamsOnly) {
    aclrtStream stream = bound();
    EXPECT_ACL_FAILS(100000, "label", aclrtSetLabel(nullptr, stream));
    EXPECT_ACL_FAILS(100000, "stream", aclrtSetLabel(label(), nullptr));
    EXPECT_ACL_FAILS(207000, "not bound", aclrtSetLabel(label(), stream_));
    EXPECT_ACL_FAILS(207000, "not bound", aclrtSetLabel(label(), persistent()));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclrtSetLabel(label(), model_));
    EXPECT_ACL_FAILS(107017, "not a live label", aclrtSetLabel(stream, stream));
}

TEST_F(GraphLabel, JumpsCheckTheirArguments) {
    auto* index = device_array<uint32_t>({0, 0});
    aclrtStream stream = bound();
    aclrtLabelList two = list({label(), label()});
    EXPECT_ACL_FAILS(100000, "ptr", aclrtSwitchLabelByIndex(nullptr, 2, two, stream));
    EXPECT_ACL_FAILS(100000, "labelList", aclrtSwitchLabelByIndex(index, 2, nullptr, stream));
    EXPECT_ACL_FAILS(100000, "stream", aclrtSwitchLabelByIndex(index, 2, two, nullptr));
    EXPECT_ACL_FAILS(107000, "maxValue", aclrtSwitchLabelByIndex(index, 0, two, stream));
    EXPECT_ACL_FAILS(107000, "maxValue", aclrtSwitchLabelByIndex(index, 3, two, stream));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtSwitchLabelByIndex(index, 2, two, stream_));
    EXPECT_ACL_FAILS(107005, "not bound", aclrtSwitchLabelByIndex(index, 2, two, persistent()));
    EXPECT_ACL_FAILS(107017, "not a live label list", aclrtSwitchLabelByIndex(index, 2, stream, stream));
    EXPECT_ACL_FAILS(107017, "not a live stream", aclrtSwitchLabelByIndex(index, 2, two, two));
    uint32_t host = 0;
    EXPECT_ACL_FAILS(107000, "device memory", aclrtSwitchLabelByIndex(&host, 2, two, stream));
    auto* odd = reinterpret_cast<char*>(index) + 1;
    EXPECT_ACL_FAILS(107000, "32-bit word", aclrtSwitchLabelByIndex(odd, 2, two, stream));
}

TEST_F(GraphLabel, ListsCheckTheirLabels) {
    aclrtLabel one = label();
    aclrtLabel labels[2] = {one, stream_};
    aclrtLabelList made = nullptr;
    EXPECT_ACL_FAILS(100000, "labels", aclrtCreateLabelList(nullptr, 1, &made));
    EXPECT_ACL_FAILS(100000, "labelList", aclrtCreateLabelList(labels, 1, nullptr));
    EXPECT_ACL_FAILS(107000, "num", aclrtCreateLabelList(labels, 0, &made));
    EXPECT_ACL_FAILS(107017, "not a live label", aclrtCreateLabelList(labels, 2, &made));
    EXPECT_ACL_FAILS(100000, "labelList", aclrtDestroyLabelList(nullptr));
    EXPECT_ACL_FAILS(107017, "not a live label list", aclrtDestroyLabelList(one));
    EXPECT_ACL_FAILS(100000, "label", aclrtCreateLabel(nullptr));
    EXPECT_ACL_FAILS(100000, "label", aclrtDestroyLabel(nullptr));
}

TEST_F(GraphLabel, BelongsToItsContext) {
    aclrtStream stream = bound();
    aclrtLabel here = label();
    aclrtContext before = nullptr, other = nullptr;
    ASSERT_ACL_OK(aclrtGetCurrentContext(&before));
    ASSERT_ACL_OK(aclrtCreateContext(&other, 0));
    EXPECT_ACL_FAILS(507031, "another context", aclrtSetLabel(here, stream));
    EXPECT_ACL_FAILS(507031, "another context", aclrtDestroyLabel(here));
    aclrtLabel there = nullptr;
    ASSERT_ACL_OK(aclrtCreateLabel(&there));
    EXPECT_ACL_FAILS(107003, "another context", aclrtSetLabel(there, stream));
    ASSERT_ACL_OK(aclrtDestroyLabel(there));
    ASSERT_ACL_OK(aclrtDestroyContext(other));
    ASSERT_ACL_OK(aclrtSetCurrentContext(before));
}

TEST_F(GraphLabel, ThereAre65535) {
    for (int count = 0; count < 65535; ++count) {
        aclrtLabel made = nullptr;
        ASSERT_EQ(aclrtCreateLabel(&made), 0);
        labels_.push_back(made);
    }
    aclrtLabel more = nullptr;
    EXPECT_ACL_FAILS(207005, "65535", aclrtCreateLabel(&more));
}

}  // namespace
}  // namespace conformance
