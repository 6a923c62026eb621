# SPDX-License-Identifier: Apache-2.0
"""Arrays in device memory, and conversion from and to numpy."""

from __future__ import annotations

import collections
import ctypes
import math
import threading
import weakref
from typing import Any

import acl
import numpy as np

from .checks import is_checked
from .device import Device, current_device, forked
from .errors import check
from .library import call
from .sharing import KEY_SIZE, process_number, travels
from .streams import Stream, current_stream

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE = 1, 2, 3
HUGE_FIRST = 0
LISTED, ANYBODY = 0, 1


class Memory:
    """Device memory, freed with its last user."""

    # By the keys under which anybody may open them: here that takes no import.
    shared: "weakref.WeakValueDictionary[str, Memory]" = weakref.WeakValueDictionary()

    def __init__(self, size: int, device: Device) -> None:
        self.device = device
        self.size = size
        self._key: str | None = None
        with device:
            self.address, code = acl.rt.malloc(max(size, 1), HUGE_FIRST)
            check(code, f"allocating {size} bytes on device {device.index}")

    def export(self, flag: int) -> str:
        """A new key for the memory."""
        with self.device:
            key, code = acl.rt.ipc_mem_get_export_key(self.address, self.size, KEY_SIZE, flag)
            check(code, "sharing an array")
        return key

    @property
    def key(self) -> str:
        """The key under which anybody may open the memory. Work that is ready to run is finished first."""
        if self._key is None:
            self._key = self.export(ANYBODY)
            Memory.shared[self._key] = self
        else:  # a copy does what a second export would do
            check(acl.rt.memcpy(bytearray(1), 1, self.address, 1, DEVICE_TO_HOST), "sharing an array")
        return self._key

    def __del__(self) -> None:
        address, self.address = getattr(self, "address", 0), 0
        if address and not forked():
            # The runtime frees memory when nothing uses it any more; for a checker, who calls has to wait for that.
            if is_checked():
                self.device.synchronize()
            acl.rt.free(address)


class ImportedMemory:
    """Device memory of another process, given back with its last user here."""

    # The runtime gives back the oldest import of a key first. So one that is not used any more waits for those before it.
    _lock = threading.RLock()
    _imports: dict[str, "collections.deque[list[bool]]"] = {}  # for each import whether it is used

    def __init__(self, key: str, device: Device) -> None:
        self.device = device
        self.address, self.key = 0, key
        self._used = [True]
        with device, ImportedMemory._lock:
            self.address, code = acl.rt.ipc_mem_import_by_key(key, 0)
            check(code, f"importing the array {key}")
            ImportedMemory._imports.setdefault(key, collections.deque()).append(self._used)
        size = ctypes.c_size_t()
        call("aclrtMemGetAddressRange", self.address, ctypes.c_void_p(), ctypes.byref(size))
        self.size = size.value

    def __del__(self) -> None:
        address, self.address = getattr(self, "address", 0), 0
        if not address or forked():
            return
        self._used[0] = False
        with self.device, ImportedMemory._lock:
            imports = ImportedMemory._imports.get(self.key, ())
            while imports and not imports[0][0]:
                imports.popleft()
                acl.rt.ipc_mem_close(self.key)
            if not imports:
                ImportedMemory._imports.pop(self.key, None)


class Array:
    """A contiguous array in device memory.

    Create one with `array`, `empty` or `zeros`; `numpy()` copies it back. Slices along the first axis are views.
    `int(a)` is the address, for functions of the module `acl`.
    """

    def __init__(self, memory: Memory | ImportedMemory, offset: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._memory = memory
        self._offset = offset
        self.shape = shape
        self.dtype = dtype

    @property
    def device(self) -> Device:
        """The device that holds the array."""
        return self._memory.device

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return self.size * self.dtype.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __int__(self) -> int:
        return self._memory.address + self._offset

    __index__ = __int__

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def numpy(self, stream: Stream | None = None) -> np.ndarray:
        """A copy in host memory, made after the work of the stream is done.

        Without a stream it waits for all work on the device."""
        if stream is not None:
            stream.synchronize()
        else:
            self.device.synchronize()
        host = np.empty(self.shape, self.dtype)
        check(acl.rt.memcpy(host.ctypes.data, host.nbytes, int(self), self.nbytes, DEVICE_TO_HOST),
              "copying an array to the host") if self.nbytes else None
        return host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array in device memory cannot become a numpy array without a copy")
        host = self.numpy()
        return host if dtype is None else host.astype(dtype)

    def set(self, source: Any, stream: Stream | None = None) -> "Array":
        """Copies values into the array from a numpy array, anything convertible to one, or a device array.

        A copy from a device array runs in stream order; a copy from the host is complete on return."""
        if isinstance(source, Array):
            if source.shape != self.shape or source.dtype != self.dtype:
                raise ValueError(f"{source.dtype}{list(source.shape)} does not fit into {self.dtype}{list(self.shape)}")
            stream = stream or current_stream()
            check(acl.rt.memcpy_async(int(self), self.nbytes, int(source), self.nbytes, DEVICE_TO_DEVICE,
                                      stream.handle if stream else 0), "copying an array")
            return self
        host = np.ascontiguousarray(np.broadcast_to(np.asarray(source, self.dtype), self.shape))
        if stream is not None:
            stream.synchronize()
        if self.nbytes:
            check(acl.rt.memcpy(int(self), self.nbytes, host.ctypes.data, host.nbytes, HOST_TO_DEVICE),
                  "copying an array to the device")
        return self

    def reshape(self, *shape: Any) -> "Array":
        """The same memory in another shape; one length may be -1."""
        wanted = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else tuple(shape)
        if -1 in wanted:
            known = math.prod(length for length in wanted if length != -1)
            if wanted.count(-1) > 1 or known == 0 or self.size % known:
                raise ValueError(f"{self.size} elements do not fit the shape {wanted}")
            wanted = tuple(self.size // known if length == -1 else length for length in wanted)
        if math.prod(wanted) != self.size:
            raise ValueError(f"{self.size} elements do not fit the shape {wanted}")
        return Array(self._memory, self._offset, wanted, self.dtype)

    def __getitem__(self, key: Any) -> "Array":
        """`a[i]` and `a[i:j]` are views; for other selections use `a.numpy()[...]`."""
        if not self.shape:
            raise IndexError("an array without axes has no elements to select")
        row = self.nbytes // self.shape[0] if self.shape[0] else 0
        if isinstance(key, slice):
            start, stop, step = key.indices(self.shape[0])
            if step != 1:
                raise IndexError("slices of device arrays must have step 1")
            return Array(self._memory, self._offset + start * row, (max(stop - start, 0), *self.shape[1:]), self.dtype)
        if isinstance(key, (int, np.integer)):
            index = int(key) + (self.shape[0] if key < 0 else 0)
            if not 0 <= index < self.shape[0]:
                raise IndexError(f"index {key} is out of range for {self.shape[0]} elements")
            return Array(self._memory, self._offset + index * row, self.shape[1:], self.dtype)
        raise TypeError("the index of a device array must be an integer or a slice")

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key].set(value)

    def share(self, *processes: Any) -> str:
        """The key under which other processes open the array with `shared_array`; with `processes`, only those: numbers,
        or started `multiprocessing.Process` objects.

        Work that is ready to run is finished first. The array must be a whole one, not a slice. The key ends with the
        memory, so keep the array; processes that have opened it by then keep it too.
        """
        if self._offset or not self.nbytes or self.nbytes != self._memory.size or isinstance(self._memory, ImportedMemory):
            raise ValueError("only a whole array of this process that is not empty can be shared")
        if not processes:
            return self._memory.key
        numbers = [process_number(one) for one in processes]
        key = self._memory.export(LISTED)
        with self.device:
            check(acl.rt.ipc_mem_set_import_pid(key, numbers), "sharing an array")
        return key

    def __repr__(self) -> str:
        return f"canopy.Array({list(self.shape)}, {self.dtype}, device {self.device.index})"


def _layout(shape: Any, dtype: Any) -> tuple[tuple[int, ...], np.dtype, int]:
    """Shape and type as they are kept, and the size in bytes."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    shape = tuple(int(length) for length in shape)
    if any(length < 0 for length in shape):
        raise ValueError(f"a shape cannot have negative lengths: {shape}")
    dtype = np.dtype(dtype)
    if dtype.hasobject:
        raise TypeError(f"elements of type {dtype} cannot be in device memory")
    return shape, dtype, math.prod(shape) * dtype.itemsize


def empty(shape: Any, dtype: Any = np.float32, device: Device | None = None) -> Array:
    """An uninitialised array."""
    shape, dtype, size = _layout(shape, dtype)
    return Array(Memory(size, device or current_device()), 0, shape, dtype)


def empty_like(other: Any) -> Array:
    """An uninitialised array of the same shape and type as a device or numpy array."""
    return empty(other.shape, other.dtype, other.device if isinstance(other, Array) else None)


def zeros(shape: Any, dtype: Any = np.float32, device: Device | None = None) -> Array:
    """An array of zeros."""
    made = empty(shape, dtype, device)
    if made.nbytes:
        check(acl.rt.memset(int(made), made.nbytes, 0, made.nbytes), "filling an array")
    return made


def array(source: Any, dtype: Any = None, device: Device | None = None) -> Array:
    """A copy of host values in device memory."""
    host = np.asarray(source, dtype)
    return empty(host.shape, host.dtype, device).set(host)


def shared_array(key: str, shape: Any, dtype: Any = np.float32, device: Device | None = None) -> Array:
    """The array that another process has shared under `key`: the same memory, not a copy.

    Shape and type are not part of the key: they must fit into the array there. Arrays that are passed to another
    process by `multiprocessing` arrive like this, with shape and type.
    """
    shape, dtype, size = _layout(shape, dtype)
    return _view(key, 0, shape, dtype, size, device)


def _view(key: str, offset: int, shape: tuple[int, ...], dtype: np.dtype, size: int, device: Device | None = None) -> Array:
    memory = Memory.shared.get(key) or ImportedMemory(key, device or current_device())
    if offset + size > memory.size:
        raise ValueError(f"{dtype}{list(shape)} has {size} bytes, and the shared array {memory.size}")
    return Array(memory, offset, shape, dtype)


def _reduce(array: Array) -> tuple:
    if not array._memory.size:
        return empty, (array.shape, array.dtype)
    return _view, (array._memory.key, array._offset, array.shape, array.dtype, array.nbytes)


travels(Array, _reduce)
