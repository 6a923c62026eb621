// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <cstdarg>
#include <cstring>

namespace canopy::python {

namespace {

// Converts an object that is not an int but acts as one, such as a numpy scalar, to an int; null without an exception
// if it is not a number.
PyObject* as_index(PyObject* object) {
    if (!PyIndex_Check(object)) return nullptr;
    PyObject* number = PyNumber_Index(object);
    if (!number) PyErr_Clear();
    return number;
}

bool refuse_range(const Call& call, Py_ssize_t index, const char* name, PyObject* number) {
    return refuse(PyExc_OverflowError, call, index, name, "is out of range: %S", number);
}

bool integer_of(const Call& call, Py_ssize_t index, const char* name, PyObject* object, long long least, long long most,
                long long& value) {
    int overflow = 0;
    value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0 && value >= least && value <= most) [[likely]]
        return true;
    return refuse_range(call, index, name, object);
}

bool unsigned_of(const Call& call, Py_ssize_t index, const char* name, PyObject* object, unsigned long long most,
                 unsigned long long& value) {
    value = PyLong_AsUnsignedLongLong(object);
    if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) {
        PyErr_Clear();
        return refuse_range(call, index, name, object);
    }
    return value <= most || refuse_range(call, index, name, object);
}

// Reads with `convert` from an int or from an object that acts as one.
template <class Convert>
bool with_int(const Call& call, Py_ssize_t index, const char* name, const char* wanted, Convert convert) {
    PyObject* object = call.arguments[index];
    if (PyLong_Check(object)) [[likely]]
        return convert(object);
    PyObject* number = as_index(object);
    if (!number) return refuse_type(call, index, name, wanted);
    const bool good = convert(number);
    Py_DECREF(number);
    return good;
}

}  // namespace

bool Call::wrong_count(Py_ssize_t least, Py_ssize_t most) const {
    if (least == most)
        PyErr_Format(PyExc_TypeError, "%s takes %zd argument%s, not %zd", name, most, most == 1 ? "" : "s", count);
    else
        PyErr_Format(PyExc_TypeError, "%s takes %zd to %zd arguments, not %zd", name, least, most, count);
    return false;
}

PyObject* type_name(PyObject* object) {
    return PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__");
}

bool refuse(PyObject* type, const Call& call, Py_ssize_t index, const char* name, const char* format, ...) {
    va_list values;
    va_start(values, format);
    PyObject* text = PyUnicode_FromFormatV(format, values);
    va_end(values);
    if (!text) return false;
    PyErr_Format(type, "%s: argument %zd (%s) %U", call.name, call.first + index + 1, name, text);
    Py_DECREF(text);
    return false;
}

bool refuse_type(const Call& call, Py_ssize_t index, const char* name, const char* wanted) {
    PyObject* found = type_name(call.arguments[index]);
    if (!found) return false;
    refuse(PyExc_TypeError, call, index, name, "must be %s, not %U", wanted, found);
    Py_DECREF(found);
    return false;
}

bool read_integer(const Call& call, Py_ssize_t index, const char* name, long long least, long long most,
                  long long& value) {
    return with_int(call, index, name, "an int",
                    [&](PyObject* object) { return integer_of(call, index, name, object, least, most, value); });
}

bool read_unsigned(const Call& call, Py_ssize_t index, const char* name, unsigned long long most,
                   unsigned long long& value) {
    return with_int(call, index, name, "an int",
                    [&](PyObject* object) { return unsigned_of(call, index, name, object, most, value); });
}

bool read_real(const Call& call, Py_ssize_t index, const char* name, double& value) {
    value = PyFloat_AsDouble(call.arguments[index]);
    if (value != -1.0 || !PyErr_Occurred()) return true;
    const bool range = PyErr_ExceptionMatches(PyExc_OverflowError);
    PyErr_Clear();
    if (range) return refuse_range(call, index, name, call.arguments[index]);
    return refuse_type(call, index, name, "a float");
}

bool read_address(const Call& call, Py_ssize_t index, const char* name, void*& value) {
    value = nullptr;
    if (call.arguments[index] == Py_None) return true;
    return with_int(call, index, name, "an int or None", [&](PyObject* object) {
        unsigned long long number = 0;
        if (!unsigned_of(call, index, name, object, ~0ull, number)) return false;
        value = reinterpret_cast<void*>(number);
        return true;
    });
}

bool Text::read(const Call& call, Py_ssize_t index, const char* name) {
    PyObject* object = call.arguments[index];
    if (!PyUnicode_Check(object)) {
        owner_ = PyOS_FSPath(object);
        if (!owner_ || !PyUnicode_Check(owner_)) {
            PyErr_Clear();
            return refuse_type(call, index, name, "a str");
        }
        object = owner_;
    }
    Py_ssize_t length = 0;
    value = PyUnicode_AsUTF8AndSize(object, &length);
    if (!value) return false;
    size = static_cast<std::size_t>(length);
    if (std::strlen(value) == size) return true;
    return refuse(PyExc_ValueError, call, index, name, "holds a zero character");
}

}  // namespace canopy::python
