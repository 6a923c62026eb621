# SPDX-License-Identifier: Apache-2.0
"""``python3 -m super_kernel LIST.json``: fuses the kernels that a JSON file lists."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Optional, Sequence

from . import SuperKernelError, compile as compile_list
from .options import DEFAULTS


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python3 -m super_kernel",
        description="Fuses the kernels of a list into one image, kernel_meta/NAME.o, and writes NAME.json next to it.",
        epilog="options of --options and their defaults: " +
        ", ".join(f"{name}={value}" if value not in (None, []) else name for name, value in DEFAULTS.items()))
    parser.add_argument("list", help='a JSON file: {"op_list": [{"bin_path": ..., "json_path": ...}, ...]}, '
                                     "or the list alone")
    parser.add_argument("--name", default="ascendc_super_kernel_plus",
                        help="name of the fused kernel (default: %(default)s)")
    parser.add_argument("--options", help='option string, for example "early-start=0:feed-sync-all=1"; replaces '
                                          '"super_kernel_options" of the file')
    parser.add_argument("--folder", help="output folder; default: CANOPY_KERNEL_META, else ./kernel_meta")
    given = parser.parse_args(arguments)
    if given.folder:
        os.environ["CANOPY_KERNEL_META"] = given.folder
    try:
        with open(given.list, encoding="utf-8") as file:
            kernel_infos = json.load(file)
    except (OSError, ValueError) as problem:
        print(f"super_kernel: cannot read {given.list}: {problem}", file=sys.stderr)
        return 2
    if isinstance(kernel_infos, list):
        kernel_infos = {"op_list": kernel_infos}
    if given.options is not None:
        kernel_infos["super_kernel_options"] = given.options
    try:
        print(compile_list(kernel_infos, given.name))
    except SuperKernelError as problem:
        print(f"super_kernel: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
