# SPDX-License-Identifier: Apache-2.0
"""Profiles known by construction, as the lines that write_page reads. Times are nanoseconds."""
import random
import subprocess

KINDS = ("none call task node block step piece detail memory mark counter step_point idle").split()
KIND = {name: number for number, name in enumerate(KINDS)}
TASK = {name: number for number, name in enumerate(
    "kernel cpu_kernel copy fill signal wait write_value wait_value host_call runtime_call replay condition control mark".split())}
DETAIL = {"bytes": 1, "place": 2, "waits_for": 3, "released_by": 4, "submitted": 5, "code": 6}
HOST, WORKER = 0, 1
FIRST_FREE_TEXT = 1 << 14


def link(stream, task):
    return stream << 32 | task


class Profile:
    def __init__(self):
        self.lines, self.names, self.marks, self.records = [], {}, {}, []

    def name(self, text):
        return self._text(self.names, text, len(self.names) + 1)

    def mark_text(self, text):
        return self._text(self.marks, text, FIRST_FREE_TEXT + len(self.marks))

    def _text(self, table, text, number):
        raw = text if isinstance(text, bytes) else text.encode()
        if raw not in table:
            table[raw] = number
            self.lines.append(f"text {number} {raw.hex()}")
        return table[raw]

    def line(self, *words):
        self.lines.append(" ".join(str(word) for word in words))

    def record(self, thread, kind, begin, duration=0, name=0, object=0, argument=0, link=0):
        begin, duration = int(begin), int(duration)
        self.lines.append(f"record {thread} {KIND[kind]} {begin} {duration} {name} {object} {argument} {link}")
        if kind != "detail":
            self.records.append({"thread": thread, "kind": kind, "begin": begin, "duration": duration, "name": name,
                                 "object": object, "argument": argument, "link": link})
        return begin + duration

    def task(self, thread, stream, number, begin, duration, type="kernel", name="", how=2, device=0, flags=0, argument=0,
             **details):
        packed = TASK[type] | how << 8 | device << 16 | flags << 24
        self.record(thread, "task", begin, duration, self.name(name) if name else 0, packed, argument, link(stream, number))
        self.details(thread, link(stream, number), details)

    def details(self, thread, of, details):
        for key, value in details.items():
            self.record(thread, "detail", value, 0, 0, DETAIL[key], 0, of)

    def call(self, thread, begin, duration, function, submitted=0, of=0, code=0):
        self.record(thread, "call", begin, duration, self.name(function), code, submitted, of)

    def end(self):
        self.line("end")
        return self

    def write(self, program, profile, page):
        ran = subprocess.run([program, str(profile), str(page)], input="\n".join(self.lines) + "\n", text=True,
                             capture_output=True)
        assert ran.returncode == 0, ran.stderr


def known(rounds=24):
    """Two layers of kernels on stream 2 that wait for copies on stream 1, a graph replayed on stream 3, fused launches on
    stream 4; every second round begins late, because the host allocates memory."""
    profile = Profile()
    profile.line("fact", "program", "/opt/demo/train_step")
    profile.line("fact", "arguments", "train_step --rounds 24")
    profile.line("fact", "cost_of_a_record_ns", "18.5")
    profile.line("device", 0, 24, 48, 8, 4, 32 << 30, "Ascend910B4")
    profile.line("thread", 1, 4711, HOST, 0, "main")
    for worker in range(4):
        profile.line("thread", 10 + worker, 5000 + worker, WORKER, worker, f"worker {worker}")
    for stream in (1, 2, 3, 4):
        profile.line("stream", stream, 0, 5 if stream == 1 else 0)
    numbers = {1: 0, 2: 0, 3: 0, 4: 0}
    memory = 0

    def submit(stream, at, function, duration=400):
        numbers[stream] += 1
        profile.call(1, at, duration, function, 1, link(stream, numbers[stream]))
        return numbers[stream]

    def kernel(stream, number, begin, duration, name, blocks, submitted):
        for block in range(blocks):
            worker = 10 + block % 4
            share = duration / (blocks // 4 or 1)
            length = share * (0.55 + 0.45 * ((block * 7 + number) % 5) / 4)
            profile.record(worker, "block", begin + share * (block // 4), length, profile.name(name), block, 0,
                           link(stream, number))
        profile.task(10, stream, number, begin, duration, name=name, argument=blocks, submitted=submitted)
        return begin + duration

    clock = 1_000_000
    for round_ in range(rounds):
        start = clock
        profile.record(1, "mark", start, 180_000, profile.name("training"), profile.mark_text(f"round {round_}"), 1 | 1 << 8)
        if round_ % 2:
            profile.call(1, clock, 30_000, "aclrtMalloc")
            memory += 8 << 20
            profile.record(1, "memory", clock + 30_000, 8 << 20, profile.name("device"), 0, 0, memory)
            clock += 31_000
        copied = submit(1, clock, "aclrtMemcpyAsync", 900)
        signalled = submit(1, clock + 1_000, "aclrtRecordEvent")
        waiting = submit(2, clock + 1_500, "aclrtStreamWaitEvent")
        first = submit(2, clock + 2_000, "aclrtLaunchKernelWithConfig")
        second = submit(2, clock + 2_500, "aclrtLaunchKernelWithConfig")
        replayed = submit(3, clock + 3_000, "aclmdlRIExecuteAsync", 1_200)
        fused = submit(4, clock + 4_500, "aclrtLaunchKernelWithConfig")
        copy_end = clock + 1_200 + 40_000
        profile.task(11, 1, copied, clock + 1_200, 40_000, "copy", how=2, argument=4 << 20, submitted=clock + 500)
        profile.task(11, 1, signalled, copy_end, 200, "signal", submitted=clock + 1_100)
        profile.task(12, 2, waiting, clock + 2_000, copy_end + 300 - clock - 2_000, "wait", submitted=clock + 1_600,
                     waits_for=77, released_by=link(1, signalled))
        at = kernel(2, first, copy_end + 500, 52_000, "matmul_tile", 16, clock + 2_100)
        at = kernel(2, second, at + 200, 31_000, "add_bias_relu", 8, clock + 2_600)
        replay_begin = clock + 6_000
        profile.task(13, 3, replayed, replay_begin, 70_000, "replay", name="layer graph", submitted=clock + 3_400)
        for node in range(6):
            lane, position = node % 2, node // 2
            object_ = TASK["kernel"] | 2 << 8
            profile.record(13, "node", replay_begin + 1_000 + position * 22_000 + lane * 3_000, 18_000,
                           profile.name(("softmax", "layer_norm", "transpose")[position]), object_, 4, link(3, replayed))
            profile.details(13, link(3, replayed), {"place": lane << 32 | position})
        for step in range(4):
            profile.record(10 + step % 4, "step", clock + 50_000 + step * 9_000, 8_500, profile.name(("gelu", "mul")[step % 2]),
                           step, 0, link(4, fused))
        profile.task(13, 4, fused, clock + 50_000, 36_000, name="gelu+mul", flags=4, argument=8, submitted=clock + 4_600)
        profile.call(1, clock + 6_000, at - clock - 5_000, "aclrtSynchronizeStream")
        back = submit(1, at + 1_500, "aclrtMemcpyAsync")
        profile.task(11, 1, back, at + 2_000, 12_000, "copy", how=3, argument=1 << 20, submitted=at + 1_700)
        clock = at + 30_000 + (45_000 if round_ % 6 == 5 else 0)
    return profile


def large(count, streams=8, workers=16, seed=1):
    """So many records: for each task a call, two blocks and when it was submitted."""
    rng = random.Random(seed)
    profile = Profile()
    profile.line("fact", "program", "large")
    profile.line("device", 0, 24, 48, 8, workers, 32 << 30, "Ascend910B4")
    profile.line("thread", 1, 1, HOST, 0, "main")
    for worker in range(workers):
        profile.line("thread", 10 + worker, 100 + worker, WORKER, worker, f"worker {worker}")
    names = [profile.name(f"kernel_{number}") for number in range(40)]
    launch = profile.name("aclrtLaunchKernelWithConfig")
    profile.lines.append("")
    tasks = count // 5
    tasks_free = [0] * streams
    worker_free = [0] * workers
    by_thread = {thread: [] for thread in [1] + [10 + worker for worker in range(workers)]}
    clock = 1000
    for number in range(1, tasks + 1):
        stream = rng.randrange(streams)
        clock += rng.randrange(300, 1500)
        of = link(stream + 1, number)
        by_thread[1].append(f"record 1 1 {clock} {rng.randrange(80, 280)} {launch} 0 1 {of}")
        begin = max(clock + 400, tasks_free[stream])
        length = rng.randrange(900, 9000)
        tasks_free[stream] = begin + length
        name = rng.choice(names)
        worker = rng.randrange(workers)
        for block in range(2):
            place = (worker + block) % workers
            start = max(begin, worker_free[place])
            worker_free[place] = start + length // 3
            by_thread[10 + place].append(f"record {10 + place} 4 {start} {length // 3} {name} {block} 0 {of}")
        by_thread[10 + worker].append(f"record {10 + worker} 2 {begin} {length} {name} {2 << 8} 2 {of}")
        by_thread[10 + worker].append(f"record {10 + worker} 7 {clock + 40} 0 0 5 0 {of}")
    for lines in by_thread.values():
        profile.lines.extend(lines)
    return profile.end()
