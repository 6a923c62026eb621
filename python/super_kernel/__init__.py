# SPDX-License-Identifier: Apache-2.0
"""Super kernels: several compiled kernels fused into one launch.

    import super_kernel

    first = super_kernel.compile_kernel("pow.asc", "pow", block_dim=8)
    second = super_kernel.compile_kernel("isinf.asc", "isinf", block_dim=8)
    super_kernel.compile({"op_list": [first, second], "super_kernel_options": ""}, "pow_isinf")

writes kernel_meta/pow_isinf.o, which is loaded and launched like any image, and kernel_meta/pow_isinf.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from typing import Any, Dict, List, Mapping

from .chips import current_chip
from .compiler import compile_kernel, find_compiler, kernel_meta_folder, run_compiler
from .errors import SuperKernelError
from .kernels import SubKernel, read_kernels
from .kinds import fused_shape
from .metadata import fused_metadata, fusion_description
from .options import parse_options
from .profile import ProfileRecord, profile_size, read_profile
from .slots import lay_out
from .streams import order_kernels
from .topology import argument_list, distinct_strings, temporary_slots

__all__ = ["ProfileRecord", "SuperKernelError", "argument_list", "compile", "compile_kernel", "distinct_strings",
           "find_compiler", "kernel_meta_folder", "parse_options", "profile_size", "read_profile"]


def compile(kernel_infos: Mapping[str, Any], called_kernel_name: str = "ascendc_super_kernel_plus",
            impl_mode: str = "") -> str:
    """Fuses the kernels of ``kernel_infos["op_list"]`` and returns the path of the image.

    The image is ``<kernel_meta>/<called_kernel_name>.o``, with its metadata next to it as ``.json``; if it exists,
    nothing is done. An entry of op_list has ``bin_path`` and ``json_path`` of a kernel (entries without
    json_path are skipped), and may have ``stream_id``, ``task_type`` ("normal" or "dynamic"), ``send_event_list``,
    ``recv_event_list``, and the strings of the topology as ``inputs``, ``outputs`` and ``workspaces`` or as
    ``arguments``. ``kernel_infos["super_kernel_options"]`` is the option string, ``kernel_infos["temporaries"]`` lists
    the strings whose memory is not read outside. `impl_mode` is accepted and ignored.

    Raises SuperKernelError, whose message begins with EB0500.
    """
    del impl_mode
    if not isinstance(called_kernel_name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.\-]*", called_kernel_name):
        raise SuperKernelError(f"{called_kernel_name!r} cannot be the name of a kernel")
    chip = current_chip()
    image = os.path.join(kernel_meta_folder(), called_kernel_name + ".o")
    if os.path.exists(image):
        return image
    if not isinstance(kernel_infos, Mapping):
        raise SuperKernelError("kernel_infos is not a dictionary")
    options = parse_options(kernel_infos.get("super_kernel_options"))
    kernels = read_kernels(kernel_infos.get("op_list"), chip)
    _check_flags(kernels, options)
    order = order_kernels(kernels, bool(options["stream-fusion"]))
    layout = lay_out(kernels, options, chip)
    shape = fused_shape(_kinds(kernels), options["debug-aic-num"], options["debug-aiv-num"])
    temporaries = temporary_slots(kernels, layout, kernel_infos.get("temporaries"))
    description = fusion_description(called_kernel_name, kernels, order, layout, shape, options, temporaries)

    def metadata(digest: str) -> Dict[str, Any]:
        return fused_metadata(called_kernel_name, kernels, layout, shape, options, digest)

    _write(image, description, metadata)
    return image


def _kinds(kernels: List[SubKernel]) -> list:
    """Kinds and block counts of all kernels that may run."""
    return [(kind, kernel.blocks) for kernel in kernels
            for kind in ([variant.kind for variant in kernel.variants] or [kernel.kind])]


def _check_flags(kernels: List[SubKernel], options: Dict[str, Any]) -> None:
    """Refuses kernels that were compiled with different options."""
    for kernel in kernels:
        flagged = kernel.early_start_set or kernel.early_start_wait
        if flagged and options["early-start"] == 0:
            raise SuperKernelError(f"{kernel.title} was compiled for early start, and early-start is 0")
        if flagged and kernel.dynamic:
            raise SuperKernelError(f"{kernel.title} is dynamic and was compiled for early start")
        if kernel.split_mode is not None and kernel.split_mode != options["split-mode"]:
            raise SuperKernelError(f"{kernel.title} was compiled with split_mode {kernel.split_mode}, and split-mode is "
                                   f"{options['split-mode']}")


def _write(image: str, description: Dict[str, Any], metadata: Any) -> None:
    """Writes the metadata first, so that it exists as soon as the image does."""
    folder = os.path.dirname(image)
    with tempfile.TemporaryDirectory(prefix=".fuse-", dir=folder) as place:
        described, made = os.path.join(place, "description.json"), os.path.join(place, "fused.o")
        with open(described, "w", encoding="utf-8") as file:
            json.dump(description, file)
        run_compiler(["--fuse", described, "-o", made], f"fusing {os.path.basename(image)}")
        with open(made, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        written = os.path.join(place, "metadata.json")
        with open(written, "w", encoding="utf-8") as file:
            json.dump(metadata(digest), file, indent=4)
            file.write("\n")
        os.replace(written, os.path.splitext(image)[0] + ".json")
        os.replace(made, image)
