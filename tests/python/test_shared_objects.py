# SPDX-License-Identifier: Apache-2.0
"""Events, notifies and physical memory between processes, and snapshots."""
import os
import pickle
import struct
import subprocess
import sys

import acl
import canopy
import numpy as np
import pytest

import other_process
from conftest import check, value_of
from other_process import OtherProcess

SHARED_EVENT = 0x40
NUMBER, FABRIC = 1, 2
LIMIT = 20


@pytest.fixture(scope="module")
def other():
    process = OtherProcess()
    yield process
    process.close()


@pytest.fixture(autouse=True)
def opened():
    with canopy.Device(0):
        yield


def test_a_shared_event_is_recorded_there_and_waited_for_here(other):
    event, stream = canopy.Event(shared=True), canopy.Stream()
    assert event.reached  # never recorded
    other.run(other_process.record, event)
    stream.wait(event)
    stream.synchronize()
    assert event.reached
    notify, held = canopy.Notify(), canopy.Stream()
    notify.wait(held, LIMIT)
    held.record(event)
    assert not event.reached
    other.start(other_process.wait_for, event)
    with canopy.Stream() as free:
        notify.record(free)
    assert other.result() is True
    held.synchronize()


def test_a_shared_event_is_opened_by_its_key(other):
    event = other.run(other_process.create_event)
    with canopy.Stream() as stream:
        stream.record(event)
    assert other.run(other_process.wait_for, event) is True
    key = event.share()
    assert isinstance(key, bytes) and len(key) == 64
    event.close()


def test_an_event_that_cannot_be_shared_says_so():
    with pytest.raises(canopy.Error, match=r"107000|shared=True"):
        canopy.Event().share()
    with pytest.raises(canopy.Error, match="107017"):
        canopy.Event.open(bytes(64))
    with pytest.raises(ValueError, match="has 3 bytes, not 64"):
        canopy.Event.open(b"key")
    with pytest.raises(TypeError, match="only passed to a process by multiprocessing"):
        pickle.dumps(canopy.Event(shared=True))


def test_a_notify_is_recorded_by_another_process(other):
    with canopy.Notify() as notify, canopy.Stream() as stream:
        assert notify.share() == notify.share()
        notify.wait(timeout=LIMIT)
        other.run(other_process.record_notify, notify)
        stream.synchronize()


def test_a_notify_is_for_listed_processes(other):
    stream = canopy.Stream()
    with canopy.Notify() as notify:
        key = notify.share(1)
        with pytest.raises(canopy.Error, match="207006"):
            other.run(other_process.record_notify, notify)
        with pytest.raises(ValueError, match="name those to add"):
            notify.share()
        assert notify.share(other) == key
        notify.wait(stream, LIMIT)
        other.run(other_process.record_notify, notify)
        stream.synchronize()
        check(acl.rt.notify_set_import_pid_inter_server(notify.handle, [{"sdid": 0, "pid": [os.getpid()]}]))
        assert acl.rt.notify_set_import_pid_inter_server(notify.handle, [{"pid": [1, 2]}]) == 107000
        assert acl.rt.notify_set_import_pid_inter_server(notify.handle, []) == 107000


@pytest.mark.parametrize("servers, error, message", [
    ([1], TypeError, "a list of dicts"), ([{}], ValueError, 'lacks "pid"'), ([{"pid": 1}], TypeError, "must be a list"),
    ([{"pid": ["1"]}], TypeError, "not str"), ([{"sdid": -1, "pid": []}], OverflowError, "out of range"),
])
def test_lists_of_servers_are_checked(servers, error, message):
    with pytest.raises(error, match=message):
        acl.rt.ipc_mem_import_pid_inter_server("key", servers)


def test_memory_is_for_processes_of_listed_servers(other):
    array = canopy.array(np.arange(8, dtype=np.int32))
    key = value_of(acl.rt.ipc_mem_get_export_key(int(array), array.nbytes, 65, 0))
    with pytest.raises(canopy.Error, match="207006"):
        other.run(other_process.open_array, key, 8, np.int32)
    check(acl.rt.ipc_mem_import_pid_inter_server(key, [{"sdid": 0, "pid": [1]}, {"sdid": 1, "pid": [other.pid]}]))
    assert other.run(other_process.open_array, key, 8, np.int32).tolist() == list(range(8))
    assert acl.rt.ipc_mem_import_pid_inter_server(key, [{"sdid": 0, "pid": []}]) == 107000
    assert acl.rt.ipc_mem_set_attr(key, 1, 0) == 107000
    assert acl.rt.ipc_mem_set_attr(key, 0, 9) == 107000
    check(acl.rt.ipc_mem_close(key))
    with pytest.raises(canopy.Error, match="107017"):
        other.run(other_process.open_array, key, 8, np.int32)


@pytest.mark.parametrize("share_type, kind", [(NUMBER, int), (FABRIC, bytes)])
def test_physical_memory_is_shared_by_a_number_or_by_bytes(other, share_type, kind):
    properties = {"memAttr": 1, "location": {"id": 0, "type": 1}}
    size = value_of(acl.rt.mem_get_allocation_granularity(properties, 0))
    memory = value_of(acl.rt.malloc_physical(size, properties, 0))
    address = value_of(acl.rt.reserve_mem_address(size, 0, None, 0))
    check(acl.rt.map_mem(address, size, 0, memory, 0))
    shared = value_of(acl.rt.mem_export_to_shareable_handle_v2(memory, 0, share_type))
    assert type(shared) is kind and (kind is int or len(shared) == 128)
    assert other.run(other_process.write_physical, shared, share_type, size, 5) == 207006
    check(acl.rt.mem_set_pid_to_shareable_handle_v2(shared, share_type, [other.pid]))
    assert other.run(other_process.write_physical, shared, share_type, size, 123) == 0
    found = bytearray(4)
    check(acl.rt.memcpy(found, 4, address, 4, 2))
    assert struct.unpack("<i", found) == (123,)
    for code in (acl.rt.unmap_mem(address), acl.rt.release_mem_address(address), acl.rt.free_physical(memory)):
        check(code)


def test_wrong_shareable_handles_are_refused():
    with pytest.raises(ValueError, match="has 5 bytes, not 128"):
        acl.rt.mem_import_from_shareable_handle_v2(b"12345", FABRIC, 0)
    assert acl.rt.mem_import_from_shareable_handle_v2(1, FABRIC, 0)[1] == 107017  # a number has room for a fabric handle
    assert acl.rt.mem_import_from_shareable_handle_v2(1, 7, 0)[1] == 107000
    assert acl.rt.mem_set_pid_to_shareable_handle_v2(1, NUMBER, []) == 100000
    assert acl.rt.mem_export_to_shareable_handle_v2(None, 0, NUMBER) == (0, 100000)
    assert acl.rt.mem_export_to_shareable_handle_v2(None, 0, FABRIC) == (bytes(128), 100000)


def test_an_event_handle_goes_through_the_module(other):
    event = value_of(acl.rt.create_event_ex_with_flag(SHARED_EVENT))
    handle = value_of(acl.rt.ipc_get_event_handle(event))
    assert value_of(acl.rt.ipc_get_event_handle(event)) == handle
    there, code = other.run(other_process.call, "rt.ipc_open_event_handle", handle)
    assert code == 0 and there
    assert other.run(other_process.call, "rt.destroy_event", there) == 0
    check(acl.rt.destroy_event(event))
    assert acl.rt.ipc_get_event_handle(event)[1] == 107017


SNAPSHOT = """
import acl, os, sys, threading
LOCK_PRE, BACKUP_PRE, BACKUP_POST, RESTORE_PRE, RESTORE_POST, UNLOCK_POST = range(6)
acl.init(); acl.rt.set_device(0)
pid, seen, unraisable = os.getpid(), [], []
sys.unraisablehook = lambda hook: unraisable.append(type(hook.exc_value).__name__)

class Program:
    def stage(self, device, name):
        seen.append((device, name))

program = Program()
assert acl.rt.snap_shot_process_lock(pid) == 0
assert acl.rt.snap_shot_process_unlock(pid) == 0
for stage in range(6):
    assert acl.rt.snap_shot_callback_register(stage, program.stage, stage) == 0
assert acl.rt.snap_shot_callback_register(LOCK_PRE, program.stage, "again") == 507913
assert acl.rt.snap_shot_callback_register(6, program.stage, None) == 107000
assert acl.rt.snap_shot_callback_unregister(LOCK_PRE, print) == 107000

assert acl.rt.snap_shot_process_backup(pid) == 507908
assert acl.rt.snap_shot_process_lock(0) == 100000
seen.clear()
assert acl.rt.snap_shot_process_lock(pid) == 0
assert acl.rt.snap_shot_process_backup(pid, None) == 0
assert acl.rt.snap_shot_process_restore(pid) == 0
assert acl.rt.snap_shot_process_unlock(pid, None) == 0
assert seen == [(0, stage) for stage in range(6)], seen

# A result other than 0 and an exception stop it.
answers = {"number": lambda device, _: 5, "exception": lambda device, _: 1 / 0, "text": lambda device, _: "no"}
for name, answer in answers.items():
    assert acl.rt.snap_shot_callback_register(LOCK_PRE, answer, None) == 0
    assert acl.rt.snap_shot_process_lock(pid) == 507912, name
    assert acl.rt.snap_shot_callback_unregister(LOCK_PRE, answer) == 0
assert unraisable == ["ZeroDivisionError", "TypeError"], unraisable
assert acl.rt.snap_shot_callback_unregister(LOCK_PRE, program.stage) == 0
assert acl.rt.snap_shot_process_lock(pid) == 0
assert acl.rt.snap_shot_process_unlock(pid) == 0

# Calls wait while it is locked, and Python threads go on.
assert acl.rt.snap_shot_process_lock(pid) == 0
codes = []
threads = [threading.Thread(target=lambda: codes.append((acl.rt.set_device(0), acl.rt.malloc(64, 0)[1]))) for _ in range(4)]
for thread in threads: thread.start()
assert acl.rt.snap_shot_process_unlock(pid) == 0
for thread in threads: thread.join()
assert codes == [(0, 0)] * 4

# The places of functions come back, and there are 64.
more = [lambda device, _, number=number: None for number in range(70)]
for _ in range(2):
    codes = []
    try:
        for function in more: codes.append(acl.rt.snap_shot_callback_register(BACKUP_PRE, function, None))
    except RuntimeError as error:
        assert "64 functions are registered" in str(error)
    assert codes == [0] * 59, len(codes)
    for function in more[:59]: assert acl.rt.snap_shot_callback_unregister(BACKUP_PRE, function) == 0
"""


def test_snapshots_call_python_functions():
    result = subprocess.run([sys.executable, "-c", SNAPSHOT], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr


def test_information_belongs_to_a_captured_task():
    stream, array = canopy.Stream(), canopy.zeros(4)
    with stream.capture():
        check(acl.rt.memset_async(int(array), 16, 0, 16, stream.handle))
        assert acl.rt.cache_last_task_extend_info('{"by": "a test"}') == 0
    assert acl.rt.cache_last_task_extend_info("") == 107000
    assert acl.rt.cache_last_task_extend_info('{"no": "captured task"}') == 107000
