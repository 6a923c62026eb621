// SPDX-License-Identifier: Apache-2.0
// Notifies and counting notifies.
#include "core/stream/notify.h"

#include <vector>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "api/share_arguments.h"
#include "core/process/context.h"

using namespace canopy;

namespace {

Status create(void** notify, NotifyKind kind, std::uint64_t flag, const char* name) {
    CANOPY_TRY(required(notify, name));
    if (flag > 1) return fail(code::param_invalid, "flag {} is neither 0 (default) nor 1 (device only)", flag);
    Result<Handle> handle = create_notify(kind);
    if (!handle.ok()) return handle.status();
    *notify = opaque_of(*handle);
    return {};
}

template <class Body>
int with_notify(NotifyKind kind, void* notify, const char* name, Body&& body,
                const char* function = __builtin_FUNCTION()) noexcept {
    return api(
        [&]() -> Status {
            CANOPY_TRY(required(notify, name));
            Result<Pin<Notify>> pinned = find_notify(kind, notify);
            if (!pinned.ok()) return pinned.status();
            return body(**pinned);
        },
        function);
}

}  // namespace

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
    return changing_api([&]() -> Status { return create(notify, NotifyKind::binary, flag, "notify"); });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(notify, "notify"));
        return destroy_notify(NotifyKind::binary, notify);
    });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
    return with_notify(NotifyKind::binary, notify, "notify",
                       [&](Notify& target) { return signal_notify(target, stream, SignalMode::set, 1); });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
    return with_notify(NotifyKind::binary, notify, "notify", [&](Notify& target) {
        return wait_for_notify(target, stream, WaitMode::equal, 1, true, timeout * second);
    });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
    return with_notify(NotifyKind::binary, notify, "notify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(notifyId, "notifyId"));
        *notifyId = notify_number(target);
        return {};
    });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(notifies, "notifies"));
        if (num == 0) return fail(code::param_invalid, "num must not be 0");
        CANOPY_TRY(require_context());
        std::vector<Pin<Notify>> pinned;
        for (size_t i = 0; i < num; ++i) {
            Result<Pin<Notify>> notify = find_notify(NotifyKind::binary, notifies[i]);
            if (!notify.ok()) return notify.status();
            pinned.push_back(std::move(*notify));
        }
        for (const Pin<Notify>& notify : pinned) reset_notify(*notify);
        return {};
    });
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
    return with_notify(NotifyKind::binary, notify, "notify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(key, "key"));
        CANOPY_TRY(check_key_room(len));
        if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
            return fail(code::param_invalid, "flags {:#x} is neither 0 nor 2", flags);
        Result<std::string> text = export_notify(target, flags == 0 ? Importers::listed : Importers::anybody);
        if (!text.ok()) return text.status();
        write_key(key, *text);
        return {};
    });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
    return with_notify(NotifyKind::binary, notify, "notify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(pid, "pid"));
        CANOPY_TRY(check_count(num));
        return allow_notify_import(target, std::span(pid, num));
    });
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num) {
    return with_notify(NotifyKind::binary, notify, "notify", [&](Notify& target) -> Status {
        CANOPY_TRY(check_servers(serverPids, num));
        for (size_t index = 0; index < num; ++index)
            if (!serverPids[index].pid || serverPids[index].num != 1)
                return fail(code::param_invalid, "serverPids[{}] must have exactly one process", index);
        for (size_t index = 0; index < num; ++index)
            CANOPY_TRY(allow_notify_import(target, std::span(serverPids[index].pid, 1)));
        return {};
    });
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(notify, "notify"));
        CANOPY_TRY(required(key, "key"));
        if (flags > 3) return fail(code::param_invalid, "flags {:#x} has bits that do not exist", flags);
        Result<Handle> handle =
            import_notify(key_text(key), (flags & ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0);
        if (!handle.ok()) return handle.status();
        *notify = opaque_of(*handle);
        return {};
    });
}

aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag) {
    return changing_api([&]() -> Status { return create(cntNotify, NotifyKind::counting, flag, "cntNotify"); });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(cntNotify, "cntNotify"));
        return destroy_notify(NotifyKind::counting, cntNotify);
    });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo* info) {
    return with_notify(NotifyKind::counting, cntNotify, "cntNotify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(info, "info"));
        SignalMode mode = SignalMode::set;
        switch (info->mode) {
            case ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE:
                mode = SignalMode::set;
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
                mode = SignalMode::add;
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
                mode = SignalMode::bit_or;
                break;
            case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
                mode = SignalMode::bit_and;
                break;
            default:
                return fail(code::param_invalid, "info->mode {} is not a record mode", static_cast<int>(info->mode));
        }
        return signal_notify(target, stream, mode, info->value);
    });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyWaitInfo* info) {
    return with_notify(NotifyKind::counting, cntNotify, "cntNotify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(info, "info"));
        WaitMode mode = WaitMode::equal;
        switch (info->mode) {
            case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
                mode = WaitMode::less;
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
                mode = WaitMode::equal;
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
                mode = WaitMode::greater;
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
                mode = WaitMode::at_least;
                break;
            case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE:
                mode = WaitMode::mask;
                break;
            default:
                return fail(code::param_invalid, "info->mode {} is not a wait mode", static_cast<int>(info->mode));
        }
        return wait_for_notify(target, stream, mode, info->value, info->isClear != 0, info->timeout * second);
    });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
    return with_notify(NotifyKind::counting, cntNotify, "cntNotify",
                       [&](Notify& target) { return signal_notify(target, stream, SignalMode::set, 0); });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId) {
    return with_notify(NotifyKind::counting, cntNotify, "cntNotify", [&](Notify& target) -> Status {
        CANOPY_TRY(required(notifyId, "notifyId"));
        *notifyId = slot_of(target.self);
        return {};
    });
}
