# SPDX-License-Identifier: Apache-2.0
"""Two kernels, pow and isinf, compiled, fused into one, and launched once.

    input1, input2 -> pow -> isinf -> output

What the kernels hand to each other is said by strings: the output of pow and the input of isinf have the same one, and
every distinct string is one allocation.
"""

import ctypes
import json
import os
import tempfile

import numpy

import runtime
import super_kernel

COUNT, BLOCKS, BYTES = 1024, 8, 4096
WORKSPACE = 1 << 20
HUGE_FIRST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2
NAME = "pow_isinf"
HERE = os.path.dirname(os.path.abspath(__file__))


def compile_kernels():
    """The two kernels and the fused one; returns the list with its topology."""
    pow_entry = super_kernel.compile_kernel(os.path.join(HERE, "pow.asc"), "pow_kernel", block_dim=BLOCKS,
                                            workspaces=[WORKSPACE])
    isinf_entry = super_kernel.compile_kernel(os.path.join(HERE, "isinf.asc"), "isinf_kernel", block_dim=BLOCKS,
                                              workspaces=[WORKSPACE])
    pow_entry.update(inputs=["arg_base", "arg_exponent"], outputs=["power"], workspaces=["pow_workspace"])
    isinf_entry.update(inputs=["power"], outputs=["output"], workspaces=["isinf_workspace"])
    kernel_infos = {"op_list": [pow_entry, isinf_entry], "super_kernel_options": ""}
    super_kernel.compile(kernel_infos, NAME)
    return kernel_infos


def input_values():
    """Bases and exponents whose powers are ordinary numbers in one half and infinite in the other."""
    base = numpy.linspace(1.5, 3.5, COUNT, dtype=numpy.float32)
    exponent = numpy.where(numpy.arange(COUNT) % 2 == 0, 2.0, 400.0).astype(numpy.float32)
    return {"arg_base": base, "arg_exponent": exponent}


def allocate(kernel_infos, inputs, stream):
    """One allocation for each string; inputs are filled. Returns the addresses and the host buffer."""
    host = runtime.made(runtime.malloc_host, BYTES)
    addresses = {}
    for name in super_kernel.distinct_strings(kernel_infos):
        size = WORKSPACE if name.endswith("_workspace") else BYTES
        addresses[name] = runtime.made(runtime.malloc, size, HUGE_FIRST)
        if name.startswith("arg_"):
            ctypes.memmove(host, inputs[name].ctypes.data, BYTES)
            runtime.memcpy_async(addresses[name], BYTES, host, BYTES, HOST_TO_DEVICE, stream)
            runtime.synchronize_stream(stream)
    return addresses, host


def load(folder):
    """Registers the fused image. Returns its handle, the stub that launches it, the block count, and what must live."""
    with open(os.path.join(folder, NAME + ".json"), encoding="utf-8") as file:
        metadata = json.load(file)
    with open(os.path.join(folder, NAME + ".o"), "rb") as file:
        image = file.read()
    assert metadata["magic"] == "RT_DEV_BINARY_MAGIC_ELF"
    data = ctypes.create_string_buffer(image, len(image))
    binary = runtime.DevBinary(0x43554245, 1, ctypes.addressof(data), len(image))
    handle = ctypes.c_void_p()
    runtime.register_binary(ctypes.byref(binary), ctypes.byref(handle))
    stub = ctypes.create_string_buffer(1)
    runtime.register_function(handle, ctypes.addressof(stub), b"stub_" + NAME.encode(), metadata["kernelName"].encode(),
                              0)
    found = runtime.made(lambda result: runtime.function_by_name(b"stub_" + NAME.encode(), result))
    assert found == ctypes.addressof(stub)
    return handle, found, metadata["blockDim"], stub


def launch(kernel_infos, addresses, stub, blocks, stream):
    """One launch of [control, pow inputs, pow output, pow workspace, isinf input, output, workspace]."""
    control, length = ctypes.c_uint64(), ctypes.c_uint32()
    runtime.control_address(ctypes.byref(control), ctypes.byref(length))
    values = super_kernel.argument_list(kernel_infos, addresses, control=control.value)
    block = (ctypes.c_uint64 * len(values))(*values)
    description = ctypes.create_string_buffer(272)
    runtime.launch(stub, blocks, block, ctypes.sizeof(block), description, stream)
    runtime.synchronize_stream(stream)


def read(address):
    host = runtime.made(runtime.malloc_host, BYTES)
    runtime.memcpy(host, BYTES, address, BYTES, DEVICE_TO_HOST)
    values = numpy.ctypeslib.as_array((ctypes.c_float * COUNT).from_address(host)).copy()
    runtime.free(host)
    return values


def wrong_values(inputs, power, output):
    with numpy.errstate(over="ignore"):
        expected = numpy.power(inputs["arg_base"], inputs["arg_exponent"])
    right = numpy.isclose(power, expected, rtol=1e-4) & (output == numpy.isinf(expected))
    return int(numpy.count_nonzero(~right))


def main():
    runtime.init(None)
    runtime.set_device(0)
    stream = runtime.made(runtime.create_stream)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CANOPY_KERNEL_META"] = folder
        kernel_infos = compile_kernels()
        inputs = input_values()
        addresses, host = allocate(kernel_infos, inputs, stream)
        handle, stub, blocks, stub_memory = load(folder)
        launch(kernel_infos, addresses, stub, blocks, stream)
    power, output = read(addresses["power"]), read(addresses["output"])
    print(output[:20])
    wrong = wrong_values(inputs, power, output)
    print(f"super_kernel: pow and isinf in one launch, {COUNT} elements, {wrong} wrong")
    for address in [*addresses.values(), host]:
        runtime.free(address)
    runtime.unregister_binary(handle)
    del stub_memory
    runtime.destroy_stream(stream)
    runtime.reset_device(0)
    runtime.finalize()
    assert wrong == 0
    print("execute sample success")


if __name__ == "__main__":
    main()
