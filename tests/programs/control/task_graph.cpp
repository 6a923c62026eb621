// SPDX-License-Identifier: Apache-2.0
// A control program: schedulers on the device's CPU cores hand thousands of interdependent tasks to workers on AI cores
// of another stream, using only device memory. Every task must run exactly once, after all the tasks it needs.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "check.h"
#include "control/control.h"

namespace {

using namespace programs;

// A graph that is the same in every run: each task needs up to four earlier ones, most of them recent.
struct Graph {
    std::vector<Task> tasks;
    std::vector<std::uint32_t> followers, ready;
};

Graph make_graph(std::uint32_t count) {
    Graph graph;
    graph.tasks.resize(count);
    std::vector<std::vector<std::uint32_t>> followers(count);
    std::uint64_t state = 1;
    const auto random = [&](std::uint32_t below) {
        return static_cast<std::uint32_t>((state = mixed(state, 7)) % below);
    };
    for (std::uint32_t number = 0; number < count; ++number) {
        Task& task = graph.tasks[number] = {};
        const std::uint32_t wanted = number == 0 ? 0 : random(most_needs + 1);
        for (std::uint32_t i = 0; i < wanted; ++i) {
            const std::uint32_t need = number - 1 - random(std::min(number, 20u));
            const auto* end = task.needs + task.need_count;
            if (std::find(static_cast<const std::uint32_t*>(task.needs), end, need) != end) continue;
            task.needs[task.need_count++] = need;
            followers[need].push_back(number);
        }
        task.missing = task.need_count;
        if (task.missing == 0) graph.ready.push_back(number + 1);
    }
    for (std::uint32_t number = 0; number < count; ++number) {
        graph.tasks[number].followers = static_cast<std::uint32_t>(graph.followers.size());
        graph.tasks[number].follower_count = static_cast<std::uint32_t>(followers[number].size());
        graph.followers.insert(graph.followers.end(), followers[number].begin(), followers[number].end());
    }
    return graph;
}

// The results of running the tasks one after the other.
std::vector<std::uint64_t> expected_results(const Graph& graph, std::uint32_t rounds) {
    std::vector<std::uint64_t> results;
    for (const Task& task : graph.tasks) {
        std::uint64_t result = results.size() + 1;
        for (std::uint32_t i = 0; i < task.need_count; ++i) result = mixed(result, results[task.needs[i]]);
        for (std::uint32_t i = 0; i < rounds; ++i) result = mixed(result, i);
        results.push_back(result);
    }
    return results;
}

aclrtFuncHandle scheduler_function(aclrtBinHandle& binary) {
    std::ifstream file(PROGRAM_CPU_KERNELS, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    aclrtBinaryLoadOption option = {};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = 2;
    aclrtBinaryLoadOptions options = {&option, 1};
    aclrtFuncHandle function = nullptr;
    CHECK(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary));
    CHECK(aclrtRegisterCpuFunc(binary, "RunCpuKernelWithBlock", "Schedule", &function));
    return function;
}

struct Plan {
    std::uint32_t schedulers, workers, tasks, rounds, greedy;
    bool workers_first;  // otherwise the schedulers start first and wait for the workers
};

void run(const Plan& plan, const Kernels& kernels, aclrtFuncHandle schedule, aclrtStream scheduling,
         aclrtStream working) {
    const Graph graph = make_graph(plan.tasks);
    std::vector<std::uint32_t> ready = graph.ready;
    ready.resize(plan.tasks);
    Control control = {};
    control.workers = to_device(std::vector<Worker>(plan.workers));
    control.worker_count = plan.workers;
    control.task_count = plan.tasks;
    control.tasks = to_device(graph.tasks);
    control.followers = to_device(graph.followers);
    control.ready = to_device(ready);
    control.ready_end = static_cast<std::uint32_t>(graph.ready.size());
    control.greedy = plan.greedy;
    control.rounds = plan.rounds;
    Control* on_device = to_device(std::vector<Control>{control});

    if (plan.workers_first) CHECK(kernels.launch("work_off", plan.workers, working, on_device));
    aclrtLaunchKernelAttr unlimited = {};  // the schedulers run as long as there are tasks
    unlimited.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    aclrtLaunchKernelCfg config = {&unlimited, 1};
    CHECK(aclrtLaunchKernelWithHostArgs(schedule, plan.schedulers, scheduling, &config, &on_device, sizeof on_device,
                                        nullptr, 0));
    if (!plan.workers_first) CHECK(kernels.launch("work_off", plan.workers, working, on_device));
    CHECK(aclrtSynchronizeStream(scheduling));
    CHECK(aclrtSynchronizeStream(working));

    const std::vector<Task> done = to_host(control.tasks, plan.tasks);
    const std::vector<std::uint64_t> expected = expected_results(graph, plan.rounds);
    std::vector<std::uint32_t> by_worker(plan.workers);
    for (std::uint32_t number = 0; number < plan.tasks; ++number) {
        REQUIRE(done[number].times == 1);
        REQUIRE(done[number].result == expected[number]);
        REQUIRE(done[number].worker >= 1 && done[number].worker <= plan.workers);
        ++by_worker[done[number].worker - 1];
    }
    const std::vector<Worker> workers = to_host(control.workers, plan.workers);
    for (std::uint32_t i = 0; i < plan.workers; ++i) {
        REQUIRE(workers[i].present == i + 1);
        REQUIRE(workers[i].greeted == i % plan.schedulers + 1);
        REQUIRE(workers[i].task == leave);
    }
    REQUIRE(to_host(on_device, 1)[0].finished == plan.tasks);
    for (void* memory :
         {static_cast<void*>(control.workers), static_cast<void*>(control.tasks), static_cast<void*>(control.followers),
          static_cast<void*>(control.ready), static_cast<void*>(on_device)})
        CHECK(aclrtFree(memory));
}

}  // namespace

int main() {
    const Device device;
    std::uint32_t tasks = 0;
    {
        const Kernels kernels;
        aclrtBinHandle binary = nullptr;
        aclrtFuncHandle schedule = scheduler_function(binary);
        aclrtStream scheduling = new_stream(), working = new_stream();
        // The greedy plans poll without ever yielding their processor, so a task takes as long as a time slice.
        for (const Plan& plan :
             {Plan{3, 8, 4000, 100, 0, true}, Plan{3, 4, 4000, 0, 0, false}, Plan{1, 4, 2000, 0, 0, true},
              Plan{2, 3, 500, 0, 1, true}, Plan{2, 8, 500, 0, 1, false}}) {
            run(plan, kernels, schedule, scheduling, working);
            tasks += plan.tasks;
        }
        CHECK(aclrtDestroyStream(scheduling));
        CHECK(aclrtDestroyStream(working));
        CHECK(aclrtBinaryUnLoad(binary));
    }
    std::printf("task_graph: %u tasks, each once and in order\n", tasks);
    return 0;
}
