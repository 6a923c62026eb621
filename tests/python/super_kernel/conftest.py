# SPDX-License-Identifier: Apache-2.0
"""Fixtures: compiled kernels, and the software NPU."""

import json
import os

import pytest

import super_kernel
from device import Device, Runtime

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
SOURCES = {
    "scale": "vector", "scale_mix": "vector", "combine": "vector", "triple": "cube", "triple_mix": "cube",
    "subtract": "cube", "product": "cube", "mix_one": "mix", "mix_two": "mix", "total": "total",
    "times": "dynamic_vector", "cube_times": "dynamic_cube",
}


class KernelShop:
    """Compiles kernels of the tests on demand, each once for its block count."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.made = {}

    def __call__(self, name, blocks=8, **more):
        key = (name, blocks, tuple(sorted(more.items())))
        if key not in self.made:
            self.made[key] = super_kernel.compile_kernel(
                os.path.join(KERNELS, SOURCES[name] + ".asc"), name, block_dim=blocks, workspaces=[8192],
                options=["--targets=native"], folder=self.folder, output_name=f"{name}_{len(self.made)}", **more)
        return dict(self.made[key])


@pytest.fixture(scope="session")
def kernels(tmp_path_factory):
    return KernelShop(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(autouse=True)
def kernel_meta(tmp_path, monkeypatch):
    """A separate folder for what each test fuses."""
    monkeypatch.setenv("CANOPY_KERNEL_META", str(tmp_path / "kernel_meta"))
    monkeypatch.delenv("CANOPY_CHIP", raising=False)
    monkeypatch.delenv("SOC_VERSION", raising=False)
    return tmp_path / "kernel_meta"


@pytest.fixture(scope="session")
def runtime():
    interface = Runtime()
    interface.aclInit(None)
    interface.aclrtSetDevice(0)
    yield interface
    interface.aclrtResetDevice(0)
    interface.aclFinalize()


@pytest.fixture
def device(runtime):
    opened = Device(runtime)
    yield opened
    opened.close()


@pytest.fixture
def altered(kernels, tmp_path):
    """Entries of kernels whose metadata say something else."""
    count = 0

    def make(name="scale", blocks=8, entry=None, **changes):
        nonlocal count
        made = kernels(name, blocks)
        with open(made["json_path"], encoding="utf-8") as file:
            metadata = json.load(file)
        metadata.update(changes)
        made["json_path"] = str(tmp_path / f"altered_{count}.json")
        count += 1
        with open(made["json_path"], "w", encoding="utf-8") as file:
            json.dump({key: value for key, value in metadata.items() if value != "absent"}, file)
        made.update(entry or {})
        return made

    return make
