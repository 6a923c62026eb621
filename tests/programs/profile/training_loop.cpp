// SPDX-License-Identifier: Apache-2.0
// A loop with steps as training has it, profiled by a session: what the tables and the trace say is what the program
// did.
#include "acl/acl_prof.h"
#include "profile/results.h"

namespace {

constexpr int steps = 3, kernels_in_step = 4;

void set_text(void* stamp, const std::string& text) {
    CHECK(aclprofSetStampTraceMessage(stamp, text.c_str(), static_cast<std::uint32_t>(text.size())));
}

void run_step(aclprofStepInfo* info, void* stamp, aclrtStream stream, const programs::Kernels& kernels,
              std::uint32_t* word, int step) {
    CHECK(aclprofGetStepTimestamp(info, ACL_STEP_START, stream));
    set_text(stamp, "step " + std::to_string(step));
    CHECK(aclprofPush(stamp));
    std::uint32_t range = 0;
    set_text(stamp, "forward");
    CHECK(aclprofRangeStart(stamp, &range));
    for (int kernel = 0; kernel < kernels_in_step; ++kernel) CHECK(kernels.launch("add_one", 1, stream, word));
    CHECK(aclprofRangeStop(range));
    CHECK(aclprofMarkEx("halfway", 7, stream));
    CHECK(aclrtMemcpyAsync(word + 1, 4, word, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    CHECK(aclprofPop());
    CHECK(aclprofGetStepTimestamp(info, ACL_STEP_END, stream));
    CHECK(aclrtSynchronizeStream(stream));
}

void check_tables(const std::string& run) {
    using programs::read_table, programs::rows_with;
    const programs::Table tasks = read_table(run, "task_time");
    REQUIRE(rows_with(tasks, "kernel_name", "add_one") == steps * kernels_in_step);
    REQUIRE(rows_with(tasks, "kernel_type", "MEMCPY_ASYNC") == steps);
    const programs::Table operators = read_table(run, "op_summary");
    REQUIRE(rows_with(operators, "Op Name", "add_one") == steps * kernels_in_step);
    const programs::Table sums = read_table(run, "op_statistic");
    REQUIRE(sums.size() == 1 && sums[0].at("OP Type") == "add_one");
    REQUIRE(sums[0].at("Count") == std::to_string(steps * kernels_in_step));
    for (const auto& row : read_table(run, "api_statistic")) {
        if (row.at("API Name") == "aclrtLaunchKernelWithHostArgs")
            REQUIRE(row.at("Count") == std::to_string(steps * kernels_in_step));
        if (row.at("API Name") == "aclrtSynchronizeStream") REQUIRE(row.at("Count") == std::to_string(steps));
    }
    const programs::Table marks = read_table(run, "msprof_tx");
    REQUIRE(rows_with(marks, "message", "forward") == steps);
    REQUIRE(rows_with(marks, "message", "halfway") == steps);
    REQUIRE(rows_with(marks, "message", "step 2") == 1);
    REQUIRE(rows_with(marks, "message", "first") == 1);
    for (const auto& row : marks) {
        const bool on_stream = row.at("message") == "halfway" || row.at("message") == "first";
        REQUIRE(on_stream == (row.at("Device Start_time(us)") != "N/A"));
        REQUIRE(row.at("Device_id") == (on_stream ? "0" : "host"));
    }
    const programs::Table trace = read_table(run, "step_trace");
    REQUIRE(trace.size() == steps);
    for (int step = 0; step < steps; ++step) {
        REQUIRE(trace[static_cast<std::size_t>(step)].at("Iteration ID") == std::to_string(step + 1));
        REQUIRE(std::stod(trace[static_cast<std::size_t>(step)].at("Iteration Time(us)")) > 0);
    }
}

void check_files(const std::string& run) {
    std::ifstream trace(programs::output_file(run, "msprof_2", ".json"));
    std::stringstream text;
    text << trace.rdbuf();
    for (const char* name : {"\"add_one\"", "AscendCL@aclrtLaunchKernelWithHostArgs", "\"forward\"", "Ascend Hardware"})
        REQUIRE(text.str().find(name) != std::string::npos);
    for (const char* name : {"timeline.html", "profile.canopyprof"})
        REQUIRE(std::filesystem::file_size(run + "/" + name) > 0);
}

}  // namespace

int main() {
    programs::ResultPlace place;
    programs::Device device;
    aclrtStream stream = programs::new_stream();
    auto* word = programs::to_device(std::vector<std::uint32_t>{0, 0});
    {
        programs::Kernels kernels;
        CHECK(aclprofInit(place.path().c_str(), place.path().size()));
        CHECK(aclprofSetConfig(ACL_PROF_STORAGE_LIMIT, "200MB", 5));
        std::uint32_t number = 0;
        aclprofConfig* config =
            aclprofCreateConfig(&number, 1, ACL_AICORE_PIPE_UTILIZATION, nullptr,
                                ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_MSPROFTX | ACL_PROF_TRAINING_TRACE);
        REQUIRE(config != nullptr);
        CHECK(aclprofStart(config));
        void* stamp = aclprofCreateStamp();
        aclprofStepInfo* info = aclprofCreateStepInfo();
        aclrtStream usual = nullptr;
        CHECK(aclrtCtxGetCurrentDefaultStream(&usual));
        CHECK(aclprofMarkEx("first", 5, usual));  // the first task of the first stream
        CHECK(aclrtSynchronizeDevice());
        for (int step = 1; step <= steps; ++step) run_step(info, stamp, stream, kernels, word, step);
        aclprofDestroyStepInfo(info);
        aclprofDestroyStamp(stamp);
        CHECK(aclprofStop(config));
        CHECK(aclprofDestroyConfig(config));
        CHECK(aclprofFinalize());
        REQUIRE(programs::to_host(word, 2)[1] == steps * kernels_in_step);
    }
    check_tables(place.only_run());
    check_files(place.only_run());
    CHECK(aclrtFree(word));
    CHECK(aclrtDestroyStream(stream));
    std::printf("training_loop: %d steps, %d kernels\n", steps, steps * kernels_in_step);
}
