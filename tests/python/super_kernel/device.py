# SPDX-License-Identifier: Apache-2.0
"""A device for the tests of super kernels, through ctypes: memory as numpy arrays, images, launches on streams."""

import ctypes
import os

import numpy

COUNT = 2048
_P, _SIZE, _INT, _WORD, _LONG = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64
_OUT = ctypes.POINTER(ctypes.c_void_p)
WAIT_EQUAL = 1  # ACL_STREAM_WAIT_VALUE_EQ


class Failure(Exception):
    """A call of the runtime that failed; `code` is what it returned."""

    def __init__(self, name, code, text):
        super().__init__(f"{name} failed with {code}: {text}")
        self.code = code


class Runtime:
    """The functions of the interface that the tests use."""

    SIGNATURES = {
        "aclInit": [ctypes.c_char_p], "aclFinalize": [], "aclrtSetDevice": [_INT], "aclrtResetDevice": [_INT],
        "aclrtCreateStream": [_OUT], "aclrtDestroyStream": [_P], "aclrtSynchronizeStream": [_P],
        "aclrtMalloc": [_OUT, _SIZE, _INT], "aclrtFree": [_P],
        "aclrtMemcpy": [_P, _SIZE, _P, _SIZE, _INT], "aclrtMemcpyAsync": [_P, _SIZE, _P, _SIZE, _INT, _P],
        "aclrtBinaryLoadFromFile": [ctypes.c_char_p, _P, _OUT], "aclrtBinaryUnLoad": [_P],
        "aclrtBinaryGetFunction": [_P, ctypes.c_char_p, _OUT],
        "aclrtLaunchKernelWithHostArgs": [_P, _WORD, _P, _P, _P, _SIZE, _P, _SIZE],
        "aclrtValueWrite": [_P, _LONG, _WORD, _P], "aclrtValueWait": [_P, _LONG, _WORD, _P],
        "aclmdlRICaptureBegin": [_P, _INT], "aclmdlRICaptureEnd": [_P, _OUT], "aclmdlRIExecuteAsync": [_P, _P],
        "aclmdlRIDestroy": [_P],
    }

    def __init__(self):
        self._library = ctypes.CDLL("libascendcl.so")
        self._library.aclGetRecentErrMsg.restype = ctypes.c_char_p
        for name, arguments in self.SIGNATURES.items():
            function = getattr(self._library, name)
            function.argtypes, function.restype = arguments, ctypes.c_int

    def __getattr__(self, name):
        function = getattr(self._library, name)

        def call(*arguments):
            code = function(*arguments)
            if code != 0:
                text = self._library.aclGetRecentErrMsg()
                raise Failure(name, code, text.decode(errors="replace") if text else "")

        return call


def made(function, *arguments):
    result = ctypes.c_void_p()
    function(ctypes.byref(result), *arguments)
    return result.value


class Device:
    """Owns what the tests allocate and load, until it is closed."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.memory, self.binaries, self.streams, self.kept = [], [], [], []
        self.stream = self.new_stream()

    def new_stream(self):
        self.streams.append(made(self.runtime.aclrtCreateStream))
        return self.streams[-1]

    def zeros(self, size):
        """`size` bytes of device memory, all 0."""
        address = made(self.runtime.aclrtMalloc, size, 0)
        self.memory.append(address)
        self.write(address, numpy.zeros(size, numpy.uint8))
        return address

    def write(self, address, values):
        self.runtime.aclrtMemcpy(address, values.nbytes, values.ctypes.data, values.nbytes, 1)

    def write_async(self, address, values, stream):
        self.kept.append(values)
        self.runtime.aclrtMemcpyAsync(address, values.nbytes, values.ctypes.data, values.nbytes, 1, stream)

    def read(self, address, count=COUNT, kind=numpy.float32):
        values = numpy.empty(count, kind)
        self.runtime.aclrtMemcpy(values.ctypes.data, values.nbytes, address, values.nbytes, 2)
        return values

    def word(self, address):
        return int(self.read(address, 1, numpy.uint64)[0])

    def load(self, image, kernel):
        self.binaries.append(made(lambda out: self.runtime.aclrtBinaryLoadFromFile(os.fsencode(image), None, out)))
        return made(lambda out: self.runtime.aclrtBinaryGetFunction(self.binaries[-1], kernel.encode(), out))

    def launch(self, function, blocks, arguments, stream=None):
        block = (ctypes.c_uint64 * len(arguments))(*arguments)
        self.runtime.aclrtLaunchKernelWithHostArgs(function, blocks, stream or self.stream, None, block,
                                                   ctypes.sizeof(block), None, 0)

    def synchronize(self):
        for stream in self.streams:
            self.runtime.aclrtSynchronizeStream(stream)

    def close(self):
        for binary in self.binaries:
            self.runtime.aclrtBinaryUnLoad(binary)
        for address in self.memory:
            self.runtime.aclrtFree(address)
        for stream in self.streams:
            self.runtime.aclrtDestroyStream(stream)
