#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A program that opens the library for itself only, as Python does: its CPU kernels find the functions of queues all
the same.

    local_library.py LIBRARY KERNELS
"""
import ctypes
import struct
import sys

FOR_EVER, TEN_SECONDS = -1, 10000


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("value", ctypes.c_uint32 * 4)]


class List(ctypes.Structure):
    _fields_ = [("first", ctypes.POINTER(Attribute)), ("count", ctypes.c_size_t)]


def main():
    acl = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
    acl.acltdtCreateQueueAttr.restype = ctypes.c_void_p
    acl.aclGetRecentErrMsg.restype = ctypes.c_char_p

    def check(code):
        if code != 0:
            sys.exit(f"code {code}: {(acl.aclGetRecentErrMsg() or b'').decode()}")

    check(acl.aclInit(None))
    check(acl.aclrtSetDevice(0))
    queues = []
    attributes = ctypes.c_void_p(acl.acltdtCreateQueueAttr())
    for _ in range(2):
        queue = ctypes.c_uint32()
        check(acl.acltdtCreateQueue(attributes, ctypes.byref(queue)))
        queues.append(queue)
    check(acl.acltdtDestroyQueueAttr(attributes))
    with open(sys.argv[2], "rb") as file:
        image = file.read()
    mode = Attribute(3, (ctypes.c_uint32 * 4)(2))  # a shared object in memory
    binary, function, stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(acl.aclrtBinaryLoadFromData(image, ctypes.c_size_t(len(image)), ctypes.byref(List(ctypes.pointer(mode), 1)),
                                      ctypes.byref(binary)))
    check(acl.aclrtRegisterCpuFunc(binary, b"add_one", b"add_one", ctypes.byref(function)))
    check(acl.aclrtCreateStream(ctypes.byref(stream)))
    arguments = struct.pack("IIQQ", queues[0].value, queues[1].value, 1, 0)
    check(acl.aclrtLaunchKernelWithHostArgs(function, 1, stream, None, arguments, ctypes.c_size_t(len(arguments)), None,
                                            ctypes.c_size_t(0)))
    number, size = ctypes.c_uint64(41), ctypes.c_size_t()
    check(acl.acltdtEnqueueData(queues[0], ctypes.byref(number), ctypes.c_size_t(8), None, ctypes.c_size_t(0),
                                FOR_EVER, 0))
    check(acl.acltdtDequeueData(queues[1], ctypes.byref(number), ctypes.c_size_t(8), ctypes.byref(size), None,
                                ctypes.c_size_t(0), TEN_SECONDS))
    check(acl.aclrtSynchronizeStream(stream))
    check(acl.aclrtBinaryUnLoad(binary))
    check(acl.aclrtResetDevice(0))
    check(acl.aclFinalize())
    return 0 if number.value == 42 else 1


if __name__ == "__main__":
    sys.exit(main())
