# SPDX-License-Identifier: Apache-2.0
"""Streams, events and notifies."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import acl

from .device import Device, current_device, forked
from .errors import check
from .sharing import KEY_SIZE, process_number, travels

if TYPE_CHECKING:
    from .graphs import Graph

_thread = threading.local()

SHARED_EVENT = 0x40
LISTED, ANYBODY = 0, 2


class Stream:
    """A queue of work that runs in order. As a context manager: the thread's current stream inside the block,
    synchronised at its end:

    with canopy.Stream() as stream:
        kernel(8)(x, y)          # on this stream
    """

    def __init__(self, device: Device | None = None) -> None:
        self.device = device or current_device()
        with self.device:
            self.handle, code = acl.rt.create_stream()
            check(code, "creating a stream")
        self._before: list[Stream | None] = []

    def synchronize(self) -> None:
        """Waits for all work on the stream; raises an error if any of it failed."""
        check(acl.rt.synchronize_stream(self.handle), "waiting for a stream")

    def record(self, event: Event | None = None) -> Event:
        """Records an event; creates one if none is given."""
        event = event or Event()
        check(acl.rt.record_event(event.handle, self.handle), "recording an event")
        return event

    def wait(self, event: Event) -> None:
        """Makes later work on the stream wait for the event."""
        check(acl.rt.stream_wait_event(self.handle, event.handle), "letting a stream wait for an event")

    def capture(self, mode: str = "thread_local") -> Graph:
        """Captures launches on the stream inside a `with` block into a graph instead of running them."""
        from .graphs import Graph

        return Graph(self, mode)

    def close(self) -> None:
        """Waits for the work on the stream and destroys it."""
        handle, self.handle = self.handle, 0
        if handle:
            check(acl.rt.destroy_stream(handle), "destroying a stream")

    def __enter__(self) -> "Stream":
        self._before.append(getattr(_thread, "stream", None))
        _thread.stream = self
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        _thread.stream = self._before.pop()
        if kind is None:
            self.synchronize()

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", 0), 0
        if handle and not forked():
            acl.rt.destroy_stream(handle)


class Event:
    """A point in a stream. `a.milliseconds_to(b)` is the time between two points.

    With `shared=True` other processes can open it; such an event knows no times.
    """

    def __init__(self, shared: bool = False) -> None:
        current_device()
        self.handle, code = acl.rt.create_event_ex_with_flag(SHARED_EVENT) if shared else acl.rt.create_event()
        check(code, "creating an event")

    @classmethod
    def open(cls, key: bytes) -> "Event":
        """The event that another process has shared under `key`, and must keep as long."""
        current_device()
        event = cls.__new__(cls)
        event.handle, code = acl.rt.ipc_open_event_handle(key)
        check(code, "opening a shared event")
        return event

    def share(self) -> bytes:
        """The key under which other processes open an event that was created with `shared=True`."""
        key, code = acl.rt.ipc_get_event_handle(self.handle)
        check(code, "sharing an event; create it with Event(shared=True)")
        return key

    def synchronize(self) -> None:
        """Waits until the event has been reached."""
        check(acl.rt.synchronize_event(self.handle), "waiting for an event")

    @property
    def reached(self) -> bool:
        """Whether all work before the event is done."""
        status, code = acl.rt.query_event_status(self.handle)
        check(code, "asking an event")
        return status == 1

    def milliseconds_to(self, later: Event) -> float:
        """The time from this event to a later one; waits for both."""
        self.synchronize()
        later.synchronize()
        time, code = acl.rt.event_elapsed_time(self.handle, later.handle)
        check(code, "taking the time between two events")
        return time

    def __enter__(self) -> "Event":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Destroys the event."""
        handle, self.handle = self.handle, 0
        if handle:
            check(acl.rt.destroy_event(handle), "destroying an event")

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", 0), 0
        if handle and not forked():
            acl.rt.destroy_event(handle)


travels(Event, lambda event: (Event.open, (event.share(),)))


class Notify:
    """A flag that one stream sets and another waits for, which clears it again. The wait may come first.

    Another process may open it and record it; the wait is for the process that created it.
    """

    def __init__(self) -> None:
        current_device()
        self._key: str | None = None
        self._listed = False
        self.handle, code = acl.rt.create_notify(0)
        check(code, "creating a notify")

    @classmethod
    def open(cls, key: str) -> "Notify":
        """The notify that another process has shared under `key`."""
        current_device()
        notify = cls.__new__(cls)
        notify._key, notify._listed = key, False
        notify.handle, code = acl.rt.notify_import_by_key(key, 0)
        check(code, "opening a shared notify")
        return notify

    def share(self, *processes: Any) -> str:
        """The key under which other processes open the notify; with `processes`, only those, and those of later calls.

        Share it before a stream waits for it: such a wait would not see the records of other processes."""
        if self._key is None:
            self._key, code = acl.rt.notify_get_export_key(self.handle, KEY_SIZE, LISTED if processes else ANYBODY)
            check(code, "sharing a notify")
            self._listed = bool(processes)
        elif self._listed and not processes:
            raise ValueError("the notify is shared with listed processes: name those to add")
        if processes:
            check(acl.rt.notify_set_import_pid(self.handle, [process_number(one) for one in processes]),
                  "sharing a notify")
        return self._key

    def record(self, stream: Stream | None = None) -> None:
        """Sets the flag when the work before it on the stream is done."""
        stream = stream or current_stream()
        check(acl.rt.record_notify(self.handle, stream.handle if stream else 0), "recording a notify")

    def wait(self, stream: Stream | None = None, timeout: int = 0) -> None:
        """Makes later work on the stream wait for the flag, at most `timeout` seconds unless that is 0; clears it."""
        stream = stream or current_stream()
        check(acl.rt.wait_and_reset_notify(self.handle, stream.handle if stream else 0, timeout),
              "letting a stream wait for a notify")

    def __enter__(self) -> "Notify":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Destroys the notify; one of another process is only closed."""
        handle, self.handle = self.handle, 0
        if handle:
            check(acl.rt.destroy_notify(handle), "destroying a notify")

    def __del__(self) -> None:
        handle, self.handle = getattr(self, "handle", 0), 0
        if handle and not forked():
            acl.rt.destroy_notify(handle)


def _key_of_notify(notify: Notify) -> tuple:
    return Notify.open, (notify._key or notify.share(),)


travels(Notify, _key_of_notify)


def current_stream() -> Stream | None:
    """The stream of the thread's innermost `with` block; None: the default stream of the device."""
    return getattr(_thread, "stream", None)
