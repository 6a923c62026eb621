// SPDX-License-Identifier: Apache-2.0
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "registry.h"

namespace {

PyObject* Fail(const char* what, aclError ret)
{
    const char* msg = aclGetRecentErrMsg();
    PyErr_Format(PyExc_RuntimeError, "%s failed: %d %s", what, ret, msg == nullptr ? "" : msg);
    return nullptr;
}
#define PY_ACL(call)                                \
    do {                                            \
        aclError ret = (call);                      \
        if (ret != ACL_SUCCESS) return Fail(#call, ret); \
    } while (0)

class BufferList {
public:
    ~BufferList()
    {
        for (auto& view : views) PyBuffer_Release(&view);
        for (void* p : memory) (void)aclrtFree(p);
    }
    std::vector<Py_buffer> views;
    std::vector<void*> memory;
};

PyObject* Init(PyObject*, PyObject* args)
{
    int device = 0;
    const char* path = nullptr;
    if (!PyArg_ParseTuple(args, "s|i", &path, &device)) return nullptr;
    OpRegistry::Instance().SetPath(path);
    PY_ACL(aclInit(nullptr));
    PY_ACL(aclrtSetDevice(device));
    Py_RETURN_NONE;
}

PyObject* Finalize(PyObject*, PyObject*)
{
    OpRegistry::Instance().UnloadAll();
    PY_ACL(aclrtResetDevice(0));
    PY_ACL(aclFinalize());
    Py_RETURN_NONE;
}

PyObject* ToList(const std::vector<std::string>& names)
{
    PyObject* list = PyList_New(0);
    for (const auto& name : names) {
        PyObject* item = PyUnicode_FromString(name.c_str());
        PyList_Append(list, item);
        Py_DECREF(item);
    }
    return list;
}
PyObject* ListOps(PyObject*, PyObject*) { return ToList(OpRegistry::Instance().Names()); }
PyObject* Loaded(PyObject*, PyObject*) { return ToList(OpRegistry::Instance().LoadedLibraries()); }

// call(name, out, in0[, in1]): all are float32 buffers of one length
PyObject* Call(PyObject*, PyObject* args)
{
    if (PyTuple_Size(args) < 2) return PyErr_Format(PyExc_TypeError, "call(name, out, inputs...)");
    const char* name = PyUnicode_AsUTF8(PyTuple_GetItem(args, 0));
    if (name == nullptr) return nullptr;
    const OpDef* def = OpRegistry::Instance().Find(name);
    if (def == nullptr) return PyErr_Format(PyExc_KeyError, "unknown op %s", name);
    if (PyTuple_Size(args) != 2 + def->inputs) {
        return PyErr_Format(PyExc_TypeError, "%s takes %d inputs", name, def->inputs);
    }
    BufferList buffers;
    for (int i = 1; i < 2 + def->inputs; ++i) {
        Py_buffer view;
        int flags = PyBUF_C_CONTIGUOUS | (i == 1 ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(PyTuple_GetItem(args, i), &view, flags) != 0) return nullptr;
        buffers.views.push_back(view);
        if (view.len != buffers.views[0].len) return PyErr_Format(PyExc_ValueError, "%s: sizes differ", name);
    }
    std::string error;
    aclrtFuncHandle function = OpRegistry::Instance().GetFunction(*def, error);
    if (function == nullptr) return PyErr_Format(PyExc_RuntimeError, "%s: %s", name, error.c_str());

    for (size_t i = 0; i < buffers.views.size(); ++i) {
        void* p = nullptr;
        PY_ACL(aclrtMalloc(&p, buffers.views[i].len, ACL_MEM_MALLOC_NORMAL_ONLY));
        buffers.memory.push_back(p);
        if (i > 0) {
            PY_ACL(aclrtMemcpy(p, buffers.views[i].len, buffers.views[i].buf, buffers.views[i].len,
                               ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }
    aclrtArgsHandle argsHandle = nullptr;
    aclrtParamHandle param = nullptr;
    uint32_t total = static_cast<uint32_t>(buffers.views[0].len / sizeof(float));
    PY_ACL(aclrtKernelArgsInit(function, &argsHandle));
    for (size_t i = 1; i < buffers.memory.size(); ++i) {
        PY_ACL(aclrtKernelArgsAppend(argsHandle, &buffers.memory[i], sizeof(void*), &param));
    }
    PY_ACL(aclrtKernelArgsAppend(argsHandle, &buffers.memory[0], sizeof(void*), &param));
    PY_ACL(aclrtKernelArgsAppend(argsHandle, &total, sizeof(total), &param));
    PY_ACL(aclrtKernelArgsFinalize(argsHandle));

    // the default stream of the device
    aclError ret = ACL_SUCCESS;
    Py_BEGIN_ALLOW_THREADS;
    ret = aclrtLaunchKernelWithConfig(function, 4, nullptr, nullptr, argsHandle, nullptr);
    if (ret == ACL_SUCCESS) ret = aclrtSynchronizeStream(nullptr);
    Py_END_ALLOW_THREADS;
    if (ret != ACL_SUCCESS) return Fail(name, ret);
    PY_ACL(aclrtMemcpy(buffers.views[0].buf, buffers.views[0].len, buffers.memory[0], buffers.views[0].len,
                       ACL_MEMCPY_DEVICE_TO_HOST));
    Py_RETURN_NONE;
}

PyMethodDef g_methods[] = {{"init", Init, METH_VARARGS, "init(fatbin_dir, device=0)"},
                           {"finalize", Finalize, METH_NOARGS, ""},
                           {"list_ops", ListOps, METH_NOARGS, ""},
                           {"loaded", Loaded, METH_NOARGS, "binaries that were opened so far"},
                           {"call", Call, METH_VARARGS, "call(name, out, inputs...)"},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef g_module = {PyModuleDef_HEAD_INIT, "npu_registry", "ops by name", -1, g_methods,
                        nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_npu_registry() { return PyModule_Create(&g_module); }
