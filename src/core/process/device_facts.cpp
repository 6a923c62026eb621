// SPDX-License-Identifier: Apache-2.0
#include "core/process/device_facts.h"

#include <array>
#include <cstring>

#include "base/error_text.h"
#include "core/base/error_codes.h"

namespace canopy {
namespace {

constexpr std::uint32_t devices_per_domain = 32;
constexpr std::uint32_t first_bus = 0xC1;

// SIMT figures of a vector core, starting at attribute 202.
constexpr std::array<std::int64_t, 11> simt_attributes = {
    32,                   // warp size
    2048,                 // threads of a vector core
    0,                    // local memory of a vector core: the chip's unified buffer
    65535, 65535, 65535,  // grid, per dimension
    65535,                // blocks of a grid
    2048,                 // threads of a block
    2048,  2048,  64,     // block, per dimension
};

Status no_such_attribute(const Chip& chip, std::int32_t attribute) {
    return fail(code::not_supported, "{} does not have attribute {}", chip.name, attribute);
}

Result<std::int64_t> simt_attribute(const Chip& chip, std::int32_t attribute) {
    if (!chip.simt) return std::int64_t{0};
    if (attribute == 204) return static_cast<std::int64_t>(chip.unified_buffer);
    return simt_attributes[static_cast<std::size_t>(attribute - 202)];
}

Result<std::int64_t> place_attribute(const DeviceRecord& record, const Chip& chip, std::int32_t attribute) {
    switch (attribute) {
        case 401:
            return std::int64_t{0};  // which operating system image
        case 402:
            return static_cast<std::int64_t>(record.physical);  // chip
        case 403:
            return static_cast<std::int64_t>(record.physical);  // device in its pod
        case 404:
            return std::int64_t{0};  // server in its pod
        case 405:
            return std::int64_t{0};  // pod
        case 406:
            return std::int64_t{0};  // privilege of custom operators
        case 407:
            return std::int64_t{0};  // mainboard
        case 408:
            return chip.series == "A5" ? Result<std::int64_t>(0) : no_such_attribute(chip, attribute);
        default:
            return chip.series == "A5" ? Result<std::int64_t>(3) : no_such_attribute(chip, attribute);
    }
}

int hexadecimal_digit(char letter) noexcept {
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

bool has_bus_id_form(std::string_view text) noexcept {
    constexpr std::string_view form = "xxxx:xx:xx.x";
    if (text.size() != form.size()) return false;
    for (std::size_t at = 0; at < form.size(); ++at)
        if (form[at] == 'x' ? hexadecimal_digit(text[at]) < 0 : text[at] != form[at]) return false;
    return true;
}

bool same_ignoring_case(std::string_view one, std::string_view other) noexcept {
    if (one.size() != other.size()) return false;
    for (std::size_t at = 0; at < one.size(); ++at)
        if (one[at] != other[at] && hexadecimal_digit(one[at]) != hexadecimal_digit(other[at])) return false;
    return true;
}

// Mixes the bits of a number (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t value) noexcept {
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

std::string_view core_version(std::uint32_t architecture) noexcept {
    switch (architecture) {
        case 1001:
            return "AIC-C-100";
        case 2002:
            return "AIC-M-200";
        case 3002:
            return "AIC-M-300";
        case 3510:
            return "AIC-C-310";
        default:
            return "AIC-C-220";
    }
}

bool has_stacked_memory(const Chip& chip) noexcept { return chip.architecture != 2002 && chip.architecture != 3002; }

struct Instruction {
    std::string_view name;
    bool on_vector_core;
    std::string_view types;
};

constexpr Instruction instructions[] = {
    {"Intrinsic_vadd", true, "float16,float32,int16,int32"},
    {"Intrinsic_vsub", true, "float16,float32,int16,int32"},
    {"Intrinsic_vmul", true, "float16,float32,int16,int32"},
    {"Intrinsic_vdiv", true, "float16,float32"},
    {"Intrinsic_vmax", true, "float16,float32,int16,int32"},
    {"Intrinsic_vmin", true, "float16,float32,int16,int32"},
    {"Intrinsic_vabs", true, "float16,float32"},
    {"Intrinsic_vexp", true, "float16,float32"},
    {"Intrinsic_vln", true, "float16,float32"},
    {"Intrinsic_vrec", true, "float16,float32"},
    {"Intrinsic_vsqrt", true, "float16,float32"},
    {"Intrinsic_vrsqrt", true, "float16,float32"},
    {"Intrinsic_vrelu", true, "float16,float32,int32"},
    {"Intrinsic_vand", true, "int16,uint16"},
    {"Intrinsic_vor", true, "int16,uint16"},
    {"Intrinsic_vnot", true, "int16,uint16"},
    {"Intrinsic_mmad", false, "f162f32,bf162f32,f322f32,s82s32"},
};

}  // namespace

Result<std::int64_t> device_attribute(const DeviceRecord& record, std::int32_t attribute) {
    const Settings& settings = Runtime::instance().settings();
    const Chip& chip = *settings.chip;
    if (attribute >= 202 && attribute <= 212) return simt_attribute(chip, attribute);
    if (attribute >= 401 && attribute <= 409) return place_attribute(record, chip, attribute);
    switch (attribute) {
        case 1:
            return static_cast<std::int64_t>(settings.cpu_cores ? settings.cpu_cores : chip.cpu_cores);
        case 101:
        case 102:
            return static_cast<std::int64_t>(chip.cube_cores);
        case 201:
            return static_cast<std::int64_t>(chip.vector_cores);
        case 301:
            return static_cast<std::int64_t>(settings.memory);
        case 302:
            return static_cast<std::int64_t>(chip.l2_cache);
        case 501:
            return std::int64_t{0};
        case 601:
            return static_cast<std::int64_t>(chip.architecture);
        default:
            return fail(code::param_invalid, "attr {} is not a device attribute", attribute);
    }
}

std::string pci_bus_id(std::uint32_t physical) {
    return fmt::format("{:04x}:{:02x}:00.0", physical / devices_per_domain, first_bus + physical % devices_per_domain);
}

Result<std::int32_t> device_with_pci_bus_id(std::string_view text) {
    if (!has_bus_id_form(text))
        return fail(code::param_invalid, "pciBusId \"{}\" does not look like 0000:c1:00.0", text);
    const auto& visible = Runtime::instance().settings().visible;
    for (std::size_t index = 0; index < visible.size(); ++index)
        if (same_ignoring_case(text, pci_bus_id(visible[index]))) return static_cast<std::int32_t>(index);
    return fail(code::invalid_device, "no device has pciBusId \"{}\"", text);
}

void device_uuid(std::uint32_t physical, char* bytes) noexcept {
    std::uint64_t words[2] = {mix(0x63616E6F70790000ull + physical), mix(0x796E6F7061630000ull + physical)};
    std::memcpy(bytes, words, sizeof(words));
    // UUID version 8 (custom), variant 1.
    bytes[6] = static_cast<char>((bytes[6] & 0x0F) | 0x80);
    bytes[8] = static_cast<char>((bytes[8] & 0x3F) | 0x80);
}

std::uint64_t device_topology(const DeviceRecord& one, const DeviceRecord& other) noexcept {
    constexpr std::uint64_t hccs = 0x01, sio = 0x20, hccs_switch = 0x40;
    if (Runtime::instance().settings().chip->series != "A3") return hccs;
    return one.physical / 2 == other.physical / 2 ? sio : hccs_switch;  // two dies of one package, or not
}

Result<std::string> platform_fact(std::int32_t number) {
    const Settings& settings = Runtime::instance().settings();
    const Chip& chip = *settings.chip;
    const auto text = [](std::uint64_t value) { return fmt::format("{}", value); };
    switch (number) {
        case 0:
            return text(chip.cube_cores);
        case 1:
            return text(chip.unified_buffer);
        case 2:
            return text(chip.cube_cores);
        case 3:
            return text(chip.vector_cores);
        case 4:
            return text(chip.l2_cache);
        case 5:
            return text(settings.memory);
        case 6:
        case 7:
            return text(1800);  // MHz
        case 8:
            return text(chip.bias_buffer);
        case 9:
            return text(chip.l0a_buffer);
        case 10:
            return text(chip.l0b_buffer);
        case 11:
            return text(chip.l0c_buffer);
        case 12:
            return text(chip.l1_buffer);
        case 13:
            return std::string(chip.name);
        case 14:
            return std::string(core_version(chip.architecture));
        case 15:
            return text(chip.architecture);
        case 16:
            return std::string(has_stacked_memory(chip) ? "HBM" : "DDR");
        default:
            return fail(code::invalid_parameter, "infoType {} is not a platform attribute", number);
    }
}

Result<std::string> instruction_types(std::int32_t core_type, std::string_view instruction) {
    if (core_type != 0 && core_type != 1)
        return fail(code::invalid_parameter, "type {} is neither an AI core nor a vector core", core_type);
    for (const Instruction& row : instructions)
        if (row.name == instruction && (core_type == 0 || row.on_vector_core)) return std::string(row.types);
    return fail(code::invalid_parameter, "instruction \"{}\" is not one of this kind of core", instruction);
}

}  // namespace canopy
