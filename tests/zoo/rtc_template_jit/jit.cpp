// SPDX-License-Identifier: Apache-2.0
#include "jit.h"

namespace jit {

Module::Module(const std::string& name, const std::string& source, const std::map<std::string, std::string>& headers,
               const std::vector<std::string>& instances, const std::vector<std::string>& options)
{
    std::vector<const char*> texts, names;
    for (const auto& header : headers) {
        names.push_back(header.first.c_str());
        texts.push_back(header.second.c_str());
    }
    aclrtcProg prog = nullptr;
    JIT_CHECK(aclrtcCreateProg(&prog, source.c_str(), name.c_str(), static_cast<int>(texts.size()), texts.data(),
                               names.data()));
    for (const auto& instance : instances) JIT_CHECK(aclrtcAddNameExpr(prog, instance.c_str()));
    Compile(prog, options);
    for (const auto& instance : instances) {
        const char* symbol = nullptr;
        JIT_CHECK(aclrtcGetLoweredName(prog, instance.c_str(), &symbol));
        lowered_[instance] = symbol;
    }
    size_t size = 0;
    JIT_CHECK(aclrtcGetBinDataSize(prog, &size));
    image_.resize(size);
    JIT_CHECK(aclrtcGetBinData(prog, image_.data()));
    JIT_CHECK(aclrtcDestroyProg(&prog));

    aclrtBinaryLoadOption option;
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    aclrtBinaryLoadOptions loadOptions;
    loadOptions.options = &option;
    loadOptions.numOpt = 1;
    JIT_CHECK(aclrtBinaryLoadFromData(image_.data(), image_.size(), &loadOptions, &binary_));
}

Module::~Module() { (void)aclrtBinaryUnLoad(binary_); }

void Module::Compile(aclrtcProg prog, const std::vector<std::string>& options)
{
    std::vector<const char*> flags;
    for (const auto& option : options) flags.push_back(option.c_str());
    const aclError ret = aclrtcCompileProg(prog, static_cast<int>(flags.size()), flags.data());
    if (ret == ACL_SUCCESS) return;
    size_t size = 0;
    (void)aclrtcGetCompileLogSize(prog, &size);
    std::string log(size, '\0');
    (void)aclrtcGetCompileLog(prog, &log[0]);
    (void)aclrtcDestroyProg(&prog);
    throw Error("compile failed: " + log);
}

aclrtFuncHandle Module::Get(const std::string& instance) const
{
    aclrtFuncHandle func = nullptr;
    JIT_CHECK(aclrtBinaryGetFunction(binary_, lowered_.at(instance).c_str(), &func));
    return func;
}

}  // namespace jit
