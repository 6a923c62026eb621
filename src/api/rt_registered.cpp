// SPDX-License-Identifier: Apache-2.0
// The lower interface: binaries registered by programs, stubs for their kernels, and launches by stub or key.
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "acl/acl_rt.h"
#include "api/lower.h"
#include "core/kernel/program/stub_kernels.h"
#include "runtime/rt.h"
#include "runtime/rt_external.h"

using namespace canopy;

namespace {

Status check_binary(const rtDevBinary_t& binary) {
    CANOPY_TRY(check_needed({{binary.data, "bin->data"}}));
    if (binary.length == 0) return fail(code::param_invalid, "bin->length must not be 0");
    switch (binary.magic) {
        case RT_DEV_BINARY_MAGIC_ELF:
        case RT_DEV_BINARY_MAGIC_ELF_AIVEC:
        case RT_DEV_BINARY_MAGIC_ELF_AICUBE:
        case RT_DEV_BINARY_MAGIC_ELF_AICPU:
            return {};
        default:
            return fail(code::param_invalid, "bin->magic {:#x} is not known", binary.magic);
    }
}

rtError_t register_bytes(const rtDevBinary_t* binary, void** handle) {
    return lower({{binary, "bin"}, {handle, "hdl"}}, [&] {
        if (const Status wrong = check_binary(*binary); !wrong.ok()) return wrong.code();
        const std::span bytes(static_cast<const std::byte*>(binary->data), binary->length);
        const bool for_cpu = binary->magic == RT_DEV_BINARY_MAGIC_ELF_AICPU;
        const Result<Handle> made = for_cpu ? register_cpu_binary(bytes) : register_binary(bytes);
        if (made.ok()) *handle = opaque_of(made.value());
        return made.status().code();
    });
}

// The launch attributes requested by a task's configuration.
class TaskAttributes {
public:
    explicit TaskAttributes(const rtTaskCfgInfo_t* task) {
        if (!task) return;
        if (task->schemMode != 0) add(ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE).schemMode = task->schemMode;
        if (task->localMemorySize != 0)
            add(ACL_RT_LAUNCH_KERNEL_ATTR_DYN_UBUF_SIZE).dynUBufSize = task->localMemorySize;
        if (task->blockDimOffset != 0)
            add(ACL_RT_LAUNCH_KERNEL_ATTR_BLOCKDIM_OFFSET).blockDimOffset = task->blockDimOffset;
        if (task->neverTimeout != 0) add(ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT).timeout = 0;
    }
    [[nodiscard]] aclrtLaunchKernelCfg* config() noexcept {
        config_ = {all_.data(), count_};
        return count_ == 0 ? nullptr : &config_;
    }

private:
    aclrtLaunchKernelAttrValue& add(aclrtLaunchKernelAttrId id) {
        aclrtLaunchKernelAttr& attribute = all_[count_++];
        attribute = {};
        attribute.id = id;
        return attribute.value;
    }

    std::array<aclrtLaunchKernelAttr, 4> all_;
    std::size_t count_ = 0;
    aclrtLaunchKernelCfg config_ = {};
};

int launch_block(Handle function, std::uint32_t blocks, const rtArgsEx_t& block, rtStream_t stream,
                 const rtTaskCfgInfo_t* task) {
    TaskAttributes attributes(task);
    if (block.isNoNeedH2DCopy != 0)
        return aclrtLaunchKernelV2(opaque_of(function), blocks, block.args, block.argsSize, attributes.config(),
                                   stream);
    std::vector<aclrtPlaceHolderInfo> pointers;
    for (std::uint16_t i = 0; i < block.hostInputInfoNum; ++i)
        pointers.push_back({block.hostInputInfoPtr[i].addrOffset, block.hostInputInfoPtr[i].dataOffset});
    if (block.hasTiling != 0) pointers.push_back({block.tilingAddrOffset, block.tilingDataOffset});
    return aclrtLaunchKernelWithHostArgs(opaque_of(function), blocks, stream, attributes.config(), block.args,
                                         block.argsSize, pointers.data(), pointers.size());
}

// Launches the function returned by `find` with an argument block.
template <class Find>
int launch_found(Find&& find, std::uint32_t blocks, const rtArgsEx_t& block, rtStream_t stream,
                 const rtTaskCfgInfo_t* task) {
    if (const Status wrong = check_needed({{block.args, "argsInfo->args"}}); !wrong.ok()) return wrong.code();
    if (block.hostInputInfoNum != 0) {
        const Status wrong = check_needed({{block.hostInputInfoPtr, "argsInfo->hostInputInfoPtr"}});
        if (!wrong.ok()) return wrong.code();
    }
    const Result<Handle> function = find();
    if (!function.ok()) return function.status().code();
    return launch_block(function.value(), blocks, block, stream, task);
}

}  // namespace

extern "C" {

rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** hdl) { return register_bytes(bin, hdl); }

rtError_t rtRegisterAllKernel(const rtDevBinary_t* bin, void** hdl) { return register_bytes(bin, hdl); }

rtError_t rtDevBinaryUnRegister(void* hdl) {
    return lower({{hdl, "hdl"}}, [&] { return unregister_binary(hdl).code(); });
}

rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char_t* stubName, const void* kernelInfoExt,
                             uint32_t) {
    const auto needed = {Needed{binHandle, "binHandle"}, Needed{stubFunc, "stubFunc"}, Needed{stubName, "stubName"},
                         Needed{kernelInfoExt, "kernelInfoExt"}};
    return lower(needed, [&] {
        return register_stub(binHandle, stubFunc, stubName, static_cast<const char*>(kernelInfoExt)).code();
    });
}

rtError_t rtGetFunctionByName(const char_t* stubName, void** stubFunc) {
    return lower({{stubName, "stubName"}, {stubFunc, "stubFunc"}}, [&] {
        const Result<const void*> stub = stub_of_name(stubName);
        if (stub.ok()) *stubFunc = const_cast<void*>(stub.value());
        return stub.status().code();
    });
}

rtError_t rtQueryFunctionRegistered(const char_t* stubName) {
    return lower({{stubName, "stubName"}}, [&] { return stub_of_name(stubName).status().code(); });
}

rtError_t rtKernelLaunch(const void* stubFunc, uint32_t numBlocks, void* args, uint32_t argsSize, rtSmDesc_t*,
                         rtStream_t stm) {
    return lower({{stubFunc, "stubFunc"}, {args, "args"}}, [&] {
        const Result<Handle> function = function_of_stub(stubFunc);
        if (!function.ok()) return function.status().code();
        return aclrtLaunchKernelWithHostArgs(opaque_of(function.value()), numBlocks, stm, nullptr, args, argsSize,
                                             nullptr, 0);
    });
}

rtError_t rtKernelLaunchWithFlagV2(const void* stubFunc, uint32_t numBlocks, rtArgsEx_t* argsInfo, rtSmDesc_t*,
                                   rtStream_t stm, uint32_t, const rtTaskCfgInfo_t* cfgInfo) {
    return lower({{stubFunc, "stubFunc"}, {argsInfo, "argsInfo"}}, [&] {
        return launch_found([&] { return function_of_stub(stubFunc); }, numBlocks, *argsInfo, stm, cfgInfo);
    });
}

rtError_t rtKernelLaunchWithHandleV2(void* hdl, const uint64_t tilingKey, uint32_t numBlocks, rtArgsEx_t* argsInfo,
                                     rtSmDesc_t*, rtStream_t stm, const rtTaskCfgInfo_t* cfgInfo) {
    return lower({{hdl, "hdl"}, {argsInfo, "argsInfo"}}, [&] {
        return launch_found([&] { return function_of_key(hdl, tilingKey); }, numBlocks, *argsInfo, stm, cfgInfo);
    });
}

}  // extern "C"
