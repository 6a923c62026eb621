# SPDX-License-Identifier: Apache-2.0
"""The topology of a list: parameters with the same string are the same memory.

An entry of op_list gives its strings as ``inputs``, ``outputs`` and ``workspaces``, in the order of the kernel's
parameters, or all of them as ``arguments``.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional

from .chips import current_chip
from .errors import SuperKernelError
from .kernels import SubKernel, read_kernels
from .options import parse_options
from .slots import Layout, lay_out


def distinct_strings(kernel_infos: Mapping[str, Any]) -> List[str]:
    """The strings of the topology without repetition, in order of first use: one allocation each."""
    kernels = read_kernels(kernel_infos.get("op_list"), current_chip())
    return list(dict.fromkeys(text for kernel in kernels for text in _strings_of(kernel)))


def argument_list(kernel_infos: Mapping[str, Any], values: Mapping[str, int], control: int = 0,
                  locks: Optional[Mapping[int, int]] = None, dynamic: Optional[Mapping[int, List[int]]] = None,
                  workspaces: Optional[List[int]] = None, profiling: Optional[List[int]] = None) -> List[int]:
    """The argument block of the fused kernel, one number for each slot.

    `values` maps each string to an address (or a number), `locks` each event to the address of its lock, `dynamic` the
    index in op_list of each dynamic entry to the addresses of tiling key, block count and lock.
    """
    chip, options = current_chip(), parse_options(kernel_infos.get("super_kernel_options"))
    kernels = read_kernels(kernel_infos.get("op_list"), chip)
    layout = lay_out(kernels, options, chip)
    block = [0] * layout.count
    if chip.control_slot:
        block[0] = control
    for kernel, place in zip(kernels, layout.places):
        for index, text in enumerate(_strings_of(kernel)):
            if text not in values:
                raise SuperKernelError(f"{kernel.title}: there is no value for '{text}'")
            block[place.parameters + index] = values[text]
        if kernel.dynamic:
            block[place.dynamic:place.dynamic + 3] = (dynamic or {})[kernel.number]
        for first, events in ((place.notify, kernel.sends), (place.wait, kernel.receives)):
            for index, event in enumerate(events):
                block[first + index] = (locks or {}).get(event, 0)
    for first, given in ((layout.workspace_slot, workspaces), (layout.profiling_slot, profiling)):
        if first is not None and given:
            block[first:first + len(given)] = given
    return block


def temporary_slots(kernels: List[SubKernel], layout: Layout, temporaries: Any) -> List[int]:
    """The slots of memory that is not read outside the fused kernel."""
    if temporaries is None:
        return []
    if not isinstance(temporaries, (list, tuple)) or not all(isinstance(text, str) for text in temporaries):
        raise SuperKernelError("temporaries is not a list of strings")
    slots: Dict[str, List[int]] = {text: [] for text in temporaries}
    for kernel, place in zip(kernels, layout.places):
        for index, text in enumerate(kernel.strings or []):
            if text in slots:
                slots[text].append(place.parameters + index)
    for text, found in slots.items():
        if not found:
            raise SuperKernelError(f"temporaries names '{text}', which is not a string of the topology")
    return sorted(slot for found in slots.values() for slot in found)


def _strings_of(kernel: SubKernel) -> List[str]:
    if kernel.strings is None:
        raise SuperKernelError(f"{kernel.title} has no strings: give inputs, outputs and workspaces, or arguments")
    return kernel.strings
