// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

namespace jit {

class Error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void Check(aclError code, const char* what)
{
    if (code != ACL_SUCCESS) throw Error(std::string(what) + " returned " + std::to_string(code));
}
#define JIT_CHECK(call) ::jit::Check((call), #call)

// A module is compiled once for all instances it is asked for.
class Module {
public:
    Module(const std::string& name, const std::string& source, const std::map<std::string, std::string>& headers,
           const std::vector<std::string>& instances, const std::vector<std::string>& options);
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    aclrtFuncHandle Get(const std::string& instance) const;
    size_t ImageSize() const { return image_.size(); }

private:
    void Compile(aclrtcProg prog, const std::vector<std::string>& options);

    std::vector<char> image_;
    aclrtBinHandle binary_ = nullptr;
    std::map<std::string, std::string> lowered_;
};

template <typename... Args>
void Launch(aclrtFuncHandle func, uint32_t blocks, aclrtStream stream, Args... args)
{
    void* pointers[] = {static_cast<void*>(&args)...};
    JIT_CHECK(aclrtLaunchKernelWithArgsArray(func, blocks, stream, nullptr, pointers));
}

}  // namespace jit
