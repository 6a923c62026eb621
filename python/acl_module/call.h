// SPDX-License-Identifier: Apache-2.0
// One call of a function of the module: its arguments, and classes that each read one argument. Used by the generated
// binding and by the handwritten functions. Everything runs under the interpreter's lock, except inside released().
//
// Every reader has `read`, which raises a Python exception and returns false if the argument does not fit, and `value`,
// which is passed to the C function.
//
// This library is compiled without exceptions: when the interpreter exits, it stops threads by unwinding through these
// frames, and then none of this code may run.
#ifndef CANOPY_PYTHON_ACL_MODULE_CALL_H
#define CANOPY_PYTHON_ACL_MODULE_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace canopy::python {

struct Call {
    const char* name;
    PyObject* const* arguments;
    Py_ssize_t count;
    Py_ssize_t first = 0;  // added to argument numbers in messages; an element of a list is reported as its list

    bool takes(Py_ssize_t least, Py_ssize_t most) const {
        if (count >= least && count <= most) [[likely]]
            return true;
        return wrong_count(least, most);
    }
    bool takes(Py_ssize_t exactly) const { return takes(exactly, exactly); }

private:
    bool wrong_count(Py_ssize_t least, Py_ssize_t most) const;
};

// The name of an object's type, as a new reference. PyType_GetName would need Python 3.11.
PyObject* type_name(PyObject* object);

// Raises `type` with a message that names the function and the argument: "acl.rt.free: argument 1 (dev_ptr) ...".
// Returns false.
bool refuse(PyObject* type, const Call& call, Py_ssize_t index, const char* name, const char* format, ...);

// The same for an argument of a wrong type: "... must be <wanted>, not <type>".
bool refuse_type(const Call& call, Py_ssize_t index, const char* name, const char* wanted);

// The name of an attribute, created once: Python's caches keep names, so a new one for each lookup would pile up there.
class Name {
public:
    explicit Name(const char* text) : text_(PyUnicode_InternFromString(text)) {}

    // The attribute as a new reference; null with an exception.
    PyObject* of(PyObject* object) const { return PyObject_GetAttr(object, text_); }
    // The same, but null without an exception.
    PyObject* if_there(PyObject* object) const {
        PyObject* attribute = of(object);
        if (!attribute) PyErr_Clear();
        return attribute;
    }

private:
    PyObject* text_;
};

bool read_integer(const Call& call, Py_ssize_t index, const char* name, long long least, long long most,
                  long long& value);
bool read_unsigned(const Call& call, Py_ssize_t index, const char* name, unsigned long long most,
                   unsigned long long& value);
bool read_real(const Call& call, Py_ssize_t index, const char* name, double& value);
bool read_address(const Call& call, Py_ssize_t index, const char* name, void*& value);

// A number or an enumeration, in the range of the C type. C programs may pass any 32 bits as an enumeration.
template <class T>
struct Number {
    T value{};

    bool read(const Call& call, Py_ssize_t index, const char* name) {
        if constexpr (std::is_floating_point_v<T>) {
            double real = 0;
            if (!read_real(call, index, name, real)) return false;
            value = static_cast<T>(real);
        } else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) {
            unsigned long long number = 0;
            if (!read_unsigned(call, index, name, std::numeric_limits<T>::max(), number)) return false;
            value = static_cast<T>(number);
        } else {
            long long number = 0, least = std::numeric_limits<std::int32_t>::min();
            long long most = std::numeric_limits<std::uint32_t>::max();
            if constexpr (!std::is_enum_v<T>) {
                least = std::numeric_limits<T>::min();
                most = std::numeric_limits<T>::max();
            }
            if (!read_integer(call, index, name, least, most, number)) return false;
            value = static_cast<T>(number);
        }
        return true;
    }
};

// A handle or a bare address: an int, or None for 0.
template <class T>
struct Handle {
    T value{};

    bool read(const Call& call, Py_ssize_t index, const char* name) {
        void* address = nullptr;
        if (!read_address(call, index, name, address)) return false;
        value = static_cast<T>(address);
        return true;
    }
};

// Accepts anything.
struct Ignored {
    bool read(const Call&, Py_ssize_t, const char*) { return true; }
};

// A string, or an object with __fspath__. Valid during the call.
class Text {
public:
    const char* value = nullptr;
    std::size_t size = 0;

    Text() = default;
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;
    ~Text() { Py_XDECREF(owner_); }

    bool read(const Call& call, Py_ssize_t index, const char* name);

private:
    PyObject* owner_ = nullptr;
};

// A string or None.
class OptionalText : public Text {
public:
    bool read(const Call& call, Py_ssize_t index, const char* name) {
        return call.arguments[index] == Py_None || Text::read(call, index, name);
    }
};

// Host or device memory that is read: an address as an int, None for 0, or an object that exposes contiguous memory
// through the buffer protocol, __array_interface__ or __dlpack__. The object is kept alive during the call.
class Source {
public:
    void* value = nullptr;

    Source() = default;
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    ~Source() { release(); }

    bool read(const Call& call, Py_ssize_t index, const char* name) { return read(call, index, name, false); }

    // True if the object has at least that many bytes; always true for an address.
    bool holds(const Call& call, Py_ssize_t index, const char* name, std::size_t needed) const {
        return needed <= size_ || too_small(call, index, name, needed);
    }

protected:
    bool read(const Call& call, Py_ssize_t index, const char* name, bool writable) {
        PyObject* object = call.arguments[index];
        if (PyLong_CheckExact(object) || object == Py_None) [[likely]]
            return read_address(call, index, name, value);
        return read_object(call, index, name, writable);
    }

private:
    bool read_object(const Call& call, Py_ssize_t index, const char* name, bool writable);
    bool read_buffer(const Call& call, Py_ssize_t index, const char* name, bool writable);
    bool read_array(const Call& call, Py_ssize_t index, const char* name, bool writable, PyObject* description);
    bool read_tensor(const Call& call, Py_ssize_t index, const char* name, bool writable, PyObject* method);
    bool too_small(const Call& call, Py_ssize_t index, const char* name, std::size_t needed) const;
    void release();

    std::size_t size_ = std::numeric_limits<std::size_t>::max();
    bool viewed_ = false;
    Py_buffer view_{};
    PyObject* owner_ = nullptr;
};

// Memory that is, or may be, written.
class Buffer : public Source {
public:
    bool read(const Call& call, Py_ssize_t index, const char* name) { return Source::read(call, index, name, true); }
};

// A list or tuple of numbers or handles.
template <class T>
struct List {
    T* value = nullptr;
    std::size_t size = 0;

    bool read(const Call& call, Py_ssize_t index, const char* name) {
        PyObject* object = call.arguments[index];
        if (!PyList_Check(object) && !PyTuple_Check(object)) return refuse_type(call, index, name, "a list");
        const Py_ssize_t length = PySequence_Size(object);
        for (Py_ssize_t i = 0; i < length; ++i) {
            PyObject* item = PySequence_GetItem(object, i);
            if (!item) return false;
            const Call inner{call.name, &item, 1, index};
            std::conditional_t<std::is_pointer_v<T>, Handle<T>, Number<T>> element;
            const bool good = element.read(inner, 0, name);
            Py_DECREF(item);
            if (!good) return false;
            items_.push_back(element.value);
        }
        value = items_.data();
        size = items_.size();
        return true;
    }

private:
    std::vector<T> items_;
};

// A number of which the C function gets the address.
template <class T>
struct Pointed {
    void* value = &number_.value;

    bool read(const Call& call, Py_ssize_t index, const char* name) { return number_.read(call, index, name); }

private:
    Number<T> number_;
};
using FileDescriptor = Pointed<int>;
using Word = Pointed<std::uint32_t>;

// Bytes from the start of the first row of a rectangle to the end of the last one.
inline std::size_t rectangle(std::size_t pitch, std::size_t width, std::size_t height) {
    std::size_t bytes = 0;
    if (width == 0 || height == 0) return 0;
    if (__builtin_mul_overflow(pitch, height - 1, &bytes) || __builtin_add_overflow(bytes, width, &bytes))
        return std::numeric_limits<std::size_t>::max();
    return bytes;
}

// Buffer for a string that the C function writes.
class Room {
public:
    static constexpr std::size_t limit = 1024;
    char* value = text_;

    // `index` is the argument that gives the size.
    bool make(const Call& call, Py_ssize_t index, const char* name, std::size_t size) const {
        if (size < limit) [[likely]]
            return true;
        return refuse(PyExc_ValueError, call, index, name, "must be below %zu", limit);
    }
    const char* text() {
        text_[limit - 1] = '\0';
        return text_;
    }

private:
    char text_[limit] = {};
};

// Runs `work` without the interpreter's lock, so that other Python threads can run.
template <class Work>
auto released(Work&& work) {
    PyThreadState* state = PyEval_SaveThread();
    if constexpr (std::is_void_v<decltype(work())>) {
        work();
        PyEval_RestoreThread(state);
    } else {
        auto result = work();
        PyEval_RestoreThread(state);
        return result;
    }
}

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_CALL_H
