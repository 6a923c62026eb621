// SPDX-License-Identifier: Apache-2.0
// Random sequences of calls over several streams must produce the same bytes when made one by one and when captured
// once and replayed several times, from different streams, with changes to the graph between replays.
//
//   CANOPY_SEEDS=5000   number of sequences (small by default)
//   CANOPY_SEED=17      the first one
//   CANOPY_TASKS=9      limits the tasks per sequence; a failing sequence reports the smallest limit that still fails
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "graph_session.h"
#include "graph_world.h"

namespace {

using namespace graphs;

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Worlds {
    Kernels kernels;
    World eager{kernels}, captured{kernels};
};

// True for steps that a test may change.
bool is_changeable(const Step& step) {
    const auto way = static_cast<Way>(step.way);
    return step.kind == Kind::kernel && !step.disabled && way != Way::placeholder && way != Way::device_arguments;
}

// Runs one sequence in both worlds.
class Trial {
public:
    Trial(Worlds& worlds, std::uint64_t seed, int limit, Profile profile)
        : worlds_(worlds), plan_(generate(seed, limit, profile)), random_(seed + 77) {}
    ~Trial() {
        if (graph_) aclmdlRIDestroy(graph_);
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    void run() {
        worlds_.eager.prepare(plan_);
        worlds_.captured.prepare(plan_);
        graph_ = worlds_.captured.capture(plan_, static_cast<aclmdlRICaptureMode>(pick(3)));
        for (int batch = 0; batch < 4; ++batch) {
            const int replays = plan_.outside() ? 1 : 1 + pick(3);
            for (int i = 0; i < replays; ++i) {
                replay();
                if (pick(2) == 0) change_group();
                if (pick(3) == 0) change_tasks();
            }
            worlds_.captured.synchronise();
            compare(batch);
        }
        MUST(aclmdlRIDestroy(std::exchange(graph_, nullptr)));
    }

private:
    int pick(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

    void replay() {
        World& world = worlds_.captured;
        last_ = world.stream(pick(all_streams));
        if (std::exchange(updated_, false)) MUST(aclrtStreamWaitEvent(last_, world.update_done));
        world.outside_before(plan_, round_);
        MUST(aclmdlRIExecuteAsync(graph_, last_));
        world.outside_after(plan_);
        worlds_.eager.run(plan_, round_);
        ++round_;
    }

    // Replaces the kernels of a group between the last replay and the next one.
    void change_group() {
        std::vector<Step*> groups;
        for (Step& step : plan_.script.steps)
            if (step.kind == Kind::group) groups.push_back(&step);
        if (groups.empty()) return;
        Step& group = *groups[static_cast<std::size_t>(pick(static_cast<int>(groups.size())))];
        for (Step& step : group.steps) {
            step.salt = plan_.new_salt();
            step.blocks = static_cast<std::uint32_t>(1 + pick(6));
            if (pick(2) == 0) std::swap(step.a, step.b);
        }
        World& world = worlds_.captured;
        const aclrtStream updating = world.stream(pick(all_streams));
        MUST(aclrtRecordEvent(world.replay_done, last_));
        MUST(aclrtStreamWaitEvent(updating, world.replay_done));
        world.update(group, updating);
        MUST(aclrtRecordEvent(world.update_done, updating));
        updated_ = true;
    }

    // Changes or disables tasks; the next replay sees the changes, running replays do not.
    void change_tasks() {
        std::map<std::uint64_t, aclmdlRITask> tasks = tasks_by_salt();
        bool any = false;
        for (Step& step : plan_.script.steps) {
            if (!is_changeable(step) || pick(4) != 0) continue;
            const auto found = tasks.find(step.salt);
            if (found == tasks.end()) throw Problem("a kernel of the graph is not among its tasks");
            any = true;
            if (pick(4) == 0) {
                MUST(aclmdlRITaskDisable(found->second));
                step.disabled = true;
            } else {
                change_task(found->second, step);
            }
        }
        if (any) MUST(aclmdlRIUpdate(graph_));
    }
    void change_task(aclmdlRITask task, Step& step) {
        step.salt = plan_.new_salt();
        step.blocks = static_cast<std::uint32_t>(1 + pick(6));
        aclmdlRITaskParams parameters = {};
        MUST(aclmdlRITaskGetParams(task, &parameters));
        std::uint64_t slots[5];
        std::memcpy(slots, parameters.kernelTaskParams.args, sizeof(slots));
        slots[3] = step.salt;
        parameters.kernelTaskParams.args = slots;
        parameters.kernelTaskParams.argsSize = sizeof(slots);
        parameters.kernelTaskParams.numBlocks = step.blocks;
        MUST(aclmdlRITaskSetParams(task, &parameters));
    }
    std::map<std::uint64_t, aclmdlRITask> tasks_by_salt() {
        std::map<std::uint64_t, aclmdlRITask> found;
        std::uint32_t count = 0;
        MUST(aclmdlRIGetStreams(graph_, nullptr, &count));
        std::vector<aclrtStream> streams(count);
        MUST(aclmdlRIGetStreams(graph_, streams.data(), &count));
        for (const aclrtStream stream : streams) {
            MUST(aclmdlRIGetTasksByStream(stream, nullptr, &count));
            std::vector<aclmdlRITask> tasks(count);
            if (count != 0) MUST(aclmdlRIGetTasksByStream(stream, tasks.data(), &count));
            for (const aclmdlRITask task : tasks) note(task, found);
        }
        return found;
    }
    static void note(aclmdlRITask task, std::map<std::uint64_t, aclmdlRITask>& found) {
        aclmdlRITaskType type;
        MUST(aclmdlRITaskGetType(task, &type));
        if (type != ACL_MODEL_RI_TASK_KERNEL) return;
        aclmdlRITaskParams parameters = {};
        MUST(aclmdlRITaskGetParams(task, &parameters));
        const aclmdlRIKernelTaskParams& kernel = parameters.kernelTaskParams;
        if (kernel.isHostArgs != 1 || kernel.argsSize < 40) return;
        std::uint64_t slots[5];
        std::memcpy(slots, kernel.args, sizeof(slots));
        found[static_cast<std::uint32_t>(slots[3])] = task;
    }

    void compare(int batch) {
        const std::vector<std::uint32_t> expected = worlds_.eager.read(), got = worlds_.captured.read();
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (expected[i] != got[i])
                throw Problem("after batch " + std::to_string(batch) + " and " + std::to_string(round_) +
                              " replays the graph has " + std::to_string(got[i]) + " where the calls have " +
                              std::to_string(expected[i]) + ": " + World::name_of(i));
    }

    Worlds& worlds_;
    Plan plan_;
    std::mt19937_64 random_;
    aclmdlRI graph_ = nullptr;
    aclrtStream last_ = nullptr;
    bool updated_ = false;
    std::uint32_t round_ = 0;
};

std::optional<std::string> problem_of(Worlds& worlds, std::uint64_t seed, int limit, Profile profile) {
    try {
        Trial(worlds, seed, limit, profile).run();
        return std::nullopt;
    } catch (const Problem& problem) {
        return problem.what();
    }
}

class GraphRandom : public Session {
protected:
    void SetUp() override {
        Session::SetUp();
        if (!HasFatalFailure()) worlds_ = std::make_unique<Worlds>();
    }
    void TearDown() override {
        worlds_.reset();
        Session::TearDown();
    }
    void run(Profile profile, std::uint64_t usual) {
        const std::uint64_t first = setting("CANOPY_SEED", 1), count = setting("CANOPY_SEEDS", usual);
        const int limit = static_cast<int>(setting("CANOPY_TASKS", 64));
        for (std::uint64_t seed = first; seed < first + count; ++seed) {
            const auto problem = problem_of(*worlds_, seed, limit, profile);
            if (problem) return report(seed, limit, profile, *problem);
        }
    }

private:
    // Leaks what a failed trial left behind; the next one gets new streams.
    void renew() {
        static_cast<void>(worlds_.release());
        worlds_ = std::make_unique<Worlds>();
    }
    void report(std::uint64_t seed, int limit, Profile profile, std::string problem) {
        int fewest = limit;
        renew();
        for (int tasks = 1; tasks < limit && fewest == limit; ++tasks) {
            for (int attempt = 0; attempt < 3 && fewest == limit; ++attempt) {
                const auto again = problem_of(*worlds_, seed, tasks, profile);
                if (!again) continue;
                fewest = tasks;
                problem = *again;
                renew();
            }
        }
        ADD_FAILURE() << "CANOPY_SEED=" << seed << " CANOPY_SEEDS=1 CANOPY_TASKS=" << fewest << "\n"
                      << problem << "\n"
                      << describe(generate(seed, fewest, profile).script);
    }
    std::unique_ptr<Worlds> worlds_;
};

TEST_F(GraphRandom, ReplaysGiveWhatTheSameCallsGive) { run(Profile::plain, 60); }

TEST_F(GraphRandom, OrdersThatFollowFromOthersChangeNothing) { run(Profile::redundant, 30); }

}  // namespace
