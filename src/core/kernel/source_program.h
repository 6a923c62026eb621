// SPDX-License-Identifier: Apache-2.0
// Programs that are compiled while the process runs: source text and headers in, a kernel image out, by way of the
// compiler driver of the installation. Behind the aclrtc functions. A program's mutex is held while it is compiled.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"

namespace canopy {

struct SourceHeader {
    std::string name;  // what stands behind #include
    std::string text;
};

class SourceProgram {
public:
    std::mutex mutex;
    // Guarded by mutex.
    std::string name;
    std::string source;
    std::vector<SourceHeader> headers;
    std::vector<std::string> expressions;
    bool attempted = false;                            // compiled at least once
    std::string log;                                   // of the last compilation
    std::vector<std::byte> image;                      // empty unless it succeeded
    std::map<std::string, std::string> lowered_names;  // by expression

    // Caller holds the mutex. 107000 when the source does not compile, 207000 when there is no compiler.
    Status compile(const std::vector<std::string>& options);
    void recycle() noexcept;

private:
    Status run_compiler(const std::vector<std::string>& options);
    Status read_names(const std::string& path);
};

Result<Pin<SourceProgram>> find_source_program(const void* program);

// Whether text may name a header beneath a program's folder.
bool is_header_name(std::string_view name) noexcept;

// The compiler driver: CANOPY_CC, or the one beside this library. 207000 with what was looked for when there is none.
Result<std::string> find_kernel_compiler();

}  // namespace canopy
