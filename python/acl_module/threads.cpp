// SPDX-License-Identifier: Apache-2.0
// Threads with the number by which aclrtSubscribeReport knows them. Python's own threads would also work; programs
// written for the interface start theirs here.
#include <pthread.h>

#include <cerrno>
#include <map>

#include "entrance.h"
#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

// References are only touched under the interpreter's lock.
struct Thread {
    PyObject* function;
    PyObject* argument;
    PyObject* error = nullptr;  // the exception raised by the function

    ~Thread() {
        Py_XDECREF(function);
        Py_XDECREF(argument);
        Py_XDECREF(error);
    }
};

// The threads that have not been stopped yet; accessed under the interpreter's lock.
std::map<pthread_t, Thread*>& threads() {
    static auto& map = *new std::map<pthread_t, Thread*>;
    return map;
}

PyObject* raised_exception() {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

void* run(void* data) {
    PyGILState_STATE state{};
    if (!enter_to_stay(state)) return nullptr;  // its objects end with the interpreter
    auto* thread = static_cast<Thread*>(data);
    PyObject* argument = thread->argument == Py_None ? nullptr : thread->argument;
    PyObject* result = PyObject_CallFunctionObjArgs(thread->function, argument, nullptr);
    if (!result) thread->error = raised_exception();
    Py_XDECREF(result);
    PyGILState_Release(state);
    return nullptr;
}

// Raises RuntimeError with the thread's exception as its cause.
void raise_from(PyObject* error) {
    PyObject* type = type_name(error);
    PyErr_Format(PyExc_RuntimeError, "the function of the thread raised %V: %S", type, "an exception", error);
    Py_XDECREF(type);
    PyObject* raised = raised_exception();
    if (!raised) return;
    Py_INCREF(error);
    PyException_SetCause(raised, error);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
    Py_DECREF(raised);
}

}  // namespace

void tell_of_forgotten_threads() {
    for (const auto& [id, thread] : threads()) {
        if (!thread->error) continue;
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(thread->error)), thread->error);
        PyErr_WriteUnraisable(thread->function);
    }
}

CANOPY_PYTHON_FUNCTION(util_start_thread) {
    (void)module;
    const Call call{"acl.util.start_thread", arguments, count};
    if (!call.takes(2)) return nullptr;
    if (!PyCallable_Check(arguments[0])) {
        refuse_type(call, 0, "fn", "callable");
        return nullptr;
    }
    Py_INCREF(arguments[0]);
    Py_INCREF(arguments[1]);
    auto* thread = new Thread{arguments[0], arguments[1]};
    pthread_t id{};
    // The lock stays held, so the thread is in the map before its function can ask for its number.
    const int error = pthread_create(&id, nullptr, &run, thread);
    if (error == 0)
        threads()[id] = thread;
    else
        delete thread;
    return answer(static_cast<unsigned long long>(error == 0 ? id : 0), error);
}

CANOPY_PYTHON_FUNCTION(util_stop_thread) {
    (void)module;
    const Call call{"acl.util.stop_thread", arguments, count};
    Number<std::uint64_t> id;
    if (!call.takes(1) || !id.read(call, 0, "thread_id")) return nullptr;
    const auto found = threads().find(id.value);
    if (found == threads().end()) return answer(ESRCH);
    if (pthread_equal(pthread_self(), found->first)) return answer(EDEADLK);
    Thread* thread = found->second;
    threads().erase(found);
    const int error = released([&] { return pthread_join(id.value, nullptr); });
    if (thread->error) raise_from(thread->error);
    const bool failed = thread->error != nullptr;
    delete thread;
    return failed ? nullptr : answer(error);
}

}  // namespace canopy::python
