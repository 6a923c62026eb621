// SPDX-License-Identifier: Apache-2.0
#include "../op_kernel/tpl_leaky_tiling.h"
#include "../op_kernel/tiling_key_tpl_leaky.h"
#include "register/op_def_registry.h"

namespace optiling {
static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    TplLeakyTilingData *tiling = context->GetTilingData<TplLeakyTilingData>();
    uint32_t totalLength = context->GetInputShape(0)->GetOriginShape().GetShapeSize();
    tiling->totalLength = totalLength;
    tiling->slope = *context->GetAttrs()->GetAttrPointer<float>(0);
    context->SetBlockDim(8);
    uint32_t D_T_X = static_cast<int>(context->GetInputDesc(0)->GetDataType());
    uint32_t TILE_NUM = totalLength < 8192 ? 1 : 8;
    uint32_t IS_SPLIT = totalLength > 65536 ? 1 : 0;
    const uint64_t tilingKey = GET_TPL_TILING_KEY(D_T_X, TILE_NUM, IS_SPLIT);
    context->SetTilingKey(tilingKey);
    size_t *currentWorkspace = context->GetWorkspaceSizes(1);
    currentWorkspace[0] = 0;
    return ge::GRAPH_SUCCESS;
}
}

namespace ge {
static graphStatus InferShape(gert::InferShapeContext *context)
{
    const gert::Shape *x_shape = context->GetInputShape(0);
    gert::Shape *y_shape = context->GetOutputShape(0);
    *y_shape = *x_shape;
    return GRAPH_SUCCESS;
}
static graphStatus InferDataType(gert::InferDataTypeContext *context)
{
    const auto inputDataType = context->GetInputDataType(0);
    context->SetOutputDataType(0, inputDataType);
    return ge::GRAPH_SUCCESS;
}
}

namespace ops {
class TplLeaky : public OpDef {
public:
    explicit TplLeaky(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_FLOAT16, ge::DT_FLOAT}).Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).Follow("x");
        this->Attr("negative_slope").AttrType(OPTIONAL).Float(0.0);
        this->SetInferShape(ge::InferShape).SetInferDataType(ge::InferDataType);
        this->AICore().SetTiling(optiling::TilingFunc).AddConfig("ascend910").AddConfig("ascend910b");
    }
};
OP_ADD(TplLeaky);
}
