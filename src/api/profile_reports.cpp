// SPDX-License-Identifier: Apache-2.0
// Profiling, what libraries of operators and frameworks call by name (Msprof*). Texts and their numbers work; reports
// are accepted and not shown, because this library records the calls and tasks behind them itself.
#include <string_view>

#include "api/api.h"
#include "api/profile_names.h"
#include "base/ticks.h"
#include "core/profile/operator_ranges.h"

using namespace canopy;

namespace {

constexpr std::size_t largest_batch = 131'072;

std::uint64_t number_of(const char* text, std::size_t length) noexcept {
    std::uint64_t number = UINT64_MAX;
    api([&]() -> Status {
        CANOPY_TRY(required(text, "hashInfo"));
        number = hash_text(std::string_view(text, length));
        return {};
    });
    return number;
}

}  // namespace

extern "C" {

int32_t MsprofInit(uint32_t, void*, uint32_t) { return 0; }
int32_t MsprofFinalize() { return 0; }
int32_t MsprofRegisterCallback(uint32_t, void*) { return 0; }
int32_t MsprofReportApi(uint32_t, const void*) { return 0; }
int32_t MsprofReportEvent(uint32_t, const void*) { return 0; }
int32_t MsprofReportCompactInfo(uint32_t, void*, uint32_t) { return 0; }
int32_t MsprofReportAdditionalInfo(uint32_t, void*, uint32_t) { return 0; }
int32_t MsprofReportBatchAdditionalInfo(uint32_t, void*, uint32_t) { return 0; }
size_t MsprofGetBatchReportMaxSize(uint32_t) { return largest_batch; }
int32_t MsprofRegTypeInfo(uint16_t, uint32_t, const char*) { return 0; }
int32_t MsprofRegDataFormat(uint16_t, uint32_t, const char*) { return 0; }
int32_t MsprofSetDeviceIdByGeModelIdx(uint32_t, uint32_t) { return 0; }
int32_t MsprofUnsetDeviceIdByGeModelIdx(uint32_t, uint32_t) { return 0; }

uint64_t MsprofGetHashId(const char* hashInfo, size_t length) { return number_of(hashInfo, length); }
uint64_t MsprofStr2Id(const char* hashInfo, size_t length) { return number_of(hashInfo, length); }

// The text stays valid; the caller must not change it.
char* MsprofId2Str(uint64_t id) {
    const std::string* text = nullptr;
    api([&]() -> Status {
        text = text_of_hash(id);
        return {};
    });
    return text ? const_cast<char*>(text->c_str()) : nullptr;
}

// There is no folder for reports.
char* MsprofGetPath() { return nullptr; }
uint64_t MsprofSysCycleTime() { return ticks(); }
// Every operator is recorded.
bool MsprofCheckOpSwitch(uint32_t, const char*, size_t) { return true; }

}  // extern "C"
