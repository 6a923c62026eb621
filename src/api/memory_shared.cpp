// SPDX-License-Identifier: Apache-2.0
// Entry points: device memory between processes, by key and by shareable handle.
#include <acl/acl_rt.h>

#include <cstring>

#include "api/api.h"
#include "api/share_arguments.h"
#include "core/memory/shared_memory.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"

using namespace canopy;

namespace {

Status check_share_type(aclrtMemSharedHandleType type) {
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) return {};
    return fail(code::param_invalid, "shareType {} does not exist", static_cast<int>(type));
}

Result<Importers> importers_of(std::uint64_t flags) {
    if (flags > 1) return fail(code::param_invalid, "flags {:#x} is neither 0 nor 1", flags);
    return flags == 0 ? Importers::listed : Importers::anybody;
}

// A fabric handle is a key in 64 bytes, and zeros.
Result<SharedKey> key_of(const void* handle, aclrtMemSharedHandleType type) {
    if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
        std::uint64_t number = 0;
        std::memcpy(&number, handle, sizeof number);
        return SharedKey::from_shareable(SharedKind::physical, number);
    }
    SharedKey::Bytes bytes;
    std::memcpy(bytes.data(), handle, bytes.size());
    if (const auto key = SharedKey::from_bytes(bytes); key && key->kind == SharedKind::physical) return *key;
    return fail(code::invalid_handle, "the fabric handle is none of physical memory");
}

Status export_handle(aclrtDrvMemHandle handle, std::uint64_t flags, aclrtMemSharedHandleType type, void* out) {
    Result<Importers> importers = importers_of(flags);
    if (!importers.ok()) return importers.status();
    const bool fabric = type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
    Result<SharedKey> key =
        share_physical(handle_of(handle), *importers, fabric ? KeyStrength::full : KeyStrength::shareable);
    if (!key.ok()) return key.status();
    if (fabric) {
        std::memset(out, 0, sizeof(aclrtMemFabricHandle));
        const SharedKey::Bytes bytes = key->bytes();
        std::memcpy(out, bytes.data(), bytes.size());
    } else {
        const std::uint64_t number = key->shareable();
        std::memcpy(out, &number, sizeof number);
    }
    return {};
}

Status allow_handle(const void* handle, aclrtMemSharedHandleType type, const int32_t* processes, size_t count) {
    if (!processes || count == 0) return fail(code::invalid_parameter, "pid must not be null and pidNum not 0");
    Result<SharedKey> key = key_of(handle, type);
    if (!key.ok()) return key.status();
    return allow_import(*key, std::span(processes, count));
}

Status import_handle(const void* shareable, aclrtMemSharedHandleType type, std::int64_t device,
                     aclrtDrvMemHandle* handle) {
    Result<SharedKey> key = key_of(shareable, type);
    if (!key.ok()) return key.status();
    Result<Handle> memory = import_physical(*key, device);
    if (!memory.ok()) return memory.status();
    *handle = opaque_of(*memory);
    return {};
}

}  // namespace

extern "C" {

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
    return api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        CANOPY_TRY(required(key, "key"));
        if (size == 0) return fail(code::param_invalid, "size must not be 0");
        CANOPY_TRY(check_key_room(len));
        Result<Importers> importers = importers_of(flags);
        if (!importers.ok()) return importers.status();
        Result<std::string> text = export_memory(device_address(devPtr), size, *importers);
        if (!text.ok()) return text.status();
        write_key(key, *text);
        return {};
    });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
    return api([&]() -> Status {
        CANOPY_TRY(required(key, "key"));
        CANOPY_TRY(required(pid, "pid"));
        CANOPY_TRY(check_count(num));
        return allow_memory_import(key_text(key), std::span(pid, num));
    });
}

aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num) {
    return api([&]() -> Status {
        CANOPY_TRY(required(key, "key"));
        CANOPY_TRY(check_servers(serverPids, num));
        for (size_t index = 0; index < num; ++index) {
            const aclrtServerPid& server = serverPids[index];
            if (!server.pid || server.num == 0)
                return fail(code::param_invalid, "serverPids[{}] has no list of processes", index);
            CANOPY_TRY(allow_memory_import(key_text(key), std::span(server.pid, server.num)));
        }
        return {};
    });
}

aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
    return api([&]() -> Status {
        CANOPY_TRY(required(key, "key"));
        if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK)
            return fail(code::param_invalid, "type {} does not exist", static_cast<int>(type));
        if (attr > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH)
            return fail(code::param_invalid, "link {} does not exist", attr);
        return choose_link(key_text(key), attr);
    });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(devPtr, "devPtr"));
        CANOPY_TRY(required(key, "key"));
        if (flags > 1) return fail(code::param_invalid, "flags {:#x} is neither 0 nor 1", flags);
        Result<DeviceAddress> address = import_memory(key_text(key), flags != 0);
        if (!address.ok()) return address.status();
        *devPtr = opaque_pointer(*address);
        return {};
    });
}

aclError aclrtIpcMemClose(const char* key) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(key, "key"));
        return close_memory(key_text(key));
    });
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType, uint64_t flags,
                                         uint64_t* shareableHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(shareableHandle, "shareableHandle"));
        if (handleType != ACL_MEM_HANDLE_TYPE_NONE)
            return fail(code::invalid_parameter, "handleType {} is not ACL_MEM_HANDLE_TYPE_NONE",
                        static_cast<int>(handleType));
        return export_handle(handle, flags, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, shareableHandle);
    });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags, aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(shareableHandle, "shareableHandle"));
        CANOPY_TRY(check_share_type(shareType));
        if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) CANOPY_TRY(require_context());
        return export_handle(handle, flags, shareType, shareableHandle);
    });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
    return api(
        [&]() -> Status { return allow_handle(&shareableHandle, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, pid, pidNum); });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum) {
    return api([&]() -> Status {
        CANOPY_TRY(required(shareableHandle, "shareableHandle"));
        CANOPY_TRY(check_share_type(shareType));
        return allow_handle(shareableHandle, shareType, pid, pidNum);
    });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId, aclrtDrvMemHandle* handle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        return import_handle(&shareableHandle, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, deviceId, handle);
    });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(shareableHandle, "shareableHandle"));
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(check_share_type(shareType));
        if (flags != 0) return fail(code::invalid_parameter, "flags {:#x} must be 0", flags);
        Result<DeviceRecord*> record = current_device();
        if (!record.ok()) return record.status();
        return import_handle(shareableHandle, shareType, (*record)->index, handle);
    });
}

}  // extern "C"
