// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/checking_code.h"

#include <fmt/core.h>

#include <cstdio>
#include <optional>

#include "base/error_text.h"
#include "canopy/kernel_image.h"
#include "core/kernel/source_program.h"
#include "core/process/runtime.h"
#include "foundation/code_cache.h"
#include "foundation/files.h"
#include "foundation/mutex.h"
#include "foundation/readable_name.h"
#include "foundation/subprocess.h"

namespace canopy {
namespace {

using Bytes = std::vector<std::byte>;

constexpr const char* way_out = "compile it again, or with canopy-cc --check";

Expected<Bytes> compile(const Bytes& text, std::string_view kernel) {
    Result<std::string> compiler = find_kernel_compiler();
    if (!compiler.ok())
        return Problem{
            "there is no kernel compiler to make its checking code; canopy-cc --check puts it into the image"};
    const auto folder = TemporaryFolder::create("check");
    if (!folder.ok()) return folder.problem();
    const std::string input = folder->path() + "/text", output = folder->path() + "/code";
    if (!write_file(input, {reinterpret_cast<const char*>(text.data()), text.size()}))
        return Problem{"a file for its text cannot be written into ", folder->path()};
    if (!Runtime::instance().settings().quiet) {
        fmt::print(stderr, "canopy check: compiling the checking code of kernel {} ...\n",
                   short_name(std::string(kernel)));
        std::fflush(stderr);
    }
    ProcessOptions options;
    options.temporary_folder = folder->path();
    const auto finished =
        run_to_end({*compiler, "--targets=native", "--checking-code=" + input, "-o", output}, options);
    if (!finished.ok()) return Problem{"its checking code cannot be compiled: ", finished.message()};
    Bytes code;
    if (finished->status != 0 || !read_file(output, code))
        return Problem{"its checking code does not compile: ", first_error(finished->output)};
    return code;
}

}  // namespace

Expected<std::vector<std::byte>> checking_code(const std::string& text, std::string_view kernel) {
    // Other threads that need the same code wait for it.
    static Mutex mutex;
    const MutexLock lock(mutex);
    const CodeCache codes(CodeKind::checks);
    const std::string name = fmt::format("{}-{}-v{}", text, CANOPY_VERSION, canopy_machine_level());
    if (std::optional<Bytes> known = codes.find(name)) return std::move(*known);
    const std::optional<Bytes> kept = CodeCache(CodeKind::texts).find(text);
    if (!kept) return Problem{"the text of its image is not in the cache of compiled code; ", way_out};
    Expected<Bytes> code = compile(*kept, kernel);
    if (code.ok()) codes.keep(name, *code);
    return code;
}

}  // namespace canopy
