// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <fmt/core.h>

#include <utility>

namespace npu_smi {
namespace {

constexpr std::size_t key_width = 30;

std::string frame(char line) {
    const auto dashes = [&](std::size_t count) { return std::string(count, line); };
    return "+" + dashes(27) + "+" + dashes(15) + "+" + dashes(52) + "+\n";
}

// A row of the table; each cell is cut or filled to its width.
std::string row(const std::string& first, const std::string& second, const std::string& third) {
    return fmt::format("| {:<26.26}| {:<14.14}| {:<51.51}|\n", first, second, third);
}

std::string users_row(const std::string& chip, const std::string& id, const std::string& name,
                      const std::string& memory) {
    return fmt::format("| {:<26.26}| {:<14.14}| {:<25.25}| {:<24.24}|\n", chip, id, name, memory);
}

std::string usage(std::uint64_t used, std::uint64_t total) { return fmt::format("{:<5}/ {}", used, total); }

std::string pair(const std::string& key, const std::string& value) {
    return fmt::format("\t{:<{}} : {}\n", key, key_width, value);
}
std::string pair(const std::string& key, std::uint64_t value) { return pair(key, std::to_string(value)); }

std::string number_and_count(const Chip& chip) { return pair("NPU ID", chip.number) + pair("Chip Count", 1); }

std::string usages(const Chip& chip) {
    const auto share = [](const char* key, int percent) { return pair(key, static_cast<std::uint64_t>(percent)); };
    return number_and_count(chip) + pair("DDR Capacity(MB)", 0) + pair("DDR Usage Rate(%)", 0) +
           pair("DDR Hugepages Total(page)", 0) + pair("DDR Hugepages Usage Rate(%)", 0) +
           pair("HBM Capacity(MB)", chip.memory_mib()) + share("HBM Usage Rate(%)", chip.memory_share()) +
           share("Aicore Usage Rate(%)", chip.core_share) + share("Aivector Usage Rate(%)", chip.vector_share) +
           share("Aicpu Usage Rate(%)", chip.cpu_share) + pair("Ctrlcpu Usage Rate(%)", "NA") +
           pair("DDR Bandwidth Usage Rate(%)", 0) + pair("HBM Bandwidth Usage Rate(%)", "NA") +
           share("NPU Utilization(%)", chip.core_share) + share("Aicube Usage Rate(%)", chip.cube_share) +
           pair("Chip ID", 0);
}

std::string common(const Chip& chip, const Sensors& sensors) {
    return number_and_count(chip) + pair("Chip ID", 0) + pair("Memory Usage Rate(%)", 0) +
           pair("HBM Usage Rate(%)", static_cast<std::uint64_t>(chip.memory_share())) +
           pair("Aicore Usage Rate(%)", static_cast<std::uint64_t>(chip.core_share)) + pair("Aicore Freq(MHZ)", "NA") +
           pair("Aicore curFreq(MHZ)", "NA") + pair("Aicore Count", chip.cores) +
           pair("Temperature(C)", celsius_text(sensors)) + pair("NPU Real-time Power(W)", watts_text(sensors));
}

std::string memory(const Chip& chip) {
    return number_and_count(chip) + pair("DDR Capacity(MB)", 0) + pair("DDR Clock Speed(MHz)", "NA") +
           pair("HBM Capacity(MB)", chip.memory_mib()) + pair("HBM Clock Speed(MHz)", "NA") +
           pair("HBM Temperature(C)", "NA") + pair("Chip ID", 0);
}

// "Ascend910B1" is chip 910B1 of the type Ascend; "Ascend910_9391" is part 9391 with chips Ascend910.
std::string chip_name(const Chip& chip) {
    const std::size_t line = chip.soc.find('_');
    if (line == std::string::npos) return pair("Chip Type", "Ascend") + pair("Chip Name", chip.short_name());
    return pair("Chip Name", chip.soc.substr(0, line)) + pair("NPU Name", chip.soc.substr(line + 1));
}

std::string board(const Chip& chip, bool one_chip) {
    std::string text = pair("NPU ID", chip.number);
    if (one_chip) text += pair("Chip ID", 0) + chip_name(chip);
    return text + pair("Product Name", "Canopy") + pair("Model", "NA") + pair("Serial Number", "NA") +
           pair("Software Version", CANOPY_VERSION) + pair("Firmware Version", "NA") + pair("Compatibility", "OK") +
           pair("PCIe Bus Info", chip.bus_id) + pair("PCI Vendor ID", "0x19E5") + pair("PCI Device ID", "NA") +
           pair("Chip Count", 1);
}

std::string users(const Chip& chip) {
    std::string text = number_and_count(chip);
    if (chip.users.empty()) text += "\tNo process in device.\n";
    for (const ChipUser& user : chip.users)
        text += fmt::format("\tProcess id:{}  Process name:{}  Process memory(MB):{}\n", user.process, user.name,
                            user.memory >> 20);
    return text;
}

// All chips see each other through the computer's memory.
std::string topology(const std::vector<Chip>& chips) {
    std::string text = fmt::format("{:<12}", "");
    for (const Chip& chip : chips) text += fmt::format("{:<12}", fmt::format("NPU{}", chip.number));
    text += "\n";
    for (const Chip& chip : chips) {
        text += fmt::format("{:<12}", fmt::format("NPU{}", chip.number));
        for (const Chip& other : chips) text += fmt::format("{:<12}", chip.number == other.number ? "X" : "HCCS");
        text += "\n";
    }
    return text;
}

struct Column {
    char letter;
    const char* name;
};
constexpr Column columns_of_watch[] = {{'p', "Pwr(W)"},       {'t', "Temp(C)"},     {'a', "AI Core(%)"},
                                       {'i', "AI Cpu(%)"},    {'c', "Ctrl Cpu(%)"}, {'m', "Memory(%)"},
                                       {'b', "Memory BW(%)"}, {'u', "NPU Util(%)"}};

std::string cell(char letter, const Chip& chip, const Sensors& sensors) {
    switch (letter) {
        case 'p':
            return watts_text(sensors);
        case 't':
            return celsius_text(sensors);
        case 'a':
        case 'u':
            return std::to_string(chip.core_share);
        case 'i':
            return std::to_string(chip.cpu_share);
        case 'm':
            return std::to_string(chip.memory_share());
        default:
            return "NA";
    }
}

}  // namespace

std::string table(const std::vector<Chip>& chips, const Sensors& sensors) {
    std::string text = "+" + std::string(96, '-') + "+\n";
    text += fmt::format("| npu-smi {:<25}Version: {:<53}|\n", CANOPY_VERSION, CANOPY_VERSION);
    text += frame('-');
    text += row("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)");
    text += row("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)");
    text += frame('=');
    for (const Chip& chip : chips) {
        text += row(fmt::format("{:<6}{}", chip.number, chip.short_name()), "OK",
                    fmt::format("{:<12}{:<18}{}", watts_text(sensors), celsius_text(sensors), usage(0, 0)));
        text += row("0", chip.bus_id,
                    fmt::format("{:<12}{:<18}{}", chip.core_share, usage(0, 0),
                                usage(chip.memory_used_mib(), chip.memory_mib())));
        text += frame('=');
    }
    text += users_row("NPU     Chip", "Process id", "Process name", "Process memory(MB)");
    text += frame('=');
    for (const Chip& chip : chips) {
        if (chip.users.empty())
            text += fmt::format("| {:<95}|\n", fmt::format("No running processes found in NPU {}", chip.number));
        for (const ChipUser& user : chip.users)
            text += users_row(fmt::format("{:<8}{}", chip.number, 0), std::to_string(user.process), user.name,
                              std::to_string(user.memory >> 20));
        text += frame('=');
    }
    return text;
}

std::string list(const std::vector<Chip>& chips) {
    std::string text = pair("Total Count", chips.size()) + "\n";
    for (const Chip& chip : chips) text += number_and_count(chip) + "\n";
    return text;
}

std::string map(const std::vector<Chip>& chips) {
    const auto line = [](const std::string& npu, const std::string& chip, const std::string& logic,
                         const std::string& name) {
        return fmt::format("\t{:<31}{:<31}{:<31}{:<31}\n", npu, chip, logic, name);
    };
    std::string text = line("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name");
    for (std::size_t index = 0; index < chips.size(); ++index) {
        const std::string number = std::to_string(chips[index].number);
        text += line(number, "0", std::to_string(index), "Ascend " + chips[index].short_name());
        text += line(number, "1", "-", "Mcu");
    }
    return text;
}

bool topic(const std::string& name, const std::vector<Chip>& chips, const Chip& chip, bool one_chip,
           const Sensors& sensors, std::string& text) {
    if (name == "usages")
        text = usages(chip);
    else if (name == "common")
        text = common(chip, sensors);
    else if (name == "memory")
        text = memory(chip);
    else if (name == "board")
        text = board(chip, one_chip);
    else if (name == "temp")
        text = number_and_count(chip) + pair("Chip ID", 0) + pair("Temperature (C)", celsius_text(sensors));
    else if (name == "power")
        text = number_and_count(chip) + pair("Chip ID", 0) + pair("NPU Real-time Power(W)", watts_text(sensors));
    else if (name == "health")
        text = number_and_count(chip) + pair("Chip ID", 0) + pair("Health Status", "OK");
    else if (name == "proc-mem")
        text = users(chip);
    else if (name == "topo")
        text = topology(chips);
    else
        return false;
    return true;
}

std::string watch_header(const std::string& columns) {
    std::string text = fmt::format("{:<12}{:<12}", "NpuID(Idx)", "ChipId(Idx)");
    for (const Column& column : columns_of_watch)
        if (columns.find(column.letter) != std::string::npos) text += fmt::format("{:<12}", column.name);
    return text + "\n";
}

std::string watch_line(const std::string& columns, const Chip& chip, const Sensors& sensors) {
    std::string text = fmt::format("{:<12}{:<12}", chip.number, 0);
    for (const Column& column : columns_of_watch)
        if (columns.find(column.letter) != std::string::npos)
            text += fmt::format("{:<12}", cell(column.letter, chip, sensors));
    return text + "\n";
}

}  // namespace npu_smi
