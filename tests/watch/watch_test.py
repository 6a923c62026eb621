#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at a program with known figures (watched.cpp) as users do: `canopy top` in a terminal, in a pipe and as JSON, and
npu-smi with the parsers that scripts use.

    watch_test.py <canopy> <npu-smi> <watched>
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TOP, SMI, WATCHED = sys.argv[1:4]
PATIENCE = 60  # seconds; nothing takes so long
LEAVE = b"\033[?25h\033[?1049l"


def eventually(condition):
    end = time.monotonic() + PATIENCE
    while not (answer := condition()):
        assert time.monotonic() < end, "it did not happen in time"
    return answer


class Terminal:
    """A terminal with a program in it."""

    def __init__(self, command, width=100, height=30):
        self.main, self.other = pty.openpty()
        self.resize(width, height)
        self.before = termios.tcgetattr(self.other)
        self.program = subprocess.Popen(command, stdin=self.other, stdout=self.other, stderr=self.other,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.shown = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.kill()
        self.program.wait()
        os.close(self.main)
        os.close(self.other)

    def resize(self, width, height):
        fcntl.ioctl(self.other, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def read(self):
        while select.select([self.main], [], [], 0.02)[0]:
            self.shown += os.read(self.main, 65536)
        return self.shown

    def pages(self):
        """What was drawn each time, as lines; without the last page, which may not be complete."""
        drawn = self.read().split(b"\033[H")[1:-1]
        return [page.replace(b"\033[K", b"").replace(b"\r", b"").decode().split("\n") for page in drawn]

    def wait_for(self, *texts):
        """The first page that holds all of them."""
        return eventually(lambda: next((page for page in self.pages()
                                        if all(any(text in line for line in page) for text in texts)), None))

    def end(self):
        """The status, once what it wrote has been read."""
        eventually(lambda: self.read() is not None and self.program.poll() is not None)
        self.read()
        return self.program.returncode


class WatchTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.environ["XDG_RUNTIME_DIR"] = self.folder.name
        os.environ["CANOPY_DEVICE_COUNT"] = "2"
        os.environ["CANOPY_DEVICE_MEMORY"] = "1G"
        os.environ["CANOPY_WORKERS"] = "2"
        os.environ.pop("ASCEND_RT_VISIBLE_DEVICES", None)
        os.environ.pop("CANOPY_CHIP", None)

    @contextlib.contextmanager
    def watched(self):
        program = subprocess.Popen([WATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(program.stdout.readline(), "ready\n")
            yield program
        finally:
            program.kill()
            program.wait()
            program.stdin.close()
            program.stdout.close()

    def files(self):
        folder = pathlib.Path(self.folder.name, "canopy")
        return list(folder.iterdir()) if folder.exists() else []

    def run_tool(self, *command, status=0):
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.returncode, status, result)
        return result.stdout

    def figures(self, *options):
        return json.loads(self.run_tool(TOP, "top", "--once", "--json", *options))

    def running_figures(self):
        """The figures when the kernel is seen to run, and the other stream to wait."""
        def figures():
            seen = self.figures()
            return seen if seen["longest_running"] and "waits for an event" in str(seen) else None

        return eventually(figures)

    def test_without_a_program(self):
        self.assertEqual(self.run_tool(TOP, "top", "--once"), "No program uses Canopy now.\n")
        self.assertEqual(self.figures(), {"processes": [], "longest_running": None})
        self.run_tool(TOP, "top", "--once", "-p", "1", status=1)
        for wrong in (["-p", "x"], ["--interval", "0"], ["--interval", "1e9"], ["--interval", "nan"], ["-p", "-3"]):
            self.run_tool(TOP, "top", *wrong, status=2)

    def test_known_figures(self):
        with self.watched() as program:
            seen = self.running_figures()
            self.assertEqual([process["process"] for process in seen["processes"]], [program.pid])
            self.assertEqual(seen["processes"][0]["name"], "watched")
            (device,) = seen["processes"][0]["devices"]
            self.assertEqual((device["kind"], device["chip"], device["workers"]), ("soft", "Ascend910B1", 2))
            self.assertEqual(device["memory"]["total"], 1 << 30)
            self.assertGreaterEqual(device["memory"]["used"], 64 << 20)
            self.assertLess(device["memory"]["used"], 65 << 20)
            streams = {stream["stream"]: stream for stream in device["streams"] if stream["depth"]}
            self.assertEqual(sorted((stream["depth"], stream["state"]) for stream in streams.values()),
                             [(2, "running"), (6, "waits for an event")])
            (running,) = device["running"]
            self.assertEqual((running["kernel"], running["unit"]), ("wait_for_word", "vector"))
            self.assertEqual(streams[running["stream"]]["depth"], 2)
            longest = seen["longest_running"]
            self.assertEqual((longest["kernel"], longest["process"]), ("wait_for_word", program.pid))
            # One of two threads is busy all the time.
            share = eventually(lambda: (share := self.figures("--interval", "0.2")["processes"][0]["devices"][0]
                                        ["utilisation"]["vector"]) > 0 and share)
            self.assertLessEqual(share, 0.6)

            program.stdin.write("\n")
            program.stdin.flush()
            self.assertEqual(program.stdout.readline(), "done\n")
            ended = eventually(lambda: (seen := self.figures()) and not seen["longest_running"] and seen)
            device = eventually(lambda: (device := self.figures()["processes"][0]["devices"][0])["completed"] ==
                                device["submitted"] and device)
            self.assertEqual(device["completed"], 8, ended)
            program.stdin.write("\n")
            program.stdin.flush()
            self.assertEqual(program.wait(), 0)
            self.assertEqual(self.files(), [])

    def test_a_killed_program_is_gone(self):
        with self.watched() as program:
            self.running_figures()
            program.kill()
            program.wait()
            self.assertEqual(len(self.files()), 1)
            self.assertEqual(self.figures()["processes"], [])
            self.assertEqual(self.files(), [])

    def test_in_a_terminal(self):
        with self.watched() as program, Terminal([TOP, "top", "--interval", "0.1"]) as terminal:
            page = terminal.wait_for("longest running: wait_for_word", "waits for an event")
            self.assertEqual(len(page), 30)
            self.assertTrue(page[-1].startswith("q: quit"))
            self.assertTrue(any(f"process {program.pid}  watched" in line for line in page), page)
            self.assertNotRegex(terminal.shown, rb"[ -~]{100}\033\[K", "the last letter of a full line is erased")
            terminal.resize(40, 8)
            terminal.program.send_signal(signal.SIGWINCH)
            small = eventually(lambda: next((page for page in terminal.pages() if len(page) == 8), None))
            self.assertLessEqual(max(map(len, small)), 40)
            self.assertTrue(any("more lines" in line for line in small), small)
            os.write(terminal.main, b"xq")
            self.assertEqual(terminal.end(), 0)
            self.assertTrue(terminal.shown.endswith(LEAVE), terminal.shown[-80:])
            self.assertEqual(termios.tcgetattr(terminal.other), terminal.before)

    def test_keys_do_not_hold_up_the_figures(self):
        with Terminal([TOP, "top", "--interval", "0.5"]) as terminal:
            terminal.wait_for("No program uses Canopy now.")
            with self.watched():
                def seen():
                    os.write(terminal.main, b"x")
                    return any("1 program uses" in line for page in terminal.pages() for line in page)

                eventually(seen)

    def test_signals_leave_the_terminal_as_it_was(self):
        for number, status in ((signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 0), (signal.SIGHUP, -signal.SIGHUP)):
            with Terminal([TOP, "top", "--interval", "0.1"]) as terminal:
                terminal.wait_for("No program uses Canopy now.")
                self.assertNotEqual(termios.tcgetattr(terminal.other), terminal.before)
                terminal.program.send_signal(number)
                self.assertEqual(terminal.end(), status)
                self.assertTrue(terminal.shown.endswith(LEAVE))
                self.assertEqual(termios.tcgetattr(terminal.other), terminal.before)

    def test_in_a_pipe(self):
        with self.watched(), subprocess.Popen([TOP, "top", "--interval", "0.05"], stdout=subprocess.PIPE,
                                              stdin=subprocess.DEVNULL, text=True) as top:
            for _ in range(2):
                while "process" not in (line := top.stdout.readline()):
                    self.assertNotIn("\033", line)
            top.stdout.close()
            self.assertEqual(top.wait(timeout=PATIENCE), 0)

    def test_forged_files(self):
        folder = pathlib.Path(self.folder.name, "canopy")
        folder.mkdir(mode=0o700)
        with self.watched() as program:
            (real,) = (path for path in self.files() if path.name.startswith("figures."))
            content = real.read_bytes()
            held = []
            for number, forged in enumerate((b"", content[:100], content[:5000], b"\xff" * len(content),
                                             content[:4096] + os.urandom(len(content) - 4096), content)):
                path = folder / f"figures.{number + 1}.1"
                path.write_bytes(forged)
                # Without a lock they would be taken for files of ended processes.
                held.append(open(path, "r+b"))
                fcntl.lockf(held[-1], fcntl.LOCK_EX)
            seen = self.figures()
            self.assertEqual([process["process"] for process in seen["processes"]], [program.pid])
            self.run_tool(SMI, "info")
            for file in held:
                file.close()

    # ---- npu-smi -----------------------------------------------------------------------------------------------------

    def test_the_table(self):
        with self.watched() as program:
            self.running_figures()
            lines = self.run_tool(SMI, "info").splitlines()
        self.assertTrue(all(len(line) == 98 for line in lines), lines)
        self.assertRegex(lines[1], r"^\| npu-smi \S+ +Version: \S+ +\|$")
        # The third word of the seventh line is the chip, as builds read it.
        self.assertEqual(lines[6].split()[2], "910B1")
        cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        self.assertEqual(cells[1], ["NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)"])
        self.assertEqual(cells[2], ["Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"])
        self.assertEqual(cells[3][:2], ["0     910B1", "OK"])
        self.assertEqual(cells[4][:2], ["0", "0000:C1:00.0"])
        self.assertRegex(cells[3][2], r"^(NA|\d+\.\d) +(NA|\d+) +0    / 0$")
        share, used, total = re.match(r"^(\d+) +0    / 0 +(\d+) */ (\d+)$", cells[4][2]).groups()
        self.assertLessEqual(int(share), 100)
        self.assertEqual((used, total), ("64", "1024"))
        self.assertEqual(cells[5][0].split(), ["1", "910B1"])
        self.assertEqual(cells[7], ["NPU     Chip", "Process id", "Process name", "Process memory(MB)"])
        self.assertEqual(cells[8], ["0       0", str(program.pid), "watched", "64"])
        self.assertEqual(cells[9], ["No running processes found in NPU 1"])

    def pairs(self, *options):
        lines = self.run_tool(SMI, "info", *options).splitlines()
        for line in lines:
            self.assertRegex(line, r"^\t.{30} : ", options)
        return dict(map(str.strip, line.split(":", 1)) for line in lines)

    def test_topics(self):
        with self.watched() as program:
            self.running_figures()
            usages = self.pairs("-t", "usages", "-i", "0")
            self.assertEqual(usages["HBM Capacity(MB)"], "1024")
            self.assertEqual(usages["HBM Usage Rate(%)"], "6")
            self.assertLessEqual(int(usages["Aicore Usage Rate(%)"]), 100)
            self.assertEqual(usages["Aicube Usage Rate(%)"], "0")
            users = self.run_tool(SMI, "info", "-t", "proc-mem", "-i", "0")
            self.assertIn(f"Process id:{program.pid}  Process name:watched  Process memory(MB):64\n", users)
        self.assertEqual(self.pairs("-t", "health", "-i", "1")["Health Status"], "OK")
        self.assertEqual(self.pairs("-t", "common", "-i", "1")["Aicore Count"], "24")
        self.assertEqual(self.pairs("-t", "memory", "-i", "1")["HBM Capacity(MB)"], "1024")
        board = self.pairs("-t", "board", "-i", "1", "-c", "0")
        self.assertEqual((board["Chip Name"], board["PCI Vendor ID"]), ("910B1", "0x19E5"))
        for topic in ("temp", "power"):
            self.pairs("-t", topic, "-i", "0")
        self.assertEqual(len(self.run_tool(SMI, "info", "-t", "topo").splitlines()), 3)

    def test_lists(self):
        self.assertIn("Total Count                    : 2\n\n", self.run_tool(SMI, "info", "-l"))
        rows = [line.split() for line in self.run_tool(SMI, "info", "-m").splitlines()[1:]]
        self.assertEqual(rows[0], ["0", "0", "0", "Ascend", "910B1"])
        self.assertEqual(rows[1], ["0", "1", "-", "Mcu"])
        self.assertEqual(len(rows), 4)

    def test_watching_one_chip(self):
        with subprocess.Popen([SMI, "info", "watch", "-i", "1", "-s", "pam"], stdout=subprocess.PIPE, text=True) as program:
            self.assertEqual(program.stdout.readline(), "".join(
                f"{name:<12}" for name in ("NpuID(Idx)", "ChipId(Idx)", "Pwr(W)", "AI Core(%)", "Memory(%)")) + "\n")
            first = program.stdout.readline()
            self.assertEqual([first[at:at + 12].strip() for at in (0, 12, 36, 48)], ["1", "0", "0", "0"])
            program.terminate()

    def test_wrong_options(self):
        for options, name in ((["info", "-t", "nothing", "-i", "0"], "-t"), (["info", "-t", "usages", "-i", "9"], "-i"),
                              (["info", "-t", "usages"], "-i"), (["info", "-i"], "-i"), (["info", "-x", "1"], "-x"),
                              (["info", "-t", "usages", "-i", "0", "-c", "4"], "-c"), (["upgrade"], "upgrade"),
                              (["info", "watch", "-s", "xyz"], "-s")):
            self.assertEqual(self.run_tool(SMI, *options, status=1), f"Error parameter of {name}\n", options)
        self.assertIn("npu-smi version: ", self.run_tool(SMI, "-v"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
