// SPDX-License-Identifier: Apache-2.0
// Run-time compilation.
#include <algorithm>
#include <cstring>

#include "acl/acl_rt_compile.h"
#include "api/api.h"
#include "core/kernel/source_program.h"
#include "core/process/runtime.h"
#include "foundation/mutex.h"

using namespace canopy;

namespace {

Status read_headers(int count, const char** texts, const char** names, std::vector<SourceHeader>& headers) {
    if (count < 0) return fail(code::invalid_parameter, "numHeaders {} is negative", count);
    if (count == 0) return {};
    CANOPY_TRY(required(texts, "headers"));
    CANOPY_TRY(required(names, "includeNames"));
    for (int index = 0; index < count; ++index) {
        if (!texts[index] || !names[index])
            return fail(code::invalid_parameter, "headers[{0}] and includeNames[{0}] must not be null", index);
        if (!is_header_name(names[index]))
            return fail(code::param_invalid, "includeNames[{}] \"{}\" is not a relative path without ..", index,
                        names[index]);
        headers.push_back({names[index], texts[index]});
    }
    return {};
}

Status read_options(int count, const char** texts, std::vector<std::string>& options) {
    if (count < 0) return fail(code::invalid_parameter, "numOptions {} is negative", count);
    if (count > 0) CANOPY_TRY(required(texts, "options"));
    for (int index = 0; index < count; ++index) {
        if (!texts[index]) return fail(code::invalid_parameter, "options[{}] must not be null", index);
        options.emplace_back(texts[index]);
    }
    return {};
}

template <class Body>
int with_program(aclrtcProg prog, Body&& body) noexcept {
    return api([&]() -> Status {
        CANOPY_TRY(required(prog, "prog"));
        Result<Pin<SourceProgram>> program = find_source_program(prog);
        if (!program.ok()) return program.status();
        SourceProgram& locked = **program;
        MutexLock guard(locked.mutex);
        return body.operator()(locked);  // explicit operator(): clang 14 mixes up the arguments of a plain call
    });
}

Status require_image(const SourceProgram& program) CANOPY_REQUIRES(program.mutex) {
    if (!program.attempted)
        return fail(code::param_invalid, "{} has not been compiled: call aclrtcCompileProg first", program.name);
    if (program.image.empty()) return fail(code::param_invalid, "{} did not compile: it has no image", program.name);
    return {};
}

}  // namespace

aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int numHeaders, const char** headers,
                          const char** includeNames) {
    return api([&]() -> Status {
        CANOPY_TRY(required(prog, "prog"));
        CANOPY_TRY(required(src, "src"));
        std::vector<SourceHeader> read;
        CANOPY_TRY(read_headers(numHeaders, headers, includeNames, read));
        const Handle handle = Runtime::instance().source_programs.open([&](SourceProgram& program, Handle) {
            MutexLock guard(program.mutex);
            program.name = name && *name ? name : "default_program";
            program.source = src;
            program.headers = std::move(read);
        });
        if (handle == 0) return fail(code::resource_alloc, "too many programs are alive");
        *prog = opaque_of(handle);
        return {};
    });
}

aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char** options) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        std::vector<std::string> read;
        CANOPY_TRY(read_options(numOptions, options, read));
        return program.compile(read);
    });
}

aclError aclrtcAddNameExpr(aclrtcProg prog, const char* const nameExpression) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(nameExpression, "nameExpression"));
        if (*nameExpression == '\0') return fail(code::param_invalid, "nameExpression is empty");
        if (program.attempted)
            return fail(code::param_invalid, "{} is already compiled: add name expressions before compiling",
                        program.name);
        auto& known = program.expressions;
        if (std::find(known.begin(), known.end(), nameExpression) == known.end()) known.emplace_back(nameExpression);
        return {};
    });
}

aclError aclrtcGetLoweredName(aclrtcProg prog, const char* nameExpression, const char** loweredName) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(nameExpression, "nameExpression"));
        CANOPY_TRY(required(loweredName, "loweredName"));
        CANOPY_TRY(require_image(program));
        const auto found = program.lowered_names.find(nameExpression);
        if (found == program.lowered_names.end())
            return fail(code::param_invalid, "\"{}\" was not added with aclrtcAddNameExpr", nameExpression);
        *loweredName = found->second.c_str();
        return {};
    });
}

aclError aclrtcDestroyProg(aclrtcProg* prog) {
    return api([&]() -> Status {
        CANOPY_TRY(required(prog, "prog"));
        CANOPY_TRY(required(*prog, "*prog"));
        if (!Runtime::instance().source_programs.close(handle_of(*prog))) return find_source_program(*prog).status();
        *prog = nullptr;
        return {};
    });
}

aclError aclrtcGetBinData(aclrtcProg prog, char* binData) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(binData, "binData"));
        CANOPY_TRY(require_image(program));
        std::memcpy(binData, program.image.data(), program.image.size());
        return {};
    });
}

aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t* binDataSizeRet) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(binDataSizeRet, "binDataSizeRet"));
        CANOPY_TRY(require_image(program));
        *binDataSizeRet = program.image.size();
        return {};
    });
}

aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t* logSizeRet) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(logSizeRet, "logSizeRet"));
        *logSizeRet = program.log.size() + 1;
        return {};
    });
}

aclError aclrtcGetCompileLog(aclrtcProg prog, char* log) {
    return with_program(prog, [&](SourceProgram& program) CANOPY_REQUIRES(program.mutex) -> Status {
        CANOPY_TRY(required(log, "log"));
        std::memcpy(log, program.log.c_str(), program.log.size() + 1);
        return {};
    });
}
