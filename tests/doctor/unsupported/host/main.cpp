// SPDX-License-Identifier: Apache-2.0
#include <acl/acl.h>
#include <hccl/hccl.h>
#include <torch_npu/csrc/core/npu/NPUStream.h>

#include "acl/ops/acl_fv.h"
#include "aclnnop/aclnn_flash_attention_score.h"

int main() {
    uint32_t model = 0;
    aclmdlLoadFromFile("resnet50.om", &model);
    aclmdlUnload(model);
    aclopSetModelDir("op_models");
    HcclComm comm;
    acldvppCreateChannel(nullptr);
    aclprofInit("prof", 4);
    aclrtLaunchEverything();
    aclnnFlashAttentionScore(nullptr, 0, nullptr, nullptr);
    aclblasGemmEx(nullptr);
    return 0;
}
