# SPDX-License-Identifier: Apache-2.0
"""Addresses of Python objects, and objects over addresses."""
import sys

import numpy
import pytest

import acl
from conftest import run_program


def test_array_and_address_show_the_same_memory():
    array = numpy.arange(12, dtype=numpy.int32).reshape(3, 4)
    address, same = acl.util.numpy_contiguous_to_ptr(array)
    assert same is array and address == array.ctypes.data
    view = acl.util.ptr_to_numpy(address, (3, 4), array.dtype.num)
    assert (view == array).all() and view.dtype == array.dtype
    view[1, 2] = 77
    assert array[1, 2] == 77


def test_array_with_gaps_is_copied():
    array = numpy.arange(12, dtype=numpy.int32)[::3]
    address, copy = acl.util.numpy_contiguous_to_ptr(array)
    assert copy is not array and address == copy.ctypes.data
    assert copy.tolist() == [0, 3, 6, 9]


def test_old_function_warns():
    array = numpy.zeros(4)
    with pytest.deprecated_call():
        assert acl.util.numpy_to_ptr(array) == array.ctypes.data
    with pytest.raises(ValueError, match="not contiguous"):
        acl.util.numpy_to_ptr(numpy.zeros(8)[::2])
    with pytest.raises(TypeError, match="must be a numpy array, not list"):
        acl.util.numpy_to_ptr([1])


@pytest.mark.parametrize("code", sorted(set("?bhilqBHILQefdgFDG")))
def test_every_element_type_with_a_size(code):
    array = numpy.ones(3, dtype=code)
    view = acl.util.ptr_to_numpy(array.ctypes.data, (3,), array.dtype.num)
    assert view.dtype == array.dtype and (view == array).all()


def test_shapes():
    array = numpy.arange(6, dtype=numpy.uint8)
    for shape in ((6,), (2, 3), (1, 6, 1), [3, 2]):
        assert acl.util.ptr_to_numpy(array.ctypes.data, shape, array.dtype.num).shape == tuple(shape)
    assert acl.util.ptr_to_numpy(array.ctypes.data, (), array.dtype.num) == 0
    assert acl.util.ptr_to_numpy(array.ctypes.data, (0, 5), array.dtype.num).size == 0


@pytest.mark.parametrize("shape, number, error", [
    (5, 0, TypeError), (("x",), 1, TypeError), ((-1,), 1, ValueError), ((1 << 62, 8), 1, OverflowError),
    ((1,), 1000, ValueError), ((1,), numpy.dtype("U").num, ValueError), ((1,), "x", TypeError)])
def test_wrong_shapes_and_types_are_refused(shape, number, error):
    with pytest.raises(error, match="acl.util.ptr_to_numpy: argument"):
        acl.util.ptr_to_numpy(4096, shape, number)


def test_no_array_over_nothing():
    with pytest.raises(ValueError, match="not an address"):
        acl.util.ptr_to_numpy(0, (1,), 1)


def test_bytes():
    data = bytes(range(100))
    address = acl.util.bytes_to_ptr(data)
    assert acl.util.ptr_to_bytes(address, 100) == data
    assert acl.util.ptr_to_bytes(address + 10, 5) == data[10:15]
    assert acl.util.ptr_to_bytes(0, 0) == b""
    assert acl.util.ptr_to_bytes(acl.util.bytes_to_ptr(bytearray(data)), 3) == data[:3]
    with pytest.raises(ValueError, match="is negative"):
        acl.util.ptr_to_bytes(address, -1)
    with pytest.raises(ValueError, match="not an address"):
        acl.util.ptr_to_bytes(0, 1)
    with pytest.raises(TypeError, match="must be bytes, not str"):
        acl.util.bytes_to_ptr("text")


def test_the_array_holds_no_reference_to_the_address():
    array = numpy.arange(4)
    before = sys.getrefcount(array)
    view = acl.util.ptr_to_numpy(array.ctypes.data, (4,), array.dtype.num)
    assert sys.getrefcount(array) == before
    del view


def test_module_is_imported_without_numpy():
    run_program("import sys, acl; acl.init(); acl.rt.set_device(0); assert 'numpy' not in sys.modules")
