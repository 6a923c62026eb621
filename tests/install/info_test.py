#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that `canopy info` shows every variable that Canopy reads, with the value in use.

    info_test.py <canopy> <source folder>
"""
import json
import os
import pathlib
import re
import subprocess
import sys

TOOL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
FOR_TESTS = {"CANOPY_SEED", "CANOPY_SEEDS", "CANOPY_STRESS_CALLS"}


def settings(**variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CANOPY_", "ASCEND_"))}
    environment.pop("XDG_CACHE_HOME", None)
    output = subprocess.run([TOOL, "info", "--json"], env={**environment, "HOME": "/home/user", **variables},
                            stdout=subprocess.PIPE, check=True).stdout
    entries = json.loads(output)["settings"]
    shown = {entry["variable"]: (entry["value"], entry["set_by"]) for entry in entries}
    assert len(shown) == len(entries), f"a variable is shown twice: {sorted(entry['variable'] for entry in entries)}"
    return shown


known = set(re.findall(r'"(CANOPY_[A-Z_]*[A-Z])"', (SOURCE / "src/core/process/variables.cpp").read_text()))
assert {"CANOPY_DEVICE", "CANOPY_CC"} <= known, f"not understood: {known}"
shown = settings()
missing = known - FOR_TESTS - set(shown)
assert not missing, f"canopy info does not show {sorted(missing)}"
documented = set(re.findall(r"`((?:CANOPY|ASCEND)_[A-Z_]+)", (SOURCE / "docs/settings.md").read_text()))
assert documented <= set(shown), f"canopy info does not show {sorted(documented - set(shown))} of docs/settings.md"

assert shown["CANOPY_CACHE_DIR"] == ("/home/user/.cache/canopy", "default"), shown
assert shown["ASCEND_PROCESS_LOG_PATH"] == ("/home/user/ascend/log", "default"), shown
assert settings(XDG_CACHE_HOME="/cache")["CANOPY_CACHE_DIR"] == ("/cache/canopy", "default")
for name in ("CANOPY_CACHE_DIR", "CANOPY_CC", "CANOPY_CLANG", "CANOPY_KERNEL_META", "ASCEND_PROCESS_LOG_PATH"):
    assert settings(**{name: "/chosen"})[name] == ("/chosen", name), name
assert settings(HOME="")["CANOPY_CACHE_DIR"] == ("none", "default")
