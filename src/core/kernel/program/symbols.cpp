// SPDX-License-Identifier: Apache-2.0
#include "core/kernel/program/symbols.h"

#include "base/error_text.h"
#include "core/base/error_codes.h"
#include "core/kernel/kernel.h"
#include "core/kernel/program/registered_images.h"
#include "core/memory/device_variables.h"
#include "core/process/context.h"

namespace canopy {

Result<SymbolInfo> variable_of(const void* opaque, const char* name) {
    Result<Pin<Binary>> binary = find_binary(opaque);
    if (!binary.ok()) return binary.status();
    Result<Pin<Context>> context = current_context();
    if (!context.ok()) return context.status();
    DeviceRecord& record = *(*context)->record;
    Result<std::shared_ptr<Module>> module = (*binary)->module_for(record);
    if (!module.ok()) return module.status();
    const std::optional<SymbolInfo> symbol = (*module)->symbol(name);
    if (!symbol) return fail(code::symbol_not_found, "the binary has no global variable named {}", name);
    note_variable((*binary)->self, record, symbol->address, symbol->size);
    // Unloading closes the handle first and then forgets the variables, so one of the two threads sees the other.
    if (!Runtime::instance().binaries.alive((*binary)->self)) forget_variables((*binary)->self);
    return *symbol;
}

Result<SymbolInfo> find_symbol(const void* host) {
    Result<RegisteredVariable> variable = variable_at(host);
    if (!variable.ok()) return variable.status();
    return variable_of(opaque_of(variable->binary), variable->symbol);
}

}  // namespace canopy
