// SPDX-License-Identifier: Apache-2.0
#include "device/soft/loop_code.h"

#include <dlfcn.h>

#include <string>

#include "base/error_text.h"
#include "device/soft/code_file.h"

namespace canopy {
namespace {

class LoopCode final : public Code {
public:
    LoopCode(CodeFile file, void* library) noexcept : file_(std::move(file)), library_(library) {}
    ~LoopCode() override { dlclose(library_); }
    LoopCode(const LoopCode&) = delete;
    LoopCode& operator=(const LoopCode&) = delete;
    [[nodiscard]] void* symbol(const std::string& name) const override { return dlsym(library_, name.c_str()); }

private:
    CodeFile file_;  // goes after the library that was opened from it
    void* library_;
};

}  // namespace

Result<std::shared_ptr<const Code>> load_loops(std::span<const std::byte> object, std::string_view name) {
    auto file = CodeFile::create(std::string(name), object);
    if (!file.ok()) return file.status();
    void* library = dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char* reason = dlerror();
        return fail(107000, "the loops of {} do not load: {}", name, reason ? reason : "no reason given");
    }
    return std::shared_ptr<const Code>(std::make_shared<LoopCode>(std::move(*file), library));
}

}  // namespace canopy
