// SPDX-License-Identifier: Apache-2.0
// What tools/apigen/python_module.py generates for each part of the module: its functions and its help text.
#ifndef CANOPY_PYTHON_ACL_MODULE_TABLES_H
#define CANOPY_PYTHON_ACL_MODULE_TABLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace canopy::python {

extern PyMethodDef acl_methods[], rt_methods[], util_methods[], prof_methods[], mdl_methods[], media_methods[],
    op_methods[];
extern const char acl_text[], rt_text[], util_text[], prof_text[], mdl_text[], media_text[], op_text[];

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_TABLES_H
