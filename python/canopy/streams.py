# SPDX-License-Identifier: Apache-2.0
"""Streams and events."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import acl

from .device import Device, current_device
from .errors import check

if TYPE_CHECKING:
    from .graphs import Graph

_thread = threading.local()


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
        if handle:
            acl.rt.destroy_stream(handle)


class Event:
    """A point in a stream. `a.milliseconds_to(b)` is the time between two points."""

    def __init__(self) -> None:
        current_device()
        self.handle, code = acl.rt.create_event()
        check(code, "creating an event")

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
        if handle:
            acl.rt.destroy_event(handle)


def current_stream() -> Stream | None:
    """The stream of the thread's innermost `with` block; None: the default stream of the device."""
    return getattr(_thread, "stream", None)
