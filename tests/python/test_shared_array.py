# SPDX-License-Identifier: Apache-2.0
"""Arrays between processes."""
import copy
import gc
import pickle
import subprocess
import sys

import acl
import canopy
import numpy as np
import pytest

import other_process
from conftest import check
from other_process import OtherProcess

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


@pytest.fixture(scope="module")
def other():
    process = OtherProcess()
    yield process
    process.close()


def test_arrays_travel_as_arguments_of_multiprocessing(other):
    mine = canopy.array(np.arange(32, dtype=np.int32).reshape(4, 8))
    assert (other.run(other_process.numbers_of, mine) == mine.numpy()).all()
    rows = mine[1:3]
    assert (other.run(other_process.numbers_of, rows) == rows.numpy()).all()
    other.run(other_process.fill, rows, 9)
    assert (mine.numpy()[:4, 0] == [0, 9, 9, 24]).all()
    assert other.run(other_process.numbers_of, canopy.zeros((2, 0))).shape == (2, 0)


def test_an_array_that_comes_back_is_the_same_one(other):
    mine = canopy.zeros(8)
    received = other.run(other_process.keep, mine)
    assert int(received) == int(mine)
    theirs = other.run(other_process.create_array, 8)
    assert theirs.numpy().tolist() == list(range(8))
    assert other.run(other_process.numbers_of, theirs).tolist() == list(range(8))


def test_the_oldest_import_goes_last(other):
    """The runtime closes imports of one key in the order in which they were made."""
    mine = canopy.array(np.arange(1 << 16, dtype=np.int32))
    first, again = other.run(other_process.open_twice, mine.share(), mine.shape, mine.dtype)
    assert (first == mine.numpy()).all() and (again == mine.numpy()).all()
    assert other.run(other_process.imports) == {}


def test_an_importer_keeps_what_the_exporter_frees(other):
    theirs = other.run(other_process.create_array, 8)
    other.run(other_process.forget)
    assert theirs.numpy().tolist() == list(range(8))


def test_what_does_not_fit_is_refused(other):
    mine = canopy.zeros(1024)
    with pytest.raises(ValueError, match="1048576 bytes, and the shared array"):
        other.run(other_process.open_array, mine.share(), (1 << 18,), np.float32)
    with pytest.raises(TypeError, match="object"):
        canopy.shared_array(mine.share(), 4, object)
    with pytest.raises(ValueError, match="negative"):
        canopy.shared_array(mine.share(), -4)
    with pytest.raises(TypeError, match="not list"):
        mine.share([1])
    assert other.run(other_process.imports) == {}


def test_listed_processes_open_it(other):
    mine = canopy.zeros(4)
    assert other.run(other_process.open_array, mine.share(1, other), 4, np.float32).tolist() == [0] * 4


def test_arrays_are_not_copied_by_accident():
    mine = canopy.zeros(4)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="only passed to a process by multiprocessing"):
            attempt(mine)


def test_a_key_that_is_asked_for_again_finds_later_results(other):
    size = 1 << 22
    mine, stream = canopy.zeros(size, np.uint8), canopy.Stream()
    key = mine.share()
    other.run(other_process.last_of, key, size)
    for value in range(100):
        check(acl.rt.memset_async(int(mine), size, value, size, stream.handle))
    assert mine.share() == key
    assert other.run(other_process.last_of, key, size) == 99


def test_errors_travel_too():
    error = pickle.loads(pickle.dumps(canopy.QueueEmpty(207013, "what", "text")))
    assert type(error) is canopy.QueueEmpty and (error.code, error.what, error.text) == (207013, "what", "text")


def test_an_importer_needs_no_clean_up():
    mine = canopy.array(np.arange(32, dtype=np.int32).reshape(4, 8))
    program = f"import canopy\nshared = canopy.shared_array({mine.share()!r}, 32, 'int32')\nprint(shared.numpy().sum())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("496\n", "")
    del mine
    gc.collect()
