// SPDX-License-Identifier: Apache-2.0
#include "core/process/log_settings.h"

#include <algorithm>
#include <charconv>

namespace canopy {
namespace {

struct NamedModule {
    std::uint16_t number;
    std::string_view name;
};

constexpr NamedModule modules[] = {
    {0, "SLOG"},    {1, "IDEDD"},   {3, "HCCL"},    {4, "FMK"},         {6, "DVPP"},      {7, "RUNTIME"},
    {8, "CCE"},     {9, "HDC"},     {10, "DRV"},    {22, "DEVMM"},      {23, "KERNEL"},   {24, "LIBMEDIA"},
    {25, "CCECPU"}, {27, "ROS"},    {28, "HCCP"},   {29, "ROCE"},       {30, "TEFUSION"}, {31, "PROFILING"},
    {32, "DP"},     {33, "APP"},    {34, "TS"},     {35, "TSDUMP"},     {36, "AICPU"},    {37, "LP"},
    {38, "TDT"},    {39, "FE"},     {40, "MD"},     {41, "MB"},         {42, "ME"},       {43, "IMU"},
    {44, "IMP"},    {45, "GE"},     {47, "CAMERA"}, {48, "ASCENDCL"},   {49, "TEEOS"},    {50, "ISP"},
    {51, "SIS"},    {52, "HSM"},    {53, "DSS"},    {54, "PROCMGR"},    {55, "BBOX"},     {56, "AIVECTOR"},
    {57, "TBE"},    {58, "FV"},     {60, "TUNE"},   {61, "HSS"},        {62, "FFTS"},     {63, "OP"},
    {64, "UDF"},    {65, "HICAID"}, {66, "TSYNC"},  {67, "AUDIO"},      {68, "TPRT"},     {69, "ASCENDCKERNEL"},
    {70, "ASYS"},   {71, "ATRACE"}, {72, "RTC"},    {73, "SYSMONITOR"}, {74, "AML"},      {75, "ADETECT"}};

std::optional<std::uint32_t> number_in(std::string_view text, std::uint32_t least, std::uint32_t most) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
    return value;
}

std::optional<LogLevel> parse_level(std::string_view text) {
    const auto number = text.size() == 1 ? number_in(text, 0, 4) : std::nullopt;
    return number ? std::optional(static_cast<LogLevel>(*number)) : std::nullopt;
}

std::optional<std::uint16_t> module_named(std::string_view name) {
    for (const NamedModule& module : modules)
        if (module.name == name) return module.number;
    return std::nullopt;
}

// "RUNTIME=0:ASCENDCL=1". One bad entry makes all of it void.
void read_module_levels(std::string_view text, LogSettings& settings) {
    auto levels = settings.levels;
    while (!text.empty()) {
        const std::size_t colon = std::min(text.find(':'), text.size());
        const std::string_view entry = text.substr(0, colon);
        const std::size_t equals = entry.find('=');
        if (equals == std::string_view::npos) return;
        const auto module = module_named(entry.substr(0, equals));
        const auto level = parse_level(entry.substr(equals + 1));
        if (!module || !level) return;
        levels[*module] = *level;
        text.remove_prefix(std::min(colon + 1, text.size()));
    }
    settings.levels = levels;
}

}  // namespace

LogSettings read_log_settings(const Variables& variable) {
    LogSettings settings;
    const auto is = [&](const char* name, std::string_view value) { return variable(name) == value; };
    if (const auto text = variable("ASCEND_GLOBAL_LOG_LEVEL"))
        settings.level = parse_level(*text).value_or(settings.level);
    if (const auto text = variable("ASCEND_MODULE_LOG_LEVEL")) read_module_levels(*text, settings);
    settings.events = !is("ASCEND_GLOBAL_EVENT_ENABLE", "0");
    settings.to_standard_output = is("ASCEND_LOG_PRINT_TO_STDOUT", "1") || is("ASCEND_SLOG_PRINT_TO_STDOUT", "1");
    if (const auto text = variable("ASCEND_HOST_LOG_FILE_NUM"))
        settings.files = number_in(*text, 1, 1000).value_or(settings.files);
    if (const auto chosen = variable("ASCEND_PROCESS_LOG_PATH"))
        settings.folder = *chosen;
    else if (const auto work = variable("ASCEND_WORK_PATH"))
        settings.folder = *work;
    else if (const auto home = variable("HOME"))
        settings.folder = std::string(*home) + "/ascend/log";
    return settings;
}

bool is_log_module(std::uint32_t module) noexcept {
    if (module >= first_user_module && module <= last_user_module) return true;
    for (const NamedModule& known : modules)
        if (known.number == module) return true;
    return false;
}

std::string log_module_name(std::uint32_t module) {
    for (const NamedModule& known : modules)
        if (known.number == module) return std::string(known.name);
    return is_log_module(module) ? std::to_string(module) : std::string();
}

}  // namespace canopy
