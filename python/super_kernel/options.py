# SPDX-License-Identifier: Apache-2.0
"""The option string of a fused kernel: ``"early-start=0:feed-sync-all=1:"``.

Items are separated by colons, name and value by the first equals sign. An item without an equals sign is skipped with a
warning; an unknown or repeated name and an empty or invalid value are errors.
"""

from __future__ import annotations

import warnings
from typing import Callable, Dict, Optional, Union

from .errors import SuperKernelError

Value = Union[int, str, list, None]

DEFAULTS: Dict[str, Value] = {
    "func-align": 512,
    "preload-code": "per-func",
    "early-start": 1,
    "stream-fusion": 0,
    "split-mode": 4,
    "feed-sync-all": 0,
    "debug-dcci-all": 0,
    "debug-sync-all": 0,
    "profiling": 0,
    "compile-options": [],
    "dcci-before-kernel-start": [],
    "dcci-after-kernel-end": [],
    "dcci-disable-on-kernel": [],
    "debug-aic-num": None,
    "debug-aiv-num": None,
    "strict-scope-check": None,
    "link-mode": None,
    "preload-data": None,
}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError("is not a number")
    return int(text)


def _range(least: int, most: Optional[int]) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = _number(text)
        if number < least or (most is not None and number > most):
            raise ValueError(f"is not between {least} and {most}" if most is not None else f"is less than {least}")
        return number

    return read


def _alignment(text: str) -> int:
    number = _number(text)
    if number == 1 or number & (number - 1) != 0:
        raise ValueError("is neither 0 nor a power of two, at least 2")
    return number


def _word(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(f"is not one of {', '.join(words)}")
        return text

    return read


def _list(text: str) -> list:
    pieces = [piece.strip() for piece in text.split(",")]
    if not all(pieces):
        raise ValueError("has an empty item")
    return pieces


READERS: Dict[str, Callable[[str], Value]] = {
    "func-align": _alignment,
    "preload-code": _word("max", "none", "per-func"),
    "early-start": _range(0, 2),
    "stream-fusion": _range(0, 1),
    "split-mode": _range(1, 64),
    "feed-sync-all": _range(0, 1),
    "debug-dcci-all": _range(0, 1),
    "debug-sync-all": _range(0, 1),
    "profiling": _range(0, 1),
    "compile-options": _list,
    "dcci-before-kernel-start": _list,
    "dcci-after-kernel-end": _list,
    "dcci-disable-on-kernel": _list,
    "debug-aic-num": _range(0, None),
    "debug-aiv-num": _range(0, None),
    "strict-scope-check": str,
    "link-mode": str,
    "preload-data": str,
}


def parse_options(text: Optional[str]) -> Dict[str, Value]:
    """Returns every option with its value or default.

    >>> parse_options("early-start=0:")["early-start"]
    0
    """
    options = dict(DEFAULTS)
    if text is None:
        return options
    if not isinstance(text, str):
        raise SuperKernelError(f"super_kernel_options is not a string but {type(text).__name__}")
    given = set()
    for piece in text.split(":"):
        piece = piece.strip()
        if not piece:
            continue
        name, equals, value = (part.strip() for part in piece.partition("="))
        if not equals:
            warnings.warn(f"super kernel option '{piece}' has no value and is skipped", stacklevel=2)
            continue
        if name not in READERS:
            raise SuperKernelError(f"unknown super kernel option '{name}'; known are {', '.join(sorted(READERS))}")
        if name in given:
            raise SuperKernelError(f"super kernel option '{name}' is given twice")
        given.add(name)
        if not value:
            raise SuperKernelError(f"super kernel option '{name}' has an empty value")
        try:
            options[name] = READERS[name](value)
        except ValueError as problem:
            raise SuperKernelError(f"super kernel option '{name}': '{value}' {problem}") from None
    return options


def option_texts(options: Dict[str, Value]) -> Dict[str, str]:
    """The options as stored in a fused image: as strings, without options that have no value."""
    texts = {}
    for name, value in options.items():
        if value is None or value == []:
            continue
        texts[name] = ",".join(value) if isinstance(value, list) else str(value)
    return texts
