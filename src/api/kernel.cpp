// SPDX-License-Identifier: Apache-2.0
// Binaries, functions and argument lists.
#include "core/kernel/kernel.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "acl/acl_rt.h"
#include "api/api.h"
#include "core/kernel/cpu/cpu_kernels.h"
#include "core/kernel/program/registered_images.h"
#include "core/kernel/program/symbols.h"
#include "core/process/context.h"
#include "device/opaque_pointer.h"
#include "foundation/mutex.h"

using namespace canopy;

namespace {

Status no_such_data(const void* binary) {
    return fail(code::invalid_handle, "binary {} was not made by aclrtCreateBinary, or has been destroyed",
                as_address(binary));
}

struct ReadOptions {
    LoadOptions load;
    std::optional<std::int32_t> cpu_mode;
    bool magic = false;  // a magic number was given
};

Result<ReadOptions> read_options(const aclrtBinaryLoadOptions* options) {
    ReadOptions read;
    if (!options) return read;
    if (options->numOpt != 0 && !options->options) return fail_null("options->options");
    for (std::size_t i = 0; i < options->numOpt; ++i) {
        const aclrtBinaryLoadOption& option = options->options[i];
        switch (option.type) {
            case ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD:
                if (option.value.isLazyLoad > 1)
                    return fail(code::param_invalid, "isLazyLoad {} is neither 0 nor 1", option.value.isLazyLoad);
                read.load.lazy = option.value.isLazyLoad == 1;
                break;
            case ACL_RT_BINARY_LOAD_OPT_MAGIC:
                // Images record each kernel's kind themselves; the number is only checked.
                if (option.value.magic != ACL_RT_BINARY_MAGIC_ELF_AICORE &&
                    option.value.magic != ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE &&
                    option.value.magic != ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE)
                    return fail(code::param_invalid, "magic {:#x} is not known", option.value.magic);
                read.magic = true;
                break;
            case ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE:
                read.cpu_mode = option.value.cpuKernelMode;
                break;
            default:
                return fail(code::param_invalid, "load option {} is not known", static_cast<int>(option.type));
        }
    }
    return read;
}

Status load_from_data(const void* data, std::size_t length, const LoadOptions& options, aclrtBinHandle* handle) {
    const auto* bytes = static_cast<const std::byte*>(data);
    Result<Handle> binary = load_binary(std::vector<std::byte>(bytes, bytes + length), options);
    if (!binary.ok()) return binary.status();
    *handle = opaque_of(*binary);
    return {};
}

Result<Handle> load_from_file(const char* path, const ReadOptions& options) {
    if (!options.cpu_mode) return load_binary_file(path, options.load);
    if (*options.cpu_mode != 0 && *options.cpu_mode != 1)
        return fail(code::param_invalid, "cpuKernelMode {}: a file is loaded with 0 or 1{}", *options.cpu_mode,
                    *options.cpu_mode == 2 ? "; 2 is for data in memory" : "");
    if (options.magic)
        return fail(code::param_invalid, "a magic number is for data in memory, not for a descriptor of CPU kernels");
    return load_cpu_binary_file(path, static_cast<CpuMode>(*options.cpu_mode));
}

Status load_cpu_from_data(const void* data, std::size_t length, std::int32_t mode, aclrtBinHandle* handle) {
    if (mode != 2)
        return fail(code::param_invalid, "cpuKernelMode {}: data in memory is loaded with 2{}", mode,
                    mode == 0 || mode == 1 ? "; 0 and 1 are for files" : "");
    Result<Handle> binary = load_cpu_binary_data({static_cast<const std::byte*>(data), length});
    if (!binary.ok()) return binary.status();
    *handle = opaque_of(*binary);
    return {};
}

// A binary's module on the device of the current context.
Result<std::shared_ptr<Module>> module_here(const void* handle) {
    Result<Pin<Binary>> binary = find_binary(handle);
    if (!binary.ok()) return binary.status();
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    return (*binary)->module_for(*(*context)->record);
}

template <class Body>
int with_function(const void* function, const char* name, Body&& body) noexcept {
    return api([&]() -> Status {
        CANOPY_TRY(required(function, name));
        Result<Pin<Function>> pinned = find_function(function);
        if (!pinned.ok()) return pinned.status();
        return body(*pinned);
    });
}

template <class Body>
int with_arguments(aclrtArgsHandle handle, Body&& body) noexcept {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "argsHandle"));
        Result<Pin<Arguments>> list = find_arguments(handle);
        if (!list.ok()) return list.status();
        return body(**list);
    });
}

}  // namespace

// ---- binaries ------------------------------------------------------------------------------------------------------

aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions* options, aclrtBinHandle* binHandle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(binPath, "binPath"));
        CANOPY_TRY(required(binHandle, "binHandle"));
        Result<ReadOptions> read = read_options(options);
        if (!read.ok()) return read.status();
        Result<Handle> binary = load_from_file(binPath, *read);
        if (!binary.ok()) return binary.status();
        *binHandle = opaque_of(*binary);
        return {};
    });
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(data, "data"));
        CANOPY_TRY(required(binHandle, "binHandle"));
        if (length == 0) return fail(code::param_invalid, "length must not be 0");
        Result<ReadOptions> read = read_options(options);
        if (!read.ok()) return read.status();
        if (read->cpu_mode) return load_cpu_from_data(data, length, *read->cpu_mode, binHandle);
        return load_from_data(data, length, read->load, binHandle);
    });
}

aclrtBinary aclrtCreateBinary(const void* data, size_t dataLen) {
    aclrtBinary binary = nullptr;
    api([&]() -> Status {
        CANOPY_TRY(required(data, "data"));
        const Handle handle = Runtime::instance().binary_data.open([&](BinaryData& entry, Handle) {
            entry = {data, dataLen};
        });
        if (handle == 0) return fail(code::resource_alloc, "too many binaries are alive");
        binary = opaque_of(handle);
        return {};
    });
    return binary;
}

aclError aclrtDestroyBinary(aclrtBinary binary) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binary, "binary"));
        if (!Runtime::instance().binary_data.close(handle_of(binary))) return no_such_data(binary);
        return {};
    });
}

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(binary, "binary"));
        CANOPY_TRY(required(binHandle, "binHandle"));
        const Pin<BinaryData> data = Runtime::instance().binary_data.pin(handle_of(binary));
        if (!data) return no_such_data(binary);
        if (data->size == 0) return fail(code::param_invalid, "the binary has no bytes");
        return load_from_data(data->data, data->size, {}, binHandle);
    });
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
    return changing_api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        // CPU kernels are loaded and unloaded without a context.
        const Pin<Binary> binary = Runtime::instance().binaries.pin(handle_of(binHandle));
        if (!binary || !binary->cpu) CANOPY_TRY(require_context());
        return unload_binary(binHandle);
    });
}

aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        CANOPY_TRY(required(binAddr, "binAddr"));
        CANOPY_TRY(required(binSize, "binSize"));
        Result<Pin<Binary>> binary = find_binary(binHandle);
        if (!binary.ok()) return binary.status();
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        *binAddr = nullptr;
        *binSize = 0;
        MutexLock guard((*binary)->mutex);
        if ((*binary)->cpu) return fail(code::param_invalid, "a binary of CPU kernels has no code on AI cores");
        const auto& module = (*binary)->modules[(*context)->record->index];
        if (!module) return {};  // nothing on the device yet
        const SymbolInfo code = module->code();
        *binAddr = opaque_pointer(code.address);
        *binSize = code.size;
        return {};
    });
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr, size_t* size) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        CANOPY_TRY(required(name, "name"));
        if (!dptr && !size) return fail(code::invalid_parameter, "dptr and size must not both be null");
        if (std::strlen(name) > max_name_length) return fail(code::param_invalid, "name is too long");
        Result<SymbolInfo> symbol = variable_of(binHandle, name);
        if (!symbol.ok()) return symbol.status();
        if (dptr) *dptr = opaque_pointer(symbol->address);
        if (size) *size = symbol->size;
        return {};
    });
}

// ---- functions -----------------------------------------------------------------------------------------------------

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        CANOPY_TRY(required(kernelName, "kernelName"));
        CANOPY_TRY(required(funcHandle, "funcHandle"));
        Result<Handle> function = get_function(binHandle, kernelName);
        if (!function.ok()) return function.status();
        *funcHandle = opaque_of(*function);
        return {};
    });
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t funcEntry, aclrtFuncHandle* funcHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        CANOPY_TRY(required(funcHandle, "funcHandle"));
        // Kernels with tiling keys end in _<key>; images made by our compiler have none.
        Result<std::shared_ptr<Module>> module = module_here(binHandle);
        if (!module.ok()) return module.status();
        const std::string suffix = "_" + std::to_string(funcEntry);
        for (const KernelInfo& info : (*module)->kernels()) {
            if (!std::string_view(info.name).ends_with(suffix)) continue;
            Result<Handle> function = get_function(binHandle, info.name);
            if (!function.ok()) return function.status();
            *funcHandle = opaque_of(*function);
            return {};
        }
        return fail(code::param_invalid, "the binary has no kernel with entry {}", funcEntry);
    });
}

aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName, const char* kernelName,
                              aclrtFuncHandle* funcHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(handle, "handle"));
        CANOPY_TRY(required(funcName, "funcName"));
        CANOPY_TRY(required(kernelName, "kernelName"));
        CANOPY_TRY(required(funcHandle, "funcHandle"));
        Result<Handle> function = register_cpu_function(handle, funcName, kernelName);
        if (!function.ok()) return function.status();
        *funcHandle = opaque_of(*function);
        return {};
    });
}

aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle) {
    return api([&]() -> Status {
        CANOPY_TRY(required(symbol, "symbol"));
        CANOPY_TRY(required(funcHandle, "funcHandle"));
        CANOPY_TRY(require_context());
        Result<Handle> function = function_at(symbol);
        if (!function.ok()) return function.status();
        *funcHandle = opaque_of(*function);
        return {};
    });
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t maxLen, char* name) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(name, "name"));
        if (function->info.name.size() >= maxLen)
            return fail(code::param_invalid, "maxLen {} is too small for a name of {} characters", maxLen,
                        function->info.name.size());
        std::memcpy(name, function->info.name.c_str(), function->info.name.size() + 1);
        return {};
    });
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(aicAddr, "aicAddr"));
        CANOPY_TRY(required(aivAddr, "aivAddr"));
        if (function->cpu)
            return fail(code::param_invalid, "{} is a CPU kernel: it has no address for AI cores", function->info.name);
        Result<std::shared_ptr<Module>> module = module_here(opaque_of(function->binary));
        if (!module.ok()) return module.status();
        const Kernel* kernel = (*module)->kernel(function->info.name);
        void* address = kernel ? opaque_pointer(kernel->address) : nullptr;
        const CoreType core = function->info.core;
        *aicAddr = core != CoreType::vector ? address : nullptr;
        *aivAddr = core == CoreType::vector || core == CoreType::mix ? address : nullptr;
        return {};
    });
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(aicSize, "aicSize"));
        CANOPY_TRY(required(aivSize, "aivSize"));
        const CoreType core = function->info.core;
        *aicSize = core != CoreType::vector ? function->info.code_size : 0;
        *aivSize = core == CoreType::vector || core == CoreType::mix ? function->info.code_size : 0;
        return {};
    });
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute attrType, int64_t* attrValue) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(attrValue, "attrValue"));
        const KernelInfo& info = function->info;
        switch (attrType) {
            case ACL_FUNC_ATTR_KERNEL_TYPE:
                *attrValue = static_cast<std::int64_t>(info.core);
                return {};
            case ACL_FUNC_ATTR_KERNEL_RATIO:
                *attrValue = static_cast<std::int64_t>(info.cube_ratio) | static_cast<std::int64_t>(info.vector_ratio)
                                                                              << 16;
                return {};
            case ACL_FUNC_ATTR_KERNEL_SCHED_MODE:
                *attrValue = info.batch ? 1 : 0;
                return {};
        }
        return fail(code::param_invalid, "attrType {} is not an attribute of a function", static_cast<int>(attrType));
    });
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(binHandle, "binHandle"));
        *binHandle = opaque_of(function->binary);
        return {};
    });
}

aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount) {
    return with_function(func, "func", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(paramCount, "paramCount"));
        *paramCount = function->info.parameters.size();
        return {};
    });
}

aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
    return with_function(func, "func", [&](Pin<Function>& function) -> Status {
        if (!paramOffset && !paramSize)
            return fail(code::invalid_parameter, "paramOffset and paramSize must not both be null");
        const std::vector<ParameterInfo>& parameters = function->info.parameters;
        if (paramIndex >= parameters.size())
            return fail(code::invalid_parameter, "paramIndex {}: kernel {} has {} parameters", paramIndex,
                        function->info.name, parameters.size());
        if (paramOffset) *paramOffset = parameters[paramIndex].offset;
        if (paramSize) *paramSize = parameters[paramIndex].size;
        return {};
    });
}

aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t flags, size_t* dynamicUbufSize) {
    return with_function(func, "func", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(dynamicUbufSize, "dynamicUbufSize"));
        if (flags != 0) return fail(code::invalid_parameter, "flags is reserved and must be 0");
        Result<Pin<Context>> context = current_context();
        if (!context.ok()) return context.status();
        // Kernels that address the unified buffer directly leave no room.
        *dynamicUbufSize = function->info.simt ? (*context)->record->chip->unified_buffer : 0;
        return {};
    });
}

// ---- argument lists ------------------------------------------------------------------------------------------------

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(argsHandle, "argsHandle"));
        Result<Handle> list = create_arguments(function);
        if (!list.ok()) return list.status();
        *argsHandle = opaque_of(*list);
        return {};
    });
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void* userHostMem,
                                      size_t actualArgsSize) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>& function) -> Status {
        CANOPY_TRY(required(argsHandle, "argsHandle"));
        CANOPY_TRY(required(userHostMem, "userHostMem"));
        if (actualArgsSize == 0) return fail(code::invalid_parameter, "actualArgsSize must not be 0");
        return create_arguments_in(function, argsHandle, actualArgsSize);
    });
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>&) -> Status {
        CANOPY_TRY(required(memSize, "memSize"));
        *memSize = arguments_handle_size;
        return {};
    });
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t* actualArgsSize) {
    return with_function(funcHandle, "funcHandle", [&](Pin<Function>&) -> Status {
        CANOPY_TRY(required(actualArgsSize, "actualArgsSize"));
        constexpr std::size_t slot = 8;
        if (userArgsSize > SIZE_MAX - slot) return fail(code::param_invalid, "userArgsSize is too large");
        *actualArgsSize = (userArgsSize + slot - 1) / slot * slot;
        return {};
    });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
    return with_arguments(argsHandle, [&](Arguments& list) -> Status {
        CANOPY_TRY(required(param, "param"));
        CANOPY_TRY(required(paramHandle, "paramHandle"));
        if (paramSize == 0) return fail(code::invalid_parameter, "paramSize must not be 0");
        Result<std::uint32_t> index = append_parameter(list, param, paramSize);
        if (!index.ok()) return index.status();
        *paramHandle = parameter_handle(list, *index);
        return {};
    });
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle* paramHandle) {
    return with_arguments(argsHandle, [&](Arguments& list) -> Status {
        CANOPY_TRY(required(paramHandle, "paramHandle"));
        Result<std::uint32_t> index = append_placeholder(list);
        if (!index.ok()) return index.status();
        *paramHandle = parameter_handle(list, *index);
        return {};
    });
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize,
                                             void** bufferAddr) {
    return with_arguments(argsHandle, [&](Arguments& list) -> Status {
        CANOPY_TRY(required(paramHandle, "paramHandle"));
        CANOPY_TRY(required(bufferAddr, "bufferAddr"));
        if (dataSize == 0) return fail(code::invalid_parameter, "dataSize must not be 0");
        Result<std::uint32_t> index = parameter_index(list, paramHandle);
        if (!index.ok()) return index.status();
        Result<void*> buffer = placeholder_buffer(list, *index, dataSize);
        if (!buffer.ok()) return buffer.status();
        *bufferAddr = *buffer;
        return {};
    });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void* param,
                                   size_t paramSize) {
    return with_arguments(argsHandle, [&](Arguments& list) -> Status {
        CANOPY_TRY(required(paramHandle, "paramHandle"));
        CANOPY_TRY(required(param, "param"));
        if (paramSize == 0) return fail(code::invalid_parameter, "paramSize must not be 0");
        Result<std::uint32_t> index = parameter_index(list, paramHandle);
        if (!index.ok()) return index.status();
        return update_parameter(list, *index, param, paramSize);
    });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
    return with_arguments(argsHandle, [&](Arguments& list) -> Status {
        CANOPY_TRY(require_context());
        return finalise_arguments(list);
    });
}
