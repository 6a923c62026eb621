// SPDX-License-Identifier: Apache-2.0
#include "device/soft/code/code_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error_text.h"

namespace canopy {
namespace {

constexpr int bad_image = 107000;
constexpr std::size_t longest_name = 249;

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

}  // namespace

CodeFile::~CodeFile() {
    if (library_) {
        dlclose(library_);
        if (void* still_there = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
            dlclose(still_there);
            return;
        }
    }
    if (descriptor_ >= 0) close(descriptor_);
}

void* CodeFile::load(int flags) { return library_ = dlopen(path().c_str(), flags); }

Result<CodeFile> CodeFile::create(const std::string& name, std::span<const std::byte> content) {
    CodeFile file;
    const std::string shown = name.substr(0, longest_name);
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    file.descriptor_ = memfd_create(shown.c_str(), flags | MFD_EXEC);
    // Kernels before 6.3 do not know the flag and make every memory file executable.
    if (file.descriptor_ < 0 && errno == EINVAL) file.descriptor_ = memfd_create(shown.c_str(), flags);
    if (file.descriptor_ < 0)
        return fail(bad_image, "no memory file for the code of the image: {}", std::strerror(errno));
    CANOPY_TRY(file.write_all(content));
    fcntl(file.descriptor_, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return file;
}

std::string CodeFile::path() const { return fmt::format("/proc/{}/fd/{}", getpid(), descriptor_); }

Status CodeFile::write_all(std::span<const std::byte> content) const {
    while (!content.empty()) {
        const ssize_t written = write(descriptor_, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0)
            return fail(bad_image, "the code of the image does not fit into memory: {}", std::strerror(errno));
        content = content.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

}  // namespace canopy
