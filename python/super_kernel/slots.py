# SPDX-License-Identifier: Apache-2.0
"""The argument block of a fused kernel: 8-byte slots.

First the control address, if the chip has one. Then, for every kernel in list order: its parameters; for a dynamic
kernel the addresses of its tiling key, block count and lock; one lock address per event it sends; one lock address per
event it receives. Last the workspaces of the fused kernel and, with profiling, a buffer and a task number.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from .chips import Chip
from .kernels import SubKernel

SYNC_WORKSPACE = 16384  # 32 blocks of 512 bytes
DUMP_WORKSPACE = 75 << 20


@dataclass
class Place:
    """The slots of one kernel's arguments."""

    parameters: int
    parameter_count: int
    dynamic: Optional[int]  # tiling key, block count, lock
    notify: int
    wait: int
    end: int


@dataclass
class Layout:
    places: List[Place]
    workspaces: List[int] = field(default_factory=list)  # size of each in bytes
    workspace_slot: Optional[int] = None  # of the first one
    profiling_slot: Optional[int] = None
    count: int = 0


def _place(kernel: SubKernel, first: int) -> Place:
    after_parameters = first + len(kernel.parameters)
    notify = after_parameters + (3 if kernel.dynamic else 0)
    wait = notify + len(kernel.sends)
    return Place(first, len(kernel.parameters), after_parameters if kernel.dynamic else None, notify, wait,
                 wait + len(kernel.receives))


def fused_workspaces(kernels: List[SubKernel], options: Dict[str, Any]) -> List[int]:
    """Size in bytes of the workspaces of the fused kernel itself."""
    sizes = [SYNC_WORKSPACE] if options["feed-sync-all"] else []
    dumps = [kernel.metadata.get("debugBufSize") or DUMP_WORKSPACE for kernel in kernels
             if any(word in str(kernel.metadata.get("debugOptions", "")) for word in ("printf", "assert"))]
    return sizes + [max(dumps)] if dumps else sizes


def lay_out(kernels: List[SubKernel], options: Dict[str, Any], chip: Chip) -> Layout:
    """Assigns a slot to every argument."""
    at = 1 if chip.control_slot else 0
    layout = Layout([])
    for kernel in kernels:
        layout.places.append(_place(kernel, at))
        at = layout.places[-1].end
    layout.workspaces = fused_workspaces(kernels, options)
    if layout.workspaces:
        layout.workspace_slot = at
        at += len(layout.workspaces)
    if options["profiling"]:
        layout.profiling_slot = at
        at += 2
    layout.count = at
    return layout
