// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/source_program.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/process/runtime.h"
#include "core/process/variables.h"
#include "device/image.h"
#include "foundation/files.h"
#include "foundation/mutex.h"
#include "foundation/subprocess.h"

namespace canopy {
namespace {

namespace fs = std::filesystem;

bool begins(const std::string& text, std::string_view start) { return text.compare(0, start.size(), start) == 0; }

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0 && !fs::is_directory(path); }

// The folder of this library's file, with links resolved.
fs::path library_folder() {
    Dl_info info = {};
    if (dladdr(reinterpret_cast<const void*>(&find_kernel_compiler), &info) == 0 || !info.dli_fname) return {};
    std::error_code error;
    const fs::path file = fs::canonical(info.dli_fname, error);
    return error ? fs::path() : file.parent_path();
}

bool names_architecture(const std::vector<std::string>& options) {
    for (const std::string& option : options)
        for (const std::string_view name : {"--npu-arch", "--cce-aicore-arch", "--npu-soc", "-arch"})
            if (begins(option, name)) return true;
    return false;
}

Status write_text(const fs::path& path, const std::string& text) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (write_file(path, text)) return {};
    return fail(code::internal, "cannot write {}: {}", path.string(), std::strerror(errno));
}

// Makes line numbers start at the text's first line, whatever file it is written to.
std::string under_name(const std::string& name, const std::string& text) {
    std::string escaped;
    for (const char letter : name) {
        if (letter == '"' || letter == '\\') escaped += '\\';
        escaped += letter == '\n' ? ' ' : letter;
    }
    return fmt::format("#line 1 \"{}\"\n{}\n", escaped, text);
}

// Constants with the values of the expressions, appended after the program's text. An expression may be a function, the
// address of a function or variable, or a cast.
std::string constants_for(const std::vector<std::string>& expressions) {
    std::string text;
    for (std::size_t index = 0; index < expressions.size(); ++index)
        text += under_name(
            fmt::format("name expression '{}'", expressions[index]),
            fmt::format("static constexpr auto canopy_name_expression_{} = &*({}\n);", index, expressions[index]));
    return text;
}

// The image's name for a symbol: the kernel's name if it is one, else the symbol itself.
std::string name_in_image(const Image& image, const std::string& symbol) {
    for (const ImageKernel& kernel : image.kernels)
        if (kernel.symbol == symbol) return kernel.name;
    return symbol;
}

}  // namespace

void SourceProgram::recycle() noexcept {
    MutexLock guard(mutex);
    name.clear();
    source.clear();
    headers.clear();
    expressions.clear();
    attempted = false;
    log.clear();
    image = {};
    lowered_names.clear();
}

Result<Pin<SourceProgram>> find_source_program(const void* opaque) {
    Pin<SourceProgram> program = Runtime::instance().source_programs.pin(handle_of(opaque));
    if (!program)
        return fail(code::invalid_handle, "prog {} was not made by aclrtcCreateProg, or has been destroyed",
                    as_address(opaque));
    return program;
}

bool is_header_name(std::string_view name) noexcept {
    if (name.empty() || name.front() == '/' || name.back() == '/') return false;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t slash = std::min(name.find('/', at), name.size());
        if (name.substr(at, slash - at) == "..") return false;
        at = slash + 1;
    }
    return true;
}

std::string first_error(const std::string& log) {
    const std::size_t word = log.find("error:");
    const std::size_t line = word == std::string::npos ? 0 : log.rfind('\n', word) + 1;
    return log.substr(line, log.find('\n', line) - line);
}

Result<std::string> find_kernel_compiler() {
    if (const auto variable = environment_variable("CANOPY_CC")) {
        const std::string chosen(*variable);
        if (is_program(chosen)) return chosen;
        return fail(code::not_supported, "CANOPY_CC names {}, which is not an executable program", chosen);
    }
    const fs::path folder = library_folder();
    // In an install tree and in a build tree.
    for (const char* place : {"bin/canopy-cc", "toolchain/tree/bin/canopy-cc"}) {
        const std::string candidate = (folder.parent_path() / place).string();
        if (is_program(candidate)) return candidate;
    }
    return fail(code::not_supported,
                "there is no kernel compiler: {} does not exist; install the toolchain, or name its canopy-cc in "
                "CANOPY_CC",
                (folder.parent_path() / "bin/canopy-cc").string());
}

Status SourceProgram::compile(const std::vector<std::string>& options) {
    attempted = true;
    log.clear();
    image.clear();
    lowered_names.clear();
    const Status status = run_compiler(options);
    if (!status.ok()) image.clear();
    return status;
}

Status SourceProgram::run_compiler(const std::vector<std::string>& options) {
    Result<std::string> compiler = find_kernel_compiler();
    if (!compiler.ok()) {
        log = "there is no kernel compiler: set CANOPY_CC to an executable canopy-cc\n";
        return compiler.status();
    }
    Expected<TemporaryFolder> folder = TemporaryFolder::create("rtc");
    if (!folder.ok()) return fail(code::internal, "{}", folder.message());
    const fs::path place = folder->path();
    const std::string input = place / "program.asc", output = place / "image.o", names = place / "names";
    CANOPY_TRY(write_text(input, under_name(name, source) + constants_for(expressions)));
    for (const SourceHeader& header : headers)
        CANOPY_TRY(write_text(place / "headers" / header.name, under_name(header.name, header.text)));

    std::vector<std::string> command = {*compiler, "--image"};
    if (!names_architecture(options))
        command.push_back(fmt::format("--npu-arch=dav-{}", Runtime::instance().settings().chip->architecture));
    command.insert(command.end(), options.begin(), options.end());
    command.push_back("-I" + (place / "headers").string());
    for (std::size_t index = 0; index < expressions.size(); ++index)
        command.push_back(fmt::format("--name-expression=*canopy_name_expression_{}", index));
    command.insert(command.end(), {"--names-file=" + names, "-o", output, input});
    Expected<Finished> finished = run_to_end(command);
    if (!finished.ok()) return fail(code::internal, "{}", finished.message());
    log = std::move(finished->output);
    if (finished->status != 0 || !read_file(output, image))
        return fail(code::param_invalid, "{} does not compile: {} (aclrtcGetCompileLog returns the whole log)", name,
                    first_error(log));
    return read_names(names);
}

// One line per expression, in order: the symbol it refers to.
Status SourceProgram::read_names(const std::string& path) {
    Result<Image> read = read_image(image);
    if (!read.ok()) return read.status();
    std::ifstream file(path);
    for (const std::string& expression : expressions) {
        std::string symbol;
        if (!std::getline(file, symbol) || symbol.empty())
            return fail(code::internal, "the compiler does not tell what {} is", expression);
        lowered_names[expression] = name_in_image(*read, symbol);
    }
    return {};
}

}  // namespace canopy
