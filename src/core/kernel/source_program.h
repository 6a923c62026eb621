// SPDX-License-Identifier: Apache-2.0
// Programs compiled at run time: source text and headers in, a kernel image out, using the installed compiler driver.
// Implements the aclrtc functions. A program's mutex is held while it is compiled.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "foundation/mutex.h"

namespace canopy {

struct SourceHeader {
    std::string name;  // as written after #include
    std::string text;
};

class SourceProgram {
public:
    Mutex mutex;
    std::string name CANOPY_GUARDED_BY(mutex);
    std::string source CANOPY_GUARDED_BY(mutex);
    std::vector<SourceHeader> headers CANOPY_GUARDED_BY(mutex);
    std::vector<std::string> expressions CANOPY_GUARDED_BY(mutex);
    bool attempted CANOPY_GUARDED_BY(mutex) = false;                            // compiled at least once
    std::string log CANOPY_GUARDED_BY(mutex);                                   // of the last compilation
    std::vector<std::byte> image CANOPY_GUARDED_BY(mutex);                      // empty unless it succeeded
    std::map<std::string, std::string> lowered_names CANOPY_GUARDED_BY(mutex);  // by expression

    // 107000 if the source does not compile, 207000 if there is no compiler.
    Status compile(const std::vector<std::string>& options) CANOPY_REQUIRES(mutex);
    void recycle() noexcept;

private:
    Status run_compiler(const std::vector<std::string>& options) CANOPY_REQUIRES(mutex);
    Status read_names(const std::string& path) CANOPY_REQUIRES(mutex);
};

Result<Pin<SourceProgram>> find_source_program(const void* program);

// True if the name may be used for a header below a program's folder.
bool is_header_name(std::string_view name) noexcept;

// The compiler driver: CANOPY_CC, or the one next to this library. If there is none, 207000 listing the places tried.
Result<std::string> find_kernel_compiler();
// The first error in what it wrote, for the message of a failed call.
std::string first_error(const std::string& log);

}  // namespace canopy
