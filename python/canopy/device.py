# SPDX-License-Identifier: Apache-2.0
"""Devices: the current device of a thread, and its lifetime."""

from __future__ import annotations

import atexit
import os
import threading

import acl

from .errors import Error, check

_lock = threading.Lock()
_started = False
_forked = False
_thread = threading.local()

ALREADY_INITIALISED = 100002
INVALID_HANDLE = 107017


def _after_fork() -> None:
    global _forked
    _forked = _forked or _started


os.register_at_fork(after_in_child=_after_fork)


def forked() -> bool:
    """Whether this process was forked from one that used the runtime: it may not use what it inherited."""
    return _forked


def check_fork(what: str) -> None:
    """Raises in a process that was forked from one that used the runtime."""
    if _forked:
        raise Error(INVALID_HANDLE, f"using {what} in a forked process",
                    "It has none of the threads of the runtime that it was forked from. Start processes with "
                    'multiprocessing.get_context("spawn").')


def _start() -> None:
    """Initialises the runtime once per process, unless the program has already done so."""
    global _started
    check_fork("the runtime")
    if _started:
        return
    with _lock:
        if _started:
            return
        code = acl.init()
        if code == 0:
            atexit.register(acl.finalize)
        elif code != ALREADY_INITIALISED:
            check(code, "initialising the runtime")
        _started = True


class Device:
    """A device. As a context manager: the thread's current device inside the block.

    with canopy.Device(1):
        x = canopy.zeros(16)     # on device 1
    """

    def __init__(self, index: int = 0) -> None:
        _start()
        self.index = index
        self._before: list[Device | None] = []

    @staticmethod
    def count() -> int:
        """Number of devices."""
        _start()
        count, code = acl.rt.get_device_count()
        check(code, "counting devices")
        return count

    def use(self) -> "Device":
        """Makes this the thread's current device."""
        check_fork("a device")
        check(acl.rt.set_device(self.index), f"opening device {self.index}")
        _thread.device = self
        return self

    def synchronize(self) -> None:
        """Waits for all work on the device."""
        with self:
            check(acl.rt.synchronize_device(), f"waiting for device {self.index}")

    @property
    def memory(self) -> tuple[int, int]:
        """Free and total bytes of device memory."""
        with self:
            free, total, code = acl.rt.get_mem_info(0)
            check(code, f"asking device {self.index} for its memory")
            return free, total

    def __enter__(self) -> "Device":
        self._before.append(getattr(_thread, "device", None))
        return self.use()

    def __exit__(self, *exception: object) -> None:
        before = self._before.pop()
        if before is not None and before is not self:
            before.use()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.index == self.index

    def __hash__(self) -> int:
        return hash(self.index)

    def __repr__(self) -> str:
        return f"canopy.Device({self.index})"


def current_device() -> Device:
    """The thread's current device; opens device 0 if it has none."""
    check_fork("a device")
    device = getattr(_thread, "device", None)
    if device is None:
        _start()
        index, code = acl.rt.get_device()
        if code != 0:  # the thread has none: no error that a later one should tell of
            acl.get_recent_err_msg()
        device = Device(index if code == 0 else 0).use()
    return device


def synchronize() -> None:
    """Waits for all work on the thread's current device."""
    current_device().synchronize()
