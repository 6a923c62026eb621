# SPDX-License-Identifier: Apache-2.0
"""C functions of the runtime that the module `acl` does not have: kernel parameters, graphs, fusion."""

import ctypes
import functools
import os

import acl

from .errors import check


def _path() -> str:
    """The library that `acl` uses, so that the process has only one runtime."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")[2]
            if os.path.basename(path).startswith(("libascendcl.so", "libcanopy.so")):
                return "/" + path
    raise ImportError(f"the library behind {acl.__file__} cannot be found")


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(_path())


def call(name: str, *arguments: object) -> None:
    """Calls a function that returns a code; integers are passed as pointers and handles."""
    converted = [ctypes.c_void_p(value) if isinstance(value, int) else value for value in arguments]
    check(getattr(_library(), name)(*converted), name)


def parameters_of(function: int) -> list[tuple[int, int]]:
    """Offset and size in bytes of each parameter of a kernel."""
    count = ctypes.c_size_t()
    call("aclrtFunctionGetParamCount", function, ctypes.byref(count))
    found = []
    for index in range(count.value):
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        call("aclrtFunctionGetParamInfo", function, ctypes.c_size_t(index), ctypes.byref(offset), ctypes.byref(size))
        found.append((offset.value, size.value))
    return found
