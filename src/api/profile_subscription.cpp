// SPDX-License-Identifier: Apache-2.0
// Profiling subscriptions, and reading the records that they send.
#include <cstring>

#include "acl/acl_prof.h"
#include "api/api.h"
#include "api/profile_names.h"
#include "core/profile/operator_records.h"
#include "core/profile/subscription.h"

using namespace canopy;

namespace {

// The record with that number; the bytes come from a pipe and are not trusted.
Result<OperatorRecord> read_record(const void* records, std::size_t size, std::uint32_t index) {
    CANOPY_TRY(required(records, "opInfo"));
    if (size == 0 || size % sizeof(OperatorRecord) != 0)
        return fail(code::invalid_parameter, "opInfoLen {} is not a multiple of {}", size, sizeof(OperatorRecord));
    if (index >= size / sizeof(OperatorRecord))
        return fail(code::invalid_parameter, "index {} is not below {}, the number of records", index,
                    size / sizeof(OperatorRecord));
    OperatorRecord record;
    std::memcpy(&record, static_cast<const std::byte*>(records) + index * sizeof record, sizeof record);
    if (!record.is_signed()) return fail(code::invalid_parameter, "record {} has a wrong signature", index);
    return record;
}

// A member of a record; `otherwise` if there is no such record.
template <class Value, class Read>
Value read_value(const void* records, std::size_t size, std::uint32_t index, Value otherwise, Read&& read,
                 const char* function = __builtin_FUNCTION()) {
    Value value = otherwise;
    api(
        [&]() -> Status {
            const Result<OperatorRecord> record = read_record(records, size, index);
            if (record.ok()) value = read(record.value());
            return record.status();
        },
        function);
    return value;
}

using Name = std::string OperatorName::*;

Result<const std::string*> find_name(const void* records, std::size_t size, std::uint32_t index, Name name) {
    const Result<OperatorRecord> record = read_record(records, size, index);
    if (!record.ok()) return record.status();
    const OperatorName* const names = operation(record.value().operation);
    if (names == nullptr)
        return fail(code::invalid_parameter, "record {} comes from another process, which has its names", index);
    return &(names->*name);
}

Status write_name(const void* records, std::size_t size, std::uint32_t index, Name name, char* to, std::size_t room) {
    CANOPY_TRY(required(to, "the text"));
    const Result<const std::string*> found = find_name(records, size, index, name);
    if (!found.ok()) return found.status();
    const std::string& text = *found.value();
    if (room <= text.size())
        return fail(code::invalid_parameter, "{} bytes are too few for {} characters and the final zero", room,
                    text.size());
    std::memcpy(to, text.c_str(), text.size() + 1);
    return {};
}

Status write_length(const void* records, std::size_t size, std::uint32_t index, Name name, std::size_t* length) {
    CANOPY_TRY(required(length, "the length"));
    const Result<const std::string*> found = find_name(records, size, index, name);
    if (found.ok()) *length = found.value()->size() + 1;
    return found.status();
}

}  // namespace

extern "C" {

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics aicoreMetrics,
                                                     void* fd) {
    Handle created = 0;
    const int code = api([&]() -> Status {
        CANOPY_TRY(required(fd, "fd"));
        if (timeInfoSwitch != 0 && timeInfoSwitch != 1)
            return fail(code::invalid_parameter, "timeInfoSwitch {} is neither 0 nor 1", timeInfoSwitch);
        const Result<Handle> config = create_subscription(
            timeInfoSwitch == 1, static_cast<std::uint32_t>(aicoreMetrics), *static_cast<const int*>(fd));
        if (config.ok()) created = config.value();
        return config.status();
    });
    return code == 0 ? static_cast<aclprofSubscribeConfig*>(opaque_of(created)) : nullptr;
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
    return api([&]() -> Status { return destroy_subscription(profSubscribeConfig); });
}

aclError aclprofModelSubscribe(uint32_t modelId, const aclprofSubscribeConfig* profSubscribeConfig) {
    return api([&]() -> Status { return subscribe_model(modelId, profSubscribeConfig); });
}

aclError aclprofModelUnSubscribe(uint32_t modelId) {
    return api([&]() -> Status { return unsubscribe_model(modelId); });
}

aclError aclprofGetOpDescSize(size_t* opDescSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(opDescSize, "opDescSize"));
        *opDescSize = sizeof(OperatorRecord);
        return {};
    });
}

aclError aclprofGetOpNum(const void* opInfo, size_t opInfoLen, uint32_t* opNumber) {
    return api([&]() -> Status {
        CANOPY_TRY(required(opNumber, "opNumber"));
        CANOPY_TRY(read_record(opInfo, opInfoLen, 0).status());
        *opNumber = static_cast<uint32_t>(opInfoLen / sizeof(OperatorRecord));
        return {};
    });
}

aclError aclprofGetOpTypeLen(const void* opInfo, size_t opInfoLen, uint32_t index, size_t* opTypeLen) {
    return api([&]() -> Status { return write_length(opInfo, opInfoLen, index, &OperatorName::type, opTypeLen); });
}

aclError aclprofGetOpType(const void* opInfo, size_t opInfoLen, uint32_t index, char* opType, size_t opTypeLen) {
    return api(
        [&]() -> Status { return write_name(opInfo, opInfoLen, index, &OperatorName::type, opType, opTypeLen); });
}

aclError aclprofGetOpNameLen(const void* opInfo, size_t opInfoLen, uint32_t index, size_t* opNameLen) {
    return api([&]() -> Status { return write_length(opInfo, opInfoLen, index, &OperatorName::name, opNameLen); });
}

aclError aclprofGetOpName(const void* opInfo, size_t opInfoLen, uint32_t index, char* opName, size_t opNameLen) {
    return api(
        [&]() -> Status { return write_name(opInfo, opInfoLen, index, &OperatorName::name, opName, opNameLen); });
}

uint64_t aclprofGetOpStart(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, uint64_t{0}, [](const OperatorRecord& record) { return record.start; });
}

uint64_t aclprofGetOpEnd(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, uint64_t{0}, [](const OperatorRecord& record) { return record.end; });
}

uint64_t aclprofGetOpDuration(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, uint64_t{0},
                      [](const OperatorRecord& record) { return record.duration; });
}

size_t aclprofGetModelId(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, size_t{0},
                      [](const OperatorRecord& record) { return size_t{record.model}; });
}

size_t aclprofGetGraphId(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, size_t{0},
                      [](const OperatorRecord& record) { return size_t{record.model}; });
}

aclprofSubscribeOpFlag aclprofGetOpFlag(const void* opInfo, size_t opInfoLen, uint32_t index) {
    return read_value(opInfo, opInfoLen, index, ACL_SUBSCRIBE_OP,
                      [](const OperatorRecord& record) { return static_cast<aclprofSubscribeOpFlag>(record.flag); });
}

const char* aclprofGetOpAttriValue(const void* opInfo, size_t opInfoLen, uint32_t index,
                                   aclprofSubscribeOpAttri attri) {
    const char* value = nullptr;
    api([&]() -> Status {
        const Result<OperatorRecord> record = read_record(opInfo, opInfoLen, index);
        if (!record.ok()) return record.status();
        if (attri != ACL_SUBSCRIBE_ATTRI_THREADID)
            return fail(code::invalid_parameter, "attri {} is not an attribute", static_cast<int>(attri));
        if (record.value().flag != ACL_SUBSCRIBE_OP_THREAD)
            return fail(code::invalid_parameter, "record {} is not about an operator with threads", index);
        thread_local std::string text;
        text = std::to_string(record.value().thread);
        value = text.c_str();
        return {};
    });
    return value;
}

}  // extern "C"
