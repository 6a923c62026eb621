# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ASCEND_HOME = os.environ.get("ASCEND_HOME_PATH") or os.environ.get("ASCEND_TOOLKIT_HOME")
if ASCEND_HOME is None:
    sys.exit("ASCEND_HOME_PATH is not set, please source set_env.sh first")

KERNEL_SOURCES = ["op_kernels/add_custom.cpp", "op_kernels/rms_norm.cpp"]
KERNEL_FLAGS = [
    "-x", "cce", "-O2", "-std=c++17", "-fPIC",
    "--cce-aicore-arch=dav-c220-vec",
    "-mllvm", "-cce-aicore-stack-size=0x8000",
    "-mllvm", "-cce-aicore-function-stack-size=0x8000",
    "-mllvm", "-cce-aicore-record-overflow=true",
    "-mllvm", "-cce-aicore-addr-transform",
    "-mllvm", "-cce-aicore-dcci-insert-for-scalar=false",
    "-D__FORCE_TIK_TILING__=0",
]
KERNEL_INCLUDES = [
    f"-I{ASCEND_HOME}/compiler/tikcpp",
    f"-I{ASCEND_HOME}/compiler/tikcpp/tikcfw",
    f"-I{ASCEND_HOME}/compiler/tikcpp/tikcfw/impl",
    f"-I{ASCEND_HOME}/compiler/tikcpp/tikcfw/interface",
    f"-I{ASCEND_HOME}/include",
]


class AscendBuildExt(build_ext):
    """Compiles the kernels with bisheng, the rest is the normal way."""

    def build_extension(self, ext):
        os.makedirs(self.build_temp, exist_ok=True)
        for src in KERNEL_SOURCES:
            obj = os.path.join(self.build_temp, os.path.basename(src) + ".o")
            cmd = ["bisheng", *KERNEL_FLAGS, *KERNEL_INCLUDES, "-c", src, "-o", obj]
            print(" ".join(cmd))
            subprocess.check_call(cmd)
            ext.extra_objects.append(obj)
        super().build_extension(ext)


def pybind_include():
    import pybind11
    return pybind11.get_include()


setup(
    name="npu_ops",
    version="0.1",
    packages=["npu_ops"],
    ext_modules=[
        Extension(
            "npu_ops._C",
            sources=["csrc/pybind.cpp"],
            include_dirs=[f"{ASCEND_HOME}/include", pybind_include()],
            library_dirs=[f"{ASCEND_HOME}/lib64"],
            libraries=["ascendcl", "runtime", "ascendc_runtime", "c_sec", "profapi", "ascendalog"],
            runtime_library_dirs=[f"{ASCEND_HOME}/lib64"],
            extra_compile_args=["-std=c++17", "-O0", "-fvisibility=hidden"],
        )
    ],
    cmdclass={"build_ext": AscendBuildExt},
)
