// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary bytes to the rewriter of canopy-cc: it must report problems, or return texts whose brackets balance
// if those of the source do.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "source/lex.h"
#include "source/rewrite.h"

namespace {

bool brackets_pair(const std::string& text) {
    const canopy_cc::Tokens tokens(text);
    for (std::size_t at = 0; at < tokens.size(); ++at)
        if (tokens[at].kind == canopy_cc::TokenKind::sign &&
            std::string_view("()[]{}").find(text[tokens[at].begin]) != std::string_view::npos &&
            tokens.partner(at) == tokens.size())
            return false;
    return true;
}

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string source(reinterpret_cast<const char*>(data), size);
    canopy_cc::RewriteJob job;
    job.source = "input.asc";
    job.image_symbol = "canopy_image_0";
    // The options depend only on the source, so that each input is reproducible.
    job.language.architecture = size % 2 == 0 ? 2201 : 3510;
    job.language.simt = size % 2 != 0;
    job.launch_functions = size % 4 < 2;
    job.workspace_from_end = size % 3;
    if (size % 5 == 0) job.language.cores = canopy_cc::Cores{};
    const canopy_cc::RewrittenSource result = canopy_cc::rewrite(source, job);
    if (!result.problems.empty()) {
        require(result.host.empty() && result.device.empty(), "texts in spite of problems");
        return 0;
    }
    require(result.device.empty() != result.has_kernels, "device text without kernels, or the other way round");
    if (!brackets_pair(source)) return 0;
    require(brackets_pair(result.host), "a bracket of the host text has no partner");
    require(brackets_pair(result.device), "a bracket of the device text has no partner");
    return 0;
}
