// SPDX-License-Identifier: Apache-2.0
// Finds the memory of an object: the buffer protocol, __array_interface__ and DLPack.
#include <cstdlib>
#include <cstring>

#include "call.h"

namespace canopy::python {

namespace {

constexpr const char* wanted = "an int, None or an object with a buffer";

// The structure in a DLPack capsule, as the specification defines it.
struct TensorType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct Tensor {
    void* data;
    std::int32_t device_type, device_id, dimensions;
    TensorType type;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};
constexpr const char* tensor_name = "dltensor";

// The number of elements of a tensor, or -1 if its strides leave gaps.
std::int64_t elements_of(const Tensor& tensor) {
    std::int64_t count = 1;
    for (std::int32_t i = tensor.dimensions; i-- > 0;) {
        if (tensor.strides && tensor.shape[i] > 1 && tensor.strides[i] != count) return -1;
        count *= tensor.shape[i];
    }
    return count;
}

// Bytes per element from the type string of an array interface: "<f4" has 4, "<U5" 20.
std::size_t element_size(const char* text) {
    if (std::strlen(text) < 3) return 0;
    const std::size_t count = std::strtoul(text + 2, nullptr, 10);
    return text[1] == 'U' ? 4 * count : count;
}

}  // namespace

bool Source::read_object(const Call& call, Py_ssize_t index, const char* name, bool writable) {
    PyObject* object = call.arguments[index];
    // numpy scalars expose their memory too, but are passed by value.
    if (PyIndex_Check(object) && !PySequence_Check(object)) return read_address(call, index, name, value);
    if (PyObject_CheckBuffer(object)) return read_buffer(call, index, name, writable);
    static const Name array_interface("__array_interface__"), dlpack("__dlpack__");
    if (PyObject* description = array_interface.if_there(object)) {
        const bool good = read_array(call, index, name, writable, description);
        Py_DECREF(description);
        return good;
    }
    if (PyObject* method = dlpack.if_there(object)) {
        const bool good = read_tensor(call, index, name, writable, method);
        Py_DECREF(method);
        return good;
    }
    return refuse_type(call, index, name, wanted);
}

bool Source::read_buffer(const Call& call, Py_ssize_t index, const char* name, bool writable) {
    PyObject* object = call.arguments[index];
    const int flags = PyBUF_ANY_CONTIGUOUS;
    if (PyObject_GetBuffer(object, &view_, flags | (writable ? PyBUF_WRITABLE : 0)) == 0) {
        viewed_ = true;
        value = view_.buf;
        size_ = static_cast<std::size_t>(view_.len);
        return true;
    }
    PyErr_Clear();
    if (writable && PyObject_GetBuffer(object, &view_, flags) == 0) {
        PyBuffer_Release(&view_);
        return refuse(PyExc_ValueError, call, index, name, "is read-only memory, but the call writes there");
    }
    PyErr_Clear();
    return refuse(PyExc_ValueError, call, index, name, "is not contiguous in memory");
}

bool Source::read_array(const Call& call, Py_ssize_t index, const char* name, bool writable, PyObject* description) {
    PyObject* data = PyDict_Check(description) ? PyDict_GetItemString(description, "data") : nullptr;
    PyObject* shape = data ? PyDict_GetItemString(description, "shape") : nullptr;
    PyObject* type = shape ? PyDict_GetItemString(description, "typestr") : nullptr;
    PyObject* strides = type ? PyDict_GetItemString(description, "strides") : nullptr;
    if (!type || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || !PyTuple_Check(shape) || !PyUnicode_Check(type))
        return refuse(PyExc_ValueError, call, index, name,
                      "has an __array_interface__ without data, shape and typestr");
    const char* text = PyUnicode_AsUTF8AndSize(type, nullptr);
    if (!text) return false;
    std::size_t bytes = element_size(text);
    for (Py_ssize_t i = PyTuple_Size(shape); i-- > 0;) {
        const Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
        if (strides && PyTuple_Check(strides) && i < PyTuple_Size(strides) && length > 1 &&
            PyLong_AsSsize_t(PyTuple_GetItem(strides, i)) != static_cast<Py_ssize_t>(bytes) && !PyErr_Occurred())
            return refuse(PyExc_ValueError, call, index, name, "is not contiguous in memory");
        if (PyErr_Occurred()) return false;
        bytes *= static_cast<std::size_t>(length);
    }
    if (writable && PyObject_IsTrue(PyTuple_GetItem(data, 1)))
        return refuse(PyExc_ValueError, call, index, name, "is read-only memory, but the call writes there");
    value = PyLong_AsVoidPtr(PyTuple_GetItem(data, 0));
    if (PyErr_Occurred()) return false;
    size_ = bytes;
    // The interface dict may own the memory it describes.
    Py_INCREF(description);
    owner_ = description;
    return true;
}

bool Source::read_tensor(const Call& call, Py_ssize_t index, const char* name, bool, PyObject* method) {
    owner_ = PyObject_CallNoArgs(method);
    if (!owner_) return false;
    // A capsule that keeps its name releases the tensor when it is freed, at the end of the call.
    if (!PyCapsule_IsValid(owner_, tensor_name))
        return refuse(PyExc_ValueError, call, index, name, "has a __dlpack__ that gives no \"%s\" capsule",
                      tensor_name);
    const auto& tensor = *static_cast<const Tensor*>(PyCapsule_GetPointer(owner_, tensor_name));
    const std::int64_t elements = elements_of(tensor);
    if (elements < 0) return refuse(PyExc_ValueError, call, index, name, "is not contiguous in memory");
    value = static_cast<char*>(tensor.data) + tensor.byte_offset;
    size_ = (static_cast<std::size_t>(elements) * tensor.type.bits * tensor.type.lanes + 7) / 8;
    return true;
}

bool Source::too_small(const Call& call, Py_ssize_t index, const char* name, std::size_t needed) const {
    return refuse(PyExc_ValueError, call, index, name, "holds %zu bytes, but the call says %zu", size_, needed);
}

void Source::release() {
    if (viewed_) PyBuffer_Release(&view_);
    Py_XDECREF(owner_);
}

}  // namespace canopy::python
