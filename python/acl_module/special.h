// SPDX-License-Identifier: Apache-2.0
// Handwritten functions of the module, which do not fit the generated pattern; the generated method tables name them.
// Each has the signature of a METH_FASTCALL function and is called under the interpreter's lock.
#ifndef CANOPY_PYTHON_ACL_MODULE_SPECIAL_H
#define CANOPY_PYTHON_ACL_MODULE_SPECIAL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace canopy::python {

#define CANOPY_PYTHON_FUNCTION(name) PyObject* name(PyObject* module, PyObject* const* arguments, Py_ssize_t count)

// queries.cpp
CANOPY_PYTHON_FUNCTION(acl_get_cann_attribute_list);
CANOPY_PYTHON_FUNCTION(rt_get_stream_attribute);
CANOPY_PYTHON_FUNCTION(rt_get_mem_uce_info);
CANOPY_PYTHON_FUNCTION(rt_get_group_info_detail);
CANOPY_PYTHON_FUNCTION(prof_get_op_type_v2);
CANOPY_PYTHON_FUNCTION(prof_get_op_name_v2);

// callbacks.cpp
CANOPY_PYTHON_FUNCTION(rt_launch_callback);
CANOPY_PYTHON_FUNCTION(rt_set_exception_info_callback);

// snapshots.cpp
CANOPY_PYTHON_FUNCTION(rt_snap_shot_callback_register);
CANOPY_PYTHON_FUNCTION(rt_snap_shot_callback_unregister);

// sharing.cpp
CANOPY_PYTHON_FUNCTION(rt_mem_export_to_shareable_handle_v2);
CANOPY_PYTHON_FUNCTION(tdt_set_queue_attr);
CANOPY_PYTHON_FUNCTION(tdt_get_queue_attr);
CANOPY_PYTHON_FUNCTION(tdt_get_dims_from_item);

// allocators.cpp
CANOPY_PYTHON_FUNCTION(rt_allocator_destroy_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_set_obj_to_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_set_alloc_func_to_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_set_free_func_to_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_set_alloc_advise_func_to_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_set_get_addr_from_block_func_to_desc);
CANOPY_PYTHON_FUNCTION(rt_allocator_register);
CANOPY_PYTHON_FUNCTION(rt_allocator_unregister);

// memory.cpp
CANOPY_PYTHON_FUNCTION(util_numpy_to_ptr);
CANOPY_PYTHON_FUNCTION(util_numpy_contiguous_to_ptr);
CANOPY_PYTHON_FUNCTION(util_ptr_to_numpy);
CANOPY_PYTHON_FUNCTION(util_bytes_to_ptr);
CANOPY_PYTHON_FUNCTION(util_ptr_to_bytes);

// threads.cpp
CANOPY_PYTHON_FUNCTION(util_start_thread);
CANOPY_PYTHON_FUNCTION(util_stop_thread);
// Passes exceptions of threads that were never stopped to sys.unraisablehook. Called by atexit.
void tell_of_forgotten_threads();

}  // namespace canopy::python

#endif  // CANOPY_PYTHON_ACL_MODULE_SPECIAL_H
