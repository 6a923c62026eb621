// SPDX-License-Identifier: Apache-2.0
// The lower interface: CPU kernels, found by their functions or by names in an argument block. Once the function is
// known, the launch is that of the upper interface.
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl_rt.h"
#include "api/lower.h"
#include "core/kernel/cpu/cpu_kernels.h"
#include "core/kernel/cpu/cpu_loading_kernels.h"
#include "core/kernel/program/registered_images.h"
#include "core/memory/memory.h"
#include "runtime/rt.h"
#include "runtime/rt_external.h"
#include "runtime/runtime/kernel.h"
#include "runtime/runtime/rts/rts_kernel.h"

using namespace canopy;

namespace {

constexpr std::uint32_t no_library = 0xFFFFFFFF;
constexpr std::uint16_t never = 0xFFFF;
// Library of kernels that name no shared object.
constexpr std::string_view extension_library = "libaicpu_extend_kernels.so";

Status check_block(const rtAicpuArgsEx_t& block, std::uint32_t blocks) {
    CANOPY_TRY(check_needed({{block.args, "args"}}));
    if (block.argsSize == 0) return fail(code::param_invalid, "argsSize must not be 0");
    if (blocks == 0) return fail(code::param_invalid, "numBlocks must not be 0");
    if (block.hostInputInfoNum != 0) CANOPY_TRY(check_needed({{block.hostInputInfoPtr, "hostInputInfoPtr"}}));
    if (block.kernelOffsetInfoNum != 0) CANOPY_TRY(check_needed({{block.kernelOffsetInfoPtr, "kernelOffsetInfoPtr"}}));
    if (!block.isNoNeedH2DCopy) return {};
    return usable_place(device_address(block.args), block.argsSize, "args").status();
}

// A copy of the argument block from `offset` on: the block may be in device memory.
Result<std::vector<std::byte>> bytes_of(const rtAicpuArgsEx_t& block, std::uint32_t offset) {
    std::vector<std::byte> bytes(block.argsSize - offset);
    CANOPY_TRY(read_device(bytes.data(), device_address(block.args) + offset, bytes.size()));
    return bytes;
}

// A zero-terminated name inside an argument block.
Result<std::string> name_in(const rtAicpuArgsEx_t& block, std::uint32_t offset, const char* what) {
    if (offset >= block.argsSize)
        return fail(code::param_invalid, "{} {} is outside the {} argument bytes", what, offset, block.argsSize);
    Result<std::vector<std::byte>> bytes = bytes_of(block, offset);
    if (!bytes.ok()) return bytes.status();
    const auto* begin = reinterpret_cast<const char*>(bytes->data());
    const std::size_t length = strnlen(begin, bytes->size());
    if (length == bytes->size())
        return fail(code::param_invalid, "{} {}: the name is not terminated within the {} argument bytes", what, offset,
                    block.argsSize);
    return std::string(begin, length);
}

int launch_block(Handle function, std::uint32_t blocks, const rtAicpuArgsEx_t& block, aclrtLaunchKernelCfg* config,
                 rtStream_t stream) {
    if (block.isNoNeedH2DCopy)
        return aclrtLaunchKernelV2(opaque_of(function), blocks, block.args, block.argsSize, config, stream);
    std::vector<aclrtPlaceHolderInfo> pointers;
    for (std::uint16_t i = 0; i < block.hostInputInfoNum; ++i)
        pointers.push_back({block.hostInputInfoPtr[i].addrOffset, block.hostInputInfoPtr[i].dataOffset});
    for (std::uint16_t i = 0; i < block.kernelOffsetInfoNum; ++i)
        pointers.push_back({block.kernelOffsetInfoPtr[i].addrOffset, block.kernelOffsetInfoPtr[i].dataOffset});
    return aclrtLaunchKernelWithHostArgs(opaque_of(function), blocks, stream, config, block.args, block.argsSize,
                                         pointers.data(), pointers.size());
}

// Launches the function returned by `find`. A function found by name may be replaced at any time; it is then looked up
// again.
template <class Find>
int launch_found(Find&& find, std::uint32_t blocks, const rtAicpuArgsEx_t& block, aclrtLaunchKernelCfg* config,
                 rtStream_t stream) {
    constexpr int attempts = 3;
    for (int attempt = 1;; ++attempt) {
        const Result<Handle> function = find();
        if (!function.ok()) return function.status().code();
        const int code = launch_block(function.value(), blocks, block, config, stream);
        const bool replaced = code == code::invalid_handle && !Runtime::instance().functions.alive(function.value());
        if (!replaced || attempt == attempts) return code;
    }
}

// The function of a launch: the given one, or another one if the block contains names.
Result<Handle> function_of(const void* opaque, const rtAicpuArgsEx_t& block) {
    Result<Pin<Function>> function = find_function(opaque);
    if (!function.ok()) return function.status();
    if (!(*function)->cpu)
        return fail(code::param_invalid, "kernel {} runs on AI cores: rtsLaunchCpuKernel is for CPU kernels",
                    (*function)->info.name);
    if (block.soNameAddrOffset == 0 && block.kernelNameAddrOffset == 0) return (*function)->self;
    std::string library, symbol;
    if (block.soNameAddrOffset != 0 && block.soNameAddrOffset != no_library) {
        Result<std::string> name = name_in(block, block.soNameAddrOffset, "soNameAddrOffset");
        if (!name.ok()) return name.status();
        library = std::move(*name);
    }
    if (block.kernelNameAddrOffset != 0) {
        Result<std::string> name = name_in(block, block.kernelNameAddrOffset, "kernelNameAddrOffset");
        if (!name.ok()) return name.status();
        symbol = std::move(*name);
    }
    return named_cpu_function(**function, library, symbol);
}

// The function named in the block.
Result<Handle> function_in(const rtAicpuArgsEx_t& block, const char* operation) {
    Result<std::string> symbol = name_in(block, block.kernelNameAddrOffset, "kernelNameAddrOffset");
    if (!symbol.ok()) return symbol.status();
    if (symbol->empty())
        return fail(code::param_invalid, "the argument block of {} has no kernel name at kernelNameAddrOffset {}",
                    operation ? operation : "a CPU kernel", block.kernelNameAddrOffset);
    if (block.soNameAddrOffset == no_library) {
        Result<Handle> own = named_cpu_function(extension_library, *symbol);
        if (own.ok()) return own;
        return fail(code::param_invalid, "{} names no shared object, and {} has no CPU kernel {}",
                    operation ? operation : "the launch", extension_library, *symbol);
    }
    Result<std::string> library = name_in(block, block.soNameAddrOffset, "soNameAddrOffset");
    if (!library.ok()) return library.status();
    return named_cpu_function(*library, *symbol);
}

// The name of a built-in kernel that loads or removes shared objects; empty for any other kernel.
std::string loading_kernel_in(const rtAicpuArgsEx_t& block) {
    if (block.soNameAddrOffset != no_library || block.kernelNameAddrOffset >= block.argsSize) return {};
    Result<std::string> name = name_in(block, block.kernelNameAddrOffset, "kernelNameAddrOffset");
    return name.ok() && is_loading_kernel(*name) ? *name : std::string();
}

// Runs a kernel that is built into the runtime: on the calling thread, after waiting for the stream.
int run_in_turn(const std::string& kernel, const rtAicpuArgsEx_t& block, rtStream_t stream) {
    if (const int code = aclrtSynchronizeStream(stream); code != 0) return code;
    Result<std::vector<std::byte>> bytes = bytes_of(block, 0);
    if (!bytes.ok()) return bytes.status().code();
    const Status done = run_loading_kernel(kernel, *bytes);
    if (done.ok()) return 0;
    return fail(done.code(), "kernel {} has failed", kernel).code();
}

Status check_kind(std::uint32_t kind) {
    switch (kind) {
        case KERNEL_TYPE_FWK:
        case KERNEL_TYPE_AICPU:
        case KERNEL_TYPE_AICPU_CUSTOM:
        case KERNEL_TYPE_AICPU_KFC:
            return {};
        default:
            return fail(code::param_invalid, "kernelType {} is not a kind of CPU kernel: 1, 2, 4 or 5", kind);
    }
}

// The timeout in an argument block; used only if the flags say so.
class BlockTimeout {
public:
    BlockTimeout(const rtAicpuArgsEx_t& block, std::uint32_t flags) {
        if ((flags & RT_KERNEL_USE_SPECIAL_TIMEOUT) == 0) return;
        attribute_.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
        attribute_.value.timeout = block.timeout == never ? std::uint16_t{0} : block.timeout;
        // 0 means that none was given.
        if (block.timeout != 0) config_ = {&attribute_, 1};
    }
    [[nodiscard]] aclrtLaunchKernelCfg* config() noexcept { return config_.numAttrs != 0 ? &config_ : nullptr; }

private:
    aclrtLaunchKernelAttr attribute_ = {};
    aclrtLaunchKernelCfg config_ = {};
};

}  // namespace

extern "C" {

rtError_t rtsRegisterCpuFunc(rtBinHandle binHandle, const char_t* const funcName, const char_t* const kernelName,
                             rtFuncHandle* funcHandle) {
    const auto needed = {Needed{binHandle, "binHandle"}, Needed{funcName, "funcName"}, Needed{kernelName, "kernelName"},
                         Needed{funcHandle, "funcHandle"}};
    return lower(needed, [&] { return aclrtRegisterCpuFunc(binHandle, funcName, kernelName, funcHandle); });
}

rtError_t rtsLaunchCpuKernel(const rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                             const rtKernelLaunchCfg_t* cfg, rtCpuKernelArgs_t* argsInfo) {
    return lower({{funcHandle, "funcHandle"}, {argsInfo, "argsInfo"}}, [&] {
        if (cfg) {
            const Status wrong = check_needed({{cfg->attrs, "cfg->attrs"}});
            if (!wrong.ok()) return wrong.code();
        }
        const rtAicpuArgsEx_t& block = argsInfo->baseArgs;
        if (const Status wrong = check_block(block, numBlocks); !wrong.ok()) return wrong.code();
        auto* config = reinterpret_cast<aclrtLaunchKernelCfg*>(const_cast<rtKernelLaunchCfg_t*>(cfg));
        return launch_found([&] { return function_of(funcHandle, block); }, numBlocks, block, config, stm);
    });
}

rtError_t rtAicpuKernelLaunchExWithArgs(const uint32_t kernelType, const char_t* const opName, const uint32_t numBlocks,
                                        const rtAicpuArgsEx_t* argsInfo, rtSmDesc_t* const, const rtStream_t stm,
                                        const uint32_t flags) {
    return lower({{argsInfo, "argsInfo"}}, [&] {
        if (const Status wrong = check_kind(kernelType); !wrong.ok()) return wrong.code();
        if (const Status wrong = check_block(*argsInfo, numBlocks); !wrong.ok()) return wrong.code();
        if (const std::string kernel = loading_kernel_in(*argsInfo); !kernel.empty())
            return run_in_turn(kernel, *argsInfo, stm);
        BlockTimeout timeout(*argsInfo, flags);
        return launch_found([&] { return function_in(*argsInfo, opName); }, numBlocks, *argsInfo, timeout.config(),
                            stm);
    });
}

}  // extern "C"
