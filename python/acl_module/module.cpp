// SPDX-License-Identifier: Apache-2.0
// The extension module behind the Python package acl. Loading it also creates the modules acl.rt, acl.tdt, acl.util,
// acl.prof, acl.mdl, acl.media and acl.op. The functions and their descriptions come from the generated tables.
#include <acl/acl.h>
#include <acl/ops/acl_dvpp.h>

#include <string_view>

#include "call.h"
#include "entrance.h"
#include "special.h"
#include "tables.h"

namespace canopy::python {

namespace {

PyObject* close(PyObject*, PyObject*) {
    tell_of_forgotten_threads();
    close_entrance();
    Py_RETURN_NONE;
}

PyMethodDef close_method = {"close", close, METH_NOARGS, "Ends the calls of the runtime into Python."};

bool close_at_exit() {
    PyObject* function = PyCFunction_NewEx(&close_method, nullptr, nullptr);
    PyObject* atexit = function ? PyImport_ImportModule("atexit") : nullptr;
    PyObject* result = atexit ? PyObject_CallMethod(atexit, "register", "O", function) : nullptr;
    Py_XDECREF(result);
    Py_XDECREF(atexit);
    Py_XDECREF(function);
    return result != nullptr;
}

// The message of a submodule about functions that are not part of Canopy.
const char* sentence_of(std::string_view part) {
    if (part == "acl.mdl") return CANOPY_NO_MODELS;
    if (part == "acl.op") return CANOPY_NO_OPERATORS;
    return part == "acl.media" ? CANOPY_NO_MEDIA : nullptr;
}

// Called by the interpreter for an attribute that a submodule does not have.
PyObject* missing_attribute(PyObject* module, PyObject* name) {
    const char* part = PyModule_GetName(module);
    if (part)
        PyErr_Format(PyExc_AttributeError, "module '%s' has no attribute '%U': %s", part, name, sentence_of(part));
    return nullptr;
}

PyMethodDef missing_methods[] = {
    {"__getattr__", missing_attribute, METH_O, "Says why an attribute is not there."},
    {nullptr, nullptr, 0, nullptr},
};

// Adds a submodule to the package, and to sys.modules for import statements.
bool add_part(PyObject* package, PyModuleDef& part) {
    PyObject* module = PyModule_Create(&part);
    if (!module) return false;
    const char* name = part.m_name + sizeof "acl." - 1;
    const bool good = (!sentence_of(part.m_name) || PyModule_AddFunctions(module, missing_methods) == 0) &&
                      PyDict_SetItemString(PyImport_GetModuleDict(), part.m_name, module) == 0 &&
                      PyObject_SetAttrString(package, name, module) == 0;
    Py_DECREF(module);
    return good;
}

}  // namespace

}  // namespace canopy::python

// The file is acl/_acl.abi3.so; its functions belong to acl, where programs see them.
PyMODINIT_FUNC PyInit__acl() {
    using namespace canopy::python;
    static PyModuleDef package = {PyModuleDef_HEAD_INIT, "acl", acl_text, -1, acl_methods};
    static PyModuleDef parts[] = {
        {PyModuleDef_HEAD_INIT, "acl.rt", rt_text, -1, rt_methods},
        {PyModuleDef_HEAD_INIT, "acl.tdt", tdt_text, -1, tdt_methods},
        {PyModuleDef_HEAD_INIT, "acl.util", util_text, -1, util_methods},
        {PyModuleDef_HEAD_INIT, "acl.prof", prof_text, -1, prof_methods},
        {PyModuleDef_HEAD_INIT, "acl.mdl", mdl_text, -1, mdl_methods},
        {PyModuleDef_HEAD_INIT, "acl.media", media_text, -1, media_methods},
        {PyModuleDef_HEAD_INIT, "acl.op", op_text, -1, op_methods},
    };
    PyObject* module = PyModule_Create(&package);
    bool good = module && close_at_exit();
    for (PyModuleDef& part : parts) good = good && add_part(module, part);
    if (good) return module;
    Py_XDECREF(module);
    return nullptr;
}
