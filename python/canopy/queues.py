# SPDX-License-Identifier: Apache-2.0
"""Queues between threads and processes."""

from __future__ import annotations

import ast
import contextlib
import ctypes
import functools
import math
import os
import select
import struct
import sys
import threading
import time
from typing import Any, Iterator

import acl
import numpy as np

from .arrays import DEVICE_TO_HOST, HOST_TO_DEVICE, Array, empty
from .device import check_fork, current_device, forked
from .errors import Error, QueueEmpty, QueueEnd, QueueFull, check
from .library import call
from .sharing import process_number, travels

MANAGE, GET, PUT = 1, 2, 4
NAME, DEPTH = 0, 1
NOT_PERMITTED, EMPTY, FULL, OTHER_ENDED = 207006, 207013, 207014, 507010
# A wait is made of waits of this length, so that signals are handled and the end of other processes is seen.
SLICE = 0.1

# What lies in the user area of an item of this package: mark, kind, length of the description, bytes of data. The
# description follows if it fits, otherwise it lies behind the data.
HEADER = struct.Struct("<4sBxxxIQ")
MARK = b"cnq1"
USER_AREA = 96
END, BYTES, HOST_ARRAY, DEVICE_ARRAY = range(4)


class Buffer:
    """A buffer of the runtime that this process owns, freed with its last user."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.address, _, code = acl.tdt.get_buf_data(handle)
        check(code, "reading an item of a queue")
        self.size, code = acl.tdt.get_buf_data_len(handle)
        check(code, "reading an item of a queue")

    @staticmethod
    def allocate(size: int) -> "Buffer":
        handle, code = acl.tdt.alloc_buf(max(size, 1), 0)
        check(code, f"allocating {size} bytes for a queue")
        return Buffer(handle)

    def parts(self) -> list["Part"]:
        """The buffers of the chain that starts here, this one first."""
        number, code = acl.tdt.get_buf_chain_num(self.handle)
        check(code, "reading an item of a queue")
        found = []
        for index in range(number):
            handle, code = acl.tdt.get_buf_from_chain(self.handle, index)
            check(code, "reading an item of a queue")
            found.append(Part(handle))
        return found

    @property
    def __array_interface__(self) -> dict[str, Any]:
        # numpy keeps the object, and so the memory, as long as the array.
        return {"version": 3, "shape": (self.size,), "typestr": "|u1", "data": (self.address, False)}

    def __del__(self) -> None:
        handle, self.handle = self.handle, 0
        if handle and not forked():
            acl.tdt.free_buf(handle)


class Part(Buffer):
    """A buffer of a chain, which is freed with its head."""

    def __del__(self) -> None:
        pass


@functools.lru_cache(maxsize=256)
def _describe(shape: tuple[int, ...], dtype: np.dtype) -> bytes:
    return repr((shape, np.lib.format.dtype_to_descr(dtype))).encode()


@functools.lru_cache(maxsize=256)
def _described(text: bytes) -> tuple[tuple[int, ...], np.dtype]:
    shape, descr = ast.literal_eval(text.decode())
    return tuple(shape), np.lib.format.descr_to_dtype(descr)


def _pack(kind: int, data: Any = None, size: int = 0, description: bytes = b"") -> Buffer:
    """A buffer with an item; `data` is bytes, an address or a device array."""
    inside = HEADER.size + len(description) <= USER_AREA
    length = size + (0 if inside else len(description))
    buffer = Buffer.allocate(length)
    if isinstance(data, Array):
        data.device.synchronize()
        check(acl.rt.memcpy(buffer.address, size, int(data), size, DEVICE_TO_HOST), "copying an array into a queue")
    elif size:
        ctypes.memmove(buffer.address, data, size)
    header = HEADER.pack(MARK, kind, len(description), size)
    if inside:
        header += description
    else:
        ctypes.memmove(buffer.address + size, description, len(description))
    check(acl.tdt.set_buf_data_len(buffer.handle, length), "filling an item of a queue")
    check(acl.tdt.set_buf_user_data(buffer.handle, header, len(header), 0), "filling an item of a queue")
    return buffer


def _pack_item(item: Any) -> Buffer:
    if isinstance(item, (bytes, bytearray, memoryview)):
        data = bytes(item)
        return _pack(BYTES, data, len(data))
    if isinstance(item, Array):
        return _pack(DEVICE_ARRAY, item if item.nbytes else None, item.nbytes, _describe(item.shape, item.dtype))
    if isinstance(item, (np.ndarray, np.generic)):
        if item.dtype.hasobject:
            raise TypeError(f"elements of type {item.dtype} cannot go through a queue")
        host = np.ascontiguousarray(item)
        return _pack(HOST_ARRAY, host.ctypes.data, host.nbytes, _describe(item.shape, item.dtype))
    raise TypeError(f"a queue carries bytes, numpy arrays and device arrays, not {type(item).__name__}; "
                    "put pickle.dumps(item) for anything else")


def _unpack(buffer: Buffer) -> Any:
    """The item in a buffer. Raises QueueEnd for the end."""
    user = bytearray(USER_AREA)
    check(acl.tdt.get_buf_user_data(buffer.handle, user, USER_AREA, 0), "reading an item of a queue")
    mark, kind, length, size = HEADER.unpack_from(user)
    inside = HEADER.size + length <= USER_AREA
    if mark != MARK or kind > DEVICE_ARRAY or size + (0 if inside else length) > buffer.size:
        # Of a program that does not use this package.
        parts = buffer.parts()
        return np.asarray(buffer) if len(parts) == 1 else np.concatenate([np.asarray(part) for part in parts])
    if kind == END:
        raise QueueEnd("the queue has ended")
    if kind == BYTES:
        return ctypes.string_at(buffer.address, size)
    text = bytes(user[HEADER.size:HEADER.size + length]) if inside else ctypes.string_at(buffer.address + size, length)
    shape, dtype = _described(text)
    if math.prod(shape) * dtype.itemsize != size or dtype.hasobject:
        raise ValueError("another process damaged the item")
    if kind == HOST_ARRAY:
        return np.ndarray(shape, dtype, np.asarray(buffer)) if size else np.empty(shape, dtype)
    there = empty(shape, dtype)
    if size:
        check(acl.rt.memcpy(int(there), size, buffer.address, size, HOST_TO_DEVICE), "copying an array out of a queue")
    return there


class _Grants:
    """The processes that the creator of a queue let use it, and which of them live."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: list[tuple[int, int]] = []  # descriptor of the process, rights
        self._given = 0

    def add(self, process: int, rights: int) -> None:
        with self._lock:
            self._given |= rights
            with contextlib.suppress(ProcessLookupError):  # it has ended
                self._processes.append((os.pidfd_open(process), rights))

    def living(self, right: int) -> int:
        """The number of processes that have the right and live."""
        with self._lock:
            poll = select.poll()
            for descriptor, _ in self._processes:
                poll.register(descriptor, select.POLLIN)
            ended = {descriptor for descriptor, _ in poll.poll(0)}
            for descriptor in ended:
                os.close(descriptor)
            self._processes = [one for one in self._processes if one[0] not in ended]
            return sum(bool(rights & right) for _, rights in self._processes)

    def all_gone(self, right: int) -> bool:
        """Whether processes had the right and none of them lives."""
        return bool(self._given & right) and self.living(right) == 0

    def __del__(self) -> None:
        for descriptor, _ in self._processes:
            os.close(descriptor)


class Queue:
    """A queue of bytes, numpy arrays and device arrays, first in first out, for the threads of one or more processes.

    queue = canopy.Queue()                      # in one process
    worker = spawn.Process(target=work, args=(queue,))
    worker.start()
    queue.grant(worker)
    with queue:
        queue.put(np.arange(10))                # at the end of the block the loop below ends

    def work(queue):                            # in the other one
        for array in queue: ...

    What arrives is what was put: bytes, a numpy array of the same type and shape, or a device array on the receiver's
    current device. A numpy array lies in memory that both processes have; it is not copied on this side. Items that
    other programs put in arrive as arrays of uint8.
    """

    def __init__(self, depth: int = 8, name: str = "") -> None:
        current_device()
        self._prepare(own=True)
        attributes = acl.tdt.create_queue_attr()
        try:
            check(acl.tdt.set_queue_attr(attributes, DEPTH, depth), "creating a queue")
            check(acl.tdt.set_queue_attr(attributes, NAME, name), "creating a queue")
            self._number, code = acl.tdt.create_queue(attributes)
            check(code, "creating a queue")
        finally:
            acl.tdt.destroy_queue_attr(attributes)
        self._open = True

    def _prepare(self, own: bool) -> None:
        self._own = own
        self._open = False
        self._attached = own
        self._number = 0
        self._puts = self._gets = 0  # what this process did with it
        self._ended = False
        self._reading = 0  # threads that are inside get or a loop
        self._counting = threading.Lock()
        self._grants = _Grants()

    @classmethod
    def _named(cls, number: int) -> "Queue":
        """A queue of another process, which is attached when it is first used."""
        self = cls.__new__(cls)
        self._prepare(own=False)
        self._number = number
        self._open = True
        return self

    @classmethod
    def attach(cls, number: int, timeout: float | None = 10) -> "Queue":
        """The queue `number` of another process, which grants it to this one within `timeout` seconds."""
        self = cls._named(number)
        self._attach(timeout)
        return self

    def _attach(self, timeout: float | None) -> None:
        what = f"attaching to queue {self._number}"

        def attempt(milliseconds: int) -> tuple[int, int]:
            _, code = acl.tdt.attach_queue(self._number, milliseconds)
            return 0, code

        current_device()
        try:
            self._in_slices(attempt, timeout, NOT_PERMITTED, Error, what, lambda: None)
        except Error as error:
            if error.code == NOT_PERMITTED:
                error.args = (f"{error.args[0]}\nits creator must call grant({os.getpid()})",)
            raise
        self._attached = True

    def _usable(self) -> None:
        check_fork("a queue")
        if not self._open:
            raise ValueError("the queue is closed")
        if not self._attached:
            self._attach(10)

    @property
    def number(self) -> int:
        """The number by which other processes attach to the queue."""
        return self._number

    def grant(self, process: Any, get: bool = True, put: bool = True, manage: bool = False) -> None:
        """Lets another process use the queue: a number, or a started `multiprocessing.Process`. Give it only the rights
        that it uses: `end()` and `close()` count the processes that may get."""
        self._usable()
        number, rights = process_number(process), GET * get | PUT * put | MANAGE * manage
        check(acl.tdt.grant_queue(self._number, number, rights, 0), f"granting queue {self._number}")
        if self._own:
            self._grants.add(number, rights)

    @staticmethod
    def _in_slices(attempt: Any, timeout: float | None, timed_out: int, error: type, what: str, look: Any) -> Any:
        """Calls attempt(milliseconds), which returns a value and a code, until it does not time out."""
        if timeout is not None and timeout < 0:
            raise ValueError("a timeout cannot be negative")
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = max(deadline - time.monotonic(), 0)
            value, code = attempt(math.ceil(1000 * min(left, SLICE)))
            if code != timed_out:
                check(code, what)
                return value
            text = (acl.get_recent_err_msg() or "").strip()
            if left <= SLICE:
                raise error(code, what, text)
            look()

    def _put(self, buffer: Buffer, timeout: float | None) -> None:
        def attempt(milliseconds: int) -> tuple[None, int]:
            return None, acl.tdt.enqueue(self._number, buffer.handle, milliseconds)

        def look() -> None:
            if not self._gets and self._grants.all_gone(GET):
                raise Error(OTHER_ENDED, f"putting into queue {self._number}", "every process that may get has ended")

        self._in_slices(attempt, timeout, FULL, QueueFull, f"putting into queue {self._number}", look)
        buffer.handle = 0  # it is the queue's

    def put(self, item: Any, timeout: float | None = None) -> None:
        """Puts an item in. Waits for a free place for at most `timeout` seconds, then raises QueueFull.

        The values are copied; a device array after all work on its device."""
        self._usable()
        self._put(_pack_item(item), timeout)
        self._puts += 1

    def get(self, timeout: float | None = None) -> Any:
        """Takes the first item out. Waits for one for at most `timeout` seconds, then raises QueueEmpty. Raises
        QueueEnd when the writer has ended the queue, and Error when it is gone without that."""
        with self._reading_here():
            return self._get(timeout)

    def _get(self, timeout: float | None) -> Any:
        self._usable()

        def attempt(milliseconds: int) -> tuple[int, int]:
            return acl.tdt.dequeue(self._number, milliseconds)

        what = f"getting from queue {self._number}"
        gone = False

        def look() -> None:
            nonlocal gone
            if gone:
                raise Error(OTHER_ENDED, what, "every process that may put has ended")
            gone = not self._puts and self._grants.all_gone(PUT)  # what they have put by then is taken first

        self._gets += 1
        return _unpack(Buffer(self._in_slices(attempt, timeout, EMPTY, QueueEmpty, what, look)))

    def __iter__(self) -> Iterator[Any]:
        """The items until the end of the queue. After that another loop takes the items that are put in later."""
        with self._reading_here():
            while True:
                try:
                    item = self._get(None)
                except QueueEnd:
                    return
                yield item

    @contextlib.contextmanager
    def _reading_here(self) -> Iterator[None]:
        with self._counting:
            self._reading += 1
        try:
            yield
        finally:
            with self._counting:
                self._reading -= 1

    def __len__(self) -> int:
        """The number of items in the queue now."""
        self._usable()
        number = ctypes.c_uint32()
        call("canopyCountQueueItems", ctypes.c_uint32(self._number), ctypes.byref(number))
        return number.value

    def __bool__(self) -> bool:
        return True

    def _readers(self) -> int:
        """The number of readers that are known here."""
        return self._grants.living(GET) + self._reading

    def end(self, readers: int | None = None, timeout: float | None = None) -> None:
        """Says that no more items come: ends the loops of `readers` readers, by default of those known here."""
        self._usable()
        self._ended = True
        for _ in range(max(self._readers(), 1) if readers is None else readers):
            self._put(_pack(END), timeout)

    def close(self, timeout: float | None = None) -> None:
        """Ends the use of the queue here. If this process has put items in, it calls `end()`, and the creator waits until
        the readers have taken everything, or for `timeout` seconds. The creator destroys the queue."""
        if not self._open:
            return
        check_fork("a queue")
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        if self._puts and not self._ended and (self._readers() or not self._own):
            self.end(timeout=timeout)
        pause = 0.0002
        while self._own and self._puts and self._readers() and len(self) and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, 0.005)
        self.destroy()

    def destroy(self) -> None:
        """Ends the use of the queue at once. If this process created it, it is gone with what is in it, and those who
        wait get an error."""
        was_open, self._open = self._open, False
        if was_open and self._own and not forked():
            check(acl.tdt.destroy_queue(self._number), f"destroying queue {self._number}")

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self.destroy()

    def __del__(self) -> None:
        # Others may still read what is in it: that ends with this process.
        if getattr(self, "_open", False) and self._own and not forked() and not sys.is_finalizing() and not len(self):
            acl.tdt.destroy_queue(self._number)

    def __repr__(self) -> str:
        return f"canopy.Queue({self._number}{'' if self._open else ', closed'})"


travels(Queue, lambda queue: (Queue._named, (queue.number,)))
