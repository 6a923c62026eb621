// SPDX-License-Identifier: Apache-2.0
// The implementation of the objects in aclnn/acl_meta.h, private to this library; programs only hold pointers.
#pragma once

#include <aclnn/aclnn_base.h>
#include <canopy/operator_call.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "elementwise.h"

struct aclTensor {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;  // in elements
    std::int64_t offset = 0;
    aclDataType type = ACL_DT_UNDEFINED;
    aclFormat format = ACL_FORMAT_ND;
    void* data = nullptr;
};

struct aclScalar {
    aclDataType type = ACL_DT_UNDEFINED;
    alignas(16) std::array<unsigned char, 16> bytes{};
};

struct aclIntArray {
    std::vector<std::int64_t> values;
};
struct aclFloatArray {
    std::vector<float> values;
};
struct aclBoolArray {
    std::vector<unsigned char> values;
};

struct aclTensorList {
    std::vector<std::unique_ptr<const aclTensor>> tensors;
};

// An operator call whose arguments have been validated: one of this library, or one of an operator project.
struct aclOpExecutor {
    canopy::operators::Elementwise work;
    CanopyOperatorWork other{};
    bool repeatable = false;

    aclOpExecutor() = default;
    aclOpExecutor(const aclOpExecutor&) = delete;
    aclOpExecutor& operator=(const aclOpExecutor&) = delete;
    ~aclOpExecutor() {
        if (other.destroy != nullptr) other.destroy(other.state);
    }
};
