# SPDX-License-Identifier: Apache-2.0
"""Kinds of kernels by the cores they run on, and the kind and block count of a fused kernel."""

from __future__ import annotations

import enum
from typing import Iterable, NamedTuple, Optional, Tuple

from .errors import SuperKernelError


class Kind(enum.Enum):
    """What one block of a kernel needs: (cube cores, vector cores)."""

    AIV_ONLY = "AIV_ONLY"
    AIC_ONLY = "AIC_ONLY"
    MIX_AIV_1_0 = "MIX_AIV_1_0"
    MIX_AIC_1_0 = "MIX_AIC_1_0"
    MIX_AIC_1_1 = "MIX_AIC_1_1"
    MIX_AIC_1_2 = "MIX_AIC_1_2"

    @property
    def cores(self) -> Tuple[int, int]:
        return _CORES[self]

    @property
    def ratio(self) -> str:
        """As metadata writes it: "1:2"."""
        return "{}:{}".format(*self.cores)

    @property
    def full_name(self) -> str:
        return "KERNEL_TYPE_" + self.value


_CORES = {
    Kind.AIV_ONLY: (0, 1),
    Kind.AIC_ONLY: (1, 0),
    Kind.MIX_AIV_1_0: (0, 1),
    Kind.MIX_AIC_1_0: (1, 0),
    Kind.MIX_AIC_1_1: (1, 1),
    Kind.MIX_AIC_1_2: (1, 2),
}


class Shape(NamedTuple):
    """Kind and block count of a fused kernel."""

    kind: Kind
    blocks: int


def read_kind(name: object, what: str) -> Kind:
    """The kind that metadata names, with or without the prefix KERNEL_TYPE_."""
    text = str(name)
    try:
        return Kind(text[len("KERNEL_TYPE_"):] if text.startswith("KERNEL_TYPE_") else text)
    except ValueError:
        raise SuperKernelError(f"{what} has the kernel type {name!r}, which cannot be fused") from None


def needed_cores(kernels: Iterable[Tuple[Kind, int]]) -> Tuple[int, int]:
    """The most cube cores and the most vector cores that one of the kernels (kind, blocks) runs on."""
    needs = [(kind.cores[0] * blocks, kind.cores[1] * blocks) for kind, blocks in kernels]
    return max(need[0] for need in needs), max(need[1] for need in needs)


def fused_shape(kernels: Iterable[Tuple[Kind, int]], aic: Optional[int] = None, aiv: Optional[int] = None) -> Shape:
    """Kind and block count of the kernel that fuses all of these; `aic` and `aiv` force the numbers of cores."""
    kernels = list(kernels)
    cube, vector = needed_cores(kernels)
    if aic is not None or aiv is not None:
        return _forced_shape(cube if aic is None else aic, vector if aiv is None else aiv)
    if all(kind.cores == (0, 1) for kind, _ in kernels):
        return Shape(Kind.MIX_AIV_1_0, vector)
    if all(kind.cores == (1, 0) for kind, _ in kernels):
        return Shape(Kind.MIX_AIC_1_0, cube)
    if all(kind.cores == (1, 1) for kind, _ in kernels) or vector <= cube:
        return Shape(Kind.MIX_AIC_1_1, cube)
    return Shape(Kind.MIX_AIC_1_2, max(cube, (vector + 1) // 2))


def _forced_shape(cube: int, vector: int) -> Shape:
    if cube > 0 and vector == 0:
        return Shape(Kind.MIX_AIC_1_0, cube)
    if cube == 0 and vector > 0:
        return Shape(Kind.MIX_AIV_1_0, vector)
    if cube > 0 and vector == cube:
        return Shape(Kind.MIX_AIC_1_1, cube)
    if cube > 0 and vector == 2 * cube:
        return Shape(Kind.MIX_AIC_1_2, cube)
    raise SuperKernelError(
        f"debug-aic-num and debug-aiv-num give {cube}:{vector} cores; the ratio must be 1:0, 0:1, 1:1 or 1:2")
