// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

#include "canopy/canopy.h"
#include "foundation/json.h"

namespace canopy_tool {
namespace {

using canopy::Json;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// Above the folders of the log, if ASCEND_PROCESS_LOG_PATH does not name it.
std::string log_folder() {
    if (const std::string work = variable("ASCEND_WORK_PATH"); !work.empty()) return work;
    const std::string home = variable("HOME");
    return home.empty() ? "none" : home + "/ascend/log";
}

std::string kernel_compiler() {
    std::error_code error;
    const auto tool = std::filesystem::read_symlink("/proc/self/exe", error);
    const auto compiler = tool.parent_path() / "canopy-cc";
    return !error && std::filesystem::exists(compiler, error) ? compiler.string() : "none";
}

// Settings that the library's device description does not include, because other parts read them.
void add_other_settings(Json& settings) {
    const auto add = [&](const char* key, const char* name, const std::string& otherwise, const char* meaning) {
        const std::string chosen = variable(name);
        settings.push_back({{"key", key},
                            {"variable", name},
                            {"value", chosen.empty() ? otherwise : chosen},
                            {"set_by", chosen.empty() ? "default" : name},
                            {"meaning", meaning}});
    };
    add("cc", "CANOPY_CC", kernel_compiler(), "the canopy-cc that programs and Python modules start");
    add("cc_flags", "CANOPY_CC_FLAGS", "none", "flags that canopy-cc puts before those of its command line");
    add("clang", "CANOPY_CLANG", "automatic", "the clang++ that canopy-cc runs");
    add("kernel_meta", "CANOPY_KERNEL_META", "kernel_meta", "folder of the images that super_kernel makes");
    add("mstx_include", "CANOPY_MSTX_INCLUDE", "all", "domains of mstx marks that profiles hold");
    add("mstx_exclude", "CANOPY_MSTX_EXCLUDE", "none", "domains of mstx marks that profiles leave out");
    add("dump_exception", "CANOPY_DUMP_EXCEPTION", "none",
        "folder for all that a failed kernel's block needs to run again");
    add("dump_exception_before", "CANOPY_DUMP_EXCEPTION_BEFORE", "none",
        "kernels like add* whose memory is kept from before each launch for that");
    add("dump_scene", "ASCEND_DUMP_SCENE", "none", "what a failed kernel leaves, like aic_err_norm_dump");
    add("run_dir", "CANOPY_RUN_DIR", "none", "folder for the sockets by which containers share objects");
    add("log_path", "ASCEND_PROCESS_LOG_PATH", log_folder(), "folder of the log files");
    add("log_level", "ASCEND_GLOBAL_LOG_LEVEL", "3", "0 debug, 1 info, 2 warning, 3 error, 4 nothing is logged");
    add("work_path", "ASCEND_WORK_PATH", "none", "folder of the log files without ASCEND_PROCESS_LOG_PATH");
    add("module_log_level", "ASCEND_MODULE_LOG_LEVEL", "none", "levels of parts of the platform, like RUNTIME=1:APP=0");
    add("log_events", "ASCEND_GLOBAL_EVENT_ENABLE", "1", "0: no lines of the type run");
    add("log_files", "ASCEND_HOST_LOG_FILE_NUM", "10", "log files of 20 MB that a process keeps, 1 to 1000");
    add("log_to_stdout", "ASCEND_LOG_PRINT_TO_STDOUT", "0", "1: log lines go to the standard output");
    add("log_to_stdout_old", "ASCEND_SLOG_PRINT_TO_STDOUT", "0", "the older name of it");
    add("cpu_kernel_path", "ASCEND_AICPU_KERNEL_PATH", "none", "folders searched first for CPU kernels");
}

Json describe() {
    Json facts = canopy::parse_json(canopyDescribe()).value();
    add_other_settings(facts["settings"]);
    return facts;
}

int status_of(const Json& facts) { return facts.at("problems").empty() && !facts.at("devices").empty() ? 0 : 1; }

// 68719476736 -> "64 GiB"; a size that is not a multiple of its unit has one decimal.
std::string size_text(double bytes) {
    const char* unit = "B";
    for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
        if (bytes < 1024) break;
        bytes /= 1024;
        unit = next;
    }
    const bool whole = bytes == static_cast<double>(static_cast<long long>(bytes));
    return whole ? fmt::format("{:.0f} {}", bytes, unit) : fmt::format("{:.1f} {}", bytes, unit);
}

std::string value_text(const Json& entry) {
    const Json& value = entry.at("value");
    if (entry.at("key") == "device_memory" || entry.at("key") == "cache_size") return size_text(value.get<double>());
    if (value.is_string()) return value.get<std::string>();
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    if (!value.is_array()) return value.dump();
    std::string list;
    for (const Json& item : value) list += (list.empty() ? "" : ",") + item.dump();
    return list.empty() ? "none" : list;
}

void print_devices(std::ostream& out, const Json& facts) {
    out << fmt::format("{:>6}  {:<6}{:<18}{:>6}{:>8}{:>6}{:>12}{:>9}\n", "device", "kind", "chip", "cube", "vector",
                       "cpu", "memory", "workers");
    for (const Json& device : facts.at("devices")) {
        out << fmt::format("{:>6}  {:<6}{:<18}{:>6}{:>8}{:>6}{:>12}{:>9}\n", device.at("id").get<int>(),
                           device.at("kind").get<std::string>(), device.at("chip").get<std::string>(),
                           device.at("cube_cores").get<int>(), device.at("vector_cores").get<int>(),
                           device.at("cpu_cores").get<int>(), size_text(device.at("memory").get<double>()),
                           device.at("workers").get<int>());
    }
    if (facts.at("devices").empty()) out << "  no device is visible\n";
}

void print_settings(std::ostream& out, const Json& facts) {
    out << fmt::format("{:<28}{:<18}{:<28}{}\n", "setting", "value", "set by", "meaning");
    for (const Json& entry : facts.at("settings")) {
        // Paths may be longer than their column, so a blank separates it from the next one.
        out << fmt::format("{:<28}{:<17} {:<28}{}\n", entry.at("variable").get<std::string>(), value_text(entry),
                           entry.at("set_by").get<std::string>(), entry.at("meaning").get<std::string>());
    }
}

}  // namespace

int print_json(std::ostream& out) {
    const Json facts = describe();
    out << facts.dump(2) << '\n';
    return status_of(facts);
}

int print_text(std::ostream& out) {
    const Json facts = describe();
    out << fmt::format("Canopy {}, {} processors\n\n", facts.at("version").get<std::string>(),
                       facts.at("processors").get<int>());
    print_devices(out, facts);
    out << '\n';
    print_settings(out, facts);
    std::string chips;
    for (const Json& chip : facts.at("chips")) chips += " " + chip.get<std::string>();
    out << "\nchips:" << chips << '\n';
    for (const Json& problem : facts.at("problems")) out << "\nproblem: " << problem.get<std::string>() << '\n';
    return status_of(facts);
}

}  // namespace canopy_tool
