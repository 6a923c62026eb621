# SPDX-License-Identifier: Apache-2.0
"""Chips that run fused kernels. The environment selects one, as for the runtime."""

from __future__ import annotations

import os
from typing import NamedTuple

from .errors import SuperKernelError

DEFAULT_CHIP = "Ascend910B1"


class Chip(NamedTuple):
    name: str
    architecture: int
    control_slot: bool  # whether the first argument is the control address
    cube_cores: int
    vector_cores: int


# Prefix of a name, longest first: architecture, control address, cube cores, vector cores. A test compares them with
# include/canopy/chips.h.
_NAMES = (
    ("ascend910_93", 2201, True, 24, 48),
    ("ascend910_95", 3510, False, 32, 64),
    ("ascend910b3", 2201, True, 20, 40),
    ("ascend910b4", 2201, True, 20, 40),
    ("ascend910b", 2201, True, 24, 48),
    ("ascend950", 3510, False, 32, 64),
)


def find_chip(name: str) -> Chip:
    for prefix, architecture, control, cube, vector in _NAMES:
        if name.lower().startswith(prefix):
            return Chip(name, architecture, control, cube, vector)
    raise SuperKernelError(f"super kernels are not supported on the chip '{name}'; they are on Ascend910B, "
                           "Ascend910_93 and Ascend950")


def current_chip() -> Chip:
    """The chip that CANOPY_CHIP or SOC_VERSION names, else the runtime's default."""
    return find_chip(os.environ.get("CANOPY_CHIP") or os.environ.get("SOC_VERSION") or DEFAULT_CHIP)
