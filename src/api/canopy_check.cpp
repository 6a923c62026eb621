// SPDX-License-Identifier: Apache-2.0
// Programs that check parts of themselves.
#include "api/api.h"
#include "canopy/check.h"
#include "core/check/process_check.h"
#include "core/process/runtime.h"

using namespace canopy;

namespace {

Result<ProcessCheck*> prepared() {
    Runtime::instance();  // reads CANOPY_CHECK
    ProcessCheck* const found = ProcessCheck::present();
    if (!found) return fail(code::invalid_parameter, "the process is not checked; call canopyCheckPrepare first");
    return found;
}

}  // namespace

extern "C" {

int canopyCheckPrepare(const char* classes, const char* options) {
    return api([&] { return Runtime::instance().prepare_check(classes ? classes : "all", options ? options : ""); });
}

int canopyCheckBegin(uint64_t* position) {
    return api([&]() -> Status {
        CANOPY_TRY(required(position, "position"));
        const Result<ProcessCheck*> found = prepared();
        if (!found.ok()) return found.status();
        found.value()->begin_part();
        *position = found.value()->report().position();
        return {};
    });
}

int canopyCheckEnd(void) {
    return api([&]() -> Status {
        const Result<ProcessCheck*> found = prepared();
        if (!found.ok()) return found.status();
        if (found.value()->end_part()) return {};
        return fail(code::invalid_parameter, "canopyCheckEnd was called more often than canopyCheckBegin");
    });
}

int canopyCheckGetFindings(uint64_t position, const char** lines) {
    return api([&]() -> Status {
        CANOPY_TRY(required(lines, "lines"));
        const Result<ProcessCheck*> found = prepared();
        if (!found.ok()) return found.status();
        static thread_local std::string text;
        text.clear();
        for (const Json& line : found.value()->report().lines_since(position)) text += line.dump() + '\n';
        *lines = text.c_str();
        return {};
    });
}

}  // extern "C"
