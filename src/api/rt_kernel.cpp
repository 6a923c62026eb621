// SPDX-License-Identifier: Apache-2.0
// The lower interface: binaries, functions, argument lists and launches with them. The layouts equal those of the upper
// interface, so pointers are passed through.
#include <cstddef>

#include "acl/acl_rt.h"
#include "api/lower.h"
#include "core/kernel/variable_fillers.h"
#include "runtime/rt.h"
#include "runtime/runtime/rts/rts_kernel.h"

using namespace canopy;

namespace {

static_assert(sizeof(rtLoadBinaryOption_t) == sizeof(aclrtBinaryLoadOption) &&
              offsetof(rtLoadBinaryOption_t, value) == offsetof(aclrtBinaryLoadOption, value));
static_assert(sizeof(rtLoadBinaryConfig_t) == sizeof(aclrtBinaryLoadOptions) &&
              offsetof(rtLoadBinaryConfig_t, numOpt) == offsetof(aclrtBinaryLoadOptions, numOpt));
static_assert(sizeof(rtLaunchKernelAttr_t) == sizeof(aclrtLaunchKernelAttr) &&
              offsetof(rtLaunchKernelAttr_t, value) == offsetof(aclrtLaunchKernelAttr, value));
static_assert(sizeof(rtKernelLaunchCfg_t) == sizeof(aclrtLaunchKernelCfg) &&
              offsetof(rtKernelLaunchCfg_t, numAttrs) == offsetof(aclrtLaunchKernelCfg, numAttrs));
static_assert(sizeof(rtPlaceHolderInfo_t) == sizeof(aclrtPlaceHolderInfo) &&
              offsetof(rtPlaceHolderInfo_t, dataOffset) == offsetof(aclrtPlaceHolderInfo, dataOffset));

aclrtBinaryLoadOptions* upper(const rtLoadBinaryConfig_t* config) {
    return reinterpret_cast<aclrtBinaryLoadOptions*>(const_cast<rtLoadBinaryConfig_t*>(config));
}
aclrtLaunchKernelCfg* upper(rtKernelLaunchCfg_t* config) { return reinterpret_cast<aclrtLaunchKernelCfg*>(config); }
aclrtPlaceHolderInfo* upper(rtPlaceHolderInfo_t* info) { return reinterpret_cast<aclrtPlaceHolderInfo*>(info); }

// A configuration without a list is rejected even if it says the list is empty.
int check_options(const rtLoadBinaryConfig_t* config) {
    return config ? check_needed({{config->options, "optionalCfg->options"}}).code() : 0;
}
int check_config(const rtKernelLaunchCfg_t* config) {
    return config ? check_needed({{config->attrs, "cfg->attrs"}}).code() : 0;
}

}  // namespace

extern "C" {

// ---- binaries and functions ----------------------------------------------------------------------------------------

rtError_t rtsBinaryLoadFromFile(const char_t* const binPath, const rtLoadBinaryConfig_t* const optionalCfg,
                                rtBinHandle* handle) {
    return lower({{binPath, "binPath"}, {handle, "handle"}}, [&] {
        const int wrong = check_options(optionalCfg);
        return wrong ? wrong : aclrtBinaryLoadFromFile(binPath, upper(optionalCfg), handle);
    });
}

rtError_t rtsBinaryLoadFromData(const void* const data, const uint64_t length,
                                const rtLoadBinaryConfig_t* const optionalCfg, rtBinHandle* handle) {
    return lower({{data, "data"}, {handle, "handle"}}, [&] {
        const int wrong = check_options(optionalCfg);
        return wrong ? wrong : aclrtBinaryLoadFromData(data, length, upper(optionalCfg), handle);
    });
}

rtError_t rtsBinaryUnload(const rtBinHandle binHandle) {
    return lower({{binHandle, "binHandle"}}, [&] { return aclrtBinaryUnLoad(binHandle); });
}

rtError_t rtsBinaryGetDevAddress(const rtBinHandle binHandle, void** bin, uint32_t* binSize) {
    return lower({{binHandle, "binHandle"}, {bin, "bin"}, {binSize, "binSize"}}, [&] {
        std::size_t size = 0;
        const int code = aclrtBinaryGetDevAddress(binHandle, bin, &size);
        if (code == 0) *binSize = static_cast<std::uint32_t>(size);
        return code;
    });
}

rtError_t rtsFuncGetByName(const rtBinHandle binHandle, const char_t* kernelName, rtFuncHandle* funcHandle) {
    return lower({{binHandle, "binHandle"}, {kernelName, "kernelName"}, {funcHandle, "funcHandle"}},
                 [&] { return aclrtBinaryGetFunction(binHandle, kernelName, funcHandle); });
}

rtError_t rtsFuncGetByEntry(const rtBinHandle binHandle, const uint64_t funcEntry, rtFuncHandle* funcHandle) {
    return lower({{binHandle, "binHandle"}, {funcHandle, "funcHandle"}},
                 [&] { return aclrtBinaryGetFunctionByEntry(binHandle, funcEntry, funcHandle); });
}

rtError_t rtsFuncGetAddr(const rtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
    return lower({{funcHandle, "funcHandle"}, {aicAddr, "aicAddr"}, {aivAddr, "aivAddr"}},
                 [&] { return aclrtGetFunctionAddr(funcHandle, aicAddr, aivAddr); });
}

rtError_t rtsFuncGetName(const rtFuncHandle funcHandle, const uint32_t maxLen, char_t* const name) {
    return lower({{funcHandle, "funcHandle"}, {name, "name"}},
                 [&] { return aclrtGetFunctionName(funcHandle, maxLen, name); });
}

rtError_t rtsRegKernelLaunchFillFunc(const char_t* symbol, rtKernelLaunchFillFunc callback) {
    return lower({{symbol, "symbol"}, {reinterpret_cast<const void*>(callback), "callback"}}, [&] {
        set_variable_filler(symbol, callback);
        return 0;
    });
}

rtError_t rtsUnRegKernelLaunchFillFunc(const char_t* symbol) {
    return lower({{symbol, "symbol"}}, [&] { return remove_variable_filler(symbol).code(); });
}

// ---- argument lists ------------------------------------------------------------------------------------------------

rtError_t rtsKernelArgsInit(rtFuncHandle funcHandle, rtArgsHandle* argsHandle) {
    return lower({{funcHandle, "funcHandle"}, {argsHandle, "argsHandle"}},
                 [&] { return aclrtKernelArgsInit(funcHandle, argsHandle); });
}

rtError_t rtsKernelArgsInitByUserMem(rtFuncHandle funcHandle, rtArgsHandle argsHandle, void* userHostMem,
                                     size_t actualArgsSize) {
    return lower({{funcHandle, "funcHandle"}, {argsHandle, "argsHandle"}, {userHostMem, "userHostMem"}},
                 [&] { return aclrtKernelArgsInitByUserMem(funcHandle, argsHandle, userHostMem, actualArgsSize); });
}

rtError_t rtsKernelArgsGetHandleMemSize(rtFuncHandle funcHandle, size_t* memSize) {
    return lower({{funcHandle, "funcHandle"}, {memSize, "memSize"}},
                 [&] { return aclrtKernelArgsGetHandleMemSize(funcHandle, memSize); });
}

rtError_t rtsKernelArgsGetMemSize(rtFuncHandle funcHandle, size_t userArgsSize, size_t* actualArgsSize) {
    return lower({{funcHandle, "funcHandle"}, {actualArgsSize, "actualArgsSize"}},
                 [&] { return aclrtKernelArgsGetMemSize(funcHandle, userArgsSize, actualArgsSize); });
}

rtError_t rtsKernelArgsAppend(rtArgsHandle argsHandle, void* para, size_t paraSize, rtParaHandle* paraHandle) {
    return lower({{argsHandle, "argsHandle"}, {para, "para"}, {paraHandle, "paraHandle"}},
                 [&] { return aclrtKernelArgsAppend(argsHandle, para, paraSize, paraHandle); });
}

rtError_t rtsKernelArgsAppendPlaceHolder(rtArgsHandle argsHandle, rtParaHandle* paraHandle) {
    return lower({{argsHandle, "argsHandle"}, {paraHandle, "paraHandle"}},
                 [&] { return aclrtKernelArgsAppendPlaceHolder(argsHandle, paraHandle); });
}

rtError_t rtsKernelArgsGetPlaceHolderBuffer(rtArgsHandle argsHandle, rtParaHandle paraHandle, size_t dataSize,
                                            void** bufferAddr) {
    return lower({{argsHandle, "argsHandle"}, {paraHandle, "paraHandle"}, {bufferAddr, "bufferAddr"}},
                 [&] { return aclrtKernelArgsGetPlaceHolderBuffer(argsHandle, paraHandle, dataSize, bufferAddr); });
}

rtError_t rtsKernelArgsParaUpdate(rtArgsHandle argsHandle, rtParaHandle paraHandle, void* para, size_t paraSize) {
    return lower({{argsHandle, "argsHandle"}, {paraHandle, "paraHandle"}, {para, "para"}},
                 [&] { return aclrtKernelArgsParaUpdate(argsHandle, paraHandle, para, paraSize); });
}

rtError_t rtsKernelArgsFinalize(rtArgsHandle argsHandle) {
    return lower({{argsHandle, "argsHandle"}}, [&] { return aclrtKernelArgsFinalize(argsHandle); });
}

// ---- launches ------------------------------------------------------------------------------------------------------

rtError_t rtsLaunchKernelWithConfig(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                    rtKernelLaunchCfg_t* cfg, rtArgsHandle argsHandle, void* reserve) {
    return lower({{funcHandle, "funcHandle"}, {argsHandle, "argsHandle"}}, [&] {
        const int wrong = check_config(cfg);
        if (wrong) return wrong;
        return aclrtLaunchKernelWithConfig(funcHandle, numBlocks, stm, upper(cfg), argsHandle, reserve);
    });
}

rtError_t rtsLaunchKernelWithDevArgs(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                     rtKernelLaunchCfg_t* cfg, const void* args, uint32_t argsSize, void* reserve) {
    return lower({{funcHandle, "funcHandle"}, {args, "args"}}, [&] {
        const int wrong = check_config(cfg);
        if (wrong) return wrong;
        if (reserve) return fail(code::param_invalid, "reserve must be null").code();
        return aclrtLaunchKernelV2(funcHandle, numBlocks, args, argsSize, upper(cfg), stm);
    });
}

rtError_t rtsLaunchKernelWithHostArgs(rtFuncHandle funcHandle, uint32_t numBlocks, rtStream_t stm,
                                      rtKernelLaunchCfg_t* cfg, void* hostArgs, uint32_t argsSize,
                                      rtPlaceHolderInfo_t* placeHolderArray, uint32_t placeHolderNum) {
    return lower({{funcHandle, "funcHandle"}, {hostArgs, "hostArgs"}}, [&] {
        const int wrong = check_config(cfg);
        if (wrong) return wrong;
        return aclrtLaunchKernelWithHostArgs(funcHandle, numBlocks, stm, upper(cfg), hostArgs, argsSize,
                                             upper(placeHolderArray), placeHolderNum);
    });
}

}  // extern "C"
