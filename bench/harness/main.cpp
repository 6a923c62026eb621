// SPDX-License-Identifier: Apache-2.0
// canopy_bench: measures Canopy and its rivals in one run and prints one table.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>

#include "harness/child.h"
#include "harness/machine.h"
#include "harness/topics.h"

namespace {

using namespace bench;

struct Topic {
    const char* name;
    const char* rows;
    void (*measure)(Environment&);
};

constexpr Topic topics[] = {
    {"launch", "sustained launch against PoCL and oneTBB", measure_launch},
    {"launch-synchronise", "launch and synchronise against PoCL and oneTBB", measure_launch_synchronise},
    {"gap", "between two tasks of a stream", measure_gap},
    {"hop", "from stream to stream by event", measure_hop},
    {"launch-null", "the interface's own cost", measure_launch_null},
    {"malloc", "malloc and free of 1 MiB", measure_allocation},
    {"copy", "copies and memsets of 256 MiB against memcpy and memset", measure_copy},
    {"stream", "memory and number of streams", measure_streams},
    {"launch-threads", "launches from 8 threads", measure_launch_threads},
    {"launch-idle", "launches beside 1,900 idle streams", measure_launch_idle},
    {"launch-blocks", "launches of many empty blocks against OpenMP", measure_launch_blocks},
    {"launch-operator", "launches by <<<>>>", measure_launch_operator},
    {"matmul", "matrix product against OpenBLAS", measure_matmul},
    {"language", "vector add, softmax and layer norm against OpenMP and PoCL, barriers", measure_language},
    {"high-level", "softmax, normalisations, gelu and top-k as one call against OpenMP and oneDNN", measure_high_level},
    {"sweep", "every vector operation against a plain loop", measure_sweep},
    {"compile", "how long canopy-cc takes", measure_compile},
    {"graph", "replays against oneTBB's flow graph and a stream without graph", measure_graph},
    {"graph-layer", "a transformer-like layer as a graph and call by call", measure_graph_layer},
    {"graph-capture", "capture and preparation of 10,000 kernels", measure_graph_capture},
    {"graph-update", "update of 100 kernels of 10,000", measure_graph_update},
    {"cpu-kernel", "kernels on CPU cores beside kernels on AI cores", measure_cpu_kernel},
    {"cpu-kernel-blocks", "the same with several blocks", measure_cpu_kernel_blocks},
    {"cpu-kernel-load", "from an image to the end of its first launch", measure_cpu_kernel_load},
    {"dispatcher-run", "runs through the dispatcher beside direct launches", measure_dispatcher_run},
    {"dispatcher-swap", "another inner runtime while streams run", measure_dispatcher_swap},
    {"fusion", "fused kernels against their launches, a graph and one loop", measure_fusion},
    {"processes", "queues, notifies, events and memory between processes against pipes, sockets, Boost and ZeroMQ",
     measure_processes},
    {"profile", "traces and figures from a profile", measure_profile},
    {"checking", "checked kernels against unchecked ones", measure_checking},
    {"record", "launches, blocks and calls with and without a recording", measure_recording},
};

bool chosen(const Topic& topic, const std::vector<std::string>& filters) {
    if (filters.empty()) return true;
    for (const std::string& filter : filters)
        if (std::string(topic.name).find(filter) != std::string::npos) return true;
    return false;
}

int run_as_child(const std::string& name, const Options& options) {
    if (name == "launch")
        fmt::print("{}\n", child_launch(options).dump());
    else if (name == "streams")
        fmt::print("{}\n", child_streams().dump());
    else if (name == "fusion")
        fmt::print("{}\n", child_fusion(options).dump());
    else if (name == "processes")
        fmt::print("{}\n", child_processes(options).dump());
    else if (name == "registers")
        fmt::print("{}\n", child_registers(options).dump());
    else if (name == "checking")
        fmt::print("{}\n", child_checking(options).dump());
    else if (name == "partner")
        return serve_processes();
    else
        return 2;
    return 0;
}

void measure_all(Report& report, const Options& options, const std::vector<std::string>& filters) {
    Session session;
    Environment environment{session, options, report};
    for (const Topic& topic : topics) {
        if (!chosen(topic, filters)) continue;
        fmt::print(stderr, "{}: {}\n", topic.name, topic.rows);
        try {
            topic.measure(environment);
        } catch (const std::exception& problem) {
            fmt::print(stderr, "  {}\n", problem.what());
            report.add({topic.name, topic.rows, "failed", "", "", "", Verdict::failed, {{"problem", problem.what()}}});
        }
    }
}

void print_machine(const nlohmann::ordered_json& machine) {
    fmt::print("{}, {} processors, {} GiB, {}, Linux {}\n", machine["processor"].get<std::string>(),
               machine["processors"].get<int>(), machine["memory_gib"].get<int>(), machine["system"].get<std::string>(),
               machine["kernel"].get<std::string>());
    fmt::print("Canopy {}, {}, {}; other processes used {:.1f} % of the processors\n\n",
               machine["canopy"].get<std::string>(), machine["pocl"].get<std::string>(),
               machine["onetbb"].get<std::string>(), machine["others_percent"].get<double>());
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App application("Measures Canopy and its rivals in one run and prints one table. Wants a quiet machine.");
    Options options;
    std::vector<std::string> filters;
    std::string file, child;
    bool list = false;
    application.add_flag("--quick", options.quick, "a quarter of the rounds");
    application.add_option("--filter", filters, "only topics whose name contains one of these words")->delimiter(',');
    application.add_option("--json", file, "also write the rows and what they were made from to this file");
    application.add_flag("--list", list, "name the topics and leave");
    application.add_option("--child", child)->group("");  // used when the program runs itself
    CLI11_PARSE(application, argc, argv);

    if (list) {
        for (const Topic& topic : topics) fmt::print("{:<20} {}\n", topic.name, topic.rows);
        return 0;
    }
    try {
        if (!child.empty()) return run_as_child(child, options);
        auto machine = describe_machine();
        const QuietMeter meter;
        Report report;
        measure_all(report, options, filters);
        machine["others_percent"] = meter.others();
        print_machine(machine);
        fmt::print("{}", report.table());
        if (!file.empty()) {
            const nlohmann::ordered_json document = {{"machine", machine}, {"rows", report.json()}};
            std::ofstream output(file);
            output << document.dump(2) << std::endl;
            if (!output) throw std::runtime_error("cannot write " + file);
        }
        return report.any_failed() ? 1 : 0;
    } catch (const std::exception& problem) {
        fmt::print(stderr, "canopy_bench: {}\n", problem.what());
        return 1;
    }
}
