// SPDX-License-Identifier: Apache-2.0
#include "compiler.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "base/error_text.h"
#include "device/opaque_pointer.h"
#include "device/soft/code/kernel.h"

namespace canopy::test {
namespace {

Recorded record;

// Exit status of a process that called the trap service.
constexpr int trapped = 43;
// Exit status of a process that called the fail service.
constexpr int failed = 44;

CanopyCore core;

CanopyServices make_services() {
    CanopyServices services{};
    services.version = CANOPY_KERNEL_ABI_VERSION;
    services.size = sizeof services;
    services.current_block = [] { return &record.block; };
    services.sync_all = [] { ++record.meetings; };
    services.sync = [](std::uint32_t) { ++record.meetings; };
    services.trap = [] { _exit(trapped); };
    services.fail = [](const char*, std::size_t) { _exit(failed); };
    services.print = [](const char* text, std::size_t length) { record.printed.append(text, length); };
    services.open_core = [](std::uint32_t) { return &core; };
    services.run_threads = [](void (*body)(void*), void* data, std::uint32_t count) {
        for (record.thread = 0; record.thread < count; ++record.thread) body(data);
    };
    services.current_thread = [] { return record.thread; };
    return services;
}

const CanopyServices recording_services = make_services();

}  // namespace

std::string read_whole(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

Toolchain::Toolchain() {
    std::string pattern = testing::TempDir() + "/canopy-toolchain-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    record = {};
}

Toolchain::~Toolchain() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

std::string Toolchain::write(const std::string& name, const std::string& text) const {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

Compilation Toolchain::run(const std::string& arguments) const {
    const std::string messages = directory_ + "/messages";
    const std::string line = "cd " + directory_ + " && " + compiler_ + " " + arguments + " >" + messages + " 2>&1";
    const int status = std::system(line.c_str());
    Compilation result;
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    result.messages = read_whole(messages);
    return result;
}

Compilation Toolchain::compile_file(const std::string& path, const std::string& flags) const {
    const std::string image = directory_ + "/image.o";
    std::filesystem::remove(image);
    Compilation result = run("--image " + flags + " -o " + image + " " + path);
    if (std::filesystem::exists(image)) result.image = read_whole(image);
    return result;
}

Compilation Toolchain::compile(const std::string& text, const std::string& flags) const {
    write("kernel.cpp", text);
    return compile_file("kernel.cpp", flags);
}

Driver& driver_of(const Chip& chip) {
    static std::map<const Chip*, std::unique_ptr<Driver>> drivers;
    std::unique_ptr<Driver>& driver = drivers[&chip];
    if (!driver) {
        DeviceOptions options;
        options.chip = &chip;
        options.memory = std::uint64_t{64} << 20;
        driver = std::move(*find_kind("soft")->open(options));
    }
    return *driver;
}

Result<std::unique_ptr<Module>> load_on(const Chip& chip, std::span<const std::byte> image) {
    return load_image(image, driver_of(chip));
}

std::unique_ptr<Module> Toolchain::load(const Compilation& compilation) const {
    return load(compilation, driver_of(*find_chip("Ascend910B1")));
}

std::unique_ptr<Module> Toolchain::load(const Compilation& compilation, Driver& driver) {
    EXPECT_EQ(compilation.status, 0) << compilation.messages;
    auto module = load_image(std::as_bytes(std::span(compilation.image)), driver);
    if (!module.ok()) {
        ADD_FAILURE() << take_error_text();
        return nullptr;
    }
    const auto services = (*module)->symbol("canopy_image_services");
    if (!services) {
        ADD_FAILURE() << "canopy_image_services is not to be found";
        return nullptr;
    }
    *static_cast<const CanopyServices**>(opaque_pointer(services->address)) = &recording_services;
    return std::move(*module);
}

void Toolchain::call(Module& module, const std::string& kernel, const void* arguments) {
    auto* found = static_cast<SoftKernel*>(module.kernel(kernel));
    ASSERT_NE(found, nullptr) << kernel;
    found->entry(arguments);
}

Recorded& Toolchain::recorded() { return record; }

std::string Toolchain::source(const std::string& name) { return std::string(CANOPY_TEST_SOURCES "/") + name; }

}  // namespace canopy::test
