# SPDX-License-Identifier: Apache-2.0
"""Three stages (upload, compute, download) on three streams, chained by events; a callback after each batch."""
import queue
import sys
import threading

import acl
import numpy as np

BATCHES = 12
SIZE = 8 * 4096
BYTES = SIZE * 4
BUFFERS = 3
H2D, D2H = 1, 2
ACL_CALLBACK_BLOCK = 1


def ok(result, what=""):
    ret = result[-1] if isinstance(result, tuple) else result
    if ret != 0:
        raise RuntimeError(f"{what} ret={ret}: {acl.get_recent_err_msg()}")
    if isinstance(result, tuple):
        return result[0] if len(result) == 2 else result[:-1]
    return None


class ReportThread:
    """aclrtProcessReport runs here, so callbacks run here."""

    def __init__(self, stream):
        self.stream, self.running = stream, True
        self.context = ok(acl.rt.get_context())
        self.thread_id = ok(acl.util.start_thread(self.loop, [self.context, 50]))
        ok(acl.rt.subscribe_report(self.thread_id, stream), "subscribe_report")

    def loop(self, args):
        context, timeout = args
        ok(acl.rt.set_context(context))
        while self.running:
            acl.rt.process_report(timeout)

    def stop(self):
        ok(acl.rt.unsubscribe_report(self.thread_id, self.stream), "unsubscribe_report")
        self.running = False
        ok(acl.util.stop_thread(self.thread_id))


class Pipeline:
    def __init__(self):
        ok(acl.init())
        ok(acl.rt.set_device(0))
        self.up, self.compute, self.down = (ok(acl.rt.create_stream()) for _ in range(3))
        self.binary = ok(acl.rt.binary_load_from_file("out/fatbin/square_kernels/square_kernels.o", []), "load")
        self.kernel = ok(acl.rt.binary_get_function(self.binary, "square"))
        self.slots = []
        for _ in range(BUFFERS):
            slot = {"x": ok(acl.rt.malloc(BYTES, 0)), "y": ok(acl.rt.malloc(BYTES, 0)),
                    "host_x": ok(acl.rt.malloc_host(BYTES)), "host_y": ok(acl.rt.malloc_host(BYTES)),
                    "uploaded": ok(acl.rt.create_event()), "computed": ok(acl.rt.create_event()),
                    "free": threading.Event()}
            slot["free"].set()
            self.slots.append(slot)
        self.report = ReportThread(self.down)
        self.done = queue.Queue()

    def on_batch(self, item):
        number, slot = item
        data = np.frombuffer(acl.util.ptr_to_bytes(slot["host_y"], BYTES), np.float32).copy()
        self.done.put((number, data, threading.current_thread()))
        slot["free"].set()

    def submit(self, number, data):
        slot = self.slots[number % BUFFERS]
        if not slot["free"].wait(60):
            raise RuntimeError("no slot became free")
        slot["free"].clear()
        ok(acl.rt.memcpy(slot["host_x"], BYTES, acl.util.numpy_to_ptr(data), BYTES, 0))
        ok(acl.rt.memcpy_async(slot["x"], BYTES, slot["host_x"], BYTES, H2D, self.up))
        ok(acl.rt.record_event(slot["uploaded"], self.up))
        ok(acl.rt.stream_wait_event(self.compute, slot["uploaded"]))
        args = np.array([slot["x"], slot["y"]], np.uint64)
        ok(acl.rt.launch_kernel_with_host_args(self.kernel, SIZE // 4096, self.compute, [], args, args.nbytes, [], 0))
        ok(acl.rt.record_event(slot["computed"], self.compute))
        ok(acl.rt.stream_wait_event(self.down, slot["computed"]))
        ok(acl.rt.memcpy_async(slot["host_y"], BYTES, slot["y"], BYTES, D2H, self.down))
        ok(acl.rt.launch_callback(self.on_batch, (number, slot), ACL_CALLBACK_BLOCK, self.down), "launch_callback")

    def close(self):
        ok(acl.rt.synchronize_stream(self.down))
        self.report.stop()
        for slot in self.slots:
            for name in ("x", "y"):
                ok(acl.rt.free(slot[name]))
                ok(acl.rt.free_host(slot["host_" + name]))
            for name in ("uploaded", "computed"):
                ok(acl.rt.destroy_event(slot[name]))
        ok(acl.rt.binary_unload(self.binary))
        for stream in (self.up, self.compute, self.down):
            ok(acl.rt.destroy_stream(stream))
        ok(acl.rt.reset_device(0))
        ok(acl.finalize())


def main():
    pipeline = Pipeline()
    context = ok(acl.rt.get_context())
    inputs = [np.random.default_rng(i).random(SIZE, dtype=np.float32) for i in range(BATCHES)]

    def feeder():
        ok(acl.rt.set_context(context))
        for number, data in enumerate(inputs):
            pipeline.submit(number, data)

    thread = threading.Thread(target=feeder)
    thread.start()
    order = []
    for _ in range(BATCHES):
        number, data, _ = pipeline.done.get(timeout=60)
        order.append(number)
        np.testing.assert_array_equal(data, inputs[number] * inputs[number])
    thread.join()
    pipeline.close()
    if order != list(range(BATCHES)):
        print("batches came in the order", order)
        return 1
    print(f"{BATCHES} batches of {SIZE} through 3 streams: [SUCCESS]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
