// SPDX-License-Identifier: Apache-2.0
// Profiling: stamps, steps, operators of frameworks, and trace points.
#include <cstring>

#include "acl/acl_prof.h"
#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/profile_names.h"
#include "core/profile/operator_ranges.h"
#include "core/profile/stamps.h"
#include "core/profile/steps.h"

using namespace canopy;

namespace {

constexpr std::uint32_t most_tensors = 1024;

Result<OperatorFacts> read_operator(const aclprofTensorInfo& info) {
    if (info.tensorNum > most_tensors)
        return fail(code::invalid_parameter, "tensorNum {} is above {}", info.tensorNum, most_tensors);
    if (info.tensorNum > 0) CANOPY_TRY(required(info.tensors, "tensors"));
    OperatorFacts facts{info.opNameId, info.opTypeId, info.kernelType, info.blockNums, {}};
    for (std::uint32_t index = 0; index < info.tensorNum; ++index) {
        const aclprofTensor& tensor = info.tensors[index];
        if (tensor.shapeDim > ACL_PROF_TENSOR_DATA_SHAPE_LEN)
            return fail(code::invalid_parameter, "shapeDim {} of tensor {} is above {}", tensor.shapeDim, index,
                        ACL_PROF_TENSOR_DATA_SHAPE_LEN);
        facts.tensors.push_back(
            {tensor.type == 1, tensor.format, tensor.dataType, {tensor.shape, tensor.shape + tensor.shapeDim}});
    }
    return facts;
}

Status check_attributes(const aclprofEventAttributes& attributes) {
    if (attributes.version != ACL_PROF_EVENT_ATTR_VERSION)
        return fail(code::invalid_parameter, "version {} is not {}", attributes.version, ACL_PROF_EVENT_ATTR_VERSION);
    if (attributes.size != sizeof attributes)
        return fail(code::invalid_parameter, "size {} is not {}", attributes.size, sizeof attributes);
    if (attributes.messageType != ACL_PROF_MESSAGE_TYPE_TENSOR_INFO)
        return fail(code::invalid_parameter, "messageType {} is not known", attributes.messageType);
    return required(attributes.message.tensorInfo, "message.tensorInfo");
}

}  // namespace

extern "C" {

void* aclprofCreateStamp() {
    Handle created = 0;
    const int code = api([&]() -> Status {
        const Result<Handle> stamp = create_stamp();
        if (stamp.ok()) created = stamp.value();
        return stamp.status();
    });
    return code == 0 ? opaque_of(created) : nullptr;
}

void aclprofDestroyStamp(void* stamp) { destroy_stamp(stamp); }

aclError aclprofSetStampTraceMessage(void* stamp, const char* msg, uint32_t msgLen) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stamp, "stamp"));
        CANOPY_TRY(required(msg, "msg"));
        if (msgLen > longest_stamp_text)
            return fail(code::invalid_parameter, "msgLen {} is not below {}", msgLen, longest_stamp_text + 1);
        return set_stamp_text(stamp, {msg, strnlen(msg, msgLen)});
    });
}

aclError aclprofMark(void* stamp) {
    return api([&]() -> Status { return mark_stamp(stamp); });
}

aclError aclprofMarkEx(const char* msg, size_t msgLen, aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(msg, "msg"));
        CANOPY_TRY(required(stream, "stream"));
        if (msgLen == 0 || msgLen > longest_stamp_text)
            return fail(code::invalid_parameter, "msgLen {} is not in [1, {}]", msgLen, longest_stamp_text);
        if (strnlen(msg, msgLen + 1) != msgLen)
            return fail(code::invalid_parameter, "msg does not have the length {} that was given", msgLen);
        return mark_on_stream({msg, msgLen}, stream);
    });
}

aclError aclprofPush(void* stamp) {
    return api([&]() -> Status { return push_stamp(stamp); });
}

aclError aclprofPop() {
    return api([&]() -> Status { return pop_stamp(); });
}

aclError aclprofRangeStart(void* stamp, uint32_t* rangeId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(rangeId, "rangeId"));
        const Result<std::uint32_t> range = start_stamp(stamp);
        if (range.ok()) *rangeId = range.value();
        return range.status();
    });
}

aclError aclprofRangeStop(uint32_t rangeId) {
    return api([&]() -> Status { return stop_stamp(rangeId); });
}

// Categories have numbers in the output.
int32_t aclprofSetCategoryName(uint32_t category, const char* categoryName) {
    return api([&]() -> Status {
        CANOPY_TRY(required(categoryName, "categoryName"));
        if (category > UINT8_MAX)
            return fail(code::invalid_parameter, "category {} is above {}, the largest one", category, UINT8_MAX);
        return {};
    });
}

int32_t aclprofSetStampCategory(void* stamp, uint32_t category) {
    return api([&]() -> Status { return set_stamp_category(stamp, category); });
}

// The type of a value says nothing about its size, so values are not kept.
int32_t aclprofSetStampPayload(void* stamp, int32_t type, void* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        if (type < 0) return fail(code::invalid_parameter, "type {} is negative", type);
        return check_stamp(stamp);
    });
}

aclprofStepInfo* aclprofCreateStepInfo() {
    Handle created = 0;
    const int code = api([&]() -> Status {
        const Result<Handle> step = create_step();
        if (step.ok()) created = step.value();
        return step.status();
    });
    return code == 0 ? static_cast<aclprofStepInfo*>(opaque_of(created)) : nullptr;
}

void aclprofDestroyStepInfo(aclprofStepInfo* stepinfo) { destroy_step(stepinfo); }

aclError aclprofGetStepTimestamp(aclprofStepInfo* stepInfo, aclprofStepTag tag, aclrtStream stream) {
    return api([&]() -> Status {
        if (tag != ACL_STEP_START && tag != ACL_STEP_END)
            return fail(code::invalid_parameter, "tag {} is neither 0 nor 1", static_cast<int>(tag));
        return note_step(stepInfo, tag == ACL_STEP_START ? profile::StepForm::start : profile::StepForm::end, stream);
    });
}

aclError aclrtProfTrace(void* userdata, int32_t length, aclrtStream stream) {
    return api([&]() -> Status {
        if (userdata == nullptr) return fail(code::param_invalid, "userdata must not be null");
        TracePoint point;
        if (length < 1 || static_cast<std::size_t>(length) > sizeof point)
            return fail(code::param_invalid, "length {} is not in [1, {}]", length, sizeof point);
        std::memcpy(&point, userdata, static_cast<std::size_t>(length));
        return trace_point(point, stream);
    });
}

uint64_t aclprofStr2Id(const char* message) {
    std::uint64_t hash = UINT64_MAX;
    api([&]() -> Status {
        CANOPY_TRY(required(message, "message"));
        hash = hash_text(message);
        return {};
    });
    return hash;
}

aclError aclprofRangePushEx(aclprofEventAttributes* attr) {
    return api([&]() -> Status {
        CANOPY_TRY(required(attr, "attr"));
        CANOPY_TRY(check_attributes(*attr));
        const Result<OperatorFacts> facts = read_operator(*attr->message.tensorInfo);
        if (facts.ok()) push_operator(facts.value());
        return facts.status();
    });
}

aclError aclprofRangePop() {
    return api([&]() -> Status { return pop_operator(); });
}

}  // extern "C"
