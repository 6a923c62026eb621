// SPDX-License-Identifier: Apache-2.0
// Allocators whose functions are Python functions. C code calls them through plain function pointers, and the one that
// returns the address of a block gets nothing that identifies the allocator. So there is a fixed number of slots, each
// with its own C functions. A slot belongs to a description; registrations can outlive the description, so they hold
// the slot too. Everything here is accessed under the interpreter's lock.
#include <acl/acl.h>
#include <acl/acl_rt_allocator.h>

#include <array>
#include <map>

#include "entrance.h"
#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

constexpr std::size_t slot_count = 64;

enum Role : std::size_t { object, allocate, release, allocate_near, address_of, role_count };

struct Slot {
    PyObject* parts[role_count] = {};
    int holders = 0;  // the description and the streams it is registered for
};
Slot slots[slot_count];

std::map<std::uintptr_t, std::size_t>& slots_of_descriptions() {
    static auto& map = *new std::map<std::uintptr_t, std::size_t>;
    return map;
}
std::map<std::uintptr_t, std::size_t>& slots_of_streams() {
    static auto& map = *new std::map<std::uintptr_t, std::size_t>;
    return map;
}

void drop(std::size_t index) {
    Slot& slot = slots[index];
    if (--slot.holders > 0) return;
    for (PyObject*& part : slot.parts) Py_CLEAR(part);
}

void erase(std::map<std::uintptr_t, std::size_t>& map, const void* key) {
    const auto found = map.find(reinterpret_cast<std::uintptr_t>(key));
    if (found == map.end()) return;
    const std::size_t index = found->second;
    map.erase(found);
    drop(index);
}

// Calls the function in a slot with the slot's object first, if it takes one, then the numbers. Returns its result as
// an address.
template <class... Numbers>
void* call(std::size_t index, Role role, bool with_object, Numbers... numbers) {
    const Entrance entrance;
    if (!entrance || !slots[index].parts[role]) return nullptr;
    PyObject* function = slots[index].parts[role];
    PyObject* first = slots[index].parts[object] ? slots[index].parts[object] : Py_None;
    Py_INCREF(function);
    Py_INCREF(first);
    PyObject* arguments[] = {to_python(numbers)...};
    PyObject* tuple = with_object ? PyTuple_Pack(1, first) : PyTuple_New(0);
    for (PyObject* argument : arguments) {
        PyObject* single = tuple && argument ? PyTuple_Pack(1, argument) : nullptr;
        PyObject* longer = single ? PySequence_Concat(tuple, single) : nullptr;
        Py_XDECREF(single);
        Py_XDECREF(tuple);
        Py_XDECREF(argument);
        tuple = longer;
    }
    PyObject* result = tuple ? PyObject_CallObject(function, tuple) : nullptr;
    void* address = nullptr;
    // The result of the release function is ignored.
    if (result && role != release && !read_address(Call{"acl.rt allocator", &result, 1}, 0, "result", address))
        Py_CLEAR(result);
    if (!result) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    Py_XDECREF(tuple);
    Py_DECREF(first);
    Py_DECREF(function);
    return address;
}

template <std::size_t index>
struct Functions {
    static void* allocate_block(aclrtAllocator, std::size_t size) { return call(index, allocate, true, size); }
    static void release_block(aclrtAllocator, aclrtAllocatorBlock block) { call(index, release, true, block); }
    static void* allocate_block_near(aclrtAllocator, std::size_t size, aclrtAllocatorAddr address) {
        return call(index, allocate_near, true, size, address);
    }
    static void* address_of_block(aclrtAllocatorBlock block) { return call(index, address_of, false, block); }
};

struct FunctionTable {
    aclrtAllocatorAllocFunc allocate_block;
    aclrtAllocatorFreeFunc release_block;
    aclrtAllocatorAllocAdviseFunc allocate_block_near;
    aclrtAllocatorGetAddrFromBlockFunc address_of_block;
};

template <std::size_t... index>
constexpr std::array<FunctionTable, sizeof...(index)> tables_of(std::index_sequence<index...>) {
    return {FunctionTable{&Functions<index>::allocate_block, &Functions<index>::release_block,
                          &Functions<index>::allocate_block_near, &Functions<index>::address_of_block}...};
}
constexpr auto tables = tables_of(std::make_index_sequence<slot_count>());

// The slot of a description, or a free one if it has none yet; slot_count with an exception if all are taken.
std::size_t slot_of(const void* description) {
    auto& map = slots_of_descriptions();
    const auto key = reinterpret_cast<std::uintptr_t>(description);
    const auto found = map.find(key);
    if (found != map.end()) return found->second;
    for (std::size_t index = 0; index < slot_count; ++index) {
        if (slots[index].holders != 0) continue;
        slots[index].holders = 1;
        map[key] = index;
        return index;
    }
    PyErr_Format(PyExc_RuntimeError, "acl.rt: more than %zu allocators at a time", slot_count);
    return slot_count;
}

// Sets one part of a description: in C with `set(description, slot)` and, if that succeeds, in its slot.
template <class Set>
PyObject* set_part(const Call& call, Role role, Set set) {
    Handle<aclrtAllocatorDesc> description;
    if (!call.takes(2) || !description.read(call, 0, "desc")) return nullptr;
    PyObject* part = call.arguments[1];
    if (role != object && !PyCallable_Check(part)) {
        refuse_type(call, 1, "func", "callable");
        return nullptr;
    }
    const std::size_t index = slot_of(description.value);
    if (index == slot_count) return nullptr;
    const aclError ret = set(description.value, index);
    if (PyErr_Occurred()) return nullptr;
    if (ret == ACL_SUCCESS) {
        Py_INCREF(part);
        PyObject* before = slots[index].parts[role];
        slots[index].parts[role] = part;
        Py_XDECREF(before);
    } else if (ret == ACL_ERROR_RT_INVALID_HANDLE || !description.value) {
        erase(slots_of_descriptions(), description.value);
    }
    return answer(ret);
}

}  // namespace

CANOPY_PYTHON_FUNCTION(rt_allocator_set_obj_to_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_set_obj_to_desc", arguments, count};
    return set_part(call, object, [&](aclrtAllocatorDesc description, std::size_t index) -> aclError {
        void* address = &slots[index];
        const bool bare = PyLong_Check(arguments[1]) || arguments[1] == Py_None;
        if (bare && !read_address(call, 1, "allocator", address)) return ACL_ERROR_INVALID_PARAM;
        return aclrtAllocatorSetObjToDesc(description, address);
    });
}

CANOPY_PYTHON_FUNCTION(rt_allocator_set_alloc_func_to_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_set_alloc_func_to_desc", arguments, count};
    return set_part(call, allocate, [](aclrtAllocatorDesc description, std::size_t index) {
        return aclrtAllocatorSetAllocFuncToDesc(description, tables[index].allocate_block);
    });
}

CANOPY_PYTHON_FUNCTION(rt_allocator_set_free_func_to_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_set_free_func_to_desc", arguments, count};
    return set_part(call, release, [](aclrtAllocatorDesc description, std::size_t index) {
        return aclrtAllocatorSetFreeFuncToDesc(description, tables[index].release_block);
    });
}

CANOPY_PYTHON_FUNCTION(rt_allocator_set_alloc_advise_func_to_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_set_alloc_advise_func_to_desc", arguments, count};
    return set_part(call, allocate_near, [](aclrtAllocatorDesc description, std::size_t index) {
        return aclrtAllocatorSetAllocAdviseFuncToDesc(description, tables[index].allocate_block_near);
    });
}

CANOPY_PYTHON_FUNCTION(rt_allocator_set_get_addr_from_block_func_to_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_set_get_addr_from_block_func_to_desc", arguments, count};
    return set_part(call, address_of, [](aclrtAllocatorDesc description, std::size_t index) {
        return aclrtAllocatorSetGetAddrFromBlockFuncToDesc(description, tables[index].address_of_block);
    });
}

CANOPY_PYTHON_FUNCTION(rt_allocator_destroy_desc) {
    (void)module;
    const Call call{"acl.rt.allocator_destroy_desc", arguments, count};
    Handle<aclrtAllocatorDesc> description;
    if (!call.takes(1) || !description.read(call, 0, "desc")) return nullptr;
    const aclError ret = aclrtAllocatorDestroyDesc(description.value);
    if (ret == ACL_SUCCESS) erase(slots_of_descriptions(), description.value);
    return answer(ret);
}

CANOPY_PYTHON_FUNCTION(rt_allocator_register) {
    (void)module;
    const Call call{"acl.rt.allocator_register", arguments, count};
    Handle<aclrtStream> stream;
    Handle<aclrtAllocatorDesc> description;
    if (!call.takes(2) || !stream.read(call, 0, "stream") || !description.read(call, 1, "desc")) return nullptr;
    const aclError ret = aclrtAllocatorRegister(stream.value, description.value);
    if (ret == ACL_SUCCESS) {
        const auto found = slots_of_descriptions().find(reinterpret_cast<std::uintptr_t>(description.value));
        if (found != slots_of_descriptions().end()) ++slots[found->second].holders;
        erase(slots_of_streams(), stream.value);
        if (found != slots_of_descriptions().end())
            slots_of_streams()[reinterpret_cast<std::uintptr_t>(stream.value)] = found->second;
    }
    return answer(ret);
}

CANOPY_PYTHON_FUNCTION(rt_allocator_unregister) {
    (void)module;
    const Call call{"acl.rt.allocator_unregister", arguments, count};
    Handle<aclrtStream> stream;
    if (!call.takes(1) || !stream.read(call, 0, "stream")) return nullptr;
    const aclError ret = aclrtAllocatorUnregister(stream.value);
    if (ret == ACL_SUCCESS) erase(slots_of_streams(), stream.value);
    return answer(ret);
}

}  // namespace canopy::python
