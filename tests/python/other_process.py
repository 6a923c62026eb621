# SPDX-License-Identifier: Apache-2.0
"""A second process for tests: it calls functions of this file that the test names, one after the other."""
import os
import pickle
import subprocess
import sys
from multiprocessing import connection

import acl
import canopy
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 60  # seconds, so that no test hangs


class OtherProcess:
    """Arguments and results travel as those of multiprocessing do; what a function raises is raised here."""

    def __init__(self):
        self._pipe, other = connection.Pipe()
        program = f"import sys; sys.path.insert(0, {HERE!r}); import other_process; other_process.serve({other.fileno()})"
        self._process = subprocess.Popen([sys.executable, "-c", program], pass_fds=[other.fileno()])
        other.close()
        self.pid = self._process.pid

    def start(self, function, *arguments):
        self._pipe.send((function.__name__, arguments))

    def result(self):
        assert self._pipe.poll(LIMIT), "the other process does not answer"
        result = self._pipe.recv()
        if isinstance(result, Exception):
            raise result
        return result

    def run(self, function, *arguments):
        self.start(function, *arguments)
        return self.result()

    def kill(self):
        self._process.kill()
        self._process.wait(LIMIT)

    def close(self):
        self._pipe.close()
        if self._process.poll() is None:
            self._process.wait(LIMIT)


def serve(descriptor):
    with connection.Connection(descriptor) as pipe:
        while True:
            try:
                question = pipe.recv_bytes()
            except EOFError:
                return
            try:
                name, arguments = pickle.loads(question)
                result = globals()[name](*arguments)
            except Exception as error:
                result = error
            pipe.send(result)


# ---- what it is asked to do -------------------------------------------------------------------------------------------


def numbers_of(array):
    return array.numpy()


def fill(array, value):
    array.set(value)


def open_array(key, shape, dtype):
    return canopy.shared_array(key, shape, dtype).numpy()


def last_of(key, size):
    return int(canopy.shared_array(key, size, np.uint8)[size - 1:].numpy()[0])


def open_twice(key, shape, dtype):
    """The second view goes first, and the first one must stay as it is."""
    first, second = canopy.shared_array(key, shape, dtype), canopy.shared_array(key, shape, dtype)
    del second
    values = first.numpy()
    again = canopy.shared_array(key, shape, dtype)
    del first
    return values, again.numpy()


def keep(array):
    global kept
    kept = array
    return array


def create_array(size):
    return keep(canopy.array(np.arange(size)))


def forget():
    global kept
    kept = None


def imports():
    """What is imported of other processes and not closed yet."""
    forget()
    return canopy.arrays.ImportedMemory._imports


def take(queue, number):
    return [as_host(queue.get(20)) for _ in range(number)]


def attach_and_take(number):
    return canopy.Queue.attach(number, LIMIT).get(LIMIT)


def take_all(queue):
    return [as_host(item) for item in queue]


def as_host(item):
    return ("device", item.numpy()) if isinstance(item, canopy.Array) else item


def put_all(queue, items):
    for item in items:
        queue.put(item)


def put_and_close(queue, items):
    with queue:
        put_all(queue, items)


def put_arange(queue, number):
    for index in range(number):
        queue.put(np.arange(index, index + 1000))
    queue.end()


def create_queue(other, depth=8):
    """A queue of this process, for the process `other`."""
    global kept
    kept = canopy.Queue(depth)
    kept.grant(other)
    return kept


def destroy_queue():
    kept.destroy()


def create_full_queue(other, items):
    queue = create_queue(other)
    put_all(queue, items)
    return queue


def record(event):
    with canopy.Stream() as stream:
        stream.record(event)


def wait_for(event):
    with canopy.Stream() as stream:
        stream.wait(event)
    return event.reached


def record_notify(notify):
    with canopy.Stream() as stream:
        notify.record(stream)


def create_event():
    global kept
    kept = canopy.Event(shared=True)
    return kept


def call(name, *arguments):
    """A function of the module acl, with a device."""
    acl.init()
    acl.rt.set_device(0)
    function = acl
    for part in name.split("."):
        function = getattr(function, part)
    return function(*arguments)


def write_physical(shareable, share_type, size, value):
    """Imports physical memory, writes a number into it and returns the codes."""
    acl.init()
    acl.rt.set_device(0)
    handle, imported = acl.rt.mem_import_from_shareable_handle_v2(shareable, share_type, 0)
    if imported:
        return imported
    address, reserved = acl.rt.reserve_mem_address(size, 0, None, 0)
    codes = [reserved, acl.rt.map_mem(address, size, 0, handle, 0),
             acl.rt.memcpy(address, 4, np.array([value], np.int32), 4, 1),
             acl.rt.unmap_mem(address), acl.rt.release_mem_address(address), acl.rt.free_physical(handle)]
    return next((code for code in codes if code), 0)
