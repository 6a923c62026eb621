// SPDX-License-Identifier: Apache-2.0
// Contexts.
#include "core/process/context.h"

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/base/thread_state.h"
#include "core/lifecycle/contexts.h"
#include "core/stream/stream.h"
#include "device/opaque_pointer.h"
#include "foundation/mutex.h"

using namespace canopy;

namespace {

constexpr std::uint32_t context_options = 3;  // deterministic, debug kernel, strong consistency

Status check_option(aclSysParamOpt option) {
    if (static_cast<std::uint32_t>(option) >= context_options)
        return fail(code::invalid_parameter, "opt {} is not an option of a context", static_cast<int>(option));
    return {};
}

}  // namespace

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(context, "context"));
        Result<Handle> handle = create_context(deviceId);
        if (!handle.ok()) return handle.status();
        *context = opaque_of(*handle);
        return {};
    });
}

aclError aclrtDestroyContext(aclrtContext context) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(context, "context"));
        return destroy_context(handle_of(context));
    });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
    return api([&]() -> Status {
        CANOPY_TRY(required(context, "context"));
        return set_current_context(handle_of(context));
    });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
    return api([&]() -> Status {
        CANOPY_TRY(required(context, "context"));
        CANOPY_TRY(require_context());
        *context = opaque_of(thread_state.context);
        return {};
    });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
    return api([&]() -> Status {
        CANOPY_TRY(required(active, "active"));
        if (flags) return fail(code::invalid_parameter, "flags is reserved and must be null");
        Result<DeviceRecord*> record = Runtime::instance().device(deviceId);
        if (!record.ok()) return record.status();
        *active = (*record)->primary_hint.load(std::memory_order_acquire) != 0 ? 1 : 0;
        return {};
    });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
    return api([&]() -> Status {
        CANOPY_TRY(required(stream, "stream"));
        CANOPY_TRY(require_context());
        *stream = opaque_of(thread_state.default_stream);
        return {};
    });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return api([&]() -> Status {
        CANOPY_TRY(check_option(opt));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        Context& current = **context;
        MutexLock guard(current.mutex);
        current.options.resize(context_options);
        current.options[opt] = value;
        return {};
    });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(check_option(opt));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        Context& current = **context;
        MutexLock guard(current.mutex);
        if (current.options.size() <= static_cast<std::size_t>(opt) || !current.options[opt])
            return fail(code::option_not_set, "option {} has not been set in this context", static_cast<int>(opt));
        *value = *current.options[opt];
        return {};
    });
}

aclError aclrtCtxGetFloatOverflowAddr(void** overflowAddr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(overflowAddr, "overflowAddr"));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        Result<DeviceAddress> memory = context_memory(**context, ContextMemory::overflow);
        if (!memory.ok()) return memory.status();
        *overflowAddr = opaque_pointer(*memory);
        return {};
    });
}

aclError aclrtGetHardwareSyncAddr(void** addr) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(addr, "addr"));
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        Result<DeviceAddress> memory = context_memory(**context, ContextMemory::synchronisation);
        if (!memory.ok()) return memory.status();
        *addr = opaque_pointer(*memory);
        return {};
    });
}
