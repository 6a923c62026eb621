// SPDX-License-Identifier: Apache-2.0
// Argument lists: built step by step, assembled into one block by finalise, launched any number of times.
#include <cstring>
#include <unordered_map>

#include "base/error_text.h"
#include "base/process_state.h"
#include "core/base/error_codes.h"
#include "core/kernel/kernel.h"
#include "foundation/mutex.h"

namespace canopy {
namespace {

constexpr std::size_t slot = 8;
constexpr std::size_t aligned(std::size_t size, std::size_t to = slot) noexcept { return (size + to - 1) / to * to; }
constexpr std::size_t largest_parameter = 1 << 20;

// Lists in the program's memory, by address.
struct ProgramMemory {
    Mutex mutex;
    std::unordered_map<const void*, Handle> lists CANOPY_GUARDED_BY(mutex);
};
ProgramMemory& program_memory() { return process_state<ProgramMemory>(); }

Status not_a_list(const void* opaque) {
    return fail(code::invalid_handle, "argsHandle {} is not an argument list of a loaded function", as_address(opaque));
}

Result<Handle> open_list(Pin<Function>& function, std::size_t capacity) {
    Runtime& runtime = Runtime::instance();
    const Handle handle = runtime.arguments.open([&](Arguments& list, Handle self) {
        SpinGuard guard(list.lock);
        list.self = self;
        list.function = function->self;
        list.capacity = capacity;
        list.slot = function->cpu ? 1 : slot;
    });
    if (handle == 0) return fail(code::resource_alloc, "too many argument lists are alive");
    MutexLock guard(function->mutex);
    function->arguments.push_back(handle);
    // The function may have been closed meanwhile and would then not close this list.
    if (!runtime.functions.alive(function->self)) runtime.arguments.close(handle);
    return handle;
}

}  // namespace

void Arguments::recycle() noexcept {
    SpinGuard guard(lock);
    self = function = 0;
    parameters.clear();
    values.clear();
    block.clear();
    placeholders.clear();
    capacity = SIZE_MAX;
    data_bytes = 0;
    finalised = ever_finalised = buffers_given = false;
}

Result<Handle> create_arguments(Pin<Function>& function) { return open_list(function, SIZE_MAX); }

Status create_arguments_in(Pin<Function>& function, void* memory, std::size_t capacity) {
    Result<Handle> handle = open_list(function, capacity);
    if (!handle.ok()) return handle.status();
    ProgramMemory& all = program_memory();
    MutexLock guard(all.mutex);
    const auto [entry, fresh] = all.lists.try_emplace(memory, *handle);
    if (!fresh) {
        Runtime::instance().arguments.close(entry->second);  // reinitialised
        entry->second = *handle;
    }
    return {};
}

Result<Pin<Arguments>> find_arguments(const void* opaque) {
    HandleTable<Arguments>& table = Runtime::instance().arguments;
    if (Pin<Arguments> list = table.pin(handle_of(opaque))) return list;
    ProgramMemory& all = program_memory();
    MutexLock guard(all.mutex);
    const auto entry = all.lists.find(opaque);
    if (entry != all.lists.end()) {
        if (Pin<Arguments> list = table.pin(entry->second)) return list;
        all.lists.erase(entry);
    }
    return not_a_list(opaque);
}

namespace {

Status may_append(const Arguments& list) CANOPY_REQUIRES(list.lock) {
    if (list.ever_finalised)
        return fail(code::not_supported, "parameters cannot be appended after aclrtKernelArgsFinalize");
    if (list.buffers_given)
        return fail(code::not_supported, "parameters cannot be appended after aclrtKernelArgsGetPlaceHolderBuffer");
    if (list.parameters.size() >= max_parameters)
        return fail(code::param_invalid, "a kernel has at most {} parameters", max_parameters);
    return {};
}

Status fits(const Arguments& list, std::size_t more) CANOPY_REQUIRES(list.lock) {
    const std::size_t size = list.values.size() + list.data_bytes + more;
    if (size <= list.capacity) return {};
    return fail(code::param_invalid, "the argument list needs {} bytes; the memory given for it has {}", size,
                list.capacity);
}

}  // namespace

Result<std::uint32_t> append_parameter(Arguments& list, const void* value, std::size_t size) {
    SpinGuard guard(list.lock);
    CANOPY_TRY(may_append(list));
    if (size > largest_parameter) return fail(code::param_invalid, "paramSize {} is too large", size);
    CANOPY_TRY(fits(list, aligned(size, list.slot)));
    const std::size_t offset = list.values.size();
    list.values.resize(offset + aligned(size, list.slot));
    std::memcpy(list.values.data() + offset, value, size);
    Arguments::Parameter parameter;
    parameter.offset = static_cast<std::uint32_t>(offset);
    parameter.size = static_cast<std::uint32_t>(size);
    list.parameters.push_back(std::move(parameter));
    return static_cast<std::uint32_t>(list.parameters.size() - 1);
}

Result<std::uint32_t> append_placeholder(Arguments& list) {
    SpinGuard guard(list.lock);
    CANOPY_TRY(may_append(list));
    CANOPY_TRY(fits(list, slot));
    Arguments::Parameter parameter;
    parameter.offset = static_cast<std::uint32_t>(list.values.size());
    parameter.size = slot;
    parameter.placeholder = true;
    list.values.resize(list.values.size() + slot);
    list.parameters.push_back(std::move(parameter));
    return static_cast<std::uint32_t>(list.parameters.size() - 1);
}

Status update_parameter(Arguments& list, std::uint32_t index, const void* value, std::size_t size) {
    SpinGuard guard(list.lock);
    Arguments::Parameter& parameter = list.parameters[index];
    if (parameter.placeholder)
        return fail(code::param_invalid, "parameter {} is a placeholder: change its buffer instead", index);
    if (size != parameter.size)
        return fail(code::param_invalid, "paramSize {} differs from the {} bytes appended for parameter {}", size,
                    parameter.size, index);
    std::memcpy(list.values.data() + parameter.offset, value, size);
    list.finalised = false;
    return {};
}

Result<void*> placeholder_buffer(Arguments& list, std::uint32_t index, std::size_t size) {
    SpinGuard guard(list.lock);
    Arguments::Parameter& parameter = list.parameters[index];
    if (!parameter.placeholder) return fail(code::param_invalid, "parameter {} is not a placeholder", index);
    if (size > largest_parameter) return fail(code::param_invalid, "dataSize {} is too large", size);
    CANOPY_TRY(fits(list, aligned(size) - aligned(parameter.data_size)));
    parameter.data = std::make_unique<char[]>(aligned(size));
    list.data_bytes += aligned(size) - aligned(parameter.data_size);
    parameter.data_size = static_cast<std::uint32_t>(size);
    list.buffers_given = true;
    list.finalised = false;
    return static_cast<void*>(parameter.data.get());
}

Status finalise_arguments(Arguments& list) {
    SpinGuard guard(list.lock);
    list.block.assign(list.values.begin(), list.values.end());
    list.placeholders.clear();
    if (list.data_bytes != 0) list.block.resize(aligned(list.block.size()));  // data of packed lists needs alignment
    for (std::size_t index = 0; index < list.parameters.size(); ++index) {
        const Arguments::Parameter& parameter = list.parameters[index];
        if (!parameter.placeholder) continue;
        if (!parameter.data)
            return fail(code::param_invalid,
                        "placeholder parameter {} has no buffer: call "
                        "aclrtKernelArgsGetPlaceHolderBuffer first",
                        index);
        list.placeholders.push_back({parameter.offset, static_cast<std::uint32_t>(list.block.size())});
        list.block.insert(list.block.end(), parameter.data.get(), parameter.data.get() + aligned(parameter.data_size));
    }
    list.finalised = list.ever_finalised = true;
    return {};
}

namespace {
constexpr std::uint64_t parameter_mark = 0xD0ull << 56;
}

void* parameter_handle(const Arguments& list, std::uint32_t index) noexcept {
    return opaque_of(parameter_mark | (static_cast<std::uint64_t>(slot_of(list.self)) << 16) | index);
}

Result<std::uint32_t> parameter_index(const Arguments& list, const void* opaque) {
    const Handle handle = handle_of(opaque);
    const auto index = static_cast<std::uint32_t>(handle & 0xFFFF);
    std::size_t count = 0;
    {
        SpinGuard guard(const_cast<Arguments&>(list).lock);
        count = list.parameters.size();
    }
    if (handle != handle_of(parameter_handle(list, index)) || index >= count)
        return fail(code::invalid_handle, "paramHandle {} is not a parameter of this argument list",
                    as_address(opaque));
    return index;
}

}  // namespace canopy
