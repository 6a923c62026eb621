// SPDX-License-Identifier: Apache-2.0
#include "info.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "canopy/canopy.h"

namespace canopy_tool {
namespace {

using Json = nlohmann::ordered_json;

Json describe() { return Json::parse(canopyDescribe(), nullptr, false); }

int status_of(const Json& facts) { return facts["problems"].empty() && !facts["devices"].empty() ? 0 : 1; }

// 68719476736 -> "64 GiB"; sizes that are not a whole number of units keep one decimal.
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
    const Json& value = entry["value"];
    if (entry["key"] == "device_memory") return size_text(value.get<double>());
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
    for (const Json& device : facts["devices"]) {
        out << fmt::format("{:>6}  {:<6}{:<18}{:>6}{:>8}{:>6}{:>12}{:>9}\n", device["id"].get<int>(),
                           device["kind"].get<std::string>(), device["chip"].get<std::string>(),
                           device["cube_cores"].get<int>(), device["vector_cores"].get<int>(),
                           device["cpu_cores"].get<int>(), size_text(device["memory"].get<double>()),
                           device["workers"].get<int>());
    }
    if (facts["devices"].empty()) out << "  no device is visible\n";
}

void print_settings(std::ostream& out, const Json& facts) {
    out << fmt::format("{:<27}{:<18}{:<27}{}\n", "setting", "value", "set by", "meaning");
    for (const Json& entry : facts["settings"]) {
        out << fmt::format("{:<27}{:<18}{:<27}{}\n", entry["variable"].get<std::string>(), value_text(entry),
                           entry["set_by"].get<std::string>(), entry["meaning"].get<std::string>());
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
    out << fmt::format("Canopy {}, {} processors\n\n", facts["version"].get<std::string>(),
                       facts["processors"].get<int>());
    print_devices(out, facts);
    out << '\n';
    print_settings(out, facts);
    std::string chips;
    for (const Json& chip : facts["chips"]) chips += " " + chip.get<std::string>();
    out << "\nchips:" << chips << '\n';
    for (const Json& problem : facts["problems"]) out << "\nproblem: " << problem.get<std::string>() << '\n';
    return status_of(facts);
}

}  // namespace canopy_tool
