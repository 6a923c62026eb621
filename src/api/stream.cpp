// SPDX-License-Identifier: Apache-2.0
// Streams.
#include "core/stream/stream.h"

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/check/host_check.h"
#include "core/graph/capture/capture.h"
#include "core/graph/graph_build.h"
#include "core/process/context.h"
#include "core/stream/capture_rules.h"
#include "core/stream/stream_callbacks.h"
#include "core/stream/stream_configurations.h"
#include "core/stream/stream_state.h"

using namespace canopy;

namespace {

Status create(aclrtStream* stream, std::uint32_t priority, std::uint32_t flags) {
    CANOPY_TRY(required(stream, "stream"));
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    constexpr std::uint32_t known = 0x3F;  // further bits are ignored
    Result<Handle> handle = create_stream(**context, {priority, flags & known});
    if (!handle.ok()) return handle.status();
    *stream = opaque_of(*handle);
    return {};
}

Status destroy(aclrtStream stream, DestroyMode mode) {
    CANOPY_TRY(required(stream, "stream"));
    Result<Pin<Stream>> pinned = find_stream(stream, true);
    if (!pinned.ok()) return pinned.status();
    if ((*pinned)->is_default) return fail(code::param_invalid, "the default stream of a context cannot be destroyed");
    CANOPY_TRY(check_stream_free(**pinned));
    return destroy_stream((*pinned)->self, mode);
}

Status set_failure_mode(Stream& stream, std::uint64_t mode) {
    if (mode > 1) return fail(code::param_invalid, "failure mode {} is neither 0 (continue) nor 1 (stop)", mode);
    // Programs may switch from continue to stop, but not back.
    if (mode == 1)
        stream.failure_mode.store(FailureMode::stop, std::memory_order_release);
    else if (stream.failure_mode.load(std::memory_order_acquire) == FailureMode::stop)
        return fail(code::param_invalid, "stream {} stops on failure, which cannot be undone", stream.id);
    return {};
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
    return changing_api([&]() -> Status { return create(stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    return changing_api([&]() -> Status { return create(stream, priority, flag); });
}

aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void) {
    aclrtStreamConfigHandle* handle = nullptr;
    api([&]() -> Status {
        handle = make_stream_configuration();
        return {};
    });
    return handle;
}

aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        return destroy_stream_configuration(handle);
    });
}

aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle, aclrtStreamConfigAttr attr, const void* attrValue,
                                 size_t valueSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(check_stream_configuration(handle));
        CANOPY_TRY(required(attrValue, "attrValue"));
        const auto take = [&](auto& field) -> Status {
            if (valueSize != sizeof(field))
                return fail(code::invalid_parameter, "valueSize {} does not fit attribute {}, which has {} bytes",
                            valueSize, static_cast<int>(attr), sizeof(field));
            field = *static_cast<const std::remove_reference_t<decltype(field)>*>(attrValue);
            return {};
        };
        switch (attr) {
            case ACL_RT_STREAM_WORK_ADDR_PTR:
                return take(handle->workptr);
            case ACL_RT_STREAM_WORK_SIZE:
                return take(handle->workSize);
            case ACL_RT_STREAM_FLAG: {
                // Programs pass the flags either as 32 bits or as the field's type.
                std::uint32_t narrow = 0;
                if (valueSize != sizeof(narrow)) return take(handle->flag);
                CANOPY_TRY(take(narrow));
                handle->flag = narrow;
                return {};
            }
            case ACL_RT_STREAM_PRIORITY:
                return take(handle->priority);
        }
        return fail(code::invalid_parameter, "attr {} is not an attribute of a stream", static_cast<int>(attr));
    });
}

aclError aclrtCreateStreamV2(aclrtStream* stream, const aclrtStreamConfigHandle* handle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(check_stream_configuration(handle));
        return create(stream, handle->priority, static_cast<std::uint32_t>(handle->flag));
    });
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return changing_api([&]() -> Status { return destroy(stream, DestroyMode::wait); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return changing_api([&]() -> Status { return destroy(stream, DestroyMode::force); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    return api([&]() -> Status {
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        return synchronise_stream(**pinned, Deadline::never());
    });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    return api([&]() -> Status {
        Result<Deadline> deadline = deadline_of(timeout);
        if (!deadline.ok()) return deadline.status();
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        return synchronise_stream(**pinned, *deadline);
    });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    return api([&]() -> Status {
        CANOPY_TRY(required(status, "status"));
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        Stream& target = **pinned;
        SpinGuard guard(target.lock);
        const bool complete = target.queue->completed() >= target.last_sequence;
        if (HostCheck* const check = HostCheck::present(); check && complete) [[unlikely]]
            check->seen_complete(static_cast<std::uint32_t>(target.id), target.last_sequence);
        *status = complete ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
        return {};
    });
}

aclError aclrtStreamAbort(aclrtStream stream) {
    return api([&]() -> Status {
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        abort_stream(**pinned, code::stream_abort);
        return {};
    });
}

aclError aclrtStreamStop(aclrtStream stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        stop_stream(**pinned);
        return {};
    });
}

aclError aclrtPersistentTaskClean(aclrtStream stream) {
    return api([&]() -> Status {
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        return clear_recorded(stream);
    });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
    return api([&]() -> Status {
        CANOPY_TRY(required(streamId, "streamId"));
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        *streamId = (*pinned)->id;
        return {};
    });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
    return api([&]() -> Status {
        CANOPY_TRY(required(priority, "priority"));
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        *priority = (*pinned)->priority.load(std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
    return api([&]() -> Status {
        CANOPY_TRY(required(flags, "flags"));
        Result<Pin<Stream>> pinned = find_stream(stream, false);
        if (!pinned.ok()) return pinned.status();
        *flags = (*pinned)->flags;
        return {};
    });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
    return api([&]() -> Status {
        CANOPY_TRY(required(streamCount, "streamCount"));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        const DeviceRecord& record = *(*context)->record;
        *streamCount = record.chip->max_streams - record.streams.load(std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    return api([&]() -> Status {
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        return set_failure_mode(**pinned, mode);
    });
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        Stream& target = **pinned;
        switch (stmAttrType) {
            case ACL_STREAM_ATTR_FAILURE_MODE:
                return set_failure_mode(target, value->failureMode);
            case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
                if (value->overflowSwitch > 1)
                    return fail(code::param_invalid, "overflowSwitch {} is neither 0 nor 1", value->overflowSwitch);
                target.overflow_switch.store(value->overflowSwitch);
                return {};
            case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
                target.user_tag.store(value->userCustomTag);
                return {};
            case ACL_STREAM_ATTR_CACHE_OP_INFO:
                if (value->cacheOpInfoSwitch > 1)
                    return fail(code::param_invalid, "cacheOpInfoSwitch {} is neither 0 nor 1",
                                value->cacheOpInfoSwitch);
                target.cache_operator_info.store(value->cacheOpInfoSwitch);
                return {};
            case ACL_STREAM_ATTR_PRIORITY:
                if (value->streamPriority > 7)
                    return fail(code::param_invalid, "streamPriority {} is not between 0 and 7", value->streamPriority);
                target.priority.store(value->streamPriority);
                target.queue->set_priority(value->streamPriority);
                return {};
        }
        return fail(code::param_invalid, "{} is not an attribute of a stream", static_cast<int>(stmAttrType));
    });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        const Stream& target = **pinned;
        *value = {};
        switch (stmAttrType) {
            case ACL_STREAM_ATTR_FAILURE_MODE:
                value->failureMode = static_cast<std::uint64_t>(target.failure_mode.load());
                return {};
            case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
                value->overflowSwitch = target.overflow_switch.load();
                return {};
            case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
                value->userCustomTag = target.user_tag.load();
                return {};
            case ACL_STREAM_ATTR_CACHE_OP_INFO:
                value->cacheOpInfoSwitch = target.cache_operator_info.load();
                return {};
            case ACL_STREAM_ATTR_PRIORITY:
                value->streamPriority = target.priority.load();
                return {};
        }
        return fail(code::param_invalid, "{} is not an attribute of a stream", static_cast<int>(stmAttrType));
    });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
    return api([&]() -> Status {
        if (flag > 1) return fail(code::invalid_parameter, "flag {} is neither 0 nor 1", flag);
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        CANOPY_TRY(check_stream_free(**pinned));
        (*pinned)->overflow_switch.store(flag);
        return {};
    });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
    return api([&]() -> Status {
        CANOPY_TRY(required(flag, "flag"));
        Result<Pin<Stream>> pinned = find_stream(stream, true);
        if (!pinned.ok()) return pinned.status();
        *flag = (*pinned)->overflow_switch.load();
        return {};
    });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback, void* args) {
    return api([&]() -> Status {
        CANOPY_TRY(required(regName, "regName"));
        return register_stream_state_callback(regName, reinterpret_cast<StreamStateFunction>(callback), args);
    });
}
