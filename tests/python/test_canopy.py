# SPDX-License-Identifier: Apache-2.0
"""The package canopy: arrays, streams, events, kernels and graphs with exceptions instead of codes."""
import ctypes
import gc
import os

import numpy as np
import pytest

import acl
import canopy
from canopy import kernels as canopy_kernels

from conftest import run_program


@pytest.fixture(autouse=True)
def device():
    with canopy.Device(0) as opened:
        yield opened
        gc.collect()


@pytest.fixture
def library():
    with canopy.load(os.environ["CANOPY_TEST_IMAGE"]) as loaded:
        yield loaded


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64, np.int8, np.uint16, np.int64, np.bool_])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 0, 4)])
def test_arrays_come_back_as_they_went(dtype, shape):
    host = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2).astype(dtype)
    there = canopy.array(host)
    assert (there.shape, there.dtype, there.nbytes, there.size) == (host.shape, host.dtype, host.nbytes, host.size)
    back = there.numpy()
    assert back.dtype == host.dtype and back.shape == host.shape and np.array_equal(back, host)


def test_arrays_that_are_not_contiguous_are_copied_in_order():
    host = np.arange(24, dtype=np.float32).reshape(4, 6)
    assert np.array_equal(canopy.array(host[:, ::2]).numpy(), host[:, ::2])
    assert np.array_equal(canopy.array(host.T).numpy(), host.T)


def test_slices_are_views():
    there = canopy.zeros((4, 3), np.int32)
    there[1] = [1, 2, 3]
    there[2:4] = 7
    assert there.numpy().tolist() == [[0, 0, 0], [1, 2, 3], [7, 7, 7], [7, 7, 7]]
    assert there[-1].numpy().tolist() == [7, 7, 7]
    assert int(there[2:]) == int(there) + 24
    assert there.reshape(2, -1).shape == (2, 6)


@pytest.mark.parametrize("use", [lambda a: a[4], lambda a: a[::2], lambda a: a["x"], lambda a: a.reshape(5, -1),
                                 lambda a: a.reshape(-1, -1)])
def test_selections_that_are_no_views_raise(use):
    with pytest.raises((IndexError, TypeError, ValueError)):
        use(canopy.zeros((4, 3)))


def test_a_view_keeps_the_memory():
    tail = canopy.array(np.arange(8, dtype=np.float32))[4:]
    gc.collect()
    canopy.array(np.full(8, -1, np.float32))
    assert tail.numpy().tolist() == [4, 5, 6, 7]


def test_memory_is_freed_with_the_last_array(device):
    free = device.memory[0]
    for _ in range(50):
        canopy.zeros(1 << 20)
    gc.collect()
    assert device.memory[0] == free


def test_objects_cannot_be_in_device_memory():
    with pytest.raises(TypeError, match="object"):
        canopy.array(np.array([object()]))


def test_a_kernel_runs_on_arrays(library):
    x, y = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32)
    out = canopy.empty_like(x)
    library["add"](8)(canopy.array(x), canopy.array(y), out, x.size)
    assert np.array_equal(out.numpy(), x + y)


def test_numbers_have_the_size_of_their_parameter(library):
    out = canopy.zeros(1, np.float64)
    library["mixed_arguments"]()(out, 200, -3, 0.5, -(1 << 40))
    assert out.numpy()[0] == 200 - 3 + 0.5 - (1 << 40)
    library["mixed_arguments"]()(out, np.uint8(1), np.int16(2), np.float32(4), ctypes.c_int64(8))
    assert out.numpy()[0] == 15


@pytest.mark.parametrize("values, message", [
    ((1, 2), "takes 4 arguments, not 2"),
    ((np.zeros(4, np.float32), None, None, 0), "argument 0 .* numpy array is host memory"),
    ((None, None, None, -1 << 40), "argument 3"),
    ((None, None, None, b"12345"), "5 bytes do not fit"),
    ((None, None, None, "text"), "str cannot be an argument"),
    ((0.5, None, None, {}), "dict cannot be an argument"),
])
def test_arguments_that_do_not_fit_are_named(library, values, message):
    with pytest.raises((TypeError, ValueError, OverflowError), match=message):
        library["add"](1)(*values)


def test_arguments_must_lie_on_the_launching_device(library):
    with canopy.Device(1):
        there = canopy.zeros(4)
    with pytest.raises(ValueError, match="argument 0 .* device 1, but the kernel runs on device 0"):
        library["add"](1)(there, None, None, 0)


def test_failures_carry_code_and_text(library):
    with pytest.raises(canopy.Error) as raised:
        library["no_such_kernel"]
    assert raised.value.code != 0 and "no_such_kernel" in str(raised.value)
    with pytest.raises(canopy.Error) as raised:
        with canopy.Stream() as stream:
            library["trap_always"](1, stream)()
    assert raised.value.code == 507035 and "trap_always" in raised.value.text


def test_a_stream_is_current_inside_its_block(library):
    assert canopy.current_stream() is None
    out = canopy.zeros(4)
    with canopy.Stream() as outer:
        with canopy.Stream() as inner:
            assert canopy.current_stream() is inner
            library["add"]()(canopy.array(np.ones(4, np.float32)), canopy.array(np.ones(4, np.float32)), out, 4)
        assert canopy.current_stream() is outer
    assert out.numpy().tolist() == [2, 2, 2, 2]


def test_an_exception_leaves_the_stream_block():
    with pytest.raises(ZeroDivisionError):
        with canopy.Stream():
            1 / 0
    assert canopy.current_stream() is None


def test_events_order_streams_and_take_the_time(library):
    a, b = canopy.Stream(), canopy.Stream()
    x, y, z = (canopy.array(np.ones(4096, np.float32)) for _ in range(3))
    begin = a.record()
    library["add"](4, a)(x, x, y, 4096)
    done = a.record()
    b.wait(done)
    library["add"](4, b)(y, x, z, 4096)
    assert np.all(z.numpy(b) == 3)
    assert done.reached and begin.milliseconds_to(done) >= 0


def test_a_graph_is_captured_and_replayed(library):
    stream = canopy.Stream()
    one, out = canopy.array(np.ones(64, np.float32)), canopy.zeros(64)
    with stream.capture() as graph:
        library["add"](2)(out, one, out, 64)
        library["add"](2)(out, one, out, 64)
    assert np.all(out.numpy() == 0)
    for _ in range(3):
        graph.launch()
    assert np.all(out.numpy(stream) == 6)
    graph.close()


def test_a_graph_whose_replay_runs_can_be_closed_later(library):
    stream, other, notify = canopy.Stream(), canopy.Stream(), acl.rt.create_notify(0)[0]
    one, out = canopy.array(np.ones(64, np.float32)), canopy.zeros(64)
    with stream.capture() as graph:
        library["add"](2)(out, one, out, 64)
    assert acl.rt.wait_and_reset_notify(notify, stream.handle, 0) == 0
    graph.launch()
    with pytest.raises(RuntimeError, match="still running"):
        graph.close()
    assert acl.rt.record_notify(notify, other.handle) == 0
    assert np.all(out.numpy(stream) == 1)
    graph.close()
    assert graph.handle == 0
    assert acl.rt.destroy_notify(notify) == 0


def test_a_fused_graph_has_the_same_results(library):
    stream = canopy.Stream()
    one, out = canopy.array(np.ones(64, np.float32)), canopy.zeros(64)
    with stream.capture() as graph:
        for _ in range(8):
            library["add"](2)(out, one, out, 64)
    graph.fuse()
    graph.launch()
    graph.launch()
    assert np.all(out.numpy(stream) == 16)


def test_a_source_is_compiled_once(tmp_path, monkeypatch):
    monkeypatch.setenv("CANOPY_CACHE_DIR", str(tmp_path / "cache"))
    source, header = tmp_path / "twice.asc", tmp_path / "factor.h"
    header.write_text("#define FACTOR 2\n")
    source.write_text('#include "kernel_operator.h"\n#include "factor.h"\n'
                      'extern "C" __global__ __aicore__ void twice(__gm__ float* x) { x[0] = FACTOR * x[0]; }\n')
    x = canopy.array(np.ones(1, np.float32))
    canopy.load(source)["twice"]()(x)
    assert x.numpy()[0] == 2
    calls = []
    run = canopy_kernels.subprocess.run
    monkeypatch.setattr(canopy_kernels.subprocess, "run", lambda *a, **k: calls.append(a) or run(*a, **k))
    canopy.load(source)["twice"]()(x)
    assert x.numpy()[0] == 4 and not calls
    header.write_text("#define FACTOR 10\n")
    canopy.load(source)["twice"]()(x)
    assert x.numpy()[0] == 40 and len(calls) == 1


def test_images_that_were_not_used_for_longest_are_forgotten(tmp_path, monkeypatch):
    monkeypatch.setenv("CANOPY_CACHE_DIR", str(tmp_path / "cache"))
    text = '#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void nothing() {}\n'
    images = {}

    def load(name):
        source = tmp_path / f"{name}.asc"
        source.write_text(text)
        images[name] = canopy_kernels.compile_image(source)

    load("one")
    load("two")
    size = sum(file.stat().st_size for file in images["one"].parent.iterdir())
    os.utime(images["one"], (1, 1))
    os.utime(images["two"], (2, 2))
    load("one")  # used again
    monkeypatch.setenv("CANOPY_CACHE_SIZE", str(size + 1000))  # the names of files, which are in images, differ in length
    load("three")
    assert images["one"].is_file() and not images["two"].is_file() and images["three"].is_file()
    monkeypatch.setenv("CANOPY_CACHE_SIZE", "0")
    load("four")  # is there for its program, all the same
    assert [file.stem for file in images["four"].parent.glob("*.o")] == [images["four"].stem]


@pytest.mark.parametrize("value, size", [("4096", 4096), ("2k", 2048), ("3MiB", 3 << 20), ("1G", 1 << 30), ("", 512 << 20),
                                         ("a lot", 512 << 20), ("-1", 512 << 20)])
def test_the_size_of_the_cache_is_read(monkeypatch, value, size):
    monkeypatch.setenv("CANOPY_CACHE_SIZE", value)
    assert canopy_kernels.cache_size() == size


def test_a_source_that_does_not_compile_says_why(tmp_path, monkeypatch):
    monkeypatch.setenv("CANOPY_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "broken.asc"
    source.write_text("this is not a kernel;\n")
    with pytest.raises(canopy_kernels.CompileError, match="broken.asc:1"):
        canopy.load(source)
    with pytest.raises(FileNotFoundError, match="missing.asc"):
        canopy.load(tmp_path / "missing.asc")


def test_a_compiler_that_is_missing_is_named(monkeypatch):
    monkeypatch.delenv("CANOPY_CC", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(canopy_kernels, "__file__", "/nonexistent/kernels.py")
    with pytest.raises(FileNotFoundError, match="set_env.sh"):
        canopy_kernels.find_compiler()


def test_a_program_needs_no_clean_up():
    run_program("import canopy, numpy as np\n"
                "x = canopy.array(np.ones(4, np.float32))\n"
                "s = canopy.Stream()\n"
                "assert x.numpy().sum() == 4\n")


def test_the_runtime_may_be_initialised_by_the_program_itself():
    run_program("import acl\nassert acl.init() == 0\nimport canopy\nassert canopy.zeros(3).numpy().sum() == 0\n")


def test_addresses_work_with_the_module_acl():
    there = canopy.array(np.arange(4, dtype=np.int32))
    host = np.zeros(4, np.int32)
    assert acl.rt.memcpy(host, 16, int(there), 16, 2) == 0
    assert host.tolist() == [0, 1, 2, 3]
