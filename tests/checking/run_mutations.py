#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Traces the right kernels of programs of seeded bugs, and lets check_mutations leave out one event of them at a time.

    tests/checking/run_mutations.py CHECK_MUTATIONS PROGRAM...
"""
import os
import re
import subprocess
import sys
import tempfile


def main():
    mutations, *programs = sys.argv[1:]
    environment = dict(os.environ, CANOPY_WORKERS="2", ASCEND_GLOBAL_LOG_LEVEL="4")
    traces = []
    with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
        for program in programs:
            names = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=300).stdout
            kernels = re.findall(r"^(right_\w+) 0$", names, re.MULTILINE)
            traces.append(os.path.join(folder, os.path.basename(program)))
            checked = dict(environment, CANOPY_CHECK="race,cache", CANOPY_CHECK_OPTIONS=f"--trace {traces[-1]}")
            subprocess.run([program, *kernels], env=checked, stdout=subprocess.DEVNULL, check=True, timeout=300)
        return subprocess.run([mutations, *traces]).returncode


if __name__ == "__main__":
    sys.exit(main())
