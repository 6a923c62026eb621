# SPDX-License-Identifier: Apache-2.0
"""Allocators with Python functions, called as C programs call them."""
import ctypes
import sys

import pytest

import acl
from conftest import check, value_of

address = ctypes.c_void_p
ALLOCATE = ctypes.CFUNCTYPE(address, address, ctypes.c_size_t)
RELEASE = ctypes.CFUNCTYPE(None, address, address)
ALLOCATE_NEAR = ctypes.CFUNCTYPE(address, address, ctypes.c_size_t, address)
ADDRESS_OF = ctypes.CFUNCTYPE(address, address)


class Allocator:
    """Counts what it is asked."""

    def __init__(self):
        self.calls = []

    def describe(self, desc, obj=None):
        check(acl.rt.allocator_set_obj_to_desc(desc, self if obj is None else obj))
        check(acl.rt.allocator_set_alloc_func_to_desc(desc, self.allocate))
        check(acl.rt.allocator_set_free_func_to_desc(desc, self.release))
        check(acl.rt.allocator_set_alloc_advise_func_to_desc(desc, self.allocate_near))
        check(acl.rt.allocator_set_get_addr_from_block_func_to_desc(desc, self.address_of))

    def allocate(self, allocator, size):
        self.calls.append(("allocate", allocator, size))
        return 0x1000 + size

    def release(self, allocator, block):
        self.calls.append(("release", allocator, block))

    def allocate_near(self, allocator, size, near):
        self.calls.append(("allocate_near", allocator, size, near))
        return near

    def address_of(self, block):
        self.calls.append(("address_of", block))
        return block + 1


def functions_of(stream):
    """What a C program gets for a stream: the object and the four functions."""
    parts = [address() for _ in range(6)]
    library = ctypes.CDLL("libascendcl.so")
    check(library.aclrtAllocatorGetByStream(address(stream), *(ctypes.byref(part) for part in parts)))
    kinds = (ALLOCATE, RELEASE, ALLOCATE_NEAR, ADDRESS_OF)
    return parts[1], *(kind(part.value) for kind, part in zip(kinds, parts[2:]))


@pytest.fixture
def registered(stream):
    allocator = Allocator()
    desc = acl.rt.allocator_create_desc()
    allocator.describe(desc)
    check(acl.rt.allocator_register(stream, desc))
    yield allocator
    check(acl.rt.allocator_unregister(stream))
    check(acl.rt.allocator_destroy_desc(desc))


def test_functions_are_called_with_the_object_of_the_allocator(registered, stream):
    obj, allocate, release, allocate_near, address_of = functions_of(stream)
    assert allocate(obj, 64) == 0x1040
    release(obj, 0x1040)
    assert allocate_near(obj, 64, 0x2000) == 0x2000
    assert address_of(0x1040) == 0x1041
    assert registered.calls == [("allocate", registered, 64), ("release", registered, 0x1040),
                                ("allocate_near", registered, 64, 0x2000), ("address_of", 0x1040)]


def test_number_is_passed_as_it_is(stream):
    allocator, desc = Allocator(), acl.rt.allocator_create_desc()
    allocator.describe(desc, 0x77)
    check(acl.rt.allocator_register(stream, desc))
    obj, allocate, *_ = functions_of(stream)
    assert obj.value == 0x77
    allocate(obj, 1)
    assert allocator.calls == [("allocate", 0x77, 1)]
    check(acl.rt.allocator_unregister(stream))
    check(acl.rt.allocator_destroy_desc(desc))


def test_registration_outlives_its_description(stream, other_stream):
    allocator = Allocator()
    before = sys.getrefcount(allocator)
    desc = acl.rt.allocator_create_desc()
    allocator.describe(desc)
    for each in (stream, other_stream):
        check(acl.rt.allocator_register(each, desc))
    check(acl.rt.allocator_destroy_desc(desc))
    obj, allocate, *_ = functions_of(stream)
    assert allocate(obj, 1) == 0x1001
    check(acl.rt.allocator_unregister(stream))
    assert sys.getrefcount(allocator) > before
    check(acl.rt.allocator_unregister(other_stream))
    del obj, allocate
    allocator.calls.clear()
    assert sys.getrefcount(allocator) == before


def test_exception_of_an_allocator_is_not_lost_and_gives_nothing(registered, stream, unraisable):
    def fail(allocator, size):
        raise MemoryError("no more")

    desc = acl.rt.allocator_create_desc()
    registered.describe(desc)
    check(acl.rt.allocator_set_alloc_func_to_desc(desc, fail))
    check(acl.rt.allocator_set_get_addr_from_block_func_to_desc(desc, lambda block: "no number"))
    check(acl.rt.allocator_register(stream, desc))
    obj, allocate, *_, address_of = functions_of(stream)
    assert allocate(obj, 64) is None
    assert address_of(64) is None
    assert [type(error) for error in unraisable] == [MemoryError, TypeError]
    check(acl.rt.allocator_destroy_desc(desc))


def test_wrong_descriptions_are_codes(stream):
    assert acl.rt.allocator_set_alloc_func_to_desc(0, print) == 100000
    assert acl.rt.allocator_set_obj_to_desc(12345, print) == 107017
    assert acl.rt.allocator_destroy_desc(12345) == 107017
    desc = acl.rt.allocator_create_desc()
    assert acl.rt.allocator_set_obj_to_desc(desc, None) == 100000
    assert acl.rt.allocator_register(stream, desc) == 100000
    check(acl.rt.allocator_destroy_desc(desc))


def test_places_for_allocators_are_used_again():
    for _ in range(300):
        desc = acl.rt.allocator_create_desc()
        Allocator().describe(desc)
        check(acl.rt.allocator_destroy_desc(desc))
        acl.rt.allocator_set_obj_to_desc(12345, print)


def test_too_many_allocators_raise():
    descs = [acl.rt.allocator_create_desc() for _ in range(65)]
    with pytest.raises(RuntimeError, match="more than 64 allocators"):
        for desc in descs:
            check(acl.rt.allocator_set_obj_to_desc(desc, 1))
    for desc in descs:
        check(acl.rt.allocator_destroy_desc(desc))
