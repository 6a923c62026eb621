# SPDX-License-Identifier: Apache-2.0
"""Running canopy-cc: kernels from sources, and fused images from descriptions."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, Dict, List, Optional, Sequence

from .chips import current_chip
from .errors import SuperKernelError


def kernel_meta_folder() -> str:
    """The folder for images and metadata: CANOPY_KERNEL_META, else ./kernel_meta. Created if missing."""
    folder = os.path.abspath(os.environ.get("CANOPY_KERNEL_META") or "kernel_meta")
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as problem:
        raise SuperKernelError(f"cannot create the folder {folder}: {problem.strerror}") from None
    return folder


def find_compiler() -> str:
    """Finds canopy-cc: CANOPY_CC, else in the install tree of this package, else in the current tree, else in PATH."""
    named = os.environ.get("CANOPY_CC")
    if named:
        if not os.access(named, os.X_OK):
            raise SuperKernelError(f"CANOPY_CC names {named}, which cannot be run")
        return named
    tree = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..")
    for root in (tree, os.environ.get("ASCEND_HOME_PATH")):
        path = os.path.normpath(os.path.join(root, "bin", "canopy-cc")) if root else ""
        if path and os.access(path, os.X_OK):
            return path
    found = shutil.which("canopy-cc")
    if found is None:
        raise SuperKernelError("canopy-cc was not found: install the canopy package, source set_env.sh of an install "
                               "tree, or set CANOPY_CC")
    return found


def run_compiler(arguments: Sequence[str], purpose: str) -> None:
    try:
        done = subprocess.run([find_compiler(), *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    except OSError as problem:
        raise SuperKernelError(f"{purpose}: canopy-cc cannot be run: {problem.strerror}") from None
    if done.returncode != 0:
        raise SuperKernelError(f"{purpose}: canopy-cc failed with status {done.returncode}\n{done.stdout.rstrip()}")


def compile_kernel(source: str, kernel_name: str, *, block_dim: int = 1, workspaces: Sequence[int] = (),
                   options: Sequence[str] = (), folder: Optional[str] = None, output_name: Optional[str] = None,
                   split_mode: Optional[int] = None) -> Dict[str, Any]:
    """Compiles one kernel of a source into an image with metadata, for use in op_list.

    Returns a dictionary with ``bin_path`` and ``json_path``: the start of an entry of op_list. A source with
    kernels named NAME_1, NAME_2, ... contains variants of NAME by tiling key. `workspaces` are sizes in bytes, for the
    metadata; `options` are passed to canopy-cc.
    """
    source = os.fspath(source)
    if not os.path.isfile(source):
        raise SuperKernelError(f"source file {source} does not exist")
    folder = os.path.abspath(folder) if folder else kernel_meta_folder()
    os.makedirs(folder, exist_ok=True)
    image = os.path.join(folder, (output_name or kernel_name) + ".o")
    flags: List[str] = ["--image", f"--metadata={kernel_name}", f"--block-dim={block_dim}"]
    if workspaces:
        flags.append("--workspace=" + ",".join(str(size) for size in workspaces))
    if split_mode is not None:
        flags.append(f"--split-mode={split_mode}")
    if not any(option.startswith(("--npu-arch", "--npu-soc", "-arch", "--cce-aicore-arch")) for option in options):
        flags.append(f"--npu-arch=dav-{current_chip().architecture}")
    run_compiler([*flags, *options, source, "-o", image], f"compiling {kernel_name}")
    return {"bin_path": image, "json_path": os.path.splitext(image)[0] + ".json"}
