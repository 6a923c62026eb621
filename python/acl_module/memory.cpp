// SPDX-License-Identifier: Apache-2.0
// Addresses of Python objects, and Python objects over addresses. numpy is imported when it is first needed.
#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

// A numpy element type by its number, as a new reference; null with an exception.
PyObject* element_type(const Call& call, PyObject* numpy, PyObject* number) {
    static const Name typecodes("typecodes"), dtype("dtype"), num("num");
    PyObject* codes = typecodes.of(numpy);
    PyObject* make = dtype.of(numpy);
    PyObject* all = codes ? PyMapping_GetItemString(codes, "All") : nullptr;
    Py_XDECREF(codes);
    PyObject* found = nullptr;
    for (Py_ssize_t i = 0; all && !found && i < PyUnicode_GetLength(all); ++i) {
        PyObject* code = PySequence_GetItem(all, i);
        PyObject* type = code && make ? PyObject_CallFunctionObjArgs(make, code, nullptr) : nullptr;
        PyObject* own = type ? num.of(type) : nullptr;
        if (own && PyObject_RichCompareBool(own, number, Py_EQ) == 1) {
            found = type;
            Py_INCREF(found);
        }
        Py_XDECREF(own);
        Py_XDECREF(type);
        Py_XDECREF(code);
        if (!own) break;
    }
    Py_XDECREF(all);
    Py_XDECREF(make);
    if (!found && !PyErr_Occurred())
        refuse(PyExc_ValueError, call, 2, "npy_type_num", "is not an element type of numpy: %S", number);
    return found;
}

// The number of bytes of an array; -1 with an exception.
Py_ssize_t bytes_of(const Call& call, PyObject* shape, PyObject* type) {
    static const Name itemsize("itemsize");
    PyObject* size = itemsize.of(type);
    Py_ssize_t bytes = size ? PyLong_AsSsize_t(size) : -1;
    Py_XDECREF(size);
    if (bytes == 0) refuse(PyExc_ValueError, call, 2, "npy_type_num", "is a type whose elements have no fixed size");
    for (Py_ssize_t i = 0; bytes > 0 && i < PyTuple_Size(shape); ++i) {
        PyObject* item = PyTuple_GetItem(shape, i);
        Number<Py_ssize_t> length;
        if (!length.read(Call{call.name, &item, 1, 1}, 0, "shape")) return -1;
        if (length.value < 0) {
            refuse(PyExc_ValueError, call, 1, "shape", "has a negative length");
            return -1;
        }
        if (__builtin_mul_overflow(bytes, length.value, &bytes)) {
            refuse(PyExc_OverflowError, call, 1, "shape", "is larger than memory");
            return -1;
        }
        if (bytes == 0) return 0;
    }
    return PyErr_Occurred() ? -1 : bytes;
}

// True if an object exposes its memory as numpy arrays do.
bool is_array(const Call& call, PyObject* object) {
    static const Name array_interface("__array_interface__");
    PyObject* description = array_interface.if_there(object);
    if (!description) return refuse_type(call, 0, "array", "a numpy array");
    Py_DECREF(description);
    return true;
}

}  // namespace

CANOPY_PYTHON_FUNCTION(util_numpy_to_ptr) {
    (void)module;
    const Call call{"acl.util.numpy_to_ptr", arguments, count};
    Source source;
    if (!call.takes(1) || !is_array(call, arguments[0]) || !source.read(call, 0, "array")) return nullptr;
    if (PyErr_WarnEx(PyExc_DeprecationWarning, "numpy_to_ptr is deprecated; use numpy_contiguous_to_ptr", 1) != 0)
        return nullptr;
    return answer(source.value);
}

CANOPY_PYTHON_FUNCTION(util_numpy_contiguous_to_ptr) {
    (void)module;
    const Call call{"acl.util.numpy_contiguous_to_ptr", arguments, count};
    if (!call.takes(1) || !is_array(call, arguments[0])) return nullptr;
    PyObject* numpy = PyImport_ImportModule("numpy");
    if (!numpy) return nullptr;
    static const Name ascontiguousarray("ascontiguousarray");
    PyObject* make = ascontiguousarray.of(numpy);
    PyObject* array = make ? PyObject_CallFunctionObjArgs(make, arguments[0], nullptr) : nullptr;
    Py_XDECREF(make);
    Py_DECREF(numpy);
    if (!array) return nullptr;
    Source source;
    if (!source.read(Call{call.name, &array, 1}, 0, "array")) {
        Py_DECREF(array);
        return nullptr;
    }
    return answer(source.value, array);
}

CANOPY_PYTHON_FUNCTION(util_ptr_to_numpy) {
    (void)module;
    const Call call{"acl.util.ptr_to_numpy", arguments, count};
    Handle<char*> address;
    Number<int> number;
    if (!call.takes(3)) return nullptr;
    if (!read_address(call, 0, "ptr", reinterpret_cast<void*&>(address.value)) || !number.read(call, 2, "npy_type_num"))
        return nullptr;
    if (!PyTuple_Check(arguments[1]) && !PyList_Check(arguments[1])) {
        refuse_type(call, 1, "shape", "a tuple");
        return nullptr;
    }
    if (!address.value) {
        refuse(PyExc_ValueError, call, 0, "ptr", "is not an address");
        return nullptr;
    }
    PyObject* numpy = PyImport_ImportModule("numpy");
    PyObject* shape = numpy ? PySequence_Tuple(arguments[1]) : nullptr;
    PyObject* type = shape ? element_type(call, numpy, arguments[2]) : nullptr;
    const Py_ssize_t bytes = type ? bytes_of(call, shape, type) : -1;
    PyObject* view = bytes >= 0 ? PyMemoryView_FromMemory(address.value, bytes, PyBUF_WRITE) : nullptr;
    static const Name ndarray("ndarray");
    PyObject* make = view ? ndarray.of(numpy) : nullptr;
    PyObject* array = make ? PyObject_CallFunctionObjArgs(make, shape, type, view, nullptr) : nullptr;
    Py_XDECREF(make);
    Py_XDECREF(view);
    Py_XDECREF(type);
    Py_XDECREF(shape);
    Py_XDECREF(numpy);
    return array;
}

CANOPY_PYTHON_FUNCTION(util_bytes_to_ptr) {
    (void)module;
    const Call call{"acl.util.bytes_to_ptr", arguments, count};
    if (!call.takes(1)) return nullptr;
    if (PyBytes_Check(arguments[0])) return answer(static_cast<void*>(PyBytes_AsString(arguments[0])));
    if (PyByteArray_Check(arguments[0])) return answer(static_cast<void*>(PyByteArray_AsString(arguments[0])));
    refuse_type(call, 0, "data", "bytes");
    return nullptr;
}

CANOPY_PYTHON_FUNCTION(util_ptr_to_bytes) {
    (void)module;
    const Call call{"acl.util.ptr_to_bytes", arguments, count};
    Handle<void*> address;
    Number<Py_ssize_t> size;
    if (!call.takes(2) || !address.read(call, 0, "ptr") || !size.read(call, 1, "size")) return nullptr;
    if (size.value < 0 || (size.value > 0 && !address.value)) {
        const bool negative = size.value < 0;
        refuse(PyExc_ValueError, call, negative, negative ? "size" : "ptr",
               negative ? "is negative" : "is not an address");
        return nullptr;
    }
    return PyBytes_FromStringAndSize(static_cast<const char*>(address.value), size.value);
}

}  // namespace canopy::python
