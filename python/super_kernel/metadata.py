# SPDX-License-Identifier: Apache-2.0
"""Output about a fused kernel: the description for the compiler, and the JSON file next to the image."""

from __future__ import annotations

from typing import Any, Dict, List

from .kernels import SubKernel
from .kinds import Shape
from .options import option_texts
from .slots import Layout, Place
from .streams import Order


def _step(kernel: SubKernel, place: Place, images: List[str]) -> Dict[str, Any]:
    step: Dict[str, Any] = {
        "number": kernel.number, "part": images.index(kernel.image), "kernel": kernel.function,
        "blocks": kernel.blocks, "slot": place.parameters, "slots": place.parameter_count, "stream": kernel.stream,
    }
    if kernel.inputs is not None and kernel.outputs is not None:
        step["inputs"] = [place.parameters + index for index in kernel.inputs]
        step["outputs"] = [place.parameters + index for index in kernel.outputs]
    return step


def _add_locks(step: Dict[str, Any], kernel: SubKernel, place: Place, sends: List[int], receives: List[int]) -> None:
    notify = [place.notify + index for index, event in enumerate(kernel.sends) if event in sends]
    wait = [place.wait + index for index, event in enumerate(kernel.receives) if event in receives]
    reset = list(wait)
    if place.dynamic is not None:
        part = step["part"]
        step["dynamic"] = {
            "key_slot": place.dynamic, "blocks_slot": place.dynamic + 1, "wait_slot": place.dynamic + 2,
            "choices": [{"key": variant.key, "part": part, "kernel": variant.function}
                        for variant in kernel.variants],
        }
        reset.append(place.dynamic + 2)
    for name, slots in (("wait_slots", wait), ("notify_slots", notify), ("reset_slots", reset)):
        if slots:
            step[name] = slots


def fusion_description(name: str, kernels: List[SubKernel], order: Order, layout: Layout, shape: Shape,
                       options: Dict[str, Any], temporaries: List[int]) -> Dict[str, Any]:
    """The input of `canopy-cc --fuse`."""
    images = list(dict.fromkeys(kernel.image for kernel in kernels))
    position = {index: at for at, index in enumerate(order.sequence)}
    steps = []
    for index in order.sequence:
        kernel, place = kernels[index], layout.places[index]
        step = _step(kernel, place, images)
        step["after"] = sorted(position[before] for before in order.after[index])
        _add_locks(step, kernel, place, order.outer_sends[index], order.outer_receives[index])
        steps.append(step)
    cube, vector = shape.kind.cores
    return {"images": images,
            "kernels": [{"name": name, "blocks": shape.blocks, "cube": cube, "vector": vector, "slots": layout.count,
                         "options": option_texts(options), "temporaries": temporaries, "steps": steps}]}


def _kernel_list(kernels: List[SubKernel], layout: Layout, split_mode: int) -> List[Dict[str, Any]]:
    return [{
        "func_name": kernel.function,
        "split_mode": kernel.split_mode or split_mode,
        "blockDim": kernel.blocks,
        "sub_operator_kernel_type": kernel.kind.full_name,
        "sub_operator_early_start_set_flag": kernel.early_start_set,
        "sub_operator_early_start_wait_flag": kernel.early_start_wait,
        "streamid": kernel.stream,
        "send_event_list": kernel.sends,
        "recv_event_list": kernel.receives,
        "arg_list": {"param_offset": place.parameters, "notify_param_offset": place.notify,
                     "wait_param_offset": place.wait},
    } for kernel, place in zip(kernels, layout.places)]


def fused_metadata(name: str, kernels: List[SubKernel], layout: Layout, shape: Shape, options: Dict[str, Any],
                   digest: str) -> Dict[str, Any]:
    """The JSON file next to the fused image."""
    metadata: Dict[str, Any] = {
        "binFileName": name,
        "binFileSuffix": ".o",
        "blockDim": shape.blocks,
        "coreType": "MIX",
        "intercoreSync": 1,
        "kernelName": name,
        "magic": "RT_DEV_BINARY_MAGIC_ELF",
        "memoryStamping": [],
        "opParaSize": 8,
        "parameters": [],
        "sha256": digest,
        "taskRation": shape.kind.ratio,
        "optionalInputMode": "gen_placeholder",
        "optionalOutputMode": "gen_placeholder",
        "supportSuperKernel": 1,
    }
    if layout.workspaces:
        metadata["workspace"] = {"num": len(layout.workspaces), "size": layout.workspaces,
                                 "type": [0] * len(layout.workspaces)}
    metadata["SuperkernelInfo"] = {"kernelList": {"aicore": _kernel_list(kernels, layout, options["split-mode"])}}
    return metadata
