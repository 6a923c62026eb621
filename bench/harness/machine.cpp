// SPDX-License-Identifier: Apache-2.0
#include "harness/machine.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "canopy/canopy.h"
#include "harness/measure.h"
#include "rivals/onednn.h"
#include "rivals/pocl.h"
#include "rivals/task_group.h"

namespace bench {
namespace {

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
    return "unknown";
}

std::string system_name() {
    std::ifstream file("/etc/os-release");
    for (std::string line; std::getline(file, line);)
        if (line.rfind("PRETTY_NAME=\"", 0) == 0) return line.substr(13, line.size() - 14);
    return "unknown";
}

struct ProcessorTimes {
    double busy;    // seconds of all processors in user and system time
    double stolen;  // seconds the host gave to other guests
};

ProcessorTimes processor_times() {
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupt = 0, soft = 0, stolen = 0;
    file >> name >> user >> nice >> system >> idle >> waiting >> interrupt >> soft >> stolen;
    const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    return {(user + nice + system + interrupt + soft) / ticks, stolen / ticks};
}

// Processor seconds of this process and its finished children.
double own_time() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage usage = {};
        getrusage(who, &usage);
        for (const timeval& time : {usage.ru_utime, usage.ru_stime})
            seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    }
    return seconds;
}

}  // namespace

QuietMeter::QuietMeter() : busy_(processor_times().busy), stolen_(processor_times().stolen), own_(own_time()) {
    elapsed_ = static_cast<double>(now()) * 1e-9;
}

double QuietMeter::others() const {
    const ProcessorTimes times = processor_times();
    const double others = (times.busy - busy_) - (own_time() - own_) + (times.stolen - stolen_);
    const double all =
        (static_cast<double>(now()) * 1e-9 - elapsed_) * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
    return all > 0 && others > 0 ? 100 * others / all : 0;
}

nlohmann::ordered_json describe_machine() {
    utsname system = {};
    uname(&system);
    const auto memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    const auto canopy = nlohmann::ordered_json::parse(canopyDescribe(), nullptr, false);
    return {{"processor", processor_name()},
            {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
            {"memory_gib", static_cast<int>(memory / (1 << 30) + 0.5)},
            {"system", system_name()},
            {"kernel", system.release},
            {"transparent_huge_pages", first_line("/sys/kernel/mm/transparent_hugepage/enabled")},
            {"compiler", __VERSION__},
            {"canopy", canopy.is_object() ? canopy.value("version", "unknown") : "unknown"},
            {"pocl", Pocl::version()},
            {"onetbb", TaskGroup::version()},
            {"onednn", OneDnn::version()}};
}

}  // namespace bench
