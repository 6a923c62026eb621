# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import sys

import acl
import numpy as np

ACL_MEM_MALLOC_HUGE_FIRST = 0
ACL_MEMCPY_HOST_TO_DEVICE = 1
ACL_MEMCPY_DEVICE_TO_HOST = 2


def check_ret(message, ret):
    if ret != 0:
        raise Exception("{} failed ret={}".format(message, ret))


class Net:
    def __init__(self, device_id=0):
        self.device_id = device_id
        self.lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libkernels.so"))
        check_ret("acl.init", acl.init())
        check_ret("acl.rt.set_device", acl.rt.set_device(device_id))
        self.context, ret = acl.rt.create_context(device_id)
        check_ret("acl.rt.create_context", ret)
        self.stream, ret = acl.rt.create_stream()
        check_ret("acl.rt.create_stream", ret)

    def clamp(self, x, lo, hi):
        entry = {np.dtype(np.float32): self.lib.call_clamp_f32, np.dtype(np.float16): self.lib.call_clamp_f16}[x.dtype]
        entry.restype = None
        x_dev, ret = acl.rt.malloc(x.nbytes, ACL_MEM_MALLOC_HUGE_FIRST)
        check_ret("acl.rt.malloc", ret)
        y_dev, ret = acl.rt.malloc(x.nbytes, ACL_MEM_MALLOC_HUGE_FIRST)
        check_ret("acl.rt.malloc", ret)
        x_bytes = x.tobytes()
        ret = acl.rt.memcpy(x_dev, x.nbytes, acl.util.bytes_to_ptr(x_bytes), x.nbytes, ACL_MEMCPY_HOST_TO_DEVICE)
        check_ret("acl.rt.memcpy", ret)
        entry(ctypes.c_uint32(8), ctypes.c_void_p(self.stream), ctypes.c_void_p(x_dev), ctypes.c_void_p(y_dev),
              ctypes.c_float(lo), ctypes.c_float(hi), ctypes.c_uint32(x.size))
        check_ret("acl.rt.synchronize_stream", acl.rt.synchronize_stream(self.stream))
        y_host, ret = acl.rt.malloc_host(x.nbytes)
        check_ret("acl.rt.malloc_host", ret)
        ret = acl.rt.memcpy(y_host, x.nbytes, y_dev, x.nbytes, ACL_MEMCPY_DEVICE_TO_HOST)
        check_ret("acl.rt.memcpy", ret)
        y = np.frombuffer(acl.util.ptr_to_bytes(y_host, x.nbytes), dtype=x.dtype).reshape(x.shape)
        acl.rt.free(x_dev)
        acl.rt.free(y_dev)
        acl.rt.free_host(y_host)
        return y

    def release(self):
        check_ret("acl.rt.destroy_stream", acl.rt.destroy_stream(self.stream))
        check_ret("acl.rt.destroy_context", acl.rt.destroy_context(self.context))
        check_ret("acl.rt.reset_device", acl.rt.reset_device(self.device_id))
        check_ret("acl.finalize", acl.finalize())


if __name__ == "__main__":
    net = Net()
    error = 0
    for dtype in (np.float32, np.float16):
        for shape in ((4, 2048), (999,), (1,), (70, 130)):
            data = np.random.uniform(-10, 10, shape).astype(dtype)
            if not np.array_equal(net.clamp(data, -1.5, 2.5), np.clip(data, dtype(-1.5), dtype(2.5))):
                print("[ERROR] clamp", dtype.__name__, shape)
                error = 1
    net.release()
    if error == 0:
        print("[SUCCESS] clamp of float32 and float16 verified")
    sys.exit(error)
