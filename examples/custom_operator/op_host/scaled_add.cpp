// SPDX-License-Identifier: Apache-2.0
// The operator ScaledAdd: z = x + scale * y, for half and float.
#include "scaled_add_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {

constexpr uint32_t kAlignment = 32;

static ge::graphStatus TilingFunc(gert::TilingContext* context) {
    const uint32_t size = static_cast<uint32_t>(ge::GetSizeByDataType(context->GetInputDesc(0)->GetDataType()));
    const uint32_t total = static_cast<uint32_t>(context->GetInputTensor(0)->GetShapeSize());
    if (context->GetInputTensor(1)->GetShapeSize() != total) return ge::GRAPH_FAILED;

    // Whole blocks of 32 bytes for every core; the last one gets what is left.
    const platform_ascendc::PlatformAscendC platform(context->GetPlatformInfo());
    const uint32_t elements = kAlignment / size;
    uint32_t cores = platform.GetCoreNumAiv();
    const uint32_t length = ((total + cores - 1) / cores + elements - 1) / elements * elements;
    cores = (total + length - 1) / length;

    ScaledAddTilingData tiling;
    tiling.set_blockLength(length);
    tiling.set_lastBlockLength(total - (cores - 1) * length);
    tiling.set_tileLength(4096 / size);
    tiling.set_scale(*context->GetAttrs()->GetFloat(0));
    context->SetBlockDim(cores);
    // A length that is not a multiple of a block needs copies that pad.
    context->SetTilingKey(total % elements == 0 ? 1 : 2);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}

}  // namespace optiling

namespace ge {

static graphStatus InferShape(gert::InferShapeContext* context) {
    *context->GetOutputShape(0) = *context->GetInputShape(0);
    return GRAPH_SUCCESS;
}

static graphStatus InferDataType(gert::InferDataTypeContext* context) {
    context->SetOutputDataType(0, context->GetInputDataType(0));
    return GRAPH_SUCCESS;
}

}  // namespace ge

namespace ops {

class ScaledAdd : public OpDef {
public:
    explicit ScaledAdd(const char* name) : OpDef(name) {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Input("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("z")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Attr("scale").AttrType(OPTIONAL).Float(1.0f);
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b").AddConfig("ascend910_93");
    }
};

OP_ADD(ScaledAdd);

}  // namespace ops
