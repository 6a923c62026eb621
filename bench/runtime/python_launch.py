#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a launch costs from Python: the median over rounds of the time of one call, loop and all.

    bench/runtime/python_launch.py [--compiler canopy-cc] [--rounds N]

The module acl is found through PYTHONPATH, the compiler through PATH: source set_env.sh of an install tree, or run
./bench.sh --python, which names those of its build.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import acl


def check(ret):
    if ret != 0:
        sys.exit(f"failed with code {ret}: {acl.get_recent_err_msg()}")


def load(compiler):
    """Compiles and loads a kernel that does nothing; returns its binary and its handle."""
    with tempfile.TemporaryDirectory() as folder:
        source, image = pathlib.Path(folder, "nothing.cpp"), pathlib.Path(folder, "nothing.o")
        source.write_text('#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void nothing() {}\n', encoding="utf-8")
        subprocess.run([compiler, "--image", "-O2", "-o", image, source], check=True)
        binary, ret = acl.rt.binary_load_from_file(image, [])
    check(ret)
    kernel, ret = acl.rt.binary_get_function(binary, "nothing")
    check(ret)
    return binary, kernel


def measure(call, settle, rounds, calls):
    """Median, over rounds, of the nanoseconds of one call."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            call()
        times.append((time.perf_counter_ns() - begin) / calls)
        settle()
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="canopy-cc")
    parser.add_argument("--rounds", type=int, default=201)
    arguments = parser.parse_args()
    check(acl.init())
    check(acl.rt.set_device(0))
    stream, ret = acl.rt.create_stream()
    check(ret)
    binary, kernel = load(arguments.compiler)
    handle, ret = acl.rt.kernel_args_init(kernel)
    check(ret)
    check(acl.rt.kernel_args_finalize(handle))

    launch, synchronize, config = acl.rt.launch_kernel_with_config, acl.rt.synchronize_stream, []
    with_host_args = acl.rt.launch_kernel_with_host_args
    attributes = [{"id": 1, "value": 0}]
    rows = [
        ("a loop and a call that does nothing", lambda: acl.rt.peek_at_last_error(0)),
        ("launch_kernel_with_config", lambda: launch(kernel, 1, stream, config, handle, 0)),
        ("launch_kernel_with_config, one attribute", lambda: launch(kernel, 1, stream, attributes, handle, 0)),
        ("launch_kernel_with_host_args", lambda: with_host_args(kernel, 1, stream, config, b"12345678", 8, [], 0)),
        ("launch and synchronize_stream", lambda: (launch(kernel, 1, stream, config, handle, 0), synchronize(stream))),
    ]
    for name, call in rows:
        call()
        check(synchronize(stream))
        print(f"{name:45} {measure(call, lambda: synchronize(stream), arguments.rounds, 200):8.0f} ns")
    check(acl.rt.binary_unload(binary))
    check(acl.rt.destroy_stream(stream))
    check(acl.rt.reset_device(0))
    check(acl.finalize())


if __name__ == "__main__":
    main()
