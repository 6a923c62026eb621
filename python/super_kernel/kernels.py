# SPDX-License-Identifier: Apache-2.0
"""The kernels of a list, from their entries and metadata files."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from .chips import Chip
from .errors import SuperKernelError
from .kinds import Kind, read_kind

_FUNCTION_KEYS = ("AiCore", "dav-c220-cube", "dav-c220-vec")


@dataclass
class Variant:
    """The kernel selected by a tiling key."""

    key: int
    function: str
    kind: Kind


@dataclass
class SubKernel:
    """One entry of op_list."""

    number: int  # its index in op_list
    image: str
    function: str
    kind: Kind
    blocks: int
    parameters: List[str]
    stream: int = -1
    dynamic: bool = False
    sends: List[int] = field(default_factory=list)
    receives: List[int] = field(default_factory=list)
    variants: List[Variant] = field(default_factory=list)
    early_start_set: bool = False
    early_start_wait: bool = False
    split_mode: Optional[int] = None
    strings: Optional[List[str]] = None  # the topology: one string per parameter
    inputs: Optional[List[int]] = None  # parameters it reads
    outputs: Optional[List[int]] = None  # parameters it writes
    metadata: Dict[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"op {self.number} ({self.function})"


def read_kernels(op_list: Any, chip: Chip) -> List[SubKernel]:
    """All entries that have metadata; the others are skipped."""
    if not isinstance(op_list, (list, tuple)):
        raise SuperKernelError("op_list is not a list")
    kernels = []
    for number, entry in enumerate(op_list):
        if not isinstance(entry, dict):
            raise SuperKernelError(f"entry {number} of op_list is not a dictionary")
        if entry.get("json_path"):
            kernels.append(_read_kernel(number, entry, chip))
    if not kernels:
        raise SuperKernelError("op_list is empty: there is nothing to fuse")
    return kernels


def _read_kernel(number: int, entry: Dict[str, Any], chip: Chip) -> SubKernel:
    path = os.fspath(entry["json_path"])
    metadata = _read_metadata(path)
    functions = metadata.get("sub_operator_kernel_name")
    functions = functions if isinstance(functions, dict) else {}
    function = _function_name(functions) or metadata.get("kernelName")
    what = f"op {number} ({path})"
    if not isinstance(function, str) or not function:
        raise SuperKernelError(f"{what}: the metadata names no kernel")
    if metadata.get("supportSuperKernel") in (0, False):
        raise SuperKernelError(f"{what}: the kernel does not support fusion (supportSuperKernel is 0)")
    image = _image_path(entry, metadata, path)
    check_image(image)
    kernel = SubKernel(
        number=number, image=image, function=function, metadata=metadata,
        kind=read_kind(metadata.get("sub_operator_kernel_type"), what), blocks=0,
        parameters=_parameters(metadata, what),
        early_start_set=bool(metadata.get("sub_operator_early_start_set_flag")),
        early_start_wait=bool(metadata.get("sub_operator_early_start_wait_flag")),
        split_mode=metadata.get("split_mode"))
    _read_task(kernel, entry, functions, what)
    kernel.blocks = _blocks(kernel, metadata.get("blockDim"), chip, what)
    _read_topology(kernel, entry, what)
    return kernel


def _read_metadata(path: str) -> Dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            metadata = json.load(file)
    except (OSError, ValueError) as problem:
        raise SuperKernelError(f"cannot read the metadata {path}: {problem}") from None
    if not isinstance(metadata, dict):
        raise SuperKernelError(f"the metadata {path} is not a JSON object")
    return metadata


def _function_name(functions: Dict[str, Any]) -> Optional[str]:
    for key in _FUNCTION_KEYS:
        found = functions.get(key)
        if isinstance(found, dict) and found.get("func_name"):
            return found["func_name"]
    return None


def _image_path(entry: Dict[str, Any], metadata: Dict[str, Any], json_path: str) -> str:
    if entry.get("bin_path"):
        return os.fspath(entry["bin_path"])
    name = f"{metadata.get('binFileName', '')}{metadata.get('binFileSuffix', '.o')}"
    return os.path.join(os.path.dirname(json_path), name)


def _parameters(metadata: Dict[str, Any], what: str) -> List[str]:
    names = metadata.get("sub_operator_params")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SuperKernelError(f"{what}: the metadata does not list the parameters of the kernel "
                               "(sub_operator_params)")
    return names


def _events(entry: Dict[str, Any], key: str, what: str) -> List[int]:
    events = entry.get(key) or []
    if not isinstance(events, (list, tuple)) or not all(_is_whole(event) for event in events):
        raise SuperKernelError(f"{what}: {key} is not a list of event numbers")
    return list(dict.fromkeys(int(event) for event in events))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) or isinstance(value, str) and value.isdigit()


def _read_task(kernel: SubKernel, entry: Dict[str, Any], functions: Dict[str, Any], what: str) -> None:
    task = entry.get("task_type", "normal")
    if task not in ("normal", "dynamic"):
        raise SuperKernelError(f"{what}: task_type is '{task}'; known are normal and dynamic")
    stream = entry.get("stream_id", -1)
    if not isinstance(stream, int):
        raise SuperKernelError(f"{what}: stream_id is not a number")
    kernel.stream, kernel.dynamic = stream, task == "dynamic"
    kernel.sends = _events(entry, "send_event_list", what)
    kernel.receives = _events(entry, "recv_event_list", what)
    variants = functions.get("dynamic_func_names") or {}
    if not kernel.dynamic:
        return
    if not isinstance(variants, dict) or not variants:
        raise SuperKernelError(f"{what}: a dynamic kernel needs dynamic_func_names, one for each tiling key")
    for key, variant in variants.items():
        if not (isinstance(variant, dict) and str(key).isdigit() and variant.get("func_name")):
            raise SuperKernelError(f"{what}: dynamic_func_names has an entry {key!r} that does not name a kernel")
        kind = read_kind(variant.get("kernel_type", kernel.kind.value), what)
        kernel.variants.append(Variant(int(key), variant["func_name"], kind))
    kernel.variants.sort(key=lambda variant: variant.key)


def _blocks(kernel: SubKernel, blocks: Any, chip: Chip, what: str) -> int:
    if isinstance(blocks, int) and not isinstance(blocks, bool) and blocks > 0:
        return blocks
    if kernel.dynamic:  # known only at run time: at most all cores
        return chip.vector_cores if kernel.kind.cores == (0, 1) else chip.cube_cores
    raise SuperKernelError(f"{what}: blockDim is {blocks!r}; it must be a positive number")


def _read_topology(kernel: SubKernel, entry: Dict[str, Any], what: str) -> None:
    """The strings of the parameters, and whether each is read or written."""
    lists = [entry.get(key) for key in ("inputs", "outputs", "workspaces")]
    if entry.get("arguments") is not None:
        kernel.strings = _strings(entry["arguments"], what)
    elif any(part is not None for part in lists):
        inputs, outputs, workspaces = (_strings(part or [], what) for part in lists)
        kernel.strings = inputs + outputs + workspaces
    if kernel.strings is not None and len(kernel.strings) != len(kernel.parameters):
        raise SuperKernelError(f"{what}: {len(kernel.strings)} strings for the {len(kernel.parameters)} parameters "
                               f"{', '.join(kernel.parameters)}")
    access = _accesses(kernel)
    if entry.get("arguments") is None and kernel.strings is not None:
        first_output, first_workspace = len(inputs), len(inputs) + len(outputs)
        for index in range(len(access)):
            if access[index] != "value":
                access[index] = ("in" if index < first_output else "out" if index < first_workspace else "inout")
    if "unknown" not in access:
        kernel.inputs = [index for index, how in enumerate(access) if how in ("in", "inout")]
        kernel.outputs = [index for index, how in enumerate(access) if how in ("out", "inout")]


def _strings(part: Any, what: str) -> List[str]:
    if not isinstance(part, (list, tuple)) or not all(isinstance(text, str) for text in part):
        raise SuperKernelError(f"{what}: the topology is not a list of strings")
    return list(part)


def _accesses(kernel: SubKernel) -> List[str]:
    """How the kernel uses each word of its arguments, according to its metadata."""
    access = ["unknown"] * len(kernel.parameters)
    own = kernel.metadata.get("canopy")
    for parameter in own.get("parameters", []) if isinstance(own, dict) else []:
        first, words = parameter["offset"] // 8, max(1, (parameter["size"] + 7) // 8)
        if words == 1 and first < len(access):
            access[first] = parameter["access"]
    for index, name in enumerate(kernel.parameters):
        if access[index] == "unknown" and name.endswith("_in__"):
            access[index] = "in"
        elif access[index] == "unknown" and name.endswith("_out_"):
            access[index] = "out"
    return access


def _section_names(data: bytes) -> List[str]:
    table, = struct.unpack_from("<Q", data, 40)
    size, count, names_index = struct.unpack_from("<HHH", data, 58)

    def section(index: int) -> Tuple[int, int, int]:
        at = table + index * size
        name, = struct.unpack_from("<I", data, at)
        offset, length = struct.unpack_from("<QQ", data, at + 24)
        return name, offset, length

    _, names_at, names_size = section(names_index)
    names = data[names_at:names_at + names_size]
    return [names[at:names.find(b"\0", at)].decode("utf-8", "replace")
            for at in (section(index)[0] for index in range(count))]


def check_image(path: str) -> None:
    """Refuses a file without kernels for this machine."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as problem:
        raise SuperKernelError(f"cannot read the kernel {path}: {problem.strerror}") from None
    try:
        names = _section_names(data) if data[:4] == b"\x7fELF" else []
    except struct.error:
        names = []
    if ".note.canopy" not in names:
        raise SuperKernelError(f"{path} lacks .text for this machine: it is not a kernel image; canopy-cc --image "
                               "--metadata creates one")
