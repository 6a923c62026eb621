// SPDX-License-Identifier: Apache-2.0
// Python functions that the runtime calls: on a thread that processes reports, or on a runtime thread for failed tasks.
// Exceptions they raise go to sys.unraisablehook.
#include <acl/acl.h>

#include "entrance.h"
#include "special.h"
#include "structures.h"

namespace canopy::python {

namespace {

// A queued call. It owns its references until it has run or, if it is part of a graph, until the graph is destroyed.
struct QueuedCall {
    PyObject* function;
    PyObject* argument;
    bool recorded;

    static void run(void* data) {
        const Entrance entrance;
        if (!entrance) return;
        auto* call = static_cast<QueuedCall*>(data);
        PyObject* result = PyObject_CallFunctionObjArgs(call->function, call->argument, nullptr);
        if (!result) PyErr_WriteUnraisable(call->function);
        Py_XDECREF(result);
        if (!call->recorded) call->destroy();
    }

    static void forget(void* data) {
        const Entrance entrance;
        if (entrance) static_cast<QueuedCall*>(data)->destroy();
    }

    void destroy() {
        Py_DECREF(function);
        Py_DECREF(argument);
        delete this;
    }
};

// The graph that a stream is being captured into; null if it is not being captured.
aclmdlRI graph_of(aclrtStream stream) {
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI graph = nullptr;
    if (!stream || aclmdlRICaptureGetInfo(stream, &status, &graph) != ACL_SUCCESS) return nullptr;
    return status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE ? graph : nullptr;
}

// Accessed under the interpreter's lock.
PyObject* exception_function = nullptr;

void call_exception_function(aclrtExceptionInfo* info) {
    const Entrance entrance;
    if (!entrance || !exception_function) return;
    PyObject* function = exception_function;
    Py_INCREF(function);  // it may be replaced while it runs
    PyObject* address = to_python(info);
    PyObject* result = address ? PyObject_CallFunctionObjArgs(function, address, nullptr) : nullptr;
    if (!result) PyErr_WriteUnraisable(function);
    Py_XDECREF(result);
    Py_XDECREF(address);
    Py_DECREF(function);
}

}  // namespace

CANOPY_PYTHON_FUNCTION(rt_launch_callback) {
    (void)module;
    const Call call{"acl.rt.launch_callback", arguments, count};
    Number<aclrtCallbackBlockType> block_type;
    Handle<aclrtStream> stream;
    if (!call.takes(4)) return nullptr;
    if (!PyCallable_Check(arguments[0])) {
        refuse_type(call, 0, "fn", "callable");
        return nullptr;
    }
    if (!block_type.read(call, 2, "block_type") || !stream.read(call, 3, "stream")) return nullptr;
    Py_INCREF(arguments[0]);
    Py_INCREF(arguments[1]);
    auto* queued = new QueuedCall{arguments[0], arguments[1], false};
    const aclError ret = released([&] {
        const aclmdlRI graph = graph_of(stream.value);
        queued->recorded = graph != nullptr;
        const aclError code = aclrtLaunchCallback(&QueuedCall::run, queued, block_type.value, stream.value);
        if (code == ACL_SUCCESS && graph) aclmdlRIDestroyRegisterCallback(graph, &QueuedCall::forget, queued);
        return code;
    });
    if (ret != ACL_SUCCESS) queued->destroy();
    return answer(ret);
}

CANOPY_PYTHON_FUNCTION(rt_set_exception_info_callback) {
    (void)module;
    const Call call{"acl.rt.set_exception_info_callback", arguments, count};
    if (!call.takes(0, 1)) return nullptr;
    PyObject* function = count == 1 && arguments[0] != Py_None ? arguments[0] : nullptr;
    if (function && !PyCallable_Check(function)) {
        refuse_type(call, 0, "callback", "callable or None");
        return nullptr;
    }
    const aclError ret =
        released([&] { return aclrtSetExceptionInfoCallback(function ? &call_exception_function : nullptr); });
    if (ret == ACL_SUCCESS) {
        Py_XINCREF(function);
        PyObject* before = exception_function;
        exception_function = function;
        Py_XDECREF(before);
    }
    return answer(ret);
}

}  // namespace canopy::python
