#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one share of the tests of a GoogleTest program. A test that crashes loses only itself: the program is started
again with the tests that are left. Fails if a test fails or crashes, or if the program does not end properly.

    tests/run_share.py SHARE SHARES PROGRAM [ARGUMENT]...

SHARE counts from 1.
"""
import os
import re
import select
import subprocess
import sys

MOST_CRASHES = 20
BEGIN = re.compile(rb"\[ RUN      \] (\S+)")
END = re.compile(rb"\[ (?:      OK|  FAILED| SKIPPED) \] ([^\s,]+)")
ALL_RAN = re.compile(rb"\[==========\] \d+ tests? from \d+ test suites? ran\.")


class Progress:
    """What the program's output says about its tests."""

    def __init__(self):
        self.running, self.finished, self.complete, self._rest = None, [], False, b""

    def read(self, output):
        *lines, self._rest = (self._rest + output).split(b"\n")
        for line in lines:
            if match := BEGIN.search(line):
                self.running, self.complete = match.group(1).decode(), False  # a child's summary is not the last
            elif (match := END.search(line)) and match.group(1).decode() == self.running:
                self.finished.append(self.running)
                self.running = None
            elif ALL_RAN.search(line):
                self.complete = True


def run(command, environment):
    """Runs the program, shows its output as it comes, and returns its status and progress. A process that the program
    left behind may hold the pipe open, so the end of the program ends the reading."""
    progress = Progress()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as program:
        pipe, ended = program.stdout.fileno(), os.pidfd_open(program.pid)
        os.set_blocking(pipe, False)
        while True:
            ready, _, _ = select.select([pipe, ended], [], [])
            try:
                while output := os.read(pipe, 65536):
                    sys.stdout.buffer.write(output)
                    sys.stdout.buffer.flush()
                    progress.read(output)
                break
            except BlockingIOError:
                if ended in ready:
                    break
        os.close(ended)
        return program.wait(), progress


def listed(command):
    """The names of all tests that the program would run without shares."""
    output = subprocess.run([*command, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
    suite, names = "", []
    for line in output.split("\n"):
        name = line.split("#")[0].rstrip()
        if name and not name.startswith(" "):
            suite = name if re.fullmatch(r"[\w/]+\.", name) else ""
        elif name and suite:
            names.append(suite + name.strip())
    return [name for name in names if "DISABLED_" not in name]


def main():
    if len(sys.argv) < 4 or not sys.argv[1].isdigit() or not sys.argv[2].isdigit():
        print(__doc__, file=sys.stderr)
        return 2
    share, shares, command = int(sys.argv[1]) - 1, int(sys.argv[2]), sys.argv[3:]
    # Failing calls are what many tests are about; their lines would fill the user's log.
    plain = {"ASCEND_GLOBAL_LOG_LEVEL": "4", **os.environ}
    environment = {**plain, "GTEST_TOTAL_SHARDS": str(shares), "GTEST_SHARD_INDEX": str(share)}
    status, progress = run(command, environment)
    failed, crashed, left = status != 0, [], None
    while not progress.complete:
        failed = True
        what = f"signal {-status}" if status < 0 else f"status {status}"
        if progress.running is None:
            print(f"run_share: the program ended with {what} between two tests")
        else:
            crashed.append(f"{progress.running} ({what})")
        if left is None:
            left = listed(command)[share::shares]
        done = {*progress.finished, progress.running}
        if not done & set(left) or len(crashed) >= MOST_CRASHES:
            break
        left = [name for name in left if name not in done]
        if not left:
            break
        print(f"run_share: {len(left)} tests are left; starting the program again", flush=True)
        status, progress = run([*command, "--gtest_filter=" + ":".join(left)], plain)
    for name in crashed:
        print(f"[  CRASHED ] {name}")
    if not failed or crashed:
        return int(failed)
    print(f"run_share: failed; the program's last status is {status}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
