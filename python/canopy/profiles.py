# SPDX-License-Identifier: Apache-2.0
"""Profiles: what calls, kernels, copies and memory of a part of the program did, as numpy arrays."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterable
from types import TracebackType

import numpy as np

from .device import check_fork
from .errors import check
from .library import _library, call

WANTS = {"calls": 0x1, "tasks": 0x2, "nodes": 0x4, "blocks": 0x8, "memory": 0x10, "marks": 0x20, "idle": 0x40,
         "steps": 0x80}

# The rows of canopy/profile.h, in the order of its numbers of tables.
_TIME = [("start", "f8"), ("duration", "f8")]
TABLES = {
    "calls": _TIME + [("name", "u4"), ("thread", "u4"), ("code", "i4"), ("tasks", "u4"), ("stream", "u4"),
                      ("task", "u4")],
    "tasks": _TIME + [("submitted", "f8"), ("name", "u4"), ("type", "u4"), ("stream", "u4"), ("task", "u4"),
                      ("device", "u4"), ("core", "u4"), ("blocks", "u4"), ("flags", "u4"), ("waits_for", "u8"),
                      ("released_by_stream", "u4"), ("released_by_task", "u4"), ("code", "i4"), ("graph_task", "u4"),
                      ("lane", "u4"), ("position", "u4")],
    "copies": _TIME + [("bytes", "u8"), ("kind", "u4"), ("device", "u4"), ("stream", "u4"), ("task", "u4")],
    "blocks": _TIME + [("stream", "u4"), ("task", "u4"), ("block", "u4"), ("piece", "u4"), ("thread", "u4"),
                       ("vector_core", "u4")],
    "marks": _TIME + [("text", "u4"), ("domain", "u4"), ("form", "u4"), ("source", "u4"), ("on_device", "u4"),
                      ("category", "u4"), ("thread", "u4"), ("reserved", "u4"), ("number", "u8")],
    "memory": [("start", "f8"), ("size", "u8"), ("in_use", "u8"), ("name", "u4"), ("device", "u4"), ("change", "i4"),
               ("thread", "u4")],
    "steps": [("start", "f8"), ("number", "u4"), ("form", "u4"), ("tag", "u4"), ("device", "u4"), ("stream", "u4"),
              ("task", "u4"), ("model", "u8")],
    "threads": [("number", "u4"), ("system_id", "u4"), ("role", "u4"), ("index", "u4"), ("name", "u4"),
                ("reserved", "u4"), ("lost", "u8")],
}
TASK_TYPES = ("kernel", "cpu_kernel", "copy", "fill", "signal", "wait", "write_value", "wait_value", "host_call",
              "runtime_call", "replay", "condition", "control", "mark")
KERNEL_TYPES = (0, 1)


class _Facts(ctypes.Structure):
    _fields_ = [("began", ctypes.c_int64), ("records", ctypes.c_uint64), ("lost", ctypes.c_uint64),
                ("damage", ctypes.c_char_p)]


def _bits(want: str | Iterable[str] | None) -> int:
    if want is None:
        return sum(WANTS.values())
    bits = 0
    for word in want.split(",") if isinstance(want, str) else want:
        if word not in WANTS:
            raise ValueError(f"want is made of {', '.join(WANTS)}, not {word}")
        bits |= WANTS[word]
    if not bits:
        raise ValueError(f"want is empty; it is made of {', '.join(WANTS)}")
    return bits


class Profile:
    """A part of the program that is recorded, made by `canopy.profile()`. After the block:

    calls, tasks, copies, blocks, marks, memory, steps, threads
                        numpy structured arrays; times are nanoseconds since `began`, names are indices of `names`
    names               the texts
    kernels()           a row for each kernel: name, count, total, least, mean, most
    save(path)          .html, .json, .json.gz or .canopyprof; a folder gets the files of the field's tools
    began, lost, damage when it began (unix time in nanoseconds), how many records found no room, why it ends early
    """

    def __init__(self, path: str | os.PathLike | None, want: str | Iterable[str] | None) -> None:
        self._path = None if path is None else os.fspath(path)
        self._want = _bits(want)
        self._handle = ctypes.c_void_p()
        self._records = False

    def __enter__(self) -> "Profile":
        check_fork("a profile")
        if self._handle:
            raise RuntimeError("a profile can be recorded once")
        where = None if self._path is None else os.fsencode(self._path)
        call("canopyProfileStart", where, ctypes.c_uint32(self._want), ctypes.byref(self._handle))
        self._records = True
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._records = False
        code = _library().canopyProfileStop(self._handle)
        if kind is None:  # else the error of the block says more
            check(code, "ending the profile")

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in TABLES:
            raise AttributeError(f"a profile has no {name}")
        rows, size, count = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t()
        self._call("canopyProfileRows", ctypes.c_int(list(TABLES).index(name)), ctypes.byref(rows), ctypes.byref(size),
                   ctypes.byref(count))
        dtype = np.dtype(TABLES[name])
        if dtype.itemsize != size.value:
            raise ImportError(f"rows of {name} have {size.value} bytes instead of {dtype.itemsize}: the library is of "
                              "another version")
        table = np.zeros(count.value, dtype)
        if count.value:
            ctypes.memmove(table.ctypes.data, rows, table.nbytes)
        self.__dict__[name] = table
        return table

    def _call(self, name: str, *arguments: object) -> None:
        if not self._handle:
            raise RuntimeError("the profile has not been recorded")
        if self._records:
            raise RuntimeError("the profile is still recorded; its records can be read after the block")
        call(name, self._handle, *arguments)

    @functools.cached_property
    def names(self) -> list[str]:
        """The texts that tables name by their index."""
        count, text = ctypes.c_size_t(), ctypes.c_char_p()
        self._call("canopyProfileTextCount", ctypes.byref(count))
        found = []
        for number in range(count.value):
            self._call("canopyProfileText", ctypes.c_size_t(number), ctypes.byref(text))
            found.append((text.value or b"").decode(errors="replace"))
        return found

    @functools.cached_property
    def _facts(self) -> tuple[int, int, str]:
        facts = _Facts()
        self._call("canopyProfileGetFacts", ctypes.byref(facts))
        return facts.began, facts.lost, (facts.damage or b"").decode(errors="replace")

    @property
    def began(self) -> int:
        """Unix time of the first record, in nanoseconds."""
        return self._facts[0]

    @property
    def lost(self) -> int:
        """Records that found no room."""
        return self._facts[1]

    @property
    def damage(self) -> str:
        """Why the profile ends early; empty if it does not."""
        return self._facts[2]

    def kernels(self) -> np.ndarray:
        """A row for each kernel, the one with the largest total first; times in nanoseconds."""
        tasks = self.tasks[np.isin(self.tasks["type"], KERNEL_TYPES)]
        numbers, which = np.unique(tasks["name"], return_inverse=True)
        longest = max((len(self.names[number]) for number in numbers), default=1)
        table = np.zeros(len(numbers), [("name", f"U{longest}"), ("count", "i8"), ("total", "f8"), ("least", "f8"),
                                        ("mean", "f8"), ("most", "f8")])
        for row, number in enumerate(numbers):
            times = tasks["duration"][which == row]
            table[row] = (self.names[number], len(times), times.sum(), times.min(), times.mean(), times.max())
        return table[np.argsort(-table["total"], kind="stable")]

    def save(self, path: str | os.PathLike) -> None:
        """Writes a page, a trace or the profile itself; see the class."""
        self._call("canopyProfileExport", os.fsencode(path))

    def close(self) -> None:
        """Forgets the records; the arrays taken before stay."""
        if self._handle:
            _library().canopyProfileClose(self._handle)
            self._handle = ctypes.c_void_p()

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


def profile(path: str | os.PathLike | None = None, want: str | Iterable[str] | None = None) -> Profile:
    """Records what happens inside the block; into a file if `path` names one.

    with canopy.profile() as profile:
        kernel(8)(x)
        canopy.synchronize()
    print(profile.kernels())
    profile.save("run.html")

    want: which records, of calls, tasks, nodes, blocks, memory, marks, idle, steps; all by default.
    """
    return Profile(path, want)


class Range:
    """A range of the profile: `with canopy.range("forward"):`, or a decorator of a function."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._text = name.encode()

    def __enter__(self) -> "Range":
        _library().canopyRangePush(self._text)
        return self

    def __exit__(self, *error: object) -> None:
        _library().canopyRangePop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def inside(*arguments: object, **named: object) -> object:
            with self:
                return function(*arguments, **named)
        return inside


def mark(text: str) -> None:
    """Marks this moment in the profile."""
    _library().canopyMark(text.encode())
