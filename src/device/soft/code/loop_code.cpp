// SPDX-License-Identifier: Apache-2.0
#include "device/soft/code/loop_code.h"

#include <dlfcn.h>

#include <string>

#include "base/error_text.h"
#include "foundation/code_file.h"

namespace canopy {
namespace {

class LoopCode final : public Code {
public:
    explicit LoopCode(CodeFile file) noexcept : file_(std::move(file)) {}
    [[nodiscard]] void* symbol(const std::string& name) const override { return dlsym(file_.library(), name.c_str()); }

private:
    CodeFile file_;
};

}  // namespace

Result<std::shared_ptr<const Code>> load_loops(std::span<const std::byte> object, std::string_view name) {
    auto file = CodeFile::create(std::string(name), object);
    if (!file.ok()) return fail(107000, "{}", file.message());
    if (!file->load(RTLD_NOW | RTLD_LOCAL))
        return fail(107000, "the loops of {} do not load: {}", name, loader_message());
    return std::shared_ptr<const Code>(std::make_shared<LoopCode>(std::move(*file)));
}

}  // namespace canopy
