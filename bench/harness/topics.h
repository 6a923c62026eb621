// SPDX-License-Identifier: Apache-2.0
// The topics: each is one source file and produces rows of the table.
#pragma once

#include "harness/report.h"
#include "harness/session.h"

namespace bench {

struct Options {
    bool quick = false;
    // Rounds of a row; fewer with --quick.
    [[nodiscard]] int rounds(int usual) const { return quick ? (usual + 3) / 4 : usual; }
};

struct Environment {
    Session& session;
    const Options& options;
    Report& report;
};

void measure_launch(Environment& environment);
void measure_launch_synchronise(Environment& environment);
void measure_gap(Environment& environment);
void measure_hop(Environment& environment);
void measure_launch_null(Environment& environment);
void measure_allocation(Environment& environment);
void measure_copy(Environment& environment);
void measure_streams(Environment& environment);
void measure_launch_threads(Environment& environment);
void measure_launch_idle(Environment& environment);
void measure_launch_blocks(Environment& environment);
void measure_launch_operator(Environment& environment);
void measure_matmul(Environment& environment);
void measure_language(Environment& environment);
void measure_high_level(Environment& environment);
void measure_sweep(Environment& environment);
void measure_compile(Environment& environment);
void measure_graph(Environment& environment);
void measure_graph_layer(Environment& environment);
void measure_graph_capture(Environment& environment);
void measure_graph_update(Environment& environment);
void measure_cpu_kernel(Environment& environment);
void measure_cpu_kernel_blocks(Environment& environment);
void measure_cpu_kernel_load(Environment& environment);
void measure_dispatcher_run(Environment& environment);
void measure_dispatcher_swap(Environment& environment);
void measure_fusion(Environment& environment);
void measure_processes(Environment& environment);
void measure_profile(Environment& environment);
void measure_recording(Environment& environment);
void measure_checking(Environment& environment);

// Measurements of a child process, as JSON: launching the empty kernel on the device the environment selects, the cost
// of many streams, fused kernels at the level the environment selects, what passes between two processes, a kernel of
// register functions on the chip the environment selects, and kernels that are checked if the environment says so.
nlohmann::ordered_json child_launch(const Options& options);
nlohmann::ordered_json child_streams();
nlohmann::ordered_json child_fusion(const Options& options);
nlohmann::ordered_json child_processes(const Options& options);
nlohmann::ordered_json child_registers(const Options& options);
nlohmann::ordered_json child_checking(const Options& options);
// The other of the two processes. Ends when it is killed.
int serve_processes();

}  // namespace bench
