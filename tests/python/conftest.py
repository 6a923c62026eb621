# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share: a device for each test, streams, memory and the kernels."""
import os
import subprocess
import sys

import pytest

os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")  # failing calls are what many tests are about

import acl  # noqa: E402

H2D, D2H, D2D = 1, 2, 3


def check(ret):
    """Fails with the text that the runtime left about an error."""
    assert ret == 0, f"code {ret}: {acl.get_recent_err_msg()}"


def value_of(answer):
    """What a function returned beside its code, which must be 0."""
    *values, ret = answer
    check(ret)
    return values[0] if len(values) == 1 else tuple(values)


def run_program(text, **environment):
    """Runs a Python program in a separate process and returns what it printed; it must end well."""
    result = subprocess.run([sys.executable, "-c", text], env={**os.environ, **environment}, capture_output=True, text=True,
                            timeout=100)
    assert result.returncode == 0, f"ended with {result.returncode}:\n{result.stdout}{result.stderr}"
    return result


@pytest.fixture
def device():
    """Device 0, as the device of this thread."""
    check(acl.rt.set_device(0))
    yield 0
    acl.rt.set_exception_info_callback()
    check(acl.rt.reset_device_force(0))
    acl.get_recent_err_msg()
    acl.rt.get_last_error(0)


@pytest.fixture
def stream(device):
    return value_of(acl.rt.create_stream())


@pytest.fixture
def other_stream(device):
    return value_of(acl.rt.create_stream())


@pytest.fixture
def memory(device):
    """Allocates device memory that is freed after the test."""
    blocks = []

    def allocate(size):
        blocks.append(value_of(acl.rt.malloc(size, 0)))
        return blocks[-1]

    yield allocate
    for block in blocks:
        check(acl.rt.free(block))


@pytest.fixture
def image():
    return os.environ["CANOPY_TEST_IMAGE"]


@pytest.fixture
def kernels(device, image):
    """Finds kernels of the image by name."""
    binary = value_of(acl.rt.binary_load_from_file(image, []))
    yield lambda name: value_of(acl.rt.binary_get_function(binary, name))
    check(acl.rt.binary_unload(binary))


class Holding:
    """Keeps a stream waiting until it is let go; after 20 seconds the wait fails by itself, so that no test hangs."""

    def __init__(self, stream):
        self.notify = value_of(acl.rt.create_notify(0))
        self.stream = value_of(acl.rt.create_stream())
        check(acl.rt.wait_and_reset_notify(self.notify, stream, 20))

    def let_go(self):
        check(acl.rt.record_notify(self.notify, self.stream))


@pytest.fixture
def unraisable(monkeypatch):
    """Collects the exceptions that could not be raised."""
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: seen.append(hook.exc_value))
    return seen
