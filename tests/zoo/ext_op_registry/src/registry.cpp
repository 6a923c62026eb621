// SPDX-License-Identifier: Apache-2.0
#include "registry.h"

REGISTER_OP(relu, "unary_ops", "npu_relu", 1);
REGISTER_OP(silu, "unary_ops", "npu_silu", 1);
REGISTER_OP(add, "binary_ops", "npu_add", 2);
REGISTER_OP(maximum, "binary_ops", "npu_maximum", 2);
REGISTER_OP(minimum, "not_built_ops", "npu_minimum", 2);

OpRegistry& OpRegistry::Instance()
{
    static OpRegistry registry;
    return registry;
}

std::vector<std::string> OpRegistry::Names() const
{
    std::vector<std::string> names;
    for (const auto& item : defs_) names.push_back(item.first);
    return names;
}

std::vector<std::string> OpRegistry::LoadedLibraries() const
{
    std::vector<std::string> names;
    for (const auto& item : binaries_) names.push_back(item.first);
    return names;
}

const OpDef* OpRegistry::Find(const std::string& name) const
{
    auto it = defs_.find(name);
    return it == defs_.end() ? nullptr : &it->second;
}

aclrtFuncHandle OpRegistry::GetFunction(const OpDef& def, std::string& error)
{
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = functions_.find(def.kernel);
    if (found != functions_.end()) return found->second;

    aclrtBinHandle binary = nullptr;
    auto loaded = binaries_.find(def.library);
    if (loaded != binaries_.end()) {
        binary = loaded->second;
    } else {
        std::string file = path_ + "/" + def.library + "/" + def.library + ".o";
        aclrtBinaryLoadOption option;
        option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
        option.value.isLazyLoad = 1;
        aclrtBinaryLoadOptions options = {&option, 1};
        aclError ret = aclrtBinaryLoadFromFile(file.c_str(), &options, &binary);
        if (ret != ACL_SUCCESS) {
            error = "cannot load " + file + ", error " + std::to_string(ret);
            return nullptr;
        }
        binaries_[def.library] = binary;
    }
    aclrtFuncHandle function = nullptr;
    aclError ret = aclrtBinaryGetFunction(binary, def.kernel, &function);
    if (ret != ACL_SUCCESS) {
        error = std::string("no kernel ") + def.kernel + ", error " + std::to_string(ret);
        return nullptr;
    }
    functions_[def.kernel] = function;
    return function;
}

void OpRegistry::UnloadAll()
{
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto& item : binaries_) (void)aclrtBinaryUnLoad(item.second);
    binaries_.clear();
    functions_.clear();
}
