// SPDX-License-Identifier: Apache-2.0
#include "core/dump/dumping.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/dump/dump_output.h"
#include "core/process/variables.h"
#include "core/stream/stream.h"
#include "foundation/files.h"
#include "foundation/json.h"

namespace canopy {
namespace {

struct State {
    Mutex mutex;
    std::shared_ptr<DumpSession> session CANOPY_GUARDED_BY(mutex);
    bool from_file CANOPY_GUARDED_BY(mutex) = false;         // of aclInit
    bool initialised CANOPY_GUARDED_BY(mutex) = false;       // by aclmdlInitDump
    bool arguments CANOPY_GUARDED_BY(mutex) = false;         // aclopStartDumpArgs
    std::set<std::string> folders CANOPY_GUARDED_BY(mutex);  // given to programs
};
State& state() { return process_state<State>(); }

// Sets what launches have to do from now on.
void publish(State& all, std::shared_ptr<DumpSession> session) {
    bool launches = false;
    {
        MutexLock guard(all.mutex);
        all.session = std::move(session);
        launches = all.session && all.session->configuration.launches;
    }
    watch_launches(launches || environment_variable("CANOPY_DUMP_EXCEPTION_BEFORE").has_value());
}

Status not_running(const char* call) { return fail(code::dump_not_running, "{} without aclmdlInitDump", call); }

// The folder above those of single devices.
std::string exception_root() {
    for (const char* variable : {"NPU_COLLECT_PATH", "ASCEND_WORK_PATH"})
        if (const auto chosen = environment_variable(variable)) return std::string(*chosen) + "/extra-info";
    const std::shared_ptr<DumpSession> session = dump_session();
    const std::string path = session ? session->configuration.path : "";
    return (path.empty() ? std::string(".") : path) + "/extra-info";
}

Result<DumpConfiguration> read_dump_file(const char* path) {
    std::string text;
    if (!read_file(path, text))
        return fail(code::invalid_file, "dump configuration {} cannot be read: {}", path, std::strerror(errno));
    const std::optional<Json> root = parse_json(text);
    if (!root || !root->is_object()) return fail(code::parse_file, "dump configuration {} is not a JSON object", path);
    const Json* section = root->find("dump");
    if (!section) return fail(code::invalid_dump_configuration, "{} has no section \"dump\"", path);
    return read_dump_configuration(*section);
}

}  // namespace

// ---- sessions -------------------------------------------------------------------------------------------------------

DumpSession::DumpSession(DumpConfiguration chosen)
    : configuration(std::move(chosen)), folder(configuration.path + "/" + dump_time_text()) {}

bool DumpSession::lists(const std::string& kernel) const {
    const auto has = [&](const std::vector<std::string>& names) {
        return std::find(names.begin(), names.end(), kernel) != names.end();
    };
    bool chosen = true;
    for (const DumpListEntry& entry : configuration.list) {
        if (!entry.model.empty()) continue;
        if (has(entry.left_out_names) || has(entry.left_out_types)) return false;
        if (entry.layers.empty()) continue;
        if (has(entry.layers)) return true;
        chosen = false;
    }
    return chosen;
}

bool DumpSession::takes_launch(const std::string& kernel) {
    if (!configuration.launches || !lists(kernel)) return false;
    MutexLock guard(mutex_);
    return configuration.wants_step(launches_[kernel]++);
}

void begin_dump(const std::optional<DumpConfiguration>& configuration) {
    {
        MutexLock guard(state().mutex);
        state().from_file = configuration.has_value();
    }
    publish(state(), configuration ? std::make_shared<DumpSession>(*configuration) : nullptr);
}

void end_dump() noexcept {
    try {
        {
            MutexLock guard(state().mutex);
            state().from_file = state().initialised = state().arguments = false;
            state().session = nullptr;
        }
        watch_launches(false);
        set_dump_callback(nullptr);
    } catch (...) {
    }
}

Status init_dump() {
    MutexLock guard(state().mutex);
    if (state().from_file)
        return fail(code::dump_running, "the file that aclInit was given has configured the dump already");
    if (state().initialised) return fail(code::repeat_initialise, "aclmdlInitDump was called before");
    state().initialised = true;
    return {};
}

Status set_dump(const char* path) {
    {
        MutexLock guard(state().mutex);
        if (!state().initialised) return not_running("aclmdlSetDump");
    }
    Result<DumpConfiguration> read = read_dump_file(path);
    if (!read.ok()) return read.status();
    publish(state(), std::make_shared<DumpSession>(std::move(*read)));
    return {};
}

Status finalise_dump() {
    {
        MutexLock guard(state().mutex);
        if (!state().initialised) return not_running("aclmdlFinalizeDump");
        state().initialised = false;
    }
    publish(state(), nullptr);
    return {};
}

std::shared_ptr<DumpSession> dump_session() noexcept {
    MutexLock guard(state().mutex);
    return state().session;
}

DumpScene exception_scene() {
    if (const std::shared_ptr<DumpSession> session = dump_session();
        session && is_exception_scene(session->configuration.scene))
        return session->configuration.scene;
    const auto word = environment_variable("ASCEND_DUMP_SCENE");
    const DumpScene scene = word ? dump_scene_of(*word).value_or(DumpScene::none) : DumpScene::none;
    return is_exception_scene(scene) ? scene : DumpScene::none;
}

// ---- folders --------------------------------------------------------------------------------------------------------

const char* dump_folder(DumpKind kind) {
    const std::shared_ptr<DumpSession> session = dump_session();
    std::string folder;
    switch (kind) {
        case DumpKind::brief:
        case DumpKind::normal:
        case DumpKind::detail:
            if (static_cast<int>(exception_scene()) == static_cast<int>(kind)) folder = exception_root();
            break;
        case DumpKind::data:
            if (session && session->configuration.launches) folder = session->folder;
            break;
        case DumpKind::overflow:
            if (session && session->configuration.overflow) folder = session->folder;
            break;
    }
    if (folder.empty()) return nullptr;
    MutexLock guard(state().mutex);
    return state().folders.insert(folder).first->c_str();
}

std::string exception_folder(std::uint32_t device) {
    if (exception_scene() == DumpScene::none) return {};
    return fmt::format("{}/data-dump/{}", exception_root(), device);
}

// ---- arguments of the operator library ------------------------------------------------------------------------------

Status start_argument_dump(const char* path) {
    MutexLock guard(state().mutex);
    if (state().arguments) return fail(code::internal, "the dump of arguments was started before");
    if (const auto problem = make_dump_folder(path)) return fail(code::internal, "{}", *problem);
    state().arguments = true;
    return {};
}

Status stop_argument_dump() {
    MutexLock guard(state().mutex);
    state().arguments = false;
    return {};
}

}  // namespace canopy
