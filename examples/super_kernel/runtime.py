# SPDX-License-Identifier: Apache-2.0
"""The C functions of the example through ctypes. All of them are bound when the module is imported."""

import ctypes
import os
import sys

if "LD_LIBRARY_PATH" not in os.environ:
    sys.exit("no LD_LIBRARY_PATH: source set_env.sh of an install tree first")
_FOLDERS = os.environ["LD_LIBRARY_PATH"].split(":")
_POINTER, _SIZE, _NUMBER, _WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint32
_RESULT = ctypes.POINTER(ctypes.c_void_p)


class DevBinary(ctypes.Structure):
    """A kernel binary in memory."""
    _fields_ = [("magic", _WORD), ("version", _WORD), ("data", _POINTER), ("length", ctypes.c_uint64)]


def _load(name):
    for folder in _FOLDERS:
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            return ctypes.CDLL(path)
    return ctypes.CDLL(name)


def _bind(library, name, *arguments):
    function = getattr(library, name)
    function.argtypes, function.restype = arguments, ctypes.c_int

    def call(*given):
        code = function(*given)
        assert code == 0, f"{name} failed with {code}"

    return call


_ascendcl = _load("libascendcl.so")
init = _bind(_ascendcl, "aclInit", ctypes.c_char_p)
finalize = _bind(_ascendcl, "aclFinalize")
set_device = _bind(_ascendcl, "aclrtSetDevice", ctypes.c_int32)
reset_device = _bind(_ascendcl, "aclrtResetDevice", ctypes.c_int32)
create_stream = _bind(_ascendcl, "aclrtCreateStream", _RESULT)
synchronize_stream = _bind(_ascendcl, "aclrtSynchronizeStream", _POINTER)
destroy_stream = _bind(_ascendcl, "aclrtDestroyStream", _POINTER)
create_context = _bind(_ascendcl, "aclrtCreateContext", _RESULT, ctypes.c_int32)
destroy_context = _bind(_ascendcl, "aclrtDestroyContext", _POINTER)
malloc_host = _bind(_ascendcl, "aclrtMallocHost", _RESULT, _SIZE)
malloc = _bind(_ascendcl, "aclrtMallocAlign32", _RESULT, _SIZE, _NUMBER)
free = _bind(_ascendcl, "aclrtFree", _POINTER)
memcpy = _bind(_ascendcl, "aclrtMemcpy", _POINTER, _SIZE, _POINTER, _SIZE, _NUMBER)
memcpy_async = _bind(_ascendcl, "aclrtMemcpyAsync", _POINTER, _SIZE, _POINTER, _SIZE, _NUMBER, _POINTER)
capture_begin = _bind(_ascendcl, "aclmdlRICaptureBegin", _POINTER, _NUMBER)
capture_end = _bind(_ascendcl, "aclmdlRICaptureEnd", _POINTER, _RESULT)
execute_async = _bind(_ascendcl, "aclmdlRIExecuteAsync", _POINTER, _POINTER)
execute = _bind(_ascendcl, "aclmdlRIExecute", _POINTER, ctypes.c_int32)
destroy_graph = _bind(_ascendcl, "aclmdlRIDestroy", _POINTER)

_runtime = _load("libruntime.so")
register_binary = _bind(_runtime, "rtDevBinaryRegister", ctypes.POINTER(DevBinary), _RESULT)
unregister_binary = _bind(_runtime, "rtDevBinaryUnRegister", _POINTER)
register_function = _bind(_runtime, "rtFunctionRegister", _POINTER, _POINTER, ctypes.c_char_p, ctypes.c_char_p, _WORD)
function_by_name = _bind(_runtime, "rtGetFunctionByName", ctypes.c_char_p, _RESULT)
launch = _bind(_runtime, "rtKernelLaunch", _POINTER, _WORD, _POINTER, _WORD, _POINTER, _POINTER)
control_address = _bind(_runtime, "rtGetC2cCtrlAddr", ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(_WORD))


def made(function, *arguments):
    """What a function returns through its first parameter."""
    result = ctypes.c_void_p()
    function(ctypes.byref(result), *arguments)
    return result.value
