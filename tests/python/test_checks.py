# SPDX-License-Identifier: Apache-2.0
"""canopy.checking() and the fixture of pytest: what is found in a part of a program, as exceptions."""
import os
import subprocess
import sys

from conftest import run_program

KERNELS = """
#include "kernel_operator.h"
using namespace AscendC;
template <bool right>
__aicore__ inline void twice(GM_ADDR address) {
    GlobalTensor<float> values;
    values.SetGlobalBuffer(reinterpret_cast<__gm__ float*>(address), 512);
    LocalTensor<float> tile(TPosition::VECIN, 0, 256);
    DataCopy(tile, values, 256);
    if (right) {
        SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    }
    Add(tile, tile, tile, 256);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(values[256], tile, 256);
    PipeBarrier<PIPE_ALL>();
}
extern "C" __global__ __vector__ void right_twice(GM_ADDR values) { twice<true>(values); }
extern "C" __global__ __vector__ void wrong_twice(GM_ADDR values) { twice<false>(values); }
"""
PROGRAM = """
import canopy, numpy as np, pytest, pickle
KERNELS = '''{KERNELS}'''
def load(folder):
    path = folder + "/kernels.asc"
    open(path, "w").write(KERNELS)
    return canopy.load(path, ("-O1", "-g", "--check"))
"""


def program(text):
    return PROGRAM.replace("{KERNELS}", KERNELS) + text


def test_findings_raise(tmp_path):
    run_program(program(f"""
with pytest.raises(canopy.CheckError, match="needs MTE2_V") as raised:
    with canopy.checking():
        kernels, x = load({str(tmp_path)!r}), canopy.zeros(512, np.float32)
        kernels["wrong_twice"]()(x)
[finding] = raised.value.findings
assert (finding["id"], finding["level"], finding["kernel"]) == ("race.pipe", "error", "wrong_twice"), finding
assert "hazard detected at UB" in str(raised.value)
assert pickle.loads(pickle.dumps(raised.value)).findings == [finding]
with canopy.checking() as part:
    kernels["right_twice"]()(x)
assert part.findings == []
kernels["wrong_twice"]()(x)                       # outside
with pytest.raises(canopy.CheckError):            # again
    with canopy.checking():
        kernels["wrong_twice"]()(x)
with pytest.raises(KeyError):                     # says more than findings do
    with canopy.checking():
        kernels["wrong_twice"]()(x)
        raise KeyError
with canopy.checking():                           # and is not found later
    pass
"""))


def test_checks_are_prepared_before_a_device_is_open():
    run_program(program("""
canopy.zeros(4)
with pytest.raises(canopy.Error, match="a device is open"):
    with canopy.checking():
        pass
with pytest.raises(ValueError, match="level is one of error, warning, note"):
    canopy.checking("bad")
"""))
    run_program(program("""
for wrong in (["rase"], ["all", "--block x"]):
    with pytest.raises(canopy.Error, match="rase|--block: x"):
        canopy.prepare_checks(*wrong)
canopy.prepare_checks("race", "--strict")
canopy.zeros(4)
with canopy.checking():
    pass
"""))


def test_a_process_that_is_checked_anyway_raises_too(tmp_path):
    run_program(program(f"""
with pytest.raises(canopy.CheckError):
    with canopy.checking():
        load({str(tmp_path)!r})["wrong_twice"]()(canopy.zeros(512, np.float32))
"""), CANOPY_CHECK="race", CANOPY_CHECK_OPTIONS="--exit-code 0")


def run_pytest(folder, *options):
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(folder)],
                          env=os.environ, capture_output=True, text=True, timeout=100, check=False)


def test_the_fixture_fails_tests(tmp_path):
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["canopy.pytest_plugin"]\n')
    (tmp_path / "test_kernels.py").write_text(program(f"""
@pytest.fixture(scope="session")
def kernels():
    return load({str(tmp_path)!r})

def test_right(canopy_checking, kernels):
    kernels["right_twice"]()(canopy.zeros(512, np.float32))

def test_wrong(canopy_checking, kernels):
    kernels["wrong_twice"]()(canopy.zeros(512, np.float32))

def test_unchecked(kernels):
    kernels["wrong_twice"]()(canopy.zeros(512, np.float32))
"""))
    done = run_pytest(tmp_path)
    assert "Potential RAW hazard detected at UB in kernel wrong_twice" in done.stdout, done.stdout
    assert "3 passed, 1 error" in done.stdout, done.stdout
    done = run_pytest(tmp_path, "--canopy-check")
    assert "3 passed, 2 errors" in done.stdout, done.stdout
