# SPDX-License-Identifier: Apache-2.0
"""Compiles leaky_relu with ccec, launches it through pyACL and compares with numpy."""
import argparse
import logging
import os
import struct
import subprocess
import sys

import acl
import numpy as np

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
log = logging.getLogger("leaky_relu")

ACL_SUCCESS = 0
MALLOC_HUGE_FIRST = 0
H2D, D2H = 1, 2


def check(ret, what):
    if ret != ACL_SUCCESS:
        log.error("%s failed: %d %s", what, ret, acl.get_recent_err_msg())
        sys.exit(1)


def compile_kernel(source, output, arch):
    home = os.environ["ASCEND_HOME_PATH"]
    tikcpp = os.path.join(home, "compiler", "tikcpp")
    cmd = [os.path.join(home, "compiler/ccec_compiler/bin/ccec"), "-x", "cce", "-c", "-O2", "-std=c++17", source,
           "--cce-aicore-arch=" + arch, "--cce-aicore-only", "-o", output,
           "-I" + os.path.join(tikcpp, "tikcfw"), "-I" + os.path.join(tikcpp, "tikcfw", "impl"),
           "-I" + os.path.join(tikcpp, "tikcfw", "interface"),
           "-mllvm", "-cce-aicore-function-stack-size=16000", "-mllvm", "-cce-aicore-jump-expand=true"]
    log.info(" ".join(cmd))
    subprocess.run(cmd, check=True)


class DeviceBuffer:
    def __init__(self, array=None, size=0):
        self.size = array.nbytes if array is not None else size
        self.ptr, ret = acl.rt.malloc(self.size, MALLOC_HUGE_FIRST)
        check(ret, "acl.rt.malloc")
        if array is not None:
            ret = acl.rt.memcpy(self.ptr, self.size, acl.util.numpy_to_ptr(array), self.size, H2D)
            check(ret, "acl.rt.memcpy")

    def numpy(self, dtype):
        out = np.empty(self.size // np.dtype(dtype).itemsize, dtype)
        ret = acl.rt.memcpy(acl.util.numpy_to_ptr(out), self.size, self.ptr, self.size, D2H)
        check(ret, "acl.rt.memcpy")
        return out

    def free(self):
        check(acl.rt.free(self.ptr), "acl.rt.free")


def run(args):
    compile_kernel("kernel_leaky_relu.cpp", "leaky_relu.o", args.arch)
    check(acl.init(), "acl.init")
    check(acl.rt.set_device(args.device), "acl.rt.set_device")
    stream, ret = acl.rt.create_stream()
    check(ret, "acl.rt.create_stream")
    log.info("soc %s, device %d", acl.get_soc_name(), args.device)

    binary, ret = acl.rt.binary_load_from_file("./leaky_relu.o", [])
    check(ret, "acl.rt.binary_load_from_file")
    func, ret = acl.rt.binary_get_function(binary, "leaky_relu")
    check(ret, "acl.rt.binary_get_function")

    x = np.random.uniform(-1, 1, 8 * 2048).astype(np.float16)
    slope = 0.125
    x_dev, y_dev = DeviceBuffer(x), DeviceBuffer(size=x.nbytes)
    tiling = np.frombuffer(struct.pack("IIf4x", x.size, 512, slope), np.uint8)
    tiling_dev = DeviceBuffer(tiling)

    arg_list, ret = acl.rt.kernel_args_init(func)
    check(ret, "acl.rt.kernel_args_init")
    for buffer in (x_dev, y_dev, tiling_dev):
        _, ret = acl.rt.kernel_args_append(arg_list, np.array([buffer.ptr], np.uint64), 8)
        check(ret, "acl.rt.kernel_args_append")
    check(acl.rt.kernel_args_finalize(arg_list), "acl.rt.kernel_args_finalize")
    check(acl.rt.launch_kernel_with_config(func, 8, stream, [], arg_list, None), "acl.rt.launch_kernel_with_config")
    check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream")

    y = y_dev.numpy(np.float16)
    golden = np.where(x > 0, x, x * np.float16(slope))
    for buffer in (x_dev, y_dev, tiling_dev):
        buffer.free()
    check(acl.rt.binary_unload(binary), "acl.rt.binary_unload")
    check(acl.rt.destroy_stream(stream), "acl.rt.destroy_stream")
    check(acl.rt.reset_device(args.device), "acl.rt.reset_device")
    check(acl.finalize(), "acl.finalize")
    wrong = int((y != golden).sum())
    log.info("%d of %d elements differ", wrong, x.size)
    if wrong:
        log.error("test failed")
        return 1
    log.info("test pass")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", default="dav-c220-vec")
    parser.add_argument("--device", type=int, default=0)
    sys.exit(run(parser.parse_args()))
