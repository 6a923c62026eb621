// SPDX-License-Identifier: Apache-2.0
// Structures of the interface as Python sees them: dicts, and lists of dicts. The classes read an argument, like those
// of call.h; to_python creates a result. Everything runs under the interpreter's lock.
#ifndef CANOPY_PYTHON_ACL_MODULE_STRUCTURES_H
#define CANOPY_PYTHON_ACL_MODULE_STRUCTURES_H

#include <acl/acl.h>

#include "call.h"

namespace canopy::python {

// {} or {"attrs": [{"attr": n, "value": n}], "numAttrs": n}
class MallocConfig {
public:
    aclrtMallocConfig* value = nullptr;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    std::vector<aclrtMallocAttribute> attributes_;
    aclrtMallocConfig config_{};
};

// {"handleType": n, "allocationType": n, "memAttr": n, "location": {"id": n, "type": n}, "reserve": n}
class PhysicalProperties {
public:
    aclrtPhysicalMemProp* value = &properties_;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    aclrtPhysicalMemProp properties_{};
};

// {"failureMode": n} and similar
class StreamAttribute {
public:
    aclrtStreamAttrValue* value = &attribute_;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    aclrtStreamAttrValue attribute_{};
};

// [{"type": n, "value": n}]
class LoadOptions {
public:
    aclrtBinaryLoadOptions* value = nullptr;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    std::vector<aclrtBinaryLoadOption> options_;
    aclrtBinaryLoadOptions list_{};
};

// [{"id": n, "value": n}]
class LaunchConfig {
public:
    aclrtLaunchKernelCfg* value = nullptr;

    bool read(const Call& call, Py_ssize_t index, const char* name) {
        PyObject* object = call.arguments[index];
        if (PyList_CheckExact(object) && PyList_Size(object) == 0) [[likely]]
            return true;
        return read_attributes(call, index, name);
    }

private:
    bool read_attributes(const Call& call, Py_ssize_t index, const char* name);

    std::vector<aclrtLaunchKernelAttr> attributes_;
    aclrtLaunchKernelCfg config_{};
};

// [{"addrOffset": n, "dataOffset": n}] or [(addrOffset, dataOffset)]
class PlaceHolders {
public:
    aclrtPlaceHolderInfo* value = nullptr;
    std::size_t size = 0;

    bool read(const Call& call, Py_ssize_t index, const char* name);
    // True if there are as many as the program says.
    bool holds(const Call& call, Py_ssize_t index, const char* name, std::size_t needed) const;

private:
    std::vector<aclrtPlaceHolderInfo> items_;
};

// [{"addr": n, "len": n, "reserved": [n]}]
class UceList {
public:
    aclrtMemUceInfo* value = nullptr;
    std::size_t size = 0;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    std::vector<aclrtMemUceInfo> items_;
};

// [{"sdid": n, "pid": [n]}]
class ServerPids {
public:
    aclrtServerPid* value = nullptr;
    std::size_t size = 0;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    std::vector<List<std::int32_t>> lists_;
    std::vector<aclrtServerPid> servers_;
};

// The bytes of a shared event.
class EventHandle {
public:
    aclrtIpcEventHandle value{};

    bool read(const Call& call, Py_ssize_t index, const char* name);
};

// Shared physical memory: a number, or the bytes of a fabric handle. There is room for either, whatever the type says.
class ShareableHandle {
public:
    void* value = &bytes_;

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    aclrtMemFabricHandle bytes_{};
};

// Each returns a new reference, or null with an exception.
template <class T>
PyObject* to_python(T value) {
    if constexpr (std::is_same_v<T, const char*>) {
        if (!value) Py_RETURN_NONE;
        return PyUnicode_DecodeUTF8(value, static_cast<Py_ssize_t>(__builtin_strlen(value)), "replace");
    } else if constexpr (std::is_pointer_v<T>) {
        return PyLong_FromUnsignedLongLong(reinterpret_cast<std::uintptr_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        return PyFloat_FromDouble(value);
    } else if constexpr (std::is_enum_v<T>) {
        return PyLong_FromLongLong(static_cast<long long>(value));
    } else if constexpr (std::is_unsigned_v<T>) {
        return PyLong_FromUnsignedLongLong(value);
    } else {
        static_assert(std::is_integral_v<T>);
        return PyLong_FromLongLong(value);
    }
}
PyObject* to_python(const aclCANNPackageVersion& version);
PyObject* to_python(const aclrtUtilizationInfo& utilization);
PyObject* to_python(const aclrtUuid& uuid);
PyObject* to_python(const aclrtPtrAttributes& attributes);
PyObject* to_python(const aclrtMemUceInfo& range);
PyObject* to_python(aclrtStreamAttr type, const aclrtStreamAttrValue& value);
inline PyObject* to_python(const aclrtIpcEventHandle& handle) {
    return PyBytes_FromStringAndSize(handle.reserved, sizeof handle.reserved);
}
inline PyObject* to_python(Room& room) { return to_python(room.text()); }
// Already a Python object: a new reference, which the result takes over.
inline PyObject* to_python(PyObject* object) { return object; }

template <class T>
PyObject* list_of(const T* items, std::size_t count) {
    PyObject* list = PyList_New(static_cast<Py_ssize_t>(count));
    for (std::size_t i = 0; list && i < count; ++i) {
        PyObject* item = to_python(items[i]);
        if (!item || PyList_SetItem(list, static_cast<Py_ssize_t>(i), item) != 0) Py_CLEAR(list);
    }
    return list;
}

// The return value of the function: one value, or several as a tuple.
template <class T>
PyObject* answer(T&& value) {
    return to_python(value);
}
template <class First, class... Others>
PyObject* answer(First&& first, Others&&... others) {
    PyObject* items[] = {to_python(first), to_python(others)...};
    PyObject* tuple = PyTuple_New(1 + sizeof...(others));
    bool whole = tuple != nullptr;
    for (PyObject* item : items) whole = whole && item;
    Py_ssize_t index = 0;
    for (PyObject* item : items) {
        if (whole)
            PyTuple_SetItem(tuple, index++, item);
        else
            Py_XDECREF(item);
    }
    if (whole) return tuple;
    Py_XDECREF(tuple);
    return nullptr;
}

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_STRUCTURES_H
