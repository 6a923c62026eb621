# SPDX-License-Identifier: Apache-2.0
"""Memory and copies, with addresses and with every kind of buffer."""
import array
import ctypes
import struct

import numpy
import pytest

import acl
from conftest import D2D, D2H, H2D, check, value_of

COUNT = 1000


def round_trip(memory, source, target, size):
    """Copies to the device, there, and back."""
    first, second = memory(size), memory(size)
    check(acl.rt.memcpy(first, size, source, size, H2D))
    check(acl.rt.memcpy(second, size, first, size, D2D))
    check(acl.rt.memcpy(target, size, second, size, D2H))


class Described:
    """Shows its memory through __array_interface__ alone."""

    def __init__(self, array, **changes):
        self.array = array
        self.changes = changes

    @property
    def __array_interface__(self):
        return {**self.array.__array_interface__, **self.changes}


class Tensor:
    """Shows its memory through DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self):
        return self.array.__dlpack__()


def numbers():
    return numpy.arange(COUNT, dtype=numpy.float32)


def zeros():
    return numpy.zeros(COUNT, dtype=numpy.float32)


@pytest.mark.parametrize("wrap", [
    lambda a: a,
    lambda a: memoryview(a),
    lambda a: memoryview(a).cast("B"),
    Described,
    Tensor,
    lambda a: a.ctypes.data,
    lambda a: numpy.uint64(a.ctypes.data),
    lambda a: a.reshape(10, 100),
    lambda a: numpy.asfortranarray(a.reshape(10, 100).T),
], ids=["numpy", "memoryview", "bytes view", "array interface", "dlpack", "address", "numpy number", "2-d", "fortran"])
def test_memcpy_takes_buffers(memory, wrap):
    source, target = numbers(), zeros()
    round_trip(memory, wrap(source), wrap(target), source.nbytes)
    assert (source == target).all()


@pytest.mark.parametrize("make", [bytes, bytearray, lambda data: array.array("B", data),
                                  lambda data: (ctypes.c_char * len(data)).from_buffer_copy(data)])
def test_memcpy_reads_bytes_like_objects(memory, make):
    data = bytes(range(256))
    target = bytearray(256)
    round_trip(memory, make(data), target, 256)
    assert target == data


@pytest.mark.parametrize("type_name", ["int8", "float16", "int64", "complex128", "bool", "datetime64[s]", "S3", "U3"])
def test_memcpy_takes_arrays_of_any_element(memory, type_name):
    source = numpy.zeros(16, dtype=type_name)
    source.view(numpy.uint8)[:] = numpy.arange(source.nbytes) % 2
    for wrap in (lambda a: a, Described):
        target = numpy.zeros_like(source)
        round_trip(memory, wrap(source), wrap(target), source.nbytes)
        assert source.tobytes() == target.tobytes()


@pytest.mark.parametrize("wrap", [lambda a: a, lambda a: memoryview(a), Described, Tensor],
                         ids=["numpy", "memoryview", "array interface", "dlpack"])
@pytest.mark.parametrize("gaps", [lambda a: a[::2], lambda a: a.reshape(10, 100)[:, :50], lambda a: a[::-1]],
                         ids=["step", "columns", "reverse"])
def test_gaps_in_memory_are_refused(memory, wrap, gaps):
    with pytest.raises(ValueError, match=r"argument 3 \(src\) is not contiguous"):
        acl.rt.memcpy(memory(64), 64, wrap(gaps(numbers())), 64, H2D)


def test_read_only_memory_is_refused_as_a_target(memory):
    source = numbers()
    source.setflags(write=False)
    for target in (source, b"x" * 64, Described(source), memoryview(b"x" * 64)):
        with pytest.raises(ValueError, match=r"argument 1 \(dst\) is read-only"):
            acl.rt.memcpy(target, 64, memory(64), 64, D2H)
    check(acl.rt.memcpy(memory(64), 64, source, 64, H2D))


def test_buffers_smaller_than_the_call_says_are_refused(memory):
    source = numbers()
    block = memory(10000)
    for wrap in (lambda a: a, Described, Tensor, memoryview):
        with pytest.raises(ValueError, match=r"\(src\) holds 4000 bytes, but the call says 4001"):
            acl.rt.memcpy(block, 10000, wrap(source), 4001, H2D)
        with pytest.raises(ValueError, match=r"\(dst\) holds 4000 bytes, but the call says 10000"):
            acl.rt.memcpy(wrap(source), 10000, block, 4, D2H)
    with pytest.raises(ValueError, match=r"\(src\) holds 4000 bytes, but the call says 4004"):
        acl.rt.memcpy2d(block, 100, source, 100, 4, 41, H2D)


def test_broken_descriptions_are_refused(memory):
    class Raises:
        def __dlpack__(self):
            raise KeyError("own")

    class NoCapsule:
        def __dlpack__(self):
            return 5

    block = memory(64)
    with pytest.raises(KeyError, match="own"):
        acl.rt.memcpy(block, 64, Raises(), 64, H2D)
    with pytest.raises(ValueError, match="dltensor"):
        acl.rt.memcpy(block, 64, NoCapsule(), 64, H2D)
    for changes in ({"data": None}, {"shape": None}, {"typestr": None}, {"data": (1,)}):
        with pytest.raises(ValueError, match="__array_interface__"):
            acl.rt.memcpy(block, 64, Described(numbers(), **changes), 64, H2D)
    for changes in ({"data": ("x", False)}, {"shape": ("x",)}):
        with pytest.raises((TypeError, OverflowError)):
            acl.rt.memcpy(block, 64, Described(numbers(), **changes), 64, H2D)


def test_none_is_the_null_pointer(memory):
    assert acl.rt.memcpy(None, 4, memory(64), 4, D2H) == 100000
    assert acl.rt.free(None) == 100000


def test_errors_come_back_as_codes(device):
    assert acl.rt.malloc(0, 0) == (0, 100000)
    assert acl.get_recent_err_msg().startswith("E")
    assert acl.get_recent_err_msg() is None
    assert acl.rt.memcpy(b"".join([b"x"]) and bytearray(8), 8, bytes(16), 16, 0) == 107000
    assert acl.rt.peek_at_last_error(0) == 107000
    assert acl.rt.get_last_error(0) == 107000
    assert acl.rt.get_last_error(0) == 0


def test_allocations_of_every_kind(device):
    for allocate in (acl.rt.malloc, acl.rt.malloc_align32, acl.rt.malloc_cached):
        block = value_of(allocate(4096, 2))
        assert block % 32 == 0
        check(acl.rt.free(block))
    config = {"attrs": [{"attr": 1, "value": 7}, {"attr": 2, "value": {"deviceId": 0}}], "numAttrs": 2}
    for cfg in ({}, config, {"attrs": []}):
        check(acl.rt.free(value_of(acl.rt.malloc_with_cfg(4096, 0, cfg))))
        check(acl.rt.free(value_of(acl.rt.malloc_for_task_scheduler(4096, 0, cfg))))
        check(acl.rt.free_host(value_of(acl.rt.malloc_host_with_cfg(4096, {}))))
    wrong = {"attrs": [{"attr": 2, "value": 12345}], "numAttrs": 1}
    assert acl.rt.malloc_with_cfg(4096, 0, wrong)[1] != 0


@pytest.mark.parametrize("cfg, error", [
    ({"numAttrs": 1}, ValueError), ({"attrs": 5}, ValueError), ({"attrs": [{}]}, ValueError), ({"attrs": [5]}, TypeError),
    ({"attrs": [{"attr": 1}]}, ValueError), ({"attrs": [], "numAttrs": 1}, ValueError),
    ({"attrs": [{"attr": 1, "value": "x"}]}, TypeError), ({"attrs": [{"attr": 1, "value": 1 << 16}]}, OverflowError),
])
def test_wrong_configuration_is_refused(device, cfg, error):
    with pytest.raises(error, match=r"acl.rt.malloc_with_cfg: argument 3 \("):
        acl.rt.malloc_with_cfg(64, 0, cfg)


def test_pinned_memory_is_seen_as_an_array_and_copied_asynchronously(memory, stream):
    pinned = value_of(acl.rt.malloc_host(4 * COUNT))
    view = acl.util.ptr_to_numpy(pinned, (COUNT,), numpy.dtype("float32").num)
    view[:] = numbers()
    block = memory(4 * COUNT)
    check(acl.rt.memcpy_async(block, 4 * COUNT, pinned, 4 * COUNT, H2D, stream))
    target = zeros()
    check(acl.rt.memcpy_async(target, 4 * COUNT, block, 4 * COUNT, D2H, stream))
    check(acl.rt.synchronize_stream(stream))
    assert (target == numbers()).all()
    assert value_of(acl.rt.pointer_get_attributes(pinned))["location"]["type"] == 0
    assert value_of(acl.rt.pointer_get_attributes(block))["location"] == {"id": 0, "type": 1}
    del view
    check(acl.rt.free_host(pinned))


def test_fill_and_rectangles(memory, stream):
    block = memory(1024)
    check(acl.rt.memset(block, 1024, 7, 1024))
    check(acl.rt.memset_async(block, 1024, 9, 512, stream))
    check(acl.rt.synchronize_stream(stream))
    target = numpy.zeros((4, 16), dtype=numpy.uint8)
    check(acl.rt.memcpy2d(target, 16, block, 256, 8, 4, D2H))
    assert target[:2, :8].tolist() == [[9] * 8] * 2 and target[2:, :8].tolist() == [[7] * 8] * 2
    assert not target[:, 8:].any()


def test_memory_information(device):
    free, total = value_of(acl.rt.get_mem_info(1))
    assert 0 < free <= total
    block, size = value_of(acl.rt.malloc(1 << 22, 0)), 1 << 22
    left, same = value_of(acl.rt.get_mem_info(1))
    assert size <= free - left < size + 4096 and same == total  # an allocation may be rounded up
    check(acl.rt.free(block))
    assert value_of(acl.rt.get_mem_info(1)) == (free, total)


def test_described_copy_returns_its_description(memory, stream):
    size = value_of(acl.rt.get_memcpy_desc_size(6))
    assert size == 64
    desc, source, target = memory(size), memory(64), memory(64)
    check(acl.rt.memset(source, 64, 5, 64))
    assert acl.rt.set_memcpy_desc(desc, 6, source, target, 64, None) == (desc, 0)
    check(acl.rt.memcpy_async_with_desc(desc, 6, stream))
    check(acl.rt.synchronize_stream(stream))
    back = bytearray(64)
    check(acl.rt.memcpy(back, 64, target, 64, D2H))
    assert back == bytes([5]) * 64


def test_virtual_memory(device):
    prop = {"handleType": 0, "allocationType": 0, "memAttr": 1, "location": {"id": 0, "type": 1}, "reserve": 0}
    size = value_of(acl.rt.mem_get_allocation_granularity(prop, 0))
    address = value_of(acl.rt.reserve_mem_address(size, 0, None, 0))
    handle = value_of(acl.rt.malloc_physical(size, prop, 0))
    check(acl.rt.map_mem(address, size, 0, handle, 0))
    check(acl.rt.memset(address, size, 3, 16))
    back = bytearray(16)
    check(acl.rt.memcpy(back, 16, address, 16, D2H))
    assert back == bytes([3]) * 16
    check(acl.rt.unmap_mem(address))
    check(acl.rt.free_physical(handle))
    check(acl.rt.release_mem_address(address))
    with pytest.raises(ValueError, match="location"):
        acl.rt.malloc_physical(size, {}, 0)


def test_room_for_a_key_is_limited(memory):
    block = memory(64)
    assert isinstance(acl.rt.ipc_mem_get_export_key(block, 64, 1023, 0)[0], str)
    with pytest.raises(ValueError, match=r"argument 3 \(key_len\) must be below 1024"):
        acl.rt.ipc_mem_get_export_key(block, 64, 1024, 0)


def test_values_are_written_and_waited_for(memory, stream, other_stream):
    word = memory(8)
    check(acl.rt.memset(word, 8, 0, 8))
    check(acl.rt.value_wait(word, 77, 1, stream))
    check(acl.rt.value_write(word, 77, 0, other_stream))
    check(acl.rt.synchronize_stream_with_timeout(stream, 20000))
    back = bytearray(8)
    check(acl.rt.memcpy(back, 8, word, 8, D2H))
    assert struct.unpack("<Q", back) == (77,)


def test_reduction(memory, stream):
    a = numpy.arange(64, dtype=numpy.float32)
    first, second = memory(a.nbytes), memory(a.nbytes)
    check(acl.rt.memcpy(first, a.nbytes, a, a.nbytes, H2D))
    check(acl.rt.memcpy(second, a.nbytes, a, a.nbytes, H2D))
    check(acl.rt.reduce_async(first, second, a.nbytes, 10, 0, stream, None))
    check(acl.rt.synchronize_stream(stream))
    result = numpy.zeros_like(a)
    check(acl.rt.memcpy(result, a.nbytes, first, a.nbytes, D2H))
    assert (result == 2 * a).all()


def test_registered_host_memory(device):
    room = numpy.zeros(8192 + 4096, dtype=numpy.uint8)
    aligned = room[-room.ctypes.data % 4096:][:4096]
    mapped = value_of(acl.rt.host_register(aligned, 4096, 0))
    assert mapped != 0
    assert acl.rt.host_register(aligned, 4096, 0)[1] == 507910
    check(acl.rt.host_unregister(aligned))
    assert acl.rt.host_unregister(aligned) == 507911
    check(acl.rt.host_register_v2(aligned, 4096, 2))
    assert value_of(acl.rt.host_get_device_pointer(aligned, 0)) != 0
    check(acl.rt.host_unregister(aligned))


def test_faulty_memory_is_a_list(device):
    assert acl.rt.get_mem_uce_info(0, 20)[0] == []
    assert isinstance(acl.rt.mem_uce_repair(0, [{"addr": 4096, "len": 64, "reserved": [0]}]), int)
    with pytest.raises(ValueError, match="lacks \"len\""):
        acl.rt.mem_uce_repair(0, [{"addr": 4096}])
    with pytest.raises(ValueError, match="above"):
        acl.rt.get_mem_uce_info(0, 1 << 20)


def test_data_buffers_hold_address_and_size(memory):
    block = memory(64)
    buffer = acl.create_data_buffer(block, 64)
    assert acl.get_data_buffer_addr(buffer) == block
    assert acl.get_data_buffer_size(buffer) == acl.get_data_buffer_size_v2(buffer) == 64
    check(acl.update_data_buffer(buffer, None, 0))
    assert acl.get_data_buffer_addr(buffer) == 0
    check(acl.destroy_data_buffer(buffer))


def test_media_memory_is_device_memory(stream):
    address = value_of(acl.media.dvpp_malloc(64))
    data = numpy.arange(16, dtype=numpy.int32)
    check(acl.rt.memcpy(address, 64, data, 64, H2D))
    back = numpy.zeros_like(data)
    check(acl.rt.memcpy(back, 64, address, 64, D2H))
    assert (back == data).all()
    check(acl.media.dvpp_free(address))
    assert acl.media.dvpp_free(None) == 100000
