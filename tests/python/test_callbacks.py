# SPDX-License-Identifier: Apache-2.0
"""Python functions that the runtime calls, threads for reports, and the interpreter's lock."""
import sys
import threading

import pytest

import acl
from conftest import Holding, check, run_program, value_of


class Reporter:
    """A thread that processes the reports of a stream until it is stopped."""

    def __init__(self, stream):
        self.stream = stream
        self.end = False
        self.context = value_of(acl.rt.get_context())
        self.thread = value_of(acl.util.start_thread(self.run, [self.context, 10]))
        check(acl.rt.subscribe_report(self.thread, stream))

    def run(self, arguments):
        context, timeout = arguments
        check(acl.rt.set_context(context))
        while not self.end:
            acl.rt.process_report(timeout)

    def stop(self):
        check(acl.rt.unsubscribe_report(self.thread, self.stream))
        self.end = True
        assert acl.util.stop_thread(self.thread) == 0


@pytest.fixture
def reporter(stream):
    reporter = Reporter(stream)
    yield reporter
    reporter.stop()


def test_callback_runs_on_the_subscribed_thread_with_its_object(reporter, stream):
    seen = []
    objects = [object(), None, [1, 2]]
    for item in objects:
        check(acl.rt.launch_callback(lambda value: seen.append((value, threading.get_native_id())), item, 1, stream))
    check(acl.rt.synchronize_stream(stream))
    assert [value for value, _ in seen] == objects
    assert len({thread for _, thread in seen}) == 1
    assert seen[0][1] != threading.get_native_id()


def test_callback_that_blocks_holds_its_stream(reporter, stream):
    inside, go = threading.Event(), threading.Event()

    def call(_):
        inside.set()
        go.wait(20)

    check(acl.rt.launch_callback(call, None, 1, stream))
    assert inside.wait(20)
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    go.set()
    check(acl.rt.synchronize_stream(stream))


def test_exception_of_a_callback_is_not_lost(reporter, stream, unraisable):
    def call(value):
        raise KeyError(value)

    check(acl.rt.launch_callback(call, "own", 1, stream))
    check(acl.rt.synchronize_stream(stream))
    assert [repr(error) for error in unraisable] == ["KeyError('own')"]


def test_callback_without_a_subscription_is_refused_and_forgotten(stream):
    item = object()
    before = sys.getrefcount(item)
    assert acl.rt.launch_callback(print, item, 1, stream) == 107015
    assert sys.getrefcount(item) == before


def test_references_end_with_the_call(reporter, stream):
    item = object()

    def call(_):
        pass

    before = sys.getrefcount(item), sys.getrefcount(call)
    for _ in range(100):
        check(acl.rt.launch_callback(call, item, 1, stream))
    check(acl.rt.synchronize_stream(stream))
    assert acl.rt.launch_callback(call, item, 7, stream) == 100000
    assert (sys.getrefcount(item), sys.getrefcount(call)) == before


def test_callback_of_a_captured_stream_runs_at_every_replay(reporter, stream):
    import ctypes
    library = ctypes.CDLL("libascendcl.so")
    model = ctypes.c_void_p()
    item = []
    before = sys.getrefcount(item)
    check(library.aclmdlRICaptureBegin(ctypes.c_void_p(stream), 2))
    check(acl.rt.launch_callback(lambda value: value.append(1), item, 1, stream))
    check(library.aclmdlRICaptureEnd(ctypes.c_void_p(stream), ctypes.byref(model)))
    assert item == []
    for _ in range(3):
        check(library.aclmdlRIExecuteAsync(model, ctypes.c_void_p(stream)))
        check(acl.rt.synchronize_stream(stream))
    assert item == [1, 1, 1]
    check(library.aclmdlRIDestroy(model))
    assert sys.getrefcount(item) == before


def test_threads_report_what_they_raise():
    def fail(value):
        raise ValueError(f"about {value}")

    thread, error = acl.util.start_thread(fail, "it")
    assert error == 0
    with pytest.raises(RuntimeError, match="raised ValueError: about it") as raised:
        acl.util.stop_thread(thread)
    assert isinstance(raised.value.__cause__, ValueError)
    assert acl.util.stop_thread(thread) != 0  # it is over
    assert acl.util.stop_thread(12345) != 0


def test_thread_without_argument_and_threads_that_stop_themselves():
    seen = []
    thread, _ = acl.util.start_thread(lambda: seen.append("called"), None)
    assert acl.util.stop_thread(thread) == 0
    assert seen == ["called"]

    number = threading.Event()
    thread = None

    def stop_self(_):
        number.wait(20)
        seen.append(acl.util.stop_thread(thread))

    thread, _ = acl.util.start_thread(stop_self, 0)
    number.set()
    assert acl.util.stop_thread(thread) == 0
    assert seen[1] != 0


def test_threads_give_their_references_back():
    item = object()
    before = sys.getrefcount(item)
    for _ in range(20):
        thread, _ = acl.util.start_thread(lambda value: None, item)
        assert acl.util.stop_thread(thread) == 0
    assert sys.getrefcount(item) == before


# Each call waits for a stream that only another Python thread lets go: it must go on meanwhile. Did the call keep the
# interpreter's lock, the stream's wait would fail after its time, and the other thread would not have moved.
def wait_for_event(stream):
    event = value_of(acl.rt.create_event())
    check(acl.rt.record_event(event, stream))
    return lambda: acl.rt.synchronize_event(event)


def wait_for_event_some_time(stream):
    event = value_of(acl.rt.create_event())
    check(acl.rt.record_event(event, stream))
    return lambda: acl.rt.synchronize_event_with_timeout(event, 30000)


@pytest.mark.parametrize("waiting", [
    lambda stream: lambda: acl.rt.synchronize_stream(stream),
    lambda stream: lambda: acl.rt.synchronize_stream_with_timeout(stream, 30000),
    lambda stream: lambda: acl.rt.synchronize_device(),
    lambda stream: lambda: acl.rt.synchronize_device_with_timeout(30000),
    lambda stream: lambda: acl.rt.destroy_stream(stream),
    wait_for_event,
    wait_for_event_some_time,
], ids=["stream", "stream with timeout", "device", "device with timeout", "destroy_stream", "event", "event with timeout"])
def test_other_threads_go_on_while_a_call_waits(stream, waiting):
    holding = Holding(stream)
    call = waiting(stream)
    context = value_of(acl.rt.get_context())
    begun, progress = threading.Event(), []

    def other():
        check(acl.rt.set_context(context))
        begun.wait(20)
        for step in range(1000):
            progress.append(step)
        holding.let_go()

    thread = threading.Thread(target=other)
    thread.start()
    # The thread stops at its first step that needs the lock, until the call below gives it away.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        begun.set()
        ret = call()
        made = len(progress)
    finally:
        sys.setswitchinterval(interval)
    thread.join()
    check(ret)
    assert made == 1000


def test_other_threads_go_on_while_reports_are_waited_for(stream):
    context = value_of(acl.rt.get_context())
    seen, begun = [], threading.Event()

    def other():
        check(acl.rt.set_context(context))
        begun.wait(20)
        check(acl.rt.launch_callback(seen.append, "called", 0, stream))

    check(acl.rt.subscribe_report(threading.get_ident(), stream))
    thread = threading.Thread(target=other)
    thread.start()
    begun.set()
    check(acl.rt.process_report(20000))
    assert seen == ["called"]
    thread.join()
    assert acl.rt.process_report(1) == 507012
    check(acl.rt.unsubscribe_report(threading.get_ident(), stream))


# What an interpreter that ends leaves behind must not bring the process down.
BEGIN = """
import acl, os, threading
acl.init(); acl.rt.set_device(0)
stream = acl.rt.create_stream()[0]
notify = acl.rt.create_notify(0)[0]
context = acl.rt.get_context()[0]
"""


def test_program_may_end_while_a_report_thread_waits():
    run_program(BEGIN + """
ready = threading.Event()
def report(_):
    acl.rt.set_context(context)
    ready.set()
    while True:
        acl.rt.process_report(1)
thread, _ = acl.util.start_thread(report, 1)
acl.rt.subscribe_report(thread, stream)
ready.wait(20)
for _ in range(50):
    acl.rt.launch_callback(lambda value: None, None, 0, stream)
""")


def test_program_may_end_while_threads_wait_for_the_device():
    run_program(BEGIN + """
acl.rt.wait_and_reset_notify(notify, stream, 0)
ready = threading.Event()
def wait():
    acl.rt.set_context(context)
    ready.set()
    acl.rt.synchronize_stream(stream)
threading.Thread(target=wait, daemon=True).start()
acl.util.start_thread(wait, None)
ready.wait(20)
""")


def test_program_may_end_with_a_failing_kernel_and_a_callback(image):
    run_program(BEGIN + """
binary = acl.rt.binary_load_from_file(os.environ["CANOPY_TEST_IMAGE"], [])[0]
kernel = acl.rt.binary_get_function(binary, "trap_always")[0]
acl.rt.set_exception_info_callback(lambda info: None)
for _ in range(20):
    acl.rt.launch_kernel_with_host_args(kernel, 1, stream, [], bytes(8), 8, [], 0)
""")


def test_what_a_forgotten_thread_raised_is_told_at_the_end():
    result = run_program("""
import acl, os
def fail():
    raise ValueError("nobody stopped me")
before = len(os.listdir("/proc/self/task"))
acl.util.start_thread(fail, None)
while len(os.listdir("/proc/self/task")) > before:
    pass
""")
    assert "ValueError: nobody stopped me" in result.stderr


def test_program_ends_when_a_callback_has_ended():
    result = run_program(BEGIN + """
inside, go, subscribed = threading.Event(), threading.Event(), threading.Event()
def call(_):
    inside.set()
    go.wait(20)
    print("ended")
def report():
    acl.rt.set_context(context)
    subscribed.wait(20)
    acl.rt.process_report(-1)
thread, _ = acl.util.start_thread(report, None)
acl.rt.subscribe_report(thread, stream)
subscribed.set()
acl.rt.launch_callback(call, None, 0, stream)
inside.wait(20)
threading.Thread(target=go.set).start()
""")
    assert result.stdout == "ended\n"
