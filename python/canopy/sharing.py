# SPDX-License-Identifier: Apache-2.0
"""What the objects that processes share have in common."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any, Callable

KEY_SIZE = 65


def process_number(process: Any) -> int:
    """The number of a process, given as that or as an object with a `pid`, like `multiprocessing.Process`."""
    number = getattr(process, "pid", process)
    if number is None:
        raise ValueError(f"{process!r} has no number yet: start it first")
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"a process is a number or an object with a pid, not {type(process).__name__}")
    return number


def travels(kind: type, reduce: Callable[[Any], tuple]) -> None:
    """Lets objects of a class travel to other processes as arguments and through the queues and pipes of
    `multiprocessing`. Other pickles of them would outlive what they name, so they are refused."""

    def refuse(self: Any, protocol: int = 0) -> tuple:
        raise TypeError(f"a {kind.__name__} cannot be copied or pickled, only passed to a process by multiprocessing")

    kind.__reduce_ex__ = refuse  # type: ignore[method-assign,assignment]
    ForkingPickler.register(kind, reduce)
