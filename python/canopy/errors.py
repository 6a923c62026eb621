# SPDX-License-Identifier: Apache-2.0
"""Exceptions for errors of the runtime."""

from __future__ import annotations

import queue

import acl


class Error(RuntimeError):
    """A runtime call failed. `code` is the error code, `text` the runtime's message."""

    def __init__(self, code: int, what: str, text: str = "") -> None:
        self.code = code
        self.what = what
        self.text = text
        super().__init__(f"{what}: {code}" + (f"\n{text}" if text else ""))

    def __reduce__(self) -> tuple:
        return type(self), (self.code, self.what, self.text)


class QueueEmpty(Error, queue.Empty):
    """Nothing came in time."""


class QueueFull(Error, queue.Full):
    """No place became free in time."""


class QueueEnd(EOFError):
    """The writer of a queue has ended it: no more items come."""


def check(code: int, what: str) -> None:
    """Raises unless the code is 0. `what` describes the call in a few words."""
    if code != 0:
        raise Error(code, what, (acl.get_recent_err_msg() or "").strip())
