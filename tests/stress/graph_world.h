// SPDX-License-Identifier: Apache-2.0
// Streams, memory and synchronisation objects for running a sequence of graph_script.h, call by call or captured. A
// call that fails throws Problem. Only one thread may use a world at a time.
#pragma once

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "graph_script.h"

namespace graphs {

struct Problem : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Throws unless `code` is 0.
void must(aclError code, const char* call);
#define MUST(call) ::graphs::must((call), #call)

// The kernels of graph_kernels.cpp.
class Kernels {
public:
    Kernels();
    ~Kernels();
    Kernels(const Kernels&) = delete;
    Kernels& operator=(const Kernels&) = delete;
    aclrtFuncHandle mix, mix_table, spread, exchange, select_from, count_down, fault_if, compare;

private:
    aclrtBinHandle binary_ = nullptr;
};

class World {
public:
    explicit World(const Kernels& kernels);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // Creates what the plan needs and fills the memory from its seed.
    void prepare(const Plan& plan);
    // Makes the calls of the plan one by one and waits for all of them to complete.
    void run(const Plan& plan, std::uint32_t round);
    // Captures the calls of the plan into a graph, which the caller owns.
    aclmdlRI capture(const Plan& plan, aclmdlRICaptureMode mode);
    // The calls made outside, before and after the plan's calls or a replay of them.
    void outside_before(const Plan& plan, std::uint32_t round);
    void outside_after(const Plan& plan);
    // Replaces a group with new kernels, in the order of `stream`.
    void update(const Step& group, aclrtStream stream);
    void synchronise();
    // All memory that a plan may write.
    std::vector<std::uint32_t> read();
    [[nodiscard]] static std::string name_of(std::size_t word);

    aclrtStream stream(int index) const { return streams_[static_cast<std::size_t>(index)]; }
    aclrtEvent update_done = nullptr, replay_done = nullptr;

private:
    struct HostWork {
        std::uint32_t* cell;
        std::uint32_t salt;
    };
    enum Extra { flag_cell, wait_cell, published, outside_result, extra_cells };

    std::uint32_t* cell(int number) const;
    std::uint32_t* extra(Extra which) const { return device_ + (device_cells + which) * cell_words; }
    void issue(const Script& script);
    void issue(const Step& step);
    void launch_mix(const Step& step, aclrtStream stream);
    void copy(const Step& step, aclrtStream stream);
    void copy_rows(const Step& step, aclrtStream stream);
    void reduce(const Step& step, aclrtStream stream);
    void random_numbers(const Step& step, aclrtStream stream);
    void use_pool(const Step& step, aclrtStream stream);
    void signal(const Step& step, aclrtStream stream);
    void await(const Step& step, aclrtStream stream);
    void outside_flag(const Step& step, aclrtStream stream);
    void capture_condition(const Step& step, aclrtStream stream);
    void run_condition(const Step& step, aclrtStream stream);
    void write_argument_blocks(const Script& script);
    void assign_defaults(const Script& script);
    template <class... Values>
    void launch(aclrtFuncHandle function, std::uint32_t blocks, aclrtStream stream, Values... values);

    const Kernels& kernels_;
    std::vector<aclrtStream> streams_;
    aclrtStream outside_ = nullptr;
    std::uint32_t* device_ = nullptr;
    std::uint32_t* host_ = nullptr;
    std::uint32_t* taken_at_once_ = nullptr;  // page-locked, the source of snapshots
    std::uint64_t* words_ = nullptr;          // in device memory; for orderings
    std::uint64_t* selectors_ = nullptr;      // in device memory; for conditions that are run call by call
    std::byte* argument_blocks_ = nullptr;
    aclrtMemPool pool_ = nullptr;
    std::vector<aclrtEvent> events_;
    std::vector<aclrtNotify> notifies_;
    std::vector<aclrtCntNotify> counters_;
    aclrtEvent flag_event_ = nullptr, in_event_ = nullptr, out_event_ = nullptr;
    std::vector<aclrtTaskGrp> groups_;
    std::deque<HostWork> host_work_;  // graphs point into it
    bool capturing_ = false, late_flag_ = false;
    aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
};

}  // namespace graphs
