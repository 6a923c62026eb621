// SPDX-License-Identifier: Apache-2.0
// Dumps of launches and of failures, and running a failed block again.
#include "acl/acl_dump.h"
#include "acl/acl_rt.h"
#include "api/api.h"
#include "canopy/canopy.h"
#include "core/dump/dump_output.h"
#include "core/dump/dumping.h"
#include "core/dump/failure_dump.h"
#include "core/dump/replay.h"
#include "core/lifecycle/initialise.h"
#include "core/process/context.h"
#include "foundation/json.h"

using namespace canopy;

namespace {

Status require_initialised() {
    if (is_initialised()) return {};
    return fail(code::uninitialised, "aclInit was not called");
}

// The device of the thread's context; 0 without one.
std::uint32_t device_of_thread() {
    const Pin<Context> context = Runtime::instance().contexts.pin(thread_state.context);
    return context ? context->record->index : 0;
}

Status check_argument_dump(uint32_t type) {
    if (type == ACL_OP_DUMP_OP_AICORE_ARGS) return {};
    return fail(code::internal, "dumpType {} is not ACL_OP_DUMP_OP_AICORE_ARGS", type);
}

}  // namespace

extern "C" {

aclError aclmdlInitDump(void) {
    return api([&]() -> Status {
        CANOPY_TRY(require_initialised());
        return init_dump();
    });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
    return api([&]() -> Status {
        if (dumpCfgPath == nullptr) return fail(code::invalid_parameter, "dumpCfgPath must not be null");
        CANOPY_TRY(require_initialised());
        return set_dump(dumpCfgPath);
    });
}

aclError aclmdlFinalizeDump(void) {
    return api([&]() -> Status {
        CANOPY_TRY(require_initialised());
        return finalise_dump();
    });
}

aclError acldumpRegCallback(int32_t (*const messageCallback)(const acldumpChunk*, int32_t), int32_t flag) {
    return api([&]() -> Status {
        if (messageCallback == nullptr) return fail(code::internal, "messageCallback must not be null");
        if (flag != 0) return fail(code::internal, "flag {} is not 0", flag);
        set_dump_callback(messageCallback);
        return {};
    });
}

void acldumpUnregCallback(void) { set_dump_callback(nullptr); }

aclError aclopStartDumpArgs(uint32_t dumpType, const char* path) {
    return api([&]() -> Status {
        if (path == nullptr || *path == '\0') return fail(code::internal, "path must not be null or empty");
        CANOPY_TRY(check_argument_dump(dumpType));
        return start_argument_dump(path);
    });
}

aclError aclopStopDumpArgs(uint32_t dumpType) {
    return api([&]() -> Status {
        CANOPY_TRY(check_argument_dump(dumpType));
        return stop_argument_dump();
    });
}

const char* acldumpGetPath(acldumpType dumpType) {
    const char* path = nullptr;
    const int code = api([&]() -> Status {
        if (dumpType >= AIC_ERR_BRIEF_DUMP && dumpType <= OVERFLOW_DUMP)
            path = dump_folder(static_cast<DumpKind>(dumpType));
        return {};
    });
    return code == 0 ? path : nullptr;
}

aclError acldumpGetExceptionInfoPath(char* path, size_t maxLen) {
    return api([&]() -> Status {
        if (path == nullptr || maxLen <= 1)
            return fail(code::invalid_parameter, "path must not be null, and maxLen at least 2");
        const std::string folder = exception_folder(device_of_thread());
        if (folder.empty()) return fail(code::internal, "no exception dump is configured");
        if (folder.size() >= maxLen)
            return fail(code::invalid_parameter, "the path has {} characters; maxLen is {}", folder.size(), maxLen);
        if (const auto problem = make_dump_folder(folder)) return fail(code::internal, "{}", *problem);
        path[folder.copy(path, maxLen - 1)] = '\0';
        return {};
    });
}

aclError acldumpSaveExceptionInfo(const char* fileName, const char* userTag, const acldumpTensorInfo* tensors,
                                  size_t tensorCount) {
    return api([&]() -> Status {
        constexpr std::size_t longest_name = 200;
        constexpr int error = code::invalid_parameter;
        if (fileName == nullptr || *fileName == '\0') return fail(error, "fileName must not be null or empty");
        const std::string_view name = fileName;
        if (name.find("..") != name.npos || name.find('/') != name.npos)
            return fail(error, "fileName {} leads to another folder", name);
        if (name.size() > longest_name)
            return fail(error, "fileName has {} characters; at most {} are allowed", name.size(), longest_name);
        if (tensors == nullptr || tensorCount == 0) return fail(error, "there are no tensors");
        return save_exception_info(device_of_thread(), name, userTag ? userTag : "", {tensors, tensorCount});
    });
}

int canopyReplay(const char* folder, int64_t block, const char** outcome) {
    thread_local std::string text;
    return api([&]() -> Status {
        CANOPY_TRY(required(folder, "folder"));
        CANOPY_TRY(required(outcome, "outcome"));
        const Result<ReplayOutcome> done = replay(folder, block);
        if (!done.ok()) return done.status();
        const ReplayOutcome& result = done.value();
        const bool same = result.code != 0 && result.message.find(result.recorded_what) != std::string::npos;
        text = Json{{"place_taken", result.place_taken}, {"kernel", result.kernel},     {"block", result.block},
                    {"blocks", result.blocks},           {"recorded", result.recorded}, {"code", result.code},
                    {"message", result.message},         {"memory", result.memory},     {"same", same}}
                   .dump();
        *outcome = text.c_str();
        return {};
    });
}

}  // extern "C"
