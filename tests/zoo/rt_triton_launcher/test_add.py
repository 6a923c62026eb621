# SPDX-License-Identifier: Apache-2.0
import acl
import numpy as np

import driver

N = 10 * 1024 + 77


def check(result):
    ret = result[-1] if isinstance(result, tuple) else result
    assert ret == 0, ret
    return result[0] if isinstance(result, tuple) else None


class JITFunction:
    def __init__(self, source, name, signature):
        driver.compile_kernel(source, name + ".npubin")
        self.launcher = driver.build_launcher(signature)
        self.module, self.function = self.launcher.load_binary(name, name + ".npubin", 0, "aiv")

    def __getitem__(self, grid):
        grid = tuple(grid) + (1, 1)
        return lambda stream, *args: self.launcher.launch(*grid[:3], stream, self.function, *args)


def main():
    check(acl.init())
    check(acl.rt.set_device(0))
    stream = check(acl.rt.create_stream())
    add_kernel = JITFunction("kernels/add_kernel.cpp", "add_kernel", ["*fp32", "*fp32", "*fp32", "i32"])

    x, y = np.random.rand(2, N).astype(np.float32)
    device = [check(acl.rt.malloc(N * 4, 0)) for _ in range(3)]
    for ptr, host in zip(device, (x, y)):
        check(acl.rt.memcpy(ptr, N * 4, host, N * 4, 1))
    grid = ((N + 1023) // 1024,)
    for _ in range(3):
        add_kernel[grid](stream, *device, N)
    check(acl.rt.synchronize_stream(stream))
    z = np.empty_like(x)
    check(acl.rt.memcpy(z, N * 4, device[2], N * 4, 2))
    assert driver.build_launcher(["*fp32", "*fp32", "*fp32", "i32"]) is not None  # from the cache
    diff = np.max(np.abs(z - (x + y)))
    print(f"The maximum difference between numpy and the kernel is {diff}")
    assert diff == 0.0
    for ptr in device:
        check(acl.rt.free(ptr))
    check(acl.rt.destroy_stream(stream))
    check(acl.rt.reset_device(0))
    check(acl.finalize())


if __name__ == "__main__":
    main()
