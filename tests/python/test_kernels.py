# SPDX-License-Identifier: Apache-2.0
"""Kernels: loading, arguments in every form, launching, faults."""
import struct

import numpy
import pytest

import acl
from conftest import D2H, H2D, check, value_of

COUNT = 1003
BLOCKS = 4


class Vectors:
    """Two vectors on the device and room for their sum."""

    def __init__(self, memory):
        self.a, self.b = (numpy.random.default_rng(i).random(COUNT, dtype=numpy.float32) for i in (1, 2))
        self.pointers = [memory(self.a.nbytes) for _ in range(3)]
        for pointer, values in zip(self.pointers, (self.a, self.b)):
            check(acl.rt.memcpy(pointer, values.nbytes, values, values.nbytes, H2D))
        check(acl.rt.memset(self.pointers[2], self.a.nbytes, 0, self.a.nbytes))
        self.arguments = struct.pack("<QQQQ", *self.pointers, COUNT)

    def check_sum(self, stream):
        check(acl.rt.synchronize_stream(stream))
        out = numpy.zeros_like(self.a)
        check(acl.rt.memcpy(out, out.nbytes, self.pointers[2], out.nbytes, D2H))
        assert (out == self.a + self.b).all()


@pytest.fixture
def vectors(memory):
    return Vectors(memory)


def fill(handle, vectors):
    """Appends the arguments of `add`, each from another kind of buffer."""
    first, second, third = (numpy.array([pointer], dtype=numpy.uint64) for pointer in vectors.pointers)
    count = numpy.array([COUNT], dtype=numpy.uint32)
    for parameter in (first, memoryview(second), bytes(third)):
        value_of(acl.rt.kernel_args_append(handle, parameter, 8))
    return value_of(acl.rt.kernel_args_append(handle, count.ctypes.data, 4))


@pytest.mark.parametrize("cfg", [[], [{"id": 1, "value": 1}], [{"id": 1, "value": {"schemMode": 0}}, {"id": 7, "value": 30}],
                                 [{"id": 8, "value": 30_000_000}]], ids=["none", "one", "two", "microseconds"])
def test_launch_with_config(kernels, vectors, stream, cfg):
    add = kernels("add")
    handle = value_of(acl.rt.kernel_args_init(add))
    fill(handle, vectors)
    check(acl.rt.kernel_args_finalize(handle))
    check(acl.rt.launch_kernel_with_config(add, BLOCKS, stream, cfg, handle, 0))
    vectors.check_sum(stream)


@pytest.mark.parametrize("cfg, error", [([5], TypeError), ([{"id": 1}], ValueError), ([{"value": 1}], ValueError),
                                        ([{"id": "x", "value": 1}], TypeError), ([{"id": 1, "value": 1 << 32}], ValueError),
                                        ([{"id": 1, "value": -1}], OverflowError), ((), TypeError), (None, TypeError)])
def test_wrong_launch_config_is_refused(kernels, stream, cfg, error):
    with pytest.raises(error, match=r"acl.rt.launch_kernel_with_config: argument 4 \("):
        acl.rt.launch_kernel_with_config(kernels("nothing"), 1, stream, cfg, 0, 0)


def test_arguments_are_updated_between_launches(kernels, memory, stream):
    kernel, out = kernels("mixed_arguments"), memory(8)
    handle = value_of(acl.rt.kernel_args_init(kernel))
    value_of(acl.rt.kernel_args_append(handle, struct.pack("<Q", out), 8))
    for parameter in (struct.pack("<B", 1), struct.pack("<h", -2), struct.pack("<f", 0.5)):
        value_of(acl.rt.kernel_args_append(handle, parameter, len(parameter)))
    last = value_of(acl.rt.kernel_args_append(handle, struct.pack("<q", 100), 8))
    for value, result in ((None, 99.5), (1000, 999.5)):
        if value:
            check(acl.rt.kernel_args_para_update(handle, last, struct.pack("<q", value), 8))
        check(acl.rt.kernel_args_finalize(handle))
        check(acl.rt.launch_kernel_with_config(kernel, 1, stream, [], handle, None))
        check(acl.rt.synchronize_stream(stream))
        back = bytearray(8)
        check(acl.rt.memcpy(back, 8, out, 8, D2H))
        assert struct.unpack("<d", back) == (result,)


def test_arguments_in_memory_of_the_program(kernels, vectors, stream):
    add = kernels("add")
    handle = numpy.zeros(value_of(acl.rt.kernel_args_get_handle_mem_size(add)), dtype=numpy.uint8)
    room = numpy.zeros(value_of(acl.rt.kernel_args_get_mem_size(add, 32)), dtype=numpy.uint8)
    check(acl.rt.kernel_args_init_by_user_mem(add, handle, room, room.nbytes))
    fill(handle, vectors)
    check(acl.rt.kernel_args_finalize(handle))
    check(acl.rt.launch_kernel_with_config(add, BLOCKS, stream, [], handle, 0))
    vectors.check_sum(stream)
    with pytest.raises(ValueError, match="holds"):
        acl.rt.kernel_args_init_by_user_mem(add, handle, room, room.nbytes + 1)


def test_place_holder_gets_a_buffer(kernels, memory, stream):
    kernel, out = kernels("sum_bytes"), memory(8)
    handle = value_of(acl.rt.kernel_args_init(kernel))
    value_of(acl.rt.kernel_args_append(handle, struct.pack("<Q", out), 8))
    holder = value_of(acl.rt.kernel_args_append_place_holder(handle))
    value_of(acl.rt.kernel_args_append(handle, struct.pack("<Q", 100), 8))
    buffer = value_of(acl.rt.kernel_args_get_place_holder_buffer(handle, holder, 100))
    acl.util.ptr_to_numpy(buffer, (100,), numpy.dtype("uint8").num)[:] = 3
    check(acl.rt.kernel_args_finalize(handle))
    check(acl.rt.launch_kernel_with_config(kernel, 1, stream, [], handle, 0))
    check(acl.rt.synchronize_stream(stream))
    back = bytearray(8)
    check(acl.rt.memcpy(back, 8, out, 8, D2H))
    assert struct.unpack("<Q", back) == (300,)


def test_launch_with_host_arguments(kernels, vectors, stream):
    arguments = bytearray(vectors.arguments)
    check(acl.rt.launch_kernel_with_host_args(kernels("add"), BLOCKS, stream, [], arguments, len(arguments), [], 0))
    arguments[:] = bytes(len(arguments))  # they were copied
    vectors.check_sum(stream)


@pytest.mark.parametrize("holder", [{"addrOffset": 8, "dataOffset": 24}, (8, 24)])
def test_host_arguments_with_a_place_holder(kernels, memory, stream, holder):
    out = memory(8)
    arguments = struct.pack("<QQQ", out, 0, 16) + bytes([2]) * 16
    check(acl.rt.launch_kernel_with_host_args(kernels("sum_bytes"), 1, stream, [], arguments, len(arguments), [holder], 1))
    check(acl.rt.synchronize_stream(stream))
    back = bytearray(8)
    check(acl.rt.memcpy(back, 8, out, 8, D2H))
    assert struct.unpack("<Q", back) == (32,)


@pytest.mark.parametrize("holders, number, error", [([], 1, ValueError), ([5], 1, TypeError), ([{}], 1, ValueError),
                                                    ([(1, "x")], 1, TypeError), ([(-1, 0)], 1, OverflowError)])
def test_wrong_place_holders_are_refused(kernels, stream, holders, number, error):
    with pytest.raises(error, match="acl.rt.launch_kernel_with_host_args: argument"):
        acl.rt.launch_kernel_with_host_args(kernels("add"), 1, stream, [], bytes(32), 32, holders, number)


def test_launch_with_arguments_on_the_device(kernels, memory, vectors, stream):
    arguments = memory(32)
    check(acl.rt.memcpy(arguments, 32, vectors.arguments, 32, H2D))
    check(acl.rt.launch_kernel(kernels("add"), BLOCKS, arguments, 32, stream))
    vectors.check_sum(stream)


def test_images_are_loaded_from_data(device, image, stream):
    with open(image, "rb") as file:
        data = file.read()
    for source in (data, bytearray(data), numpy.frombuffer(data, dtype=numpy.uint8), acl.util.bytes_to_ptr(data)):
        binary = value_of(acl.rt.binary_load_from_data(source, len(data), [{"type": 1, "value": 1}]))
        kernel = value_of(acl.rt.binary_get_function(binary, "nothing"))
        assert value_of(acl.rt.get_function_name(kernel, 100)) == "nothing"
        assert len(value_of(acl.rt.get_function_addr(kernel))) == 2
        check(acl.rt.binary_unload(binary))
    with pytest.raises(ValueError, match="holds"):
        acl.rt.binary_load_from_data(data, len(data) + 1, [])


def test_images_are_loaded_through_a_binary(device, image):
    with open(image, "rb") as file:
        data = file.read()
    binary = acl.rt.create_binary(data, len(data))
    assert binary != 0
    loaded = value_of(acl.rt.binary_load(binary))
    check(acl.rt.binary_unload(loaded))
    check(acl.rt.destroy_binary(binary))


def test_loading_says_what_is_wrong(device, image, kernels):
    assert acl.rt.binary_load_from_file("/no/such/image.o", [])[1] != 0
    assert "image.o" in acl.get_recent_err_msg()
    assert acl.rt.binary_get_function(value_of(acl.rt.binary_load_from_file(image, [])), "no_such")[1] != 0
    for options in (None, {}, "x"):
        with pytest.raises(TypeError, match=r"argument 2 \(options\) must be a list"):
            acl.rt.binary_load_from_file(image, options)
    with pytest.raises(ValueError, match='lacks "value"'):
        acl.rt.binary_load_from_file(image, [{"type": 1}])


def test_failed_kernel_is_told_to_the_callback_before_the_wait_ends(kernels, stream):
    seen = []

    def failed(info):
        seen.append((acl.rt.get_device_id_from_exception_info(info), acl.rt.get_stream_id_from_exception_info(info),
                     acl.rt.get_error_code_from_exception_info(info), acl.rt.get_task_id_from_exception_info(info)))

    check(acl.rt.set_exception_info_callback(failed))
    check(acl.rt.launch_kernel_with_host_args(kernels("trap_always"), 1, stream, [], bytes(8), 8, [], 0))
    task = value_of(acl.rt.get_thread_last_task_id())
    assert acl.rt.synchronize_stream(stream) == 507035
    assert len(seen) == 1
    device, stream_id, code, task_id = seen[0]
    assert (device, stream_id, task_id) == (0, value_of(acl.rt.stream_get_id(stream)), task)
    assert code != 0
    check(acl.rt.set_exception_info_callback(None))
    check(acl.rt.launch_kernel_with_host_args(kernels("trap_always"), 1, stream, [], bytes(8), 8, [], 0))
    acl.rt.synchronize_stream(stream)
    assert len(seen) == 1


def test_exception_of_the_callback_is_not_lost(kernels, stream, unraisable):
    def failed(info):
        raise ValueError("from the callback")

    check(acl.rt.set_exception_info_callback(failed))
    check(acl.rt.launch_kernel_with_host_args(kernels("trap_always"), 1, stream, [], bytes(8), 8, [], 0))
    assert acl.rt.synchronize_stream(stream) == 507035
    assert [str(error) for error in unraisable] == ["from the callback"]
