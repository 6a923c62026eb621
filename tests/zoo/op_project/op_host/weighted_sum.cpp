// SPDX-License-Identifier: Apache-2.0
// z = bias + sum of weights[i] * x[i], over a list of tensors; bias may be missing
#include "weighted_sum_tiling.h"
#include "register/op_def_registry.h"
#include "register/op_impl_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
struct WeightedSumCompileInfo {
    uint32_t coreNum = 0;
    uint64_t sysWorkspace = 0;
};

static ge::graphStatus Tiling4WeightedSum(gert::TilingContext *context)
{
    const auto *info = reinterpret_cast<const WeightedSumCompileInfo *>(context->GetCompileInfo());
    if (info == nullptr || info->coreNum == 0) {
        return ge::GRAPH_FAILED;
    }
    const auto *weights = context->GetAttrs()->GetListInt(0);
    WeightedSumTilingData tiling;
    int64_t values[8] = {0};
    size_t count = 0;
    while (context->GetDynamicInputShape(0, count) != nullptr) {
        if (count >= weights->GetSize() || count >= 8) {
            return ge::GRAPH_FAILED;
        }
        values[count] = weights->GetData()[count];
        count++;
    }
    uint32_t total = context->GetDynamicInputShape(0, 0)->GetStorageShape().GetShapeSize();
    tiling.set_length(total / 2);
    tiling.list.set_count(count);
    tiling.list.set_weights(values);
    tiling.set_hasBias(context->GetOptionalInputShape(1) != nullptr ? 1 : 0);
    context->SetBlockDim(2);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    size_t *workspaces = context->GetWorkspaceSizes(1);
    workspaces[0] = info->sysWorkspace + total * sizeof(float);
    return ge::GRAPH_SUCCESS;
}

static ge::graphStatus TilingPrepare4WeightedSum(gert::TilingParseContext *context)
{
    auto *info = context->GetCompiledInfo<WeightedSumCompileInfo>();
    auto ascendcPlatform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    info->coreNum = ascendcPlatform.GetCoreNumAiv();
    info->sysWorkspace = ascendcPlatform.GetLibApiWorkSpaceSize();
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(WeightedSum)
    .Tiling(Tiling4WeightedSum)
    .TilingParse<WeightedSumCompileInfo>(TilingPrepare4WeightedSum);
}

namespace ops {
class WeightedSum : public OpDef {
public:
    explicit WeightedSum(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(DYNAMIC).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Input("bias").ParamType(OPTIONAL).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Output("z").ParamType(REQUIRED).DataType({ge::DT_FLOAT}).Format({ge::FORMAT_ND});
        this->Attr("weights").AttrType(OPTIONAL).ListInt({1, 1, 1});
        OpAICoreConfig config;
        config.DynamicCompileStaticFlag(true).DynamicShapeSupportFlag(true).ExtendCfgInfo("opFile.value", "weighted_sum");
        this->AICore().AddConfig("ascend910b", config);
    }
};
OP_ADD(WeightedSum);
}
