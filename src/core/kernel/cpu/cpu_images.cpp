// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/cpu/cpu_images.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/process/variables.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

struct Registration {
    std::uint64_t number = 0;
    std::string name;
    CpuImageBytes bytes;
};

struct Registrations {
    Mutex mutex;
    std::uint64_t last CANOPY_GUARDED_BY(mutex) = 0;
    std::vector<Registration> all CANOPY_GUARDED_BY(mutex);
};
Registrations& registrations() { return process_state<Registrations>(); }

constexpr std::size_t longest_name = 255;

bool is_file_name(std::string_view name) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    return !name.empty() && name.size() <= longest_name && name != "." && name != ".." &&
           name.find_first_not_of(letters) == std::string_view::npos;
}

void add_folders(std::string_view list, std::vector<std::string>& folders) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(':'), list.size());
        if (end != 0) folders.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
}

// The folder this library was loaded from.
std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&registrations), &info) == 0 || !info.dli_fname) return {};
    const std::string path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::vector<std::string> folders_to_search() {
    std::vector<std::string> folders;
    if (const auto chosen = environment_variable("ASCEND_AICPU_KERNEL_PATH")) add_folders(*chosen, folders);
    if (const auto home = environment_variable("HOME")) {
        folders.push_back(fmt::format("{}/aicpu_kernels/0/aicpu_kernels_device", *home));
        folders.push_back(fmt::format("{}/aicpu_kernels", *home));
    }
    folders.emplace_back("/usr/lib64/aicpu_kernels/0/aicpu_kernels_device");
    folders.emplace_back("/usr/lib64/aicpu_kernels");
    if (const std::string own = own_folder(); !own.empty()) folders.push_back(own + "/aicpu_kernels");
    return folders;
}

// The newest registration wins.
bool find_registered(std::string_view name, CpuImageSource& source) {
    Registrations& known = registrations();
    MutexLock guard(known.mutex);
    for (auto entry = known.all.rbegin(); entry != known.all.rend(); ++entry) {
        if (entry->name != name) continue;
        source.where = fmt::format("{} (registered in this process)", name);
        source.bytes = entry->bytes;
        source.identity = {1, entry->number, 0, 0, 0};
        return true;
    }
    return false;
}

bool find_file(std::string path, CpuImageSource& source) {
    struct stat state {};
    if (stat(path.c_str(), &state) != 0 || !S_ISREG(state.st_mode)) return false;
    source.where = path;
    source.path = std::move(path);
    constexpr std::uint64_t nanoseconds = 1'000'000'000;
    source.identity = {3, static_cast<std::uint64_t>(state.st_dev), static_cast<std::uint64_t>(state.st_ino),
                       static_cast<std::uint64_t>(state.st_size),
                       static_cast<std::uint64_t>(state.st_mtim.tv_sec) * nanoseconds +
                           static_cast<std::uint64_t>(state.st_mtim.tv_nsec)};
    return true;
}

class OpenFile {
public:
    explicit OpenFile(const char* path) noexcept : descriptor_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~OpenFile() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    [[nodiscard]] int get() const noexcept { return descriptor_; }

private:
    const int descriptor_;
};

}  // namespace

std::uint64_t register_cpu_image(std::string name, CpuImageBytes bytes) {
    Registrations& known = registrations();
    MutexLock guard(known.mutex);
    known.all.push_back({++known.last, std::move(name), std::move(bytes)});
    return known.last;
}

void unregister_cpu_image(std::uint64_t number) noexcept {
    Registrations& known = registrations();
    MutexLock guard(known.mutex);
    std::erase_if(known.all, [&](const Registration& entry) { return entry.number == number; });
}

Result<CpuImageSource> locate_cpu_image(std::string_view name) {
    if (!is_file_name(name))
        return fail(code::param_invalid,
                    "'{}' cannot be the name of a shared object: letters, digits, '-', '_' and '.' only, {} at most",
                    name.substr(0, longest_name), longest_name);
    CpuImageSource source;
    if (find_registered(name, source)) return source;
    std::string tried;
    for (const std::string& folder : folders_to_search()) {
        if (find_file(fmt::format("{}/{}", folder, name), source)) return source;
        tried += fmt::format("{}{}", tried.empty() ? "" : ", ", folder);
    }
    return fail(code::param_invalid,
                "shared object {} was not found: it is neither registered in this process nor in {}; "
                "ASCEND_AICPU_KERNEL_PATH can name more folders, which are searched first",
                name, tried);
}

Result<std::vector<std::byte>> read_whole_file(const std::string& path, const char* what, std::size_t most) {
    const OpenFile file(path.c_str());
    if (file.get() < 0) return fail(code::param_invalid, "cannot open {} {}: {}", what, path, std::strerror(errno));
    struct stat state {};
    if (fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode))
        return fail(code::param_invalid, "{} {} is not a file", what, path);
    const auto size = static_cast<std::size_t>(state.st_size);
    if (size == 0 || size > most)
        return fail(code::param_invalid, "{} {} has {} bytes; it should have 1 to {}", what, path, size, most);
    std::vector<std::byte> bytes(size);
    for (std::size_t done = 0; done < size;) {
        const ssize_t part = read(file.get(), bytes.data() + done, size - done);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return fail(code::param_invalid, "cannot read {} {}: {}", what, path, std::strerror(errno));
        if (part == 0) return fail(code::param_invalid, "{} {} became shorter while it was read", what, path);
        done += static_cast<std::size_t>(part);
    }
    return bytes;
}

Result<CpuImageBytes> read_cpu_image(const CpuImageSource& source) {
    if (source.bytes) return source.bytes;
    Result<std::vector<std::byte>> bytes = read_whole_file(source.path, "shared object", max_cpu_image_size);
    if (!bytes.ok()) return bytes.status();
    return CpuImageBytes(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)));
}

}  // namespace canopy
