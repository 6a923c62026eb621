# SPDX-License-Identifier: Apache-2.0
"""Nothing leaks: references, blocks of the interpreter, and memory of the binding."""
import os
import struct
import sys

import numpy
import pytest

import acl
from conftest import D2H, H2D, check, value_of
from test_every_function import FUNCTIONS, NAMES, callable_of, fitting

# What only reads its arguments may be called again and again with anything.
HARMLESS = [f for f in FUNCTIONS if not f.full.startswith(("acl.util.start", "acl.init", "acl.finalize", "acl.rt.reset_device",
                                                           "acl.rt.create_context", "acl.rt.allocator_", "acl.prof.",
                                                           "acl.rt.set_device", "acl.util.numpy"))]


def steady(work, rounds=200):
    """Runs `work` often and fails when the interpreter holds a block more for every few of the rounds. Caches that fill up
    settle after a while, so growth counts only when it goes on."""
    for _ in range(100):
        before = sys.getallocatedblocks()
        for _ in range(rounds):
            work()
        grown = sys.getallocatedblocks() - before
        if grown < rounds // 4:
            return
    raise AssertionError(f"{grown} blocks more after {rounds} rounds")


def refuses(error, call, *arguments):
    """pytest.raises keeps too much alive to be used where blocks are counted."""
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{call} accepted {arguments}")


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


@pytest.mark.parametrize("function", FUNCTIONS, ids=NAMES)
def test_refused_calls_leave_nothing_behind(function):
    call = callable_of(function)
    wrong = object()
    before = sys.getrefcount(wrong)

    def refused():
        for index in range(len(function.arguments)):
            arguments = [fitting(argument) for argument in function.arguments]
            arguments[index] = wrong
            if function.arguments[index].special == "Any" or function.arguments[index].kind == "Ignored":
                continue
            refuses(TypeError, call, *arguments)
        refuses(TypeError, call, *[wrong] * 20)

    steady(refused, rounds=40)
    assert sys.getrefcount(wrong) == before


@pytest.mark.parametrize("function", HARMLESS, ids=[function.full for function in HARMLESS])
def test_calls_that_fail_or_do_nothing_leave_nothing_behind(function, device):
    call = callable_of(function)
    arguments = [fitting(argument) for argument in function.arguments]
    if function.full == "acl.util.ptr_to_bytes":
        arguments = [0, 0]

    def attempt():
        try:
            call(*arguments)
        except (ValueError, RuntimeError):
            pass

    steady(attempt, rounds=50)


class Described:
    def __init__(self, array):
        self.__array_interface__ = array.__array_interface__


class Tensor:
    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__


@pytest.mark.parametrize("wrap", [lambda a: a, memoryview, Described, Tensor, lambda a: a.ctypes.data],
                         ids=["numpy", "memoryview", "array interface", "dlpack", "address"])
def test_buffers_are_given_back(memory, wrap):
    array = numpy.zeros(64, dtype=numpy.uint8)
    block = memory(64)
    before = sys.getrefcount(array)

    def work():
        buffer = wrap(array)
        check(acl.rt.memcpy(block, 64, buffer, 64, H2D))
        check(acl.rt.memcpy(buffer, 64, block, 64, D2H))
        refuses(ValueError, acl.rt.memcpy, array, 65, block, 64, D2H)

    steady(work)
    assert sys.getrefcount(array) == before


def test_bytearray_may_grow_after_the_call(memory):
    data = bytearray(64)
    check(acl.rt.memcpy(data, 64, memory(64), 64, D2H))
    data.extend(b"more")  # would raise BufferError while somebody holds the buffer


def test_refused_buffer_is_given_back(memory):
    data = bytearray(64)
    with pytest.raises(ValueError, match="holds 64"):
        acl.rt.memcpy(data, 65, memory(64), 64, D2H)
    with pytest.raises(TypeError):
        acl.rt.memcpy(data, 64, memory(64), 64, "kind")
    data.extend(b"more")


def test_launches_leave_nothing_behind(kernels, stream):
    kernel = kernels("nothing")
    config, arguments = [{"id": 1, "value": 0}], bytes(8)
    holders = [{"addrOffset": 0, "dataOffset": 0}]
    before = [sys.getrefcount(item) for item in (config, config[0], arguments, holders)]

    def work():
        check(acl.rt.launch_kernel_with_host_args(kernel, 1, stream, config, arguments, 8, [], 0))
        refuses(ValueError, acl.rt.launch_kernel_with_host_args, kernel, 1, stream, config, arguments, 8, holders, 2)
        check(acl.rt.synchronize_stream(stream))

    steady(work)
    assert [sys.getrefcount(item) for item in (config, config[0], arguments, holders)] == before


def test_answers_leave_nothing_behind(stream):
    steady(lambda: (acl.get_cann_attribute_list(), acl.rt.device_get_uuid(0), acl.rt.get_device_utilization_rate(0),
                    acl.rt.pointer_get_attributes(4096), acl.rt.get_stream_attribute(stream, 1), acl.get_recent_err_msg(),
                    acl.get_version_str("cann"), acl.rt.get_mem_uce_info(0, 20), acl.rt.malloc(0, 0)))


def test_memory_of_the_binding_is_given_back(device):
    """What the binding allocates in C++ is not the interpreter's to count: look at the process."""
    pids = list(range(1000))
    options = [{"type": 1, "value": 1}] * 100
    attributes = {"attrs": [{"attr": 2, "value": 0}] * 100}

    def work():
        acl.rt.notify_set_import_pid(0, pids)
        acl.rt.binary_load_from_file("/no/such/file", options)
        acl.rt.malloc_with_cfg(0, 0, attributes)
        acl.get_recent_err_msg()

    for _ in range(200):
        work()
    before = resident()
    for _ in range(2000):
        work()
    # A leak of the vectors alone would be 16 MB.
    assert resident() - before < 4 << 20


def test_exception_callback_is_released(device):
    def callback(info):
        pass

    before = sys.getrefcount(callback)
    for _ in range(10):
        check(acl.rt.set_exception_info_callback(callback))
    assert sys.getrefcount(callback) == before + 1
    check(acl.rt.set_exception_info_callback())
    assert sys.getrefcount(callback) == before


def test_views_of_memory_leave_nothing_behind():
    array = numpy.arange(100, dtype=numpy.float64)
    address = array.ctypes.data
    steady(lambda: acl.util.ptr_to_numpy(address, (10, 10), 12).sum())
    steady(lambda: acl.util.numpy_contiguous_to_ptr(array))
    steady(lambda: acl.util.ptr_to_bytes(address, 800))


def test_objects_that_are_created_and_destroyed_leave_nothing_behind(device):
    def work():
        stream = value_of(acl.rt.create_stream())
        event = value_of(acl.rt.create_event())
        block = value_of(acl.rt.malloc(4096, 0))
        check(acl.rt.memcpy(block, 8, struct.pack("<Q", 1), 8, H2D))
        check(acl.rt.free(block))
        check(acl.rt.destroy_event(event))
        check(acl.rt.destroy_stream(stream))

    steady(work)
