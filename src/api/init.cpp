// SPDX-License-Identifier: Apache-2.0
// Initialisation, finalisation, their callbacks, and process-wide defaults.
#include <algorithm>
#include <array>
#include <atomic>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/lifecycle/initialise.h"
#include "core/process/configuration.h"
#include "core/process/runtime.h"

using namespace canopy;

namespace {

// The device measures kernel time in steps; a timeout is 1 to 254 steps.
constexpr std::uint64_t timeout_step = 4'294'967;  // microseconds
constexpr std::uint64_t most_timeout_steps = 254;
constexpr std::uint64_t standard_timeout = 1091ull * 1'000'000;  // microseconds; the meaning of 0

// Sets the kernel timeout and returns the actual value, both in microseconds.
std::uint64_t set_execute_timeout(std::uint64_t wanted) {
    std::uint64_t actual = standard_timeout;
    if (wanted != 0) {
        const std::uint64_t steps = wanted / timeout_step + (wanted % timeout_step != 0 ? 1 : 0);
        actual = std::min(steps, most_timeout_steps) * timeout_step;
    }
    Runtime::instance().set_kernel_timeout(actual * 1'000);
    return actual;
}

constexpr std::int32_t option_count = 4;  // of aclSysParamOpt
std::array<std::atomic<std::int64_t>, option_count> options{};

Status check_option(std::int32_t option) {
    if (option >= 0 && option < option_count) return {};
    return fail(code::invalid_parameter, "opt {} is not a system parameter", option);
}

}  // namespace

extern "C" {

aclError aclInit(const char* configPath) {
    return api([&]() -> Status { return initialise(configPath); });
}

aclError aclFinalize() {
    return api([&]() -> Status { return finalise(); });
}

aclError aclFinalizeReference(uint64_t* refCount) {
    return api([&]() -> Status { return finalise_reference(refCount); });
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData) {
    return api([&]() -> Status { return register_initialise_callback(type, cbFunc, userData); });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
    return api([&]() -> Status { return unregister_initialise_callback(type, cbFunc); });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void* userData) {
    return api([&]() -> Status { return register_finalise_callback(type, cbFunc, userData); });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
    return api([&]() -> Status { return unregister_finalise_callback(type, cbFunc); });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
    return api([&]() -> Status {
        set_execute_timeout(std::uint64_t{timeout} * 1'000'000);
        return {};
    });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
    return api([&]() -> Status {
        set_execute_timeout(std::uint64_t{timeout} * 1'000);
        return {};
    });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
    return api([&]() -> Status {
        CANOPY_TRY(required(actualTimeout, "actualTimeout"));
        *actualTimeout = set_execute_timeout(timeout);
        return {};
    });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
    return api([&]() -> Status {
        CANOPY_TRY(required(timeoutMs, "timeoutMs"));
        const std::uint64_t timeout = Runtime::instance().kernel_timeout.load(std::memory_order_relaxed);
        *timeoutMs = static_cast<uint32_t>(timeout / 1'000'000);
        return {};
    });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
    return api([&]() -> Status {
        CANOPY_TRY(required(interval, "interval"));
        *interval = timeout_step;
        return {};
    });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
    return api([&]() -> Status {
        Runtime::instance().wait_timeout.store(std::uint64_t{timeout} * 1'000'000'000, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
    return api([&]() -> Status {
        CANOPY_TRY(check_option(opt));
        const std::int64_t largest = opt == ACL_OPT_DETERMINISTIC ? 3 : 1;
        if (value < 0 || value > largest)
            return fail(code::invalid_parameter, "value {} of system parameter {} is not in [0, {}]", value,
                        static_cast<int>(opt), largest);
        options[static_cast<std::size_t>(opt)].store(value, std::memory_order_relaxed);
        return {};
    });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
    return api([&]() -> Status {
        CANOPY_TRY(required(value, "value"));
        CANOPY_TRY(check_option(opt));
        *value = options[static_cast<std::size_t>(opt)].load(std::memory_order_relaxed);
        return {};
    });
}

}  // extern "C"
