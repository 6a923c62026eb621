// SPDX-License-Identifier: Apache-2.0
// What the host sources of operator projects use: definitions, contexts and attributes, and their description.
#include <canopy/operator_description.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace optiling {

BEGIN_TILING_DATA_DEF(PartTilingData)
TILING_DATA_FIELD_DEF(uint32_t, width);
END_TILING_DATA_DEF;

BEGIN_TILING_DATA_DEF(SampleTilingData)
TILING_DATA_FIELD_DEF(uint64_t, total);
TILING_DATA_FIELD_DEF_ARR(int32_t, 4, list);
TILING_DATA_FIELD_DEF_STRUCT(PartTilingData, part);
END_TILING_DATA_DEF;

REGISTER_TILING_DATA_CLASS(Sample, SampleTilingData)

static ge::graphStatus tile(gert::TilingContext* context) {
    context->SetBlockDim(3);
    return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

ASCENDC_TPL_ARGS_DECL(Sample, ASCENDC_TPL_DATATYPE_DECL(T, half, float),
                      ASCENDC_TPL_UINT_DECL(N, ASCENDC_TPL_4_BW, ASCENDC_TPL_UI_LIST, 1, 2));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_DATATYPE_SEL(T, half),
                                     ASCENDC_TPL_UINT_SEL(N, ASCENDC_TPL_UI_LIST, 2)));

namespace ops {

class Sample : public OpDef {
public:
    explicit Sample(const char* name) : OpDef(name) {
        this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(OPTIONAL).DataTypeList({ge::DT_FLOAT});
        this->Output("y").Follow("x");
        this->Attr("axis").AttrType(REQUIRED).Int();
        this->Attr("sizes").AttrType(OPTIONAL).ListInt({4, 5});
        this->AICore().SetTiling(optiling::tile).AddConfig("ascend910b");
    }
};
OP_ADD(Sample);

}  // namespace ops

static ge::graphStatus infer(gert::InferShapeContext* context) {
    *context->GetOutputShape(0) = *context->GetDynamicInputShape(0, 1);
    context->GetOutputShape(0)->AppendDim(7);
    return ge::GRAPH_SUCCESS;
}
IMPL_OP_INFERSHAPE(Sample).InferShape(infer);

namespace {

const ops::OpDef& sample() { return *ops::added_operators().front(); }

gert::Tensor tensor(std::initializer_list<int64_t> shape, ge::DataType type = ge::DT_FLOAT) {
    return gert::Tensor(gert::StorageShape(shape, shape), gert::StorageFormat(), type);
}

TEST(Operators, AreKnownByTheirDefinition) {
    ASSERT_EQ(ops::added_operators().size(), 1u);
    EXPECT_EQ(sample().type(), "Sample");
    EXPECT_EQ(sample().inputs()[0].kind(), ops::DYNAMIC);
    EXPECT_EQ(sample().outputs()[0].kind(), ops::REQUIRED);
    EXPECT_EQ(sample().functions().tiling, &optiling::tile);
    EXPECT_EQ(sample().functions().infer_shape, &infer) << "from IMPL_OP_INFERSHAPE";
    EXPECT_EQ(sample().functions().infer_data_type, nullptr);
}

TEST(Operators, ContextsCountTensorsAndParameters) {
    gert::OperatorCall call;
    call.inputs.add({tensor({2, 3}), tensor({4}, ge::DT_FLOAT16)});
    call.inputs.add({});
    call.inputs.add({tensor({5})});
    call.outputs.add({tensor({1})});
    gert::TilingContext context(call);
    EXPECT_EQ(context.GetInputShape(1)->GetStorageShape(), gert::Shape({4}));
    EXPECT_EQ(context.GetInputShape(2)->GetStorageShape().GetDim(0), 5);
    EXPECT_EQ(context.GetInputShape(3), nullptr);
    EXPECT_EQ(context.GetDynamicInputShape(0, 1), context.GetInputShape(1));
    EXPECT_EQ(context.GetDynamicInputShape(0, 2), nullptr);
    EXPECT_EQ(context.GetOptionalInputShape(1), nullptr) << "missing";
    EXPECT_EQ(context.GetOptionalInputTensor(2), context.GetInputTensor(2));
    EXPECT_EQ(context.GetInputDesc(1)->GetDataType(), ge::DT_FLOAT16);
    EXPECT_EQ(context.GetOptionalInputDesc(1), nullptr);
    EXPECT_EQ(context.GetInputTensor(0)->GetShapeSize(), 6);
    EXPECT_EQ(context.GetInputTensor(1)->GetSize(), 8u);
    EXPECT_EQ(context.GetComputeNodeInputNum(), 3u);

    gert::InferShapeContext shapes(call);
    EXPECT_EQ(infer(&shapes), ge::GRAPH_SUCCESS);
    EXPECT_EQ(call.outputs.tensors[0].GetOriginShape(), gert::Shape({4, 7}));
    gert::InferDataTypeContext types(call);
    EXPECT_EQ(types.GetInputDataType(1), ge::DT_FLOAT16);
    EXPECT_EQ(types.GetInputDataType(9), ge::DT_UNDEFINED);
    EXPECT_EQ(types.SetOutputDataType(0, ge::DT_INT8), ge::GRAPH_SUCCESS);
    EXPECT_EQ(types.GetOutputDataType(0), ge::DT_INT8);
    EXPECT_EQ(types.SetOutputDataType(1, ge::DT_INT8), ge::GRAPH_FAILED);
}

TEST(Operators, TilingContextsHoldTheResults) {
    gert::OperatorCall call;
    gert::TilingContext context(call);
    ASSERT_EQ(optiling::tile(&context), ge::GRAPH_SUCCESS);
    EXPECT_EQ(context.GetBlockDim(), 3u);
    optiling::SampleTilingData data;
    data.part.set_width(9);
    data.SaveToBuffer(context.GetRawTilingData()->GetData(), context.GetRawTilingData()->GetCapacity());
    context.GetRawTilingData()->SetDataSize(data.GetDataSize());
    struct Plain {
        uint64_t total;
        int32_t list[4];
        uint32_t width;
    };
    EXPECT_EQ(context.GetTilingData<Plain>()->width, 9u);
    EXPECT_EQ(context.GetRawTilingData()->GetDataSize(), sizeof(Plain));
    struct Huge {
        char bytes[1 << 20];
    };
    EXPECT_EQ(context.GetTilingData<Huge>(), nullptr);
    context.GetWorkspaceSizes(2)[1] = 5;
    EXPECT_EQ(context.GetWorkspaceNum(), 2u);
    EXPECT_EQ(context.canopy_workspaces()[1], 5u);
    EXPECT_NE(context.GetPlatformInfo(), nullptr);
}

TEST(Operators, AttributesHaveTypes) {
    const gert::RuntimeAttrs attributes(
        {true, int64_t{7}, 0.5f, std::string("text"), std::vector<int64_t>{1, 2}, std::vector<float>{3}});
    EXPECT_EQ(attributes.GetAttrNum(), 6u);
    EXPECT_TRUE(*attributes.GetBool(0));
    EXPECT_EQ(*attributes.GetInt(1), 7);
    EXPECT_EQ(*attributes.GetAttrPointer<float>(2), 0.5f);
    EXPECT_STREQ(attributes.GetAttrPointer<char>(3), "text");
    EXPECT_EQ(attributes.GetListInt(4)->GetSize(), 2u);
    EXPECT_EQ(attributes.GetListInt(4)->GetData()[1], 2);
    EXPECT_EQ(attributes.GetListFloat(5)->GetData()[0], 3.0f);
    EXPECT_EQ(attributes.GetInt(0), nullptr) << "another type";
    EXPECT_EQ(attributes.GetInt(6), nullptr);
}

TEST(Operators, EagerCallsAllocateTheirOutputs) {
    gert::OperatorCall call;
    call.outputs.add({tensor({1})});
    int stream = 0;
    gert::EagerOpExecutionContext context(
        call, &stream, [](std::size_t bytes, void*) -> void* { return bytes == 24 ? std::malloc(bytes) : nullptr; });
    EXPECT_EQ(context.GetStream(), &stream);
    gert::Tensor* out =
        context.MallocOutputTensor(0, gert::StorageShape({2, 3}, {2, 3}), gert::StorageFormat(), ge::DT_FLOAT);
    ASSERT_NE(out, nullptr);
    EXPECT_NE(out->GetAddr(), nullptr);
    std::free(out->GetAddr());
    EXPECT_EQ(context.MallocOutputTensor(0, gert::StorageShape({9}, {9}), gert::StorageFormat(), ge::DT_FLOAT),
              nullptr);
    EXPECT_EQ(context.MallocOutputTensor(1, gert::StorageShape({9}, {9}), gert::StorageFormat(), ge::DT_FLOAT),
              nullptr);
}

TEST(Operators, AreDescribed) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* file = open_memstream(&text, &size);
    canopy::operators::Description::print(file);
    std::fclose(file);
    EXPECT_EQ(
        std::string(text),
        R"({"operators": [{"name": "Sample", "inputs": [{"name": "x", "kind": "dynamic", "types": [1, 0], )"
        R"("formats": [2], "follows": "", "combines": false}, {"name": "bias", "kind": "optional", "types": [0], )"
        R"("formats": [], "follows": "", "combines": true}], "outputs": [{"name": "y", "kind": "required", )"
        R"("types": [], "formats": [], "follows": "x", "combines": false}], "attributes": [{"name": "axis", )"
        R"("type": "int", "required": true}, {"name": "sizes", "type": "ints", "required": false}], "chips": )"
        R"([{"name": "ascend910b", "inputs": [], "outputs": []}]}], "tilings": [{"operator": "Sample", "class": )"
        R"({"name": "SampleTilingData", "fields": [{"type": "uint64_t", "name": "total", "count": 0}, )"
        R"({"type": "int32_t", "name": "list", "count": 4}, {"type": "PartTilingData", "name": "part", "count": 0, )"
        R"("structure": {"name": "PartTilingData", "fields": [{"type": "uint32_t", "name": "width", "count": 0}]}}]}}], )"
        R"("keys": [{"operator": "Sample", "declared": [["datatype", "T", "half, float"], ["uint", "N", 4, 1, 1, 2]], )"
        R"("selected": [["combination", ""], ["datatype", "T", "half"], ["uint", "N", 1, 2]]}]})"
        "\n");
    std::free(text);
}

}  // namespace
