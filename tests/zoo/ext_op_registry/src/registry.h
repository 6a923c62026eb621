// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"

struct OpDef {
    const char* library;  // <fatbin dir>/<library>/<library>.o
    const char* kernel;
    int inputs;
};

class OpRegistry {
public:
    static OpRegistry& Instance();
    void Register(const std::string& name, const OpDef& def) { defs_[name] = def; }
    void SetPath(const std::string& path) { path_ = path; }
    std::vector<std::string> Names() const;
    std::vector<std::string> LoadedLibraries() const;
    const OpDef* Find(const std::string& name) const;
    // nullptr when the binary cannot be loaded, `error` has the reason
    aclrtFuncHandle GetFunction(const OpDef& def, std::string& error);
    void UnloadAll();

private:
    std::string path_ = "./fatbin";
    std::map<std::string, OpDef> defs_;
    std::map<std::string, aclrtBinHandle> binaries_;
    std::map<std::string, aclrtFuncHandle> functions_;
    std::mutex mutex_;
};

struct OpRegisterer {
    OpRegisterer(const char* name, const OpDef& def) { OpRegistry::Instance().Register(name, def); }
};
#define REGISTER_OP(name, library, kernel, inputs) \
    static OpRegisterer g_register_##name(#name, {library, kernel, inputs})
