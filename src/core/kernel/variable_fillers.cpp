// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/variable_fillers.h"

#include <atomic>
#include <cstring>
#include <map>
#include <vector>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

using Fillers = std::map<std::string, VariableFiller, std::less<>>;

struct FillerRegistry {
    Mutex mutex;
    Fillers fillers CANOPY_GUARDED_BY(mutex);
    std::atomic<bool> any{false};  // lets loads skip the lock when there are none
};
FillerRegistry& filler_registry() { return process_state<FillerRegistry>(); }

Status fill(const SymbolInfo& variable, const std::string& name, VariableFiller filler) {
    std::vector<char> bytes(variable.size);
    CANOPY_TRY(read_device(bytes.data(), variable.address, variable.size));
    const std::int32_t answer = filler(bytes.data(), static_cast<std::uint32_t>(bytes.size()));
    if (answer != 0)
        return fail(code::param_invalid, "the function that fills variable {} of binaries returned {}", name, answer);
    return write_device(variable.address, bytes.data(), variable.size);
}

}  // namespace

void set_variable_filler(std::string name, VariableFiller filler) {
    FillerRegistry& all = filler_registry();
    MutexLock guard(all.mutex);
    all.fillers[std::move(name)] = filler;
    all.any.store(true, std::memory_order_release);
}

Status remove_variable_filler(std::string_view name) {
    FillerRegistry& all = filler_registry();
    MutexLock guard(all.mutex);
    const auto found = all.fillers.find(name);
    if (found == all.fillers.end()) return fail(code::param_invalid, "no function fills variable {}", name);
    all.fillers.erase(found);
    all.any.store(!all.fillers.empty(), std::memory_order_release);
    return {};
}

Status fill_variables(Module& module) {
    FillerRegistry& all = filler_registry();
    if (!all.any.load(std::memory_order_acquire)) return {};
    Fillers fillers;
    {
        MutexLock guard(all.mutex);
        fillers = all.fillers;  // program callbacks run without the lock
    }
    for (const auto& [name, filler] : fillers)
        if (const std::optional<SymbolInfo> variable = module.symbol(name)) CANOPY_TRY(fill(*variable, name, filler));
    return {};
}

}  // namespace canopy
