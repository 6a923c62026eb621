// SPDX-License-Identifier: Apache-2.0
// The lower interface: devices, their numbers, and chip properties.
#include <cstring>
#include <string_view>

#include "acl/acl_rt.h"
#include "api/lower.h"
#include "core/base/thread_state.h"
#include "core/launch/exceptions.h"
#include "core/memory/memory.h"
#include "core/process/chip_words.h"
#include "core/process/runtime.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts_kernel.h"

using namespace canopy;

namespace {

Status copy_text(std::string_view text, char* to, std::uint32_t length) {
    if (text.size() >= length)
        return fail(code::param_invalid, "maxLen {} is too small for {} characters and the final zero", length,
                    text.size());
    std::memcpy(to, text.data(), text.size());
    to[text.size()] = 0;
    return {};
}

// An attribute of the thread's device, or of device 0 if the thread has none.
rtError_t core_count(aclrtDevAttr attribute, std::uint32_t* count, const char* name) {
    return lower({{count, name}}, [&] {
        std::int64_t value = 0;
        const std::int32_t device = thread_state.device < 0 ? 0 : thread_state.device;
        const int code = aclrtGetDeviceInfo(static_cast<std::uint32_t>(device), attribute, &value);
        if (code == 0) *count = static_cast<std::uint32_t>(value);
        return code;
    });
}

// All cores of any kind see memory at the same address.
rtError_t cache_offset(std::uint32_t device, std::uint64_t* offset) {
    return lower({{offset, "offset"}}, [&] {
        const Status known = Runtime::instance().device(device).status();
        if (known.ok()) *offset = 0;
        return known.code();
    });
}

}  // namespace

extern "C" {

rtError_t rtSetDevice(int32_t devId) {
    return lower({}, [&] { return aclrtSetDevice(devId); });
}

rtError_t rtDeviceReset(int32_t devId) {
    return lower({}, [&] { return aclrtResetDevice(devId); });
}

rtError_t rtGetDevice(int32_t* devId) {
    return lower({{devId, "devId"}}, [&] { return aclrtGetDevice(devId); });
}

rtError_t rtGetSocVersion(char_t* ver, const uint32_t maxLen) {
    return lower({{ver, "ver"}}, [&] { return copy_text(aclrtGetSocName(), ver, maxLen).code(); });
}

rtError_t rtGetSocSpec(const char* label, const char* key, char* val, const uint32_t maxLen) {
    return lower({{label, "label"}, {key, "key"}, {val, "val"}}, [&] {
        const Result<std::string> word = chip_word(label, key);
        return word.ok() ? copy_text(word.value(), val, maxLen).code() : word.status().code();
    });
}

rtError_t rtGetLogicDevIdByUserDevId(const int32_t userDevId, int32_t* const logicDevId) {
    return lower({{logicDevId, "logicDevId"}}, [&] { return aclrtGetLogicDevIdByUserDevId(userDevId, logicDevId); });
}

rtError_t rtGetVisibleDeviceIdByLogicDeviceId(const int32_t logicDeviceId, int32_t* const visibleDeviceId) {
    return lower({{visibleDeviceId, "visibleDeviceId"}},
                 [&] { return aclrtGetUserDevIdByLogicDevId(logicDeviceId, visibleDeviceId); });
}

rtError_t rtGetAiCoreCount(uint32_t* aiCoreCnt) {
    return core_count(ACL_DEV_ATTR_AICORE_CORE_NUM, aiCoreCnt, "aiCoreCnt");
}

rtError_t rtGetAiCpuCount(uint32_t* aiCpuCnt) { return core_count(ACL_DEV_ATTR_AICPU_CORE_NUM, aiCpuCnt, "aiCpuCnt"); }

rtError_t rtGetL2CacheOffset(uint32_t deviceId, uint64_t* offset) { return cache_offset(deviceId, offset); }

rtError_t rtsGetNonCacheAddrOffset(uint32_t deviceId, uint64_t* offset) { return cache_offset(deviceId, offset); }

rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len) {
    return lower({{addr, "addr"}, {len, "len"}}, [&] {
        void* words = nullptr;
        const int code = aclrtGetHardwareSyncAddr(&words);
        if (code != 0) return code;
        *addr = reinterpret_cast<std::uint64_t>(words);
        *len = static_cast<std::uint32_t>(classify(device_address(words)).range.size);
        return 0;
    });
}

rtError_t rtsGetHardwareSyncAddr(void** addr) {
    return lower({{addr, "addr"}}, [&] { return aclrtGetHardwareSyncAddr(addr); });
}

rtError_t rtGetExceptionRegInfo(const rtExceptionInfo_t* const exceptionInfo,
                                rtExceptionErrRegInfo_t** exceptionErrRegInfo, uint32_t* num) {
    const auto needed = {Needed{exceptionInfo, "exceptionInfo"}, Needed{exceptionErrRegInfo, "exceptionErrRegInfo"},
                         Needed{num, "num"}};
    return lower(needed, [&] {
        const std::optional<ExceptionDetails> details = exception_details(exceptionInfo);
        if (!details)
            return fail(code::param_invalid, "exceptionInfo {} does not belong to a running callback",
                        as_address(exceptionInfo))
                .code();
        *exceptionErrRegInfo = details->registers;
        *num = details->registers ? 1 : 0;
        return 0;
    });
}

}  // extern "C"
