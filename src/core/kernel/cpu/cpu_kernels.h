// SPDX-License-Identifier: Apache-2.0
// CPU kernels: binaries whose code runs on a device's CPU cores. Which functions one has comes from a JSON descriptor,
// or from the program; the code is the descriptor's own shared object, one that is found by its name, or bytes in
// memory. A function is an op type: two of them may be the same symbol, and have kernels of their own all the same.
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

// The numbers of the interface.
enum class CpuMode : std::int32_t { descriptor = 0, descriptor_and_library = 1, library = 2 };

// What a binary of CPU kernels has beside what every binary has.
class CpuBinary final : public CpuCode {
public:
    CpuMode mode = CpuMode::descriptor;
    std::string library;           // name of its own shared object; empty when it has none
    CpuImageBytes image;           // of that
    CpuDescriptor descriptor;      // empty without one
    std::uint64_t registered = 0;  // its own object under its name; 0: not

    // Guarded by the binary's mutex.
    struct Loaded {
        std::string library;
        std::uint32_t device = 0;
        std::shared_ptr<Module> module;
        std::map<std::string, std::string, std::less<>> users;  // by symbol: the op type its kernel belongs to
    };
    std::vector<Loaded> loaded;
    std::map<std::string, CpuImageBytes, std::less<>> found;  // objects by name, once they have been looked for

    Result<Handle> function(Binary& binary, std::string_view op_type) override;
    Result<Kernel*> kernel(Binary& binary, Function& function, DeviceRecord& record) override;
    std::vector<std::pair<std::uint32_t, std::shared_ptr<Module>>> close() override;
};
// Of a binary of CPU kernels.
inline CpuBinary& cpu_binary(const Binary& binary) noexcept { return static_cast<CpuBinary&>(*binary.cpu); }

// A file with an image of kernels for AI cores, or a descriptor of CPU kernels: its first byte decides.
Result<Handle> load_binary_file(const char* path, const LoadOptions& options);

// No context is needed: the device comes in when a function is looked up. 107000 for everything that is wrong.
Result<Handle> load_cpu_binary_file(std::string_view path, CpuMode mode);
Result<Handle> load_cpu_binary_data(std::span<const std::byte> image);
// A descriptor that was read already.
Result<Handle> load_cpu_descriptor(std::string_view text, std::string_view path);

// Names a function of the binary's own shared object.
Result<Handle> register_cpu_function(const void* binary, std::string_view symbol, std::string_view op_type);
// A function by the names that stand in an argument block: of a binary's own object, or of one found by its name.
Result<Handle> named_cpu_function(std::string_view library, std::string_view symbol);
Result<Handle> named_cpu_function(const Function& beside, std::string_view library, std::string_view symbol);

// What a value that is not 0 means when a CPU kernel returns it.
const char* cpu_result_meaning(std::uint32_t result) noexcept;

}  // namespace canopy
