// SPDX-License-Identifier: Apache-2.0
// CPU kernels: binaries whose code runs on a device's CPU cores. Their functions are listed by a JSON descriptor or
// registered by the program; the code is the descriptor's own shared object, one found by name, or bytes in memory. A
// function is an op type: two op types may share a symbol but still get separate kernels.
//
// Threads: all functions from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/base/handles.h"
#include "core/kernel/cpu/cpu_descriptor.h"
#include "core/kernel/cpu/cpu_images.h"
#include "core/kernel/kernel.h"

namespace canopy {

// Values from the public interface.
enum class CpuMode : std::int32_t { descriptor = 0, descriptor_and_library = 1, library = 2 };

// The CPU-specific part of a binary.
class CpuBinary final : public CpuCode {
public:
    CpuMode mode = CpuMode::descriptor;
    std::string library;           // name of its own shared object; empty if it has none
    CpuImageBytes image;           // bytes of that object
    CpuDescriptor descriptor;      // empty if there is none
    std::uint64_t registered = 0;  // registration number of its own object; 0 if not registered

    // Guarded by the binary's mutex.
    struct Loaded {
        std::string library;
        std::uint32_t device = 0;
        std::shared_ptr<Module> module;
        std::map<std::string, std::string, std::less<>> users;  // symbol -> op type that owns its kernel
    };
    std::vector<Loaded> loaded;
    std::map<std::string, CpuImageBytes, std::less<>> found;  // objects already looked up, by name

    Result<Handle> function(Binary& binary, std::string_view op_type) override;
    Result<Kernel*> kernel(Binary& binary, Function& function, DeviceRecord& record) override;
    std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> close() override;
};
// The binary must hold CPU kernels.
inline CpuBinary& cpu_binary(const Binary& binary) noexcept { return static_cast<CpuBinary&>(*binary.cpu); }

// Loads a file that holds either an AI core kernel image or a CPU kernel descriptor; the first byte decides.
Result<Handle> load_binary_file(const char* path, const LoadOptions& options);

// No context is needed: the device is chosen when a function is looked up. All errors are 107000.
Result<Handle> load_cpu_binary_file(std::string_view path, CpuMode mode);
Result<Handle> load_cpu_binary_data(std::span<const std::byte> image);
// From descriptor text already in memory.
Result<Handle> load_cpu_descriptor(std::string_view text, std::string_view path);

// Registers a function of the binary's own shared object.
Result<Handle> register_cpu_function(const void* binary, std::string_view symbol, std::string_view op_type);
// A function by the names in an argument block: from a binary's own object, or from one found by name.
Result<Handle> named_cpu_function(std::string_view library, std::string_view symbol);
Result<Handle> named_cpu_function(const Function& beside, std::string_view library, std::string_view symbol);

// The meaning of a non-zero return value of a CPU kernel.
const char* cpu_result_meaning(std::uint32_t result) noexcept;

}  // namespace canopy
