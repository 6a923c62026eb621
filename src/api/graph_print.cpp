// SPDX-License-Identifier: Apache-2.0
// Models written to files and to the log.
#include "core/graph/graph_print.h"

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/graph/graph.h"

using namespace canopy;

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
    return api([&]() -> Status {
        CANOPY_TRY(required(modelRI, "modelRI"));
        CANOPY_TRY(required(path, "path"));
        if (flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE)
            return fail(code::param_invalid, "flags {} is neither 0 (summary) nor 1 (verbose)", flags);
        Result<Pin<Graph>> graph = find_graph(modelRI, false);
        if (!graph.ok()) return graph.status();
        return write_graph_trace(**graph, path, flags == 0 ? ViewDetail::summary : ViewDetail::verbose);
    });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
    return api([&]() -> Status {
        CANOPY_TRY(required(modelRI, "modelRI"));
        Result<Pin<Graph>> graph = find_graph(modelRI, false);
        if (!graph.ok()) return graph.status();
        return log_graph(**graph);
    });
}
