# SPDX-License-Identifier: Apache-2.0
"""Backend driver: compiles a kernel to a device binary, generates a C++ launcher for its signature, builds it as a
Python extension and loads it."""
import hashlib
import importlib.util
import os
import subprocess
import sysconfig
import tempfile

LAUNCHER = r'''
#include <Python.h>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>
#include "runtime/runtime/rt.h"

static std::vector<char> read_all(const char *path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>()};
}

// ---- utils: load_binary(name, path, device, mode) -> (module, function)
static PyObject *load_binary(PyObject *self, PyObject *args) {
  const char *name, *path, *mode;
  int device;
  if (!PyArg_ParseTuple(args, "ssis", &name, &path, &device, &mode)) return nullptr;
  static std::vector<char> data;
  data = read_all(path);
  rtError_t ret = rtSetDevice(device);
  if (ret != RT_ERROR_NONE) { PyErr_Format(PyExc_RuntimeError, "rtSetDevice failed, 0x%%x", ret); return nullptr; }
  rtDevBinary_t devbin;
  devbin.data = data.data();
  devbin.length = data.size();
  devbin.magic = std::string(mode) == "aiv" ? RT_DEV_BINARY_MAGIC_ELF_AIVEC : RT_DEV_BINARY_MAGIC_ELF;
  devbin.version = 0;
  void *handle = nullptr;
  ret = rtDevBinaryRegister(&devbin, &handle);
  if (ret != RT_ERROR_NONE) { PyErr_Format(PyExc_RuntimeError, "rtDevBinaryRegister failed, 0x%%x", ret); return nullptr; }
  static size_t count = 0;
  std::string *stub = new std::string(std::string(name) + "_" + std::to_string(count++));
  ret = rtFunctionRegister(handle, stub->c_str(), stub->c_str(), (void *)name, 0);
  if (ret != RT_ERROR_NONE) { PyErr_Format(PyExc_RuntimeError, "rtFunctionRegister failed, 0x%%x", ret); return nullptr; }
  return Py_BuildValue("(KK)", (uint64_t)handle, (uint64_t)stub->c_str());
}

// ---- launch(gridX, gridY, gridZ, stream, function, args...)
static PyObject *launch(PyObject *self, PyObject *args) {
  int gridX, gridY, gridZ;
  uint64_t stream, function;
  %(locals)s
  if (!PyArg_ParseTuple(args, "iiiKK%(format)s", &gridX, &gridY, &gridZ, &stream, &function %(parse)s)) return nullptr;
  uint32_t blockNum = gridX * gridY * gridZ;
  if (blockNum > %(cores)d) blockNum = %(cores)d;
  uint32_t ffts_len;
  uint64_t ffts_addr;
  rtError_t ret = rtGetC2cCtrlAddr(&ffts_addr, &ffts_len);
  if (ret != RT_ERROR_NONE) { PyErr_Format(PyExc_RuntimeError, "rtGetC2cCtrlAddr failed, 0x%%x", ret); return nullptr; }
  void *lock = nullptr, *workspace = nullptr;
  struct __attribute__((packed)) {
    void *ffts_addr __attribute__((aligned(8)));
    void *lock __attribute__((aligned(8)));
    void *workspace __attribute__((aligned(8)));
    %(fields)s
    int32_t gridX __attribute__((aligned(4)));
    int32_t gridY __attribute__((aligned(4)));
    int32_t gridZ __attribute__((aligned(4)));
  } packed = {(void *)ffts_addr, lock, workspace, %(values)s gridX, gridY, gridZ};
  Py_BEGIN_ALLOW_THREADS
  ret = rtKernelLaunch((void *)function, blockNum, (void *)&packed, sizeof(packed), NULL, (rtStream_t)stream);
  Py_END_ALLOW_THREADS
  if (ret != RT_ERROR_NONE) { PyErr_Format(PyExc_RuntimeError, "rtKernelLaunch failed, 0x%%x", ret); return nullptr; }
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"launch", launch, METH_VARARGS, ""},
                                {"load_binary", load_binary, METH_VARARGS, ""},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "__npu_launcher", NULL, -1, methods};
PyMODINIT_FUNC PyInit___npu_launcher(void) { return PyModule_Create(&module); }
'''

C_TYPES = {"*fp32": ("uint64_t", "K", "void *", 8), "i32": ("int32_t", "i", "int32_t ", 4),
           "fp32": ("float", "f", "float ", 4)}


def cache_dir():
    path = os.path.join(tempfile.gettempdir() if "HOME" not in os.environ else os.environ["HOME"], ".npu_cache")
    os.makedirs(path, exist_ok=True)
    return path


def make_launcher_source(signature, cores=40):
    names = [f"arg{i}" for i in range(len(signature))]
    types = [C_TYPES[t] for t in signature]
    return LAUNCHER % dict(
        locals=" ".join(f"{t[0]} {n};" for n, t in zip(names, types)),
        format="".join(t[1] for t in types),
        parse="".join(f", &{n}" for n in names),
        fields=" ".join(f"{t[2]}{n} __attribute__((aligned({t[3]})));" for n, t in zip(names, types)),
        values="".join(f"({t[2].strip()}){n}, " for n, t in zip(names, types)),
        cores=cores)


def build_launcher(signature):
    source = make_launcher_source(signature)
    key = hashlib.sha256(source.encode()).hexdigest()
    directory = os.path.join(cache_dir(), key)
    library = os.path.join(directory, "__npu_launcher.so")
    if not os.path.exists(library):
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, "launcher.cxx")
        with open(path, "w") as file:
            file.write(source)
        home = os.environ["ASCEND_HOME_PATH"]
        subprocess.check_call(
            ["g++", path, "-std=c++17", "-shared", "-fPIC", "-o", library, "-w",
             "-I" + sysconfig.get_paths()["include"], f"-I{home}/include", f"-I{home}/include/experiment",
             f"-I{home}/include/experiment/msprof", f"-I{home}/pkg_inc", f"-L{home}/lib64", "-lruntime", "-lascendcl"])
    spec = importlib.util.spec_from_file_location("__npu_launcher", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_kernel(source, output, arch="dav-c220-vec"):
    home = os.environ["ASCEND_HOME_PATH"]
    subprocess.check_call(
        ["bisheng", "-x", "cce", "-O2", "-std=c++17", "-c", source, "-o", output, "--cce-aicore-only",
         f"--cce-aicore-arch={arch}", f"-I{home}/compiler/tikcpp/tikcfw", f"-I{home}/compiler/tikcpp/tikcfw/impl",
         f"-I{home}/compiler/tikcpp/tikcfw/interface", "-mllvm", "-cce-aicore-stack-size=0x8000"])
