# SPDX-License-Identifier: Apache-2.0
"""Lists of kernels that are run in three ways: fused, one launch for each kernel, and by numpy.

All values are whole numbers that floats hold exactly, so all three give the same bits.
"""

import dataclasses
import json
import os
from typing import List, Optional

import numpy

import super_kernel
from device import COUNT

FUNCTIONS = {
    "scale": lambda x: x * 2 + 1,
    "scale_mix": lambda x: x * 2 + 1,
    "combine": lambda x, y: x + y,
    "triple": lambda x: x * 3,
    "triple_mix": lambda x: x * 3,
    "subtract": lambda x, y: x - y,
    "mix_one": lambda x: (x + 1) * 2,
    "mix_two": lambda x: (x + 1) * 2,
    "total": lambda x: x + x.sum(),
}


@dataclasses.dataclass
class Op:
    """One kernel of a list: `reads` and `writes` are strings of the topology."""

    kernel: str
    reads: List[str]
    writes: str
    blocks: int = 8
    stream: int = 0
    sends: tuple = ()
    receives: tuple = ()
    key: Optional[int] = None  # of a dynamic kernel: what is chosen when it runs
    key_blocks: int = 4
    split_mode: Optional[int] = None

    def apply(self, values):
        given = [values[name] for name in self.reads]
        function = (lambda x: x * self.key) if self.key is not None else FUNCTIONS[self.kernel]
        values[self.writes] = function(*given).astype(numpy.float32)


class Scenario:
    """A list on a device: its memory, its fused kernel and its kernels one by one."""

    def __init__(self, device, kernels, ops, options=""):
        self.device, self.ops = device, ops
        self.entries = [self._entry(kernels, index, op) for index, op in enumerate(ops)]
        self.infos = {"op_list": self.entries, "super_kernel_options": options}
        self.image = super_kernel.compile(self.infos, "fused")
        with open(os.path.splitext(self.image)[0] + ".json", encoding="utf-8") as file:
            self.metadata = json.load(file)
        self.function = device.load(self.image, self.metadata["kernelName"])
        self.addresses = {name: device.zeros(COUNT * 4) for name in super_kernel.distinct_strings(self.infos)}
        self.locks = {event: device.zeros(64) for op in ops for event in (*op.sends, *op.receives)}
        self.dynamic = {index: [device.zeros(64) for _ in range(3)] for index, op in enumerate(ops)
                        if op.key is not None}
        self.extra = [device.zeros(size) for size in self.metadata.get("workspace", {}).get("size", [])]
        self.profiling = [device.zeros(1 << 16), 1] if "profiling=1" in options else None
        self.generator = numpy.random.default_rng(len(ops))

    @staticmethod
    def _entry(kernels, index, op):
        more = {"split_mode": op.split_mode} if op.split_mode else {}
        return dict(kernels(op.kernel, op.blocks, **more), arguments=[*op.reads, op.writes, f"w{index}"],
                    stream_id=op.stream, send_event_list=list(op.sends), recv_event_list=list(op.receives),
                    task_type="normal" if op.key is None else "dynamic")

    def fill(self, names=None):
        """New numbers for what no kernel writes; returns all values as numpy computes them."""
        written = {op.writes for op in self.ops}
        values = {}
        for op in self.ops:
            for name in op.reads:
                if name not in written and name not in values:
                    values[name] = self.generator.integers(-8, 8, COUNT).astype(numpy.float32)
                    if names is None or name in names:
                        self.device.write(self.addresses[name], values[name])
        done = set(values)
        left = list(self.ops)
        while left:  # a list may name a kernel before one that it waits for
            op = next(op for op in left if set(op.reads) <= done)
            op.apply(values)
            done.add(op.writes)
            left.remove(op)
        return values

    def prepare_dynamic(self):
        """Says before the launch which kernels run, and on how many blocks."""
        for index, (key, blocks, lock) in self.dynamic.items():
            op = self.ops[index]
            for address, word in ((key, op.key), (blocks, op.key_blocks), (lock, 1)):
                self.device.write(address, numpy.array([word], numpy.uint64))

    def launch(self, stream=None):
        arguments = super_kernel.argument_list(self.infos, self.addresses, locks=self.locks, dynamic=self.dynamic,
                                               workspaces=self.extra, profiling=self.profiling)
        self.device.launch(self.function, self.metadata["blockDim"], arguments, stream)

    def launch_one_by_one(self):
        order = []
        left = list(range(len(self.ops)))
        done = {name for op in self.ops for name in op.reads} - {op.writes for op in self.ops}
        while left:
            index = next(index for index in left if set(self.ops[index].reads) <= done)
            done.add(self.ops[index].writes)
            left.remove(index)
            order.append(index)
        for index in order:
            op, entry = self.ops[index], self.entries[index]
            name = op.kernel if op.key is None else f"{op.kernel}_{op.key}"
            function = self.device.load(entry["bin_path"], name)
            blocks = op.blocks if op.key is None else op.key_blocks
            self.device.launch(function, blocks, [self.addresses[text] for text in entry["arguments"]])

    def clear(self):
        for op in self.ops:
            self.device.write(self.addresses[op.writes], numpy.zeros(COUNT, numpy.float32))

    def results(self):
        return {op.writes: self.device.read(self.addresses[op.writes]) for op in self.ops}

    def check(self, expected):
        for name, values in self.results().items():
            numpy.testing.assert_array_equal(values, expected[name], err_msg=f"of {name}")
