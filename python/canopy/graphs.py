# SPDX-License-Identifier: Apache-2.0
"""Graphs: launches recorded once, replayed many times, and optionally fused into one kernel."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from .library import call

if TYPE_CHECKING:
    from .streams import Stream

MODES = {"global": 0, "thread_local": 1, "relaxed": 2}


class Graph:
    """A captured graph, created by `stream.capture()`:

    with stream.capture() as graph:
        first(8, stream)(x, y)
        second(8, stream)(y, z)
    graph.fuse()                 # one kernel instead of two
    graph.launch(stream)         # any number of times
    """

    def __init__(self, stream: Stream, mode: str) -> None:
        if mode not in MODES:
            raise ValueError(f"the capture mode must be one of {', '.join(MODES)}, not {mode}")
        self._stream = stream
        self._mode = MODES[mode]
        self.handle = 0

    def __enter__(self) -> "Graph":
        call("aclmdlRICaptureBegin", self._stream.handle, ctypes.c_int(self._mode))
        self._stream.__enter__()
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        from . import streams

        streams._thread.stream = self._stream._before.pop()  # the stream has nothing to run, so do not wait for it
        handle = ctypes.c_void_p()
        try:
            call("aclmdlRICaptureEnd", self._stream.handle, ctypes.byref(handle))
        except RuntimeError:
            if kind is None:
                raise
        self.handle = handle.value or 0

    def fuse(self) -> "Graph":
        """Fuses consecutive kernels into one; results stay bit-identical."""
        call("aclskOptimize", self.handle, ctypes.c_void_p())
        return self

    def launch(self, stream: Stream | None = None) -> None:
        """Replays the graph on a stream, by default the one it was captured from."""
        call("aclmdlRIExecuteAsync", self.handle, (stream or self._stream).handle)

    def close(self) -> None:
        """Destroys the graph; its replays must have finished. Otherwise it fails and the graph stays."""
        if self.handle:
            call("aclmdlRIDestroy", self.handle)
            self.handle = 0

    def __del__(self) -> None:
        try:
            self.close()
        except (RuntimeError, TypeError, AttributeError):
            pass  # a replay is still running, or the interpreter is exiting
