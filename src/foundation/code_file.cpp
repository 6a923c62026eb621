// SPDX-License-Identifier: Apache-2.0
#include "foundation/code_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace canopy {
namespace {

constexpr std::size_t longest_name = 249;

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

// The sanitizers break if an object binds to the C library's functions instead of theirs (RTLD_DEEPBIND).
bool sanitizer_active() noexcept {
    static const bool active = dlsym(RTLD_DEFAULT, "__asan_init") != nullptr ||
                               dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr ||
                               dlsym(RTLD_DEFAULT, "__msan_init") != nullptr;
    return active;
}

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

void* CodeFile::load_apart() { return load(RTLD_NOW | RTLD_LOCAL | (sanitizer_active() ? 0 : RTLD_DEEPBIND)); }

Expected<CodeFile> CodeFile::create(const std::string& name, std::span<const std::byte> content) {
    CodeFile file;
    const std::string shown = name.substr(0, longest_name);
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    file.descriptor_ = memfd_create(shown.c_str(), flags | MFD_EXEC);
    // Kernels before 6.3 do not know MFD_EXEC and make every memory file executable.
    if (file.descriptor_ < 0 && errno == EINVAL) file.descriptor_ = memfd_create(shown.c_str(), flags);
    if (file.descriptor_ < 0) return Problem{"no memory file for the code of the image: ", std::strerror(errno)};
    if (Problem problem = file.write_all(content)) return problem;
    fcntl(file.descriptor_, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
    return file;
}

std::string CodeFile::path() const { return join({"/proc/", getpid(), "/fd/", descriptor_}); }

Problem CodeFile::write_all(std::span<const std::byte> content) const {
    while (!content.empty()) {
        const ssize_t written = write(descriptor_, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return {"the code of the image does not fit into memory: ", std::strerror(errno)};
        content = content.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

const char* loader_message() noexcept {
    const char* reason = dlerror();
    return reason != nullptr ? reason : "no reason given";
}

}  // namespace canopy
