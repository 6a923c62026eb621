# SPDX-License-Identifier: Apache-2.0
"""Devices: the current device of a thread, and its lifetime."""

from __future__ import annotations

import atexit
import threading

import acl

from .errors import check

_lock = threading.Lock()
_started = False
_thread = threading.local()

ALREADY_INITIALISED = 100002


def _start() -> None:
    """Initialises the runtime once per process, unless the program has already done so."""
    global _started
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
    device = getattr(_thread, "device", None)
    if device is None:
        _start()
        index, code = acl.rt.get_device()
        device = Device(index if code == 0 else 0).use()
    return device


def synchronize() -> None:
    """Waits for all work on the thread's current device."""
    current_device().synchronize()
