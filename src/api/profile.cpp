// SPDX-License-Identifier: Apache-2.0
// Profiling sessions.
#include <cstring>
#include <string>

#include "acl/acl_prof.h"
#include "api/api.h"
#include "api/profile_names.h"
#include "core/lifecycle/initialise.h"
#include "core/profile/collection.h"
#include "core/profile/session.h"

using namespace canopy;

namespace {

constexpr std::size_t longest_path = 4095;
constexpr std::size_t longest_setting = 256;

// A text that comes with its length, which must be right.
Status check_text(const char* text, std::size_t length, std::size_t longest, const char* name) {
    CANOPY_TRY(required(text, name));
    if (length == 0 || length > longest)
        return fail(code::invalid_parameter, "the length {} of {} is not in [1, {}]", length, name, longest);
    if (strnlen(text, length + 1) != length)
        return fail(code::invalid_parameter, "{} does not have the length {} that was given", name, length);
    return {};
}

}  // namespace

extern "C" {

aclError aclprofInit(const char* profilerResultPath, size_t length) {
    return api([&]() -> Status {
        CANOPY_TRY(check_text(profilerResultPath, length, longest_path, "profilerResultPath"));
        if (!is_initialised()) return fail(code::uninitialised, "aclInit was not called");
        return init_profiling(std::string(profilerResultPath, length));
    });
}

aclError aclprofFinalize() {
    return api([&]() -> Status { return finalise_profiling(); });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
    return api([&]() -> Status {
        CANOPY_TRY(check_text(config, configLength, longest_setting, "config"));
        return set_profiling(static_cast<int>(configType), {config, configLength});
    });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents, uint64_t dataTypeConfig) {
    Handle created = 0;
    const int code = api([&]() -> Status {
        if (deviceNums > 0) CANOPY_TRY(required(deviceIdList, "deviceIdList"));
        if (aicoreEvents != nullptr)
            return fail(code::invalid_parameter, "aicoreEvents must be null: there are no lists of events");
        const Result<Handle> collection =
            create_collection({deviceIdList, deviceNums}, static_cast<std::uint32_t>(aicoreMetrics), dataTypeConfig);
        if (collection.ok()) created = collection.value();
        return collection.status();
    });
    return code == 0 ? static_cast<aclprofConfig*>(opaque_of(created)) : nullptr;
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
    return api([&]() -> Status { return destroy_collection(profilerConfig); });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
    return api([&]() -> Status { return start_profiling(profilerConfig); });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
    return api([&]() -> Status { return stop_profiling(profilerConfig); });
}

aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
    return api([&]() -> Status { return warm_up_profiling(profilerConfig); });
}

// There are no optional features; clients ask for their list.
static int no_features(size_t* featuresSize, void** featuresData) {
    return api([&]() -> Status {
        CANOPY_TRY(required(featuresSize, "featuresSize"));
        CANOPY_TRY(required(featuresData, "featuresData"));
        *featuresSize = 0;
        *featuresData = nullptr;
        return {};
    });
}

int32_t aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData) {
    return no_features(featuresSize, featuresData);
}

int32_t aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData) {
    return no_features(featuresSize, featuresData);
}

// Devices are known without it.
int aclprofRegisterDeviceCallback() { return 0; }

}  // extern "C"
