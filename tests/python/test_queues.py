# SPDX-License-Identifier: Apache-2.0
"""Queues of the package canopy, between threads and between processes."""
import ctypes
import gc
import os
import pickle
import queue as standard
import signal
import subprocess
import sys
import threading

import acl
import canopy
import numpy as np
import pytest

import other_process
from conftest import check, run_program, value_of
from other_process import OtherProcess

LIMIT = 20  # seconds for waits that must not be long
STRUCTURE = np.dtype([(f"a field with a long name {index}", "<f4", (2,)) for index in range(9)])


@pytest.fixture
def queue():
    with canopy.Device(0), canopy.Queue(4) as created:
        yield created
        created.destroy()


@pytest.fixture(scope="module")
def other():
    process = OtherProcess()
    yield process
    process.close()


@pytest.fixture
def killed():
    """A separate process, for tests that end it."""
    process = OtherProcess()
    yield process
    process.kill()


def same(one, two):
    if isinstance(one, bytes):
        return isinstance(two, bytes) and one == two
    return one.dtype == two.dtype and one.shape == two.shape and one.tobytes() == two.tobytes()


ITEMS = [
    b"", b"some bytes", bytes(100_000), np.arange(12).reshape(3, 4), np.arange(12).reshape(3, 4).T, np.zeros((2, 0, 3), np.int8),
    np.float16(2.5), np.arange(24, dtype=np.float32)[::3], np.zeros(3, STRUCTURE),
    np.array(["2026-01-02"], "datetime64[s]"), np.full((64, 64), 1 + 2j), np.zeros((1,) * 30, np.bool_),
]


# A pickle would give it the byte order of the machine.
BIG_ENDIAN = np.array(7, ">i4")


@pytest.mark.parametrize("item", [*ITEMS, BIG_ENDIAN], ids=range(len(ITEMS) + 1))
def test_items_arrive_as_they_were(queue, item):
    queue.put(item)
    assert len(queue) == 1
    assert same(queue.get(LIMIT), item)
    assert len(queue) == 0


def test_items_arrive_in_another_process_and_come_back(queue, other):
    queue.grant(other)
    other.start(other_process.take, queue, len(ITEMS))
    for item in ITEMS:
        queue.put(item, LIMIT)
    for found, item in zip(other.result(), ITEMS):
        assert same(found, item)


def test_a_device_array_arrives_on_the_current_device(queue, other):
    there = canopy.array(np.arange(1000, dtype=np.int16).reshape(10, 100))
    queue.put(there)
    with canopy.Device(1):
        back = queue.get(LIMIT)
    assert isinstance(back, canopy.Array) and back.device.index == 1
    assert same(back.numpy(), there.numpy())
    queue.grant(other)
    queue.put(canopy.zeros((3, 0)))
    queue.put(there[5:])
    (kind, empty), (_, rows) = other.run(other_process.take, queue, 2)
    assert kind == "device" and empty.shape == (3, 0)
    assert same(rows, there.numpy()[5:])


def test_a_kernel_that_runs_is_finished_before_its_array_is_put(queue):
    with canopy.load(os.environ["CANOPY_TEST_IMAGE"]) as library:
        one, sum = canopy.array(np.ones(1 << 16, np.float32)), canopy.zeros(1 << 16)
        for _ in range(20):
            library["add"](8)(sum, one, sum, sum.size)
        queue.put(sum)
        assert np.all(queue.get(LIMIT).numpy() == 20)


def test_an_array_that_was_received_owns_its_memory(queue):
    queue.put(np.arange(1000))
    queue.put(np.arange(1000))
    first = queue.get(LIMIT)
    part = first[10:20]
    first[15] = -1
    del first
    gc.collect()
    second = queue.get(LIMIT)
    assert part.tolist() == [10, 11, 12, 13, 14, -1, 16, 17, 18, 19]
    assert second[15] == 15


def test_memory_of_items_is_used_again(queue):
    addresses = set()
    for _ in range(20):
        queue.put(np.zeros(1 << 20, np.uint8))
        addresses.add(queue.get(LIMIT).ctypes.data)
    assert len(addresses) < 5
    big = np.zeros(1 << 20, np.uint8)
    for _ in range(4):
        queue.put(big)
    for _ in range(20):
        with pytest.raises(canopy.QueueFull):
            queue.put(big, 0)
    held = [queue.get(LIMIT) for _ in range(4)]
    queue.put(big)
    assert queue.get(LIMIT).ctypes.data - min(array.ctypes.data for array in held) < 8 * big.size


def test_timeouts_raise_the_exceptions_of_the_standard_library_too(queue):
    for error in (canopy.QueueEmpty, standard.Empty, canopy.Error):
        with pytest.raises(error) as raised:
            queue.get(0)
        assert raised.value.code == 207013
    with pytest.raises(canopy.QueueEmpty):
        queue.get(0.15)  # longer than one piece of a wait
    for index in range(4):
        queue.put(bytes([index]), 0)
    for error in (canopy.QueueFull, standard.Full, canopy.Error):
        with pytest.raises(error) as raised:
            queue.put(b"too much", 0.001)
        assert raised.value.code == 207014
    assert [queue.get() for _ in range(4)] == [b"\0", b"\1", b"\2", b"\3"]
    assert acl.get_recent_err_msg() is None


@pytest.mark.parametrize("use, error, message", [
    (lambda q: q.put({}), TypeError, "not dict; put pickle.dumps"),
    (lambda q: q.put(np.array([{}])), TypeError, "object"),
    (lambda q: q.put(b"", -1), ValueError, "negative"),
    (lambda q: q.get(-1), ValueError, "negative"),
    (lambda q: q.grant("a process"), TypeError, "not str"),
    (lambda q: q.grant(0), canopy.Error, "107000"),
    (lambda q: q.grant(1, get=False, put=False), canopy.Error, "100000"),
    (lambda q: canopy.Queue(1), canopy.Error, "107000"),
    (lambda q: canopy.Queue(10_000), canopy.Error, "107000"),
    (lambda q: canopy.Queue(-1), OverflowError, "out of range"),
    (lambda q: canopy.Queue(8, "n" * 200), canopy.Error, "100000"),
    (lambda q: canopy.Queue.attach(1, 0), canopy.Error, r"207006(.|\n)*must call grant"),
    (lambda q: pickle.dumps(q), TypeError, "only passed to a process by multiprocessing"),
])
def test_wrong_use_says_what_is_wrong(queue, use, error, message):
    with pytest.raises(error, match=message):
        use(queue)
    assert len(queue) == 0


def test_names_are_unique_among_living_queues(queue):
    with canopy.Queue(name="a name"):
        with pytest.raises(canopy.Error, match="100000"):
            canopy.Queue(name="a name")
    canopy.Queue(name="a name").destroy()


def test_a_closed_queue_is_closed(queue):
    queue.put(b"lost")
    queue.close()
    queue.close()
    assert "closed" in repr(queue)
    for use in (queue.get, queue.end, queue.__len__, lambda: queue.put(b""), lambda: queue.grant(1), lambda: next(iter(queue))):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_a_loop_ends_when_the_block_of_the_writer_ends(queue):
    seen = []
    begun = threading.Event()

    def read():
        for item in queue:
            seen.append(item)
            begun.set()

    thread = threading.Thread(target=read)
    thread.start()
    with queue:
        queue.put(b"0")
        assert begun.wait(LIMIT)
        for index in range(1, 50):
            queue.put(b"%d" % index)
    thread.join(LIMIT)
    assert not thread.is_alive() and seen == [b"%d" % index for index in range(50)]


def test_a_loop_in_another_process_ends_with_the_block(queue, other):
    queue.grant(other, put=False)
    other.start(other_process.take_all, queue)
    with queue:
        for index in range(30):
            queue.put(np.full(100, index))
    assert [array[0] for array in other.result()] == list(range(30))


def test_another_process_ends_the_loop_here(queue, other):
    queue.grant(other, get=False)
    other.start(other_process.put_and_close, queue, [np.full(10, index) for index in range(30)])
    assert [array[0] for array in queue] == list(range(30))
    other.result()
    # A queue may carry one sequence after the other.
    other.start(other_process.put_arange, queue, 5)
    assert [array.sum() for array in queue] == [np.arange(index, index + 1000).sum() for index in range(5)]
    other.result()
    queue.end()
    with pytest.raises(canopy.QueueEnd):
        queue.get(LIMIT)


def test_every_reader_gets_an_end(queue, other):
    queue.grant(other, put=False)
    other.start(other_process.take_all, queue)
    here = []
    thread = threading.Thread(target=lambda: here.extend(queue))
    thread.start()
    while not queue._reading:
        pass
    with queue:
        for index in range(100):
            queue.put(b"%d" % index)
    thread.join(LIMIT)
    assert not thread.is_alive()
    assert sorted(map(int, here + other.result())) == list(range(100))


def test_rights_are_kept(queue, other):
    queue.grant(other, get=False)
    with pytest.raises(canopy.Error, match="207006"):
        other.run(other_process.take, queue, 1)
    other.run(other_process.put_all, queue, [b"good"])
    assert queue.get(LIMIT) == b"good"


def test_a_queue_that_was_not_granted_is_refused(other):
    with canopy.Queue() as queue:
        assert other.run(other_process.call, "tdt.attach_queue", queue.number, 1)[1] == 207006
        queue.grant(other)
        assert other.run(other_process.call, "tdt.attach_queue", queue.number, 1000) == (6, 0)


def test_a_number_is_enough_to_attach(queue, other):
    queue.put(b"by number")
    other.start(other_process.attach_and_take, queue.number)
    queue.grant(other.pid, put=False)
    assert other.result() == b"by number"


def test_a_queue_that_is_destroyed_wakes_those_who_wait(other):
    queue = other.run(other_process.create_queue, os.getpid())
    assert queue.number != 0 and len(queue) == 0
    errors = []

    def read():
        try:
            queue.get(LIMIT)
        except canopy.Error as error:
            errors.append(error.code)

    thread = threading.Thread(target=read)
    thread.start()
    while not queue._gets:
        pass
    other.run(other_process.destroy_queue)
    thread.join(LIMIT)
    assert not thread.is_alive() and errors == [100032]
    with pytest.raises(canopy.Error, match="100032"):
        queue.put(b"")
    queue.close()


def test_what_a_killed_creator_has_put_arrives_and_then_an_error(killed):
    items = [np.arange(1000), b"bytes"]
    queue = killed.run(other_process.create_full_queue, os.getpid(), items)
    first = queue.get(LIMIT)
    killed.kill()
    assert same(first, items[0]) and same(queue.get(LIMIT), items[1])
    with pytest.raises(canopy.Error, match="100032"):
        for _ in queue:
            pass
    assert same(first, items[0])  # its memory is still here


def test_a_reader_is_told_when_every_writer_is_killed(queue, killed):
    queue.grant(killed, get=False)
    killed.run(other_process.put_all, queue, [b"0", np.arange(1000)])
    killed.kill()
    seen = []
    with pytest.raises(canopy.Error, match=r"507010(.|\n)*every process that may put has ended"):
        for item in queue:
            seen.append(item)
    assert seen[0] == b"0" and same(seen[1], np.arange(1000))


def test_a_writer_is_told_when_every_reader_is_killed(killed):
    with canopy.Queue(2) as queue:
        queue.grant(killed, put=False)
        killed.run(other_process.call, "tdt.attach_queue", queue.number, 1000)
        killed.kill()
        with pytest.raises(canopy.Error, match="507010"):
            for _ in range(3):
                queue.put(b"nobody takes it")
        queue.grant(killed.pid, put=False)  # has ended: that is no reader
        queue.close()


def test_items_outlive_a_creator_that_ends(killed):
    queue = killed.run(other_process.create_full_queue, os.getpid(), [b"x", np.arange(1000)])
    assert queue.get(LIMIT) == b"x"
    killed.close()
    assert same(queue.get(LIMIT), np.arange(1000))
    with pytest.raises(canopy.Error, match="100032"):
        queue.get(LIMIT)


def test_items_of_other_programs_arrive_as_bytes_of_an_array(queue):
    data = np.arange(50, dtype=np.int32)
    check(acl.tdt.enqueue_data(queue.number, data, data.nbytes, b"user data", 9, 0, 0))
    assert same(queue.get(LIMIT).view(np.int32), data)
    head = value_of(acl.tdt.alloc_buf(4, 0))
    for part in (b"abcd", b"efg"):
        buffer = head if part == b"abcd" else value_of(acl.tdt.alloc_buf(4, 0))
        address, _ = value_of(acl.tdt.get_buf_data(buffer))
        acl.util.ptr_to_numpy(address, (4,), 2)[:len(part)] = list(part)
        check(acl.tdt.set_buf_data_len(buffer, len(part)))
        if buffer != head:
            check(acl.tdt.append_buf_chain(head, buffer))
    check(acl.tdt.enqueue(queue.number, head, 0))
    assert queue.get(LIMIT).tobytes() == b"abcdefg"


def test_other_programs_see_the_data_alone(queue):
    data = np.arange(50, dtype=np.int32)
    queue.put(data)
    found = np.zeros(60, np.int32)
    assert acl.tdt.dequeue_data(queue.number, found, found.nbytes, None, 0, 0) == (data.nbytes, 0)
    assert found[:50].tolist() == data.tolist()


@pytest.mark.parametrize("description", [b"((4,), '|O')", b"((-1, -4), '<f8')", b"((5,), '<f8')"])
def test_a_description_that_does_not_fit_is_refused(queue, description):
    user = canopy.queues.HEADER.pack(canopy.queues.MARK, canopy.queues.HOST_ARRAY, len(description), 32) + description
    check(acl.tdt.enqueue_data(queue.number, bytes(32), 32, user, len(user), 0, 0))
    with pytest.raises(ValueError):
        queue.get(LIMIT)


def test_only_queues_have_a_length(queue):
    number = ctypes.c_uint32()
    with pytest.raises(canopy.Error, match="100032"):
        canopy.library.call("canopyCountQueueItems", ctypes.c_uint32(1), ctypes.byref(number))
    with pytest.raises(canopy.Error, match="100000"):
        canopy.library.call("canopyCountQueueItems", ctypes.c_uint32(queue.number), None)


def test_a_wait_can_be_interrupted(queue):
    handler = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            queue.get()
    finally:
        signal.signal(signal.SIGALRM, handler)


def test_a_forked_process_is_told_what_to_do():
    program = """
import canopy, numpy as np, os, sys
queue, array = canopy.Queue(), canopy.zeros(4)
queue.put(b"of the parent")
child = os.fork()
if child == 0:
    said = []
    for use in (lambda: queue.get(1), lambda: queue.put(b""), lambda: len(queue), lambda: canopy.zeros(4), array.numpy,
                canopy.Queue, canopy.Event, queue.close):
        try:
            use()
        except canopy.Error as error:
            said.append(error.code == 107017 and "spawn" in str(error))
    del queue, array, use
    sys.stdout.flush()
    os._exit(0 if said == [True] * 8 else 1)
assert os.waitpid(child, 0)[1] == 0
assert queue.get(1) == b"of the parent"
assert array.numpy().sum() == 0
"""
    assert run_program(program).stderr == ""


SPAWN = """
import multiprocessing, sys
import canopy, numpy as np

def work(queue, answers, array):
    with answers:
        for item in queue:
            array[:1] = item[0]
            answers.put(item * 2)

if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    queue, answers, array = canopy.Queue(), canopy.Queue(), canopy.zeros(2)
    worker = spawn.Process(target=work, args=(queue, answers, array))
    try:
        queue.grant(worker)
    except ValueError as error:
        assert "start it first" in str(error)
    worker.start()
    queue.grant(worker, put=False)
    answers.grant(worker, get=False)
    with queue:
        for index in range(8):
            queue.put(np.full(3, index, np.float32))
    assert [int(answer[0]) for answer in answers] == list(range(0, 16, 2))
    worker.join(20)
    assert worker.exitcode == 0
    assert array.numpy().tolist() == [7, 0]
"""


def test_queues_and_arrays_are_arguments_of_spawned_processes(tmp_path):
    (tmp_path / "program.py").write_text(SPAWN)
    result = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0 and result.stderr == "", result.stderr
