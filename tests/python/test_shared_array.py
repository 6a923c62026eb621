# SPDX-License-Identifier: Apache-2.0
"""Arrays between processes."""
import subprocess
import sys

import canopy
import numpy as np
import pytest

OTHER = """
import sys, canopy, numpy as np
shared = canopy.shared_array(sys.argv[1], (4, 8), np.int32)
assert (shared.numpy() == np.arange(32, dtype=np.int32).reshape(4, 8)).all()
shared[1:2] = np.full((1, 8), 7, np.int32)
try:
    shared.share()
except ValueError:
    print("good")
"""


def run_other(key):
    return subprocess.run([sys.executable, "-c", OTHER, key], capture_output=True, text=True, timeout=120)


def test_both_processes_use_one_array():
    mine = canopy.array(np.arange(32, dtype=np.int32).reshape(4, 8))
    done = run_other(mine.share())
    assert done.stdout == "good\n", done.stderr
    assert (mine.numpy()[1] == 7).all()
    assert (mine.numpy()[2] == np.arange(16, 24)).all()


def test_only_listed_processes_open_it():
    mine = canopy.array(np.arange(32, dtype=np.int32).reshape(4, 8))
    done = run_other(mine.share(1))
    assert done.returncode != 0 and "207006" in done.stderr


def test_slices_cannot_be_shared():
    mine = canopy.zeros((4, 8))
    with pytest.raises(ValueError):
        mine[1:].share()
    with pytest.raises(canopy.Error):
        canopy.shared_array("not a key", 4)
