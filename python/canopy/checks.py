# SPDX-License-Identifier: Apache-2.0
"""Checks: what kernels and streams of a part of the program would do wrong on a chip, as exceptions."""

from __future__ import annotations

import ctypes
import json
import os
from types import TracebackType

import acl

from .device import check_fork, forked
from .errors import check
from .library import _library, call

LEVELS = ("error", "warning", "note")
SWITCHES = ("", "0", "1", "on", "off", "true", "false", "yes", "no")  # values of CANOPY_CHECK that are not a list

_prepared = False


class CheckError(AssertionError):
    """Something was found. `findings` is a list of dictionaries, as the lines of `canopy check --json`."""

    def __init__(self, findings: list[dict]) -> None:
        self.findings = findings
        super().__init__(f"{len(findings)} found\n" + "".join(finding["text"] for finding in findings))

    def __reduce__(self) -> tuple:
        return type(self), (self.findings,)


def prepare_checks(classes: str = "all", options: str = "") -> None:
    """Lets parts of this process be checked, in the words of CANOPY_CHECK and CANOPY_CHECK_OPTIONS. Must come before
    the first device is opened; `checking` does it by itself if it is early enough."""
    global _prepared
    check_fork("checks")
    call("canopyCheckPrepare", classes.encode(), options.encode())
    _prepared = True


def is_checked() -> bool:
    """Whether this process, or parts of it, are checked."""
    return _prepared or os.environ.get("CANOPY_CHECK", "") not in SWITCHES


class checking:  # noqa: N801  used as a function is
    """A part of the program that is checked. At its end, waits for the work of the thread's device and raises `CheckError` if
    something was found.

        with canopy.checking():
            scale(8)(x, y, x.size)

    level       the least level that raises: error, warning or note
    findings    after the block: everything that was found, whatever its level
    """

    def __init__(self, level: str = "error") -> None:
        if level not in LEVELS:
            raise ValueError(f"level is one of {', '.join(LEVELS)}, not {level}")
        self._levels = LEVELS[:LEVELS.index(level) + 1]
        self._position = ctypes.c_uint64()
        self.findings: list[dict] = []

    def __enter__(self) -> "checking":
        prepare_checks()
        _wait()
        call("canopyCheckBegin", ctypes.byref(self._position))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if forked():
            return
        _wait()
        code = _library().canopyCheckEnd()
        if kind is not None:  # the error of the block says more
            return
        check(code, "ending checks")
        lines = ctypes.c_char_p()
        call("canopyCheckGetFindings", self._position, ctypes.byref(lines))
        self.findings = [json.loads(line) for line in (lines.value or b"").splitlines()]
        wrong = [finding for finding in self.findings if finding["level"] in self._levels]
        if wrong:
            raise CheckError(wrong)


def _wait() -> None:
    """Waits for the work of the thread's device, if it has one. That the work failed is for those to say who ask."""
    _, code = acl.rt.get_device()
    if code == 0:
        acl.rt.synchronize_device()
    acl.get_recent_err_msg()
