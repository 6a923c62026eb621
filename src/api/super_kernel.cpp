// SPDX-License-Identifier: Apache-2.0
// Fusion of kernels in captured graphs, and reports on fused kernels.
#pragma GCC visibility push(default)
#include <canopy/fusion.h>
#pragma GCC visibility pop

#include <string>
#include <vector>

#include "acl/super_kernel.h"
#include "api/api.h"
#include "core/fusion/fusion.h"
#include "core/fusion/fusion_work.h"
#include "core/fusion/temporaries.h"
#include "core/graph/capture/capture_scopes.h"
#include "core/graph/graph_fusion.h"
#include "core/kernel/kernel.h"
#include "foundation/json.h"

using namespace canopy;

namespace {

Result<FuseOptions> read_options(const aclskOptions* options) {
    FuseOptions read;
    if (!options || options->numOptions == 0) return read;
    CANOPY_TRY(required(options->options, "options->options"));
    std::uint32_t seen = 0;
    for (std::size_t index = 0; index < options->numOptions; ++index) {
        const aclskOption& option = options->options[index];
        const auto type = static_cast<std::uint32_t>(option.type);
        if (type > ACLSK_OPTION_DEBUG_PER_OP_MAX_CORE_NUM)
            return fail(code::param_invalid, "option {} has unknown type {}", index, type);
        if ((seen >> type & 1) != 0) return fail(code::param_invalid, "option type {} is given twice", type);
        seen |= 1u << type;
        const bool is_switch = type == ACLSK_OPTION_STREAM_FUSION || type == ACLSK_OPTION_DEBUG_SYNC_ALL;
        if (is_switch && option.value.number > 1)
            return fail(code::param_invalid, "option type {} is 0 or 1, not {}", type, option.value.number);
        if (type == ACLSK_OPTION_STREAM_FUSION) read.streams = option.value.number == 1;
        const bool waits = type == ACLSK_OPTION_DEBUG_SYNC_ALL
                               ? option.value.number == 1
                               : type == ACLSK_OPTION_EARLY_START && option.value.number == 0;
        read.sync_all = read.sync_all || waits;
    }
    return read;
}

// The fusions of a function or a graph. Empty if it was not launched or nothing in it is fused.
Result<std::vector<std::shared_ptr<Fusion>>> fusions_behind(const void* object) {
    Runtime& runtime = Runtime::instance();
    std::vector<std::shared_ptr<Fusion>> found;
    if (const Pin<Graph> graph = runtime.graphs.pin(handle_of(object))) return fusions_of(*graph);
    const Pin<Function> function = runtime.functions.pin(handle_of(object));
    if (!function) return fail(code::invalid_handle, "{} is neither a function nor a graph", as_address(object));
    if (!function->info.list) return fail(code::param_invalid, "{} is not a fused kernel", function->info.name);
    const Pin<Binary> binary = runtime.binaries.pin(function->binary);
    if (!binary) return found;
    MutexLock guard(binary->mutex);
    for (const auto& module : binary->modules) {
        const Kernel* kernel = module ? module->kernel(function->info.name) : nullptr;
        if (!kernel) continue;
        if (std::shared_ptr<Fusion> fusion = fusion_of(*kernel)) found.push_back(std::move(fusion));
    }
    return found;
}

}  // namespace

extern "C" {

aclError aclskOptimize(aclmdlRI model, aclskOptions* options) {
    return api([&]() -> Status {
        CANOPY_TRY(required(model, "model"));
        Result<FuseOptions> read = read_options(options);
        if (!read.ok()) return read.status();
        Result<Pin<Graph>> graph = find_graph(model, true);
        if (!graph.ok()) return graph.status();
        return optimise_graph(**graph, *read);
    });
}

aclError aclskScopeBegin(const char* scopeName, aclrtStream stream) {
    return api([&] { return begin_scope(scopeName, stream); });
}

aclError aclskScopeEnd(const char* scopeName, aclrtStream stream) {
    return api([&] { return end_scope(scopeName, stream); });
}

int canopyFusionDeclareTemporary(const void* address, size_t size) {
    return api([&] { return declare_temporary(device_address(address), size); });
}

int canopyFusionUndeclareTemporary(const void* address) {
    return api([&] { return undeclare_temporary(device_address(address)); });
}

int canopyFusionWait(const void* object, int32_t timeout) {
    return api([&]() -> Status {
        if (timeout < -1)
            return fail(code::param_invalid, "timeout {} is neither -1 nor a number of milliseconds", timeout);
        const Deadline deadline = timeout < 0 ? Deadline::never() : Deadline::after(timeout * millisecond);
        const auto late = [] {
            return fail(code::stream_sync_timeout, "background compilation did not finish in time");
        };
        if (!object) return wait_for_improvements(nullptr, deadline) ? Status() : late();
        Result<std::vector<std::shared_ptr<Fusion>>> fusions = fusions_behind(object);
        if (!fusions.ok()) return fusions.status();
        for (const auto& fusion : *fusions)
            if (!wait_for_improvements(fusion.get(), deadline)) return late();
        return {};
    });
}

int canopyFusionProfile(void* graph, uint32_t fused, void* buffer) {
    return api([&]() -> Status {
        CANOPY_TRY(required(graph, "graph"));
        Result<Pin<Graph>> found = find_graph(graph, true);
        if (!found.ok()) return found.status();
        return profile_fused(**found, fused, device_address(buffer));
    });
}

int canopyFusionReport(const void* object, const char** text) {
    return api([&]() -> Status {
        CANOPY_TRY(required(object, "object"));
        CANOPY_TRY(required(text, "text"));
        Result<std::vector<std::shared_ptr<Fusion>>> fusions = fusions_behind(object);
        if (!fusions.ok()) return fusions.status();
        Json kernels = Json::array();
        for (const auto& fusion : *fusions) kernels.push_back(fusion->report());
        thread_local std::string report;
        report = Json{{"fused", std::move(kernels)}}.dump(2);
        *text = report.c_str();
        return {};
    });
}

}  // extern "C"
