#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `canopy profile`, `canopy stats`, `canopy export` and `canopy msprof`.

    command_test.py <the program canopy> <the program known_profile> <a program that uses Canopy>
"""
import csv
import gzip
import json
import os
import pathlib
import pty
import re
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

REAL = str(pathlib.Path(sys.argv.pop()).resolve())
KNOWN = str(pathlib.Path(sys.argv.pop()).resolve())
CANOPY = str(pathlib.Path(sys.argv.pop()).resolve())
SECONDS = 60


def take_interrupts():
    """In a child: a shell that runs these tests in the background ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def run_tool(self, *arguments, **options):
        return subprocess.run([CANOPY, *map(str, arguments)], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=SECONDS, **options)

    def written(self, *arguments):
        path = self.folder / "known.canopyprof"
        subprocess.run([KNOWN, "write", path, *arguments], check=True)
        return path

    def names(self, folder="."):
        return sorted(str(path.relative_to(self.folder / folder)) for path in (self.folder / folder).rglob("*"))

    # ---- canopy profile ----------------------------------------------------------------------------------------------

    def test_results_go_into_a_new_folder(self):
        done = self.run_tool("profile", "--", KNOWN, "exit", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")  # that of the program alone
        [folder] = list(self.folder.iterdir())
        self.assertRegex(folder.name, r"^canopy-profile-known_profile-\d{14}$")
        self.assertEqual(self.names(folder.name), ["profile.canopyprof", "timeline.html", "trace.json.gz"])
        for path in [folder, *folder.iterdir()]:
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o700 if path.is_dir() else 0o600, path)
        with gzip.open(folder / "trace.json.gz", "rt") as file:
            self.assertIn("sum", {event["name"] for event in json.load(file)})
        self.assertIn("Stream 2 waited 35 % of the time for the copy", done.stderr)
        self.assertIn("timeline.html", done.stderr)
        self.assertNotIn("\033", done.stderr)

    def test_every_format_is_written(self):
        done = self.run_tool("profile", "-o", "out", "--format=html,json,json.gz,csv,prof", KNOWN, "exit", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = self.names("out")
        for name in ("timeline.html", "trace.json", "trace.json.gz", "profile.canopyprof"):
            self.assertIn(name, names)
        self.assertTrue(any(re.match(r"op_summary_\d+\.csv", name) for name in names))
        json.loads((self.folder / "out" / "trace.json").read_text())

    def test_one_file_by_its_ending(self):
        for name in ("a.html", "a.json", "a.json.gz", "a.canopyprof"):
            done = self.run_tool("profile", "-q", "-o", name, KNOWN, "exit", "0")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.names(), ["a.canopyprof", "a.html", "a.json", "a.json.gz"])

    def test_arguments_and_status_of_the_program_are_kept(self):
        self.assertEqual(self.run_tool("profile", "-q", KNOWN, "exit", "42").returncode, 42)
        done = self.run_tool("profile", "-q", "-o", "x", "sh", "-c", f"echo '--want nothing'; {KNOWN} exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, "--want nothing\n"))

    def test_status_is_known_where_ends_of_children_are_ignored(self):
        ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        self.assertEqual(self.run_tool("profile", "-q", "-o", "a.json", KNOWN, "exit", "42", preexec_fn=ignore).returncode, 42)

    def test_every_process_has_its_result(self):
        done = self.run_tool("profile", "-o", "out", "sh", "-c", f"{KNOWN} exit 0; {KNOWN} exit 0; exit 5")
        self.assertEqual(done.returncode, 5)
        self.assertEqual(sum(name.endswith("timeline.html") for name in self.names("out")), 2)
        self.assertEqual(len(re.findall(r"^Process \d+$", done.stderr, re.MULTILINE)), 2)

    def test_killed_program_leaves_what_was_recorded(self):
        done = self.run_tool("profile", "-o", "out", KNOWN, "kill")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertIn("The profile is incomplete", done.stderr)
        self.assertIn("timeline.html", self.names("out"))

    def test_interrupt_reaches_the_program(self):
        running = subprocess.Popen([CANOPY, "profile", "-o", "out", KNOWN, "wait"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, preexec_fn=take_interrupts)
        self.addCleanup(running.kill)
        self.assertEqual(running.stdout.readline(), "ready\n")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=SECONDS)
        self.assertEqual(running.returncode, 7, errors)
        self.assertIn("timeline.html", self.names("out"))

    def test_interrupt_of_a_terminal_reaches_the_program_once(self):
        process, terminal = pty.fork()
        if process == 0:
            try:
                take_interrupts()
                os.chdir(self.folder)
                colours = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
                os.execve(CANOPY, [CANOPY, "profile", "-o", "out", KNOWN, "wait"], colours)
            finally:
                os._exit(126)
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 100)
        os.write(terminal, b"\x03")
        try:
            while more := os.read(terminal, 4096):
                text += more
        except OSError:  # the other end is closed
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 7)
        os.close(terminal)
        self.assertIn(b"\033[1m", text)  # colours on a terminal

    def test_programs_that_cannot_be_profiled(self):
        done = self.run_tool("profile", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program: No such file", done.stderr)
        done = self.run_tool("profile", self.folder)
        self.assertEqual(done.returncode, 126)
        done = self.run_tool("profile", "sh", "-c", "exit 9")
        self.assertEqual(done.returncode, 9)
        self.assertIn("did not use Canopy", done.stderr)
        self.assertEqual(self.names(), [])

    def test_wrong_options(self):
        for arguments, words in ((["--format=bmp", "true"], "bmp is not a list of html"),
                                 (["--want=everything,nonsense", "true"], "nonsense is not a list of calls"),
                                 (["--format=csv", "-o", "a.html", "true"], "does not fit the file"),
                                 ([], "program is required"), (["-o", "/proc/no/folder", "true"], "/proc/no/folder")):
            done = self.run_tool("profile", *arguments)
            self.assertEqual(done.returncode, 125, arguments)
            self.assertIn(words, done.stderr)
        self.assertEqual(self.names(), [])
        for command in ("profile", "stats", "export", "msprof"):
            self.assertIn("Usage", self.run_tool(command, "--help").stdout)

    def test_full_disk_keeps_the_profile(self):
        limit = lambda: (signal.signal(signal.SIGXFSZ, signal.SIG_IGN), resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        done = self.run_tool("profile", "-o", "out", KNOWN, "exit", "0", preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertIn("File too large", done.stderr)
        [kept] = [name for name in self.names("out") if re.match(r"recording-\d+/\d+\.canopyprof", name)]
        self.assertEqual(self.run_tool("stats", f"out/{kept}").returncode, 0)
        self.assertNotIn("timeline.html", self.names("out"))

    def test_real_program(self):
        done = self.run_tool("profile", "-o", "out", "--format=json,prof", REAL)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "out" / "trace.json").read_text())
        [facts] = [event["args"] for event in events if event["name"] == "canopy_profile"]
        self.assertEqual(facts["damage"], "")
        self.assertEqual(pathlib.Path(facts["program"]).name, pathlib.Path(REAL).name)
        [figures] = json.loads(self.run_tool("stats", "--json", "out").stdout)
        calls = {call["name"]: call["count"] for call in figures["functions"]}
        for name in ("aclrtMemcpyAsync", "aclrtRecordEvent", "aclrtStreamWaitEvent", "aclrtMemsetAsync"):
            self.assertEqual(calls[name], 5, name)
        [copies] = [copy for copy in figures["copies"] if copy["kind"] == "host to device"]
        self.assertEqual((copies["count"], copies["bytes"]), (5, 5 << 20))
        [device] = figures["devices"]
        self.assertIn(device["memory_peak"], range(1 << 20, 2 << 20))
        names = [event["name"] for event in events if event["ph"] == "X"]
        self.assertEqual(names.count("AscendCL@aclrtMalloc"), 1)
        self.assertEqual(names.count("MEMCPY_ASYNC"), 5)
        ends = [(event["cat"], event["id"], event["ph"]) for event in events if event["ph"] in "sf"]
        self.assertEqual(len(set(ends)), len(ends))
        self.assertEqual({end[:2] for end in ends if end[2] == "s"}, {end[:2] for end in ends if end[2] == "f"})
        self.assertGreaterEqual(sum(end[0] == "HostToDevice" for end in ends), 2 * 10)

    def places(self, **variables):
        """The environment with a run folder of this test."""
        run = self.folder / "run"
        run.mkdir(exist_ok=True)
        return {**os.environ, "XDG_RUNTIME_DIR": str(run), **variables}

    def assert_last_work_is_there(self, figures):
        calls = {call["name"]: call["count"] for call in figures["functions"]}
        for name in ("aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtSynchronizeStream"):
            self.assertEqual(calls[name], 5, name)
        [copies] = [copy for copy in figures["copies"] if copy["kind"] == "host to device"]
        self.assertEqual((copies["count"], copies["bytes"]), (5, 5 << 20))

    def test_killed_program_leaves_its_last_tasks(self):
        done = self.run_tool("profile", "-o", "out", REAL, "kill", env=self.places())
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        self.assertEqual([name for name in self.names("run/canopy") if name.startswith("blackbox")], [])
        self.assert_last_work_is_there(json.loads(self.run_tool("stats", "--json", "out").stdout)[0])

    def test_msprof_of_a_killed_program_has_its_last_tasks(self):
        done = self.run_tool("msprof", "--output=results", REAL, "kill", env=self.places())
        self.assertEqual(done.returncode, 128 + signal.SIGKILL, done.stderr)
        self.assertEqual([name for name in self.names("run/canopy") if name.startswith("blackbox")], [])
        [trace] = (self.folder / "results").glob("PROF_*/mindstudio_profiler_output/msprof_2*.json")
        self.assertEqual(trace.read_text().count('"AscendCL@aclrtMemsetAsync"'), 5)

    def test_black_box_of_a_killed_program(self):
        done = subprocess.run([REAL, "kill"], env=self.places(CANOPY_BLACKBOX="1"), check=False, timeout=SECONDS)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        [box] = (self.folder / "run" / "canopy").glob("blackbox-*")
        self.assertEqual(stat.S_IMODE(box.stat().st_mode), 0o600)
        done = self.run_tool("stats", "--json", "--last", env=self.places())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_last_work_is_there(json.loads(done.stdout)[0])
        self.assertIn(str(box), self.run_tool("stats", "--last", env=self.places()).stdout)
        done = self.run_tool("export", "--last", "--format=json", env=self.places())
        self.assertEqual(done.returncode, 0, done.stderr)
        [trace] = self.folder.glob("canopy-profile-*/trace.json")
        self.assertIn("aclrtMemsetAsync", trace.read_text())
        self.assertEqual(self.run_tool("stats", "--last", "x", env=self.places()).returncode, 2)

    def test_clean_end_leaves_no_black_box(self):
        for variables in ({"CANOPY_BLACKBOX": "1"}, {"CANOPY_PROFILE": str(self.folder / "p")}):
            subprocess.run([REAL], env=self.places(**variables), check=True, timeout=SECONDS)
            self.assertEqual([name for name in self.names("run/canopy") if name.startswith("blackbox")], [])
        done = self.run_tool("stats", "--last", env=self.places())
        self.assertEqual(done.returncode, 1)
        self.assertIn("CANOPY_BLACKBOX=1", done.stderr)

    def test_black_box_without_a_folder(self):
        variables = {**os.environ, "XDG_RUNTIME_DIR": "/proc", "CANOPY_BLACKBOX": "1"}
        done = subprocess.run([REAL], env=variables, check=False, timeout=SECONDS, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("CANOPY_BLACKBOX: none is kept"), 1, done.stderr)

    # ---- canopy stats, canopy export ---------------------------------------------------------------------------------

    def test_stats_show_the_figures(self):
        path = self.written()
        done = self.run_tool("stats", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("example: 99.5 us, 5 tasks on 2 streams", "Kernels", "sum", "Functions", "aclrtMalloc", "Streams",
                      "Devices", "Ascend910B4", "Copies", "host to device", "Findings"):
            self.assertIn(words, done.stdout)
        [figures] = json.loads(self.run_tool("stats", "--json", path).stdout)
        self.assertEqual({kernel["name"]: kernel["total_ns"] for kernel in figures["kernels"]}, {"sum": 10000, "scale": 10000})
        self.assertEqual(figures["streams"][1]["waits"][0]["released_by"], 1)

    def test_names_are_no_commands_for_the_terminal(self):
        path = self.folder / "named.canopyprof"
        subprocess.run([KNOWN, "name", path, "k\033[2J\u009b2J\177" + "é" * 60], check=True)
        shown = self.run_tool("stats", path).stdout
        self.assertIn("k?[2J?2J?ééé", shown)
        self.assertIn("`k?[2J?2J?ééé", shown)  # in a finding
        for command in "\033\u009b\177\ufffd":
            self.assertNotIn(command, shown)

    def test_stats_of_what_is_no_profile(self):
        (self.folder / "text").write_text("nothing")
        for path in ("text", "missing", "."):
            done = self.run_tool("stats", path)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("canopy stats: ", done.stderr)

    def test_export_agrees_with_the_stats(self):
        path = self.written("20000")
        done = self.run_tool("export", path, "-o", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(pathlib.Path(line).name for line in done.stdout.splitlines()), self.names("out"))
        [figures] = json.loads(self.run_tool("stats", "--json", path).stdout)
        with open(self.folder / "out" / "op_summary_4711.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 20000)
        self.assertEqual(round(sum(float(row["Task Duration(us)"]) for row in rows) * 1000), 2000000)
        self.assertEqual(round(sum(kernel["total_ns"] for kernel in figures["kernels"])), 2000000)
        with gzip.open(self.folder / "out" / "trace.json.gz", "rt") as file:
            events = json.load(file)
        tasks = [event for event in events if event["ph"] == "X" and event["args"].get("Task Type") == "AI_VECTOR_CORE"]
        self.assertEqual(round(sum(event["dur"] for event in tasks) * 1000), 2000000)
        self.assertEqual(sum(event["ph"] == "s" for event in events), sum(event["ph"] == "f" for event in events))

    def test_export_of_a_cut_profile_says_so(self):
        path = self.written()
        path.write_bytes(path.read_bytes()[:-30])
        done = self.run_tool("export", path, "-o", "a.json")
        self.assertEqual(done.returncode, 0)
        self.assertIn("incomplete", done.stderr)
        self.assertIn("did not close", (self.folder / "a.json").read_text())

    # ---- msprof ------------------------------------------------------------------------------------------------------

    def test_msprof_collects_and_exports(self):
        done = self.run_tool("msprof", "--output=results", "--ascendcl=on", "--nonsense=1", KNOWN, "exit", "4")
        self.assertEqual(done.returncode, 4)
        self.assertIn("--nonsense is unknown and ignored", done.stderr)
        [folder] = list((self.folder / "results").iterdir())
        self.assertTrue(folder.name.startswith("PROF_000001_"))
        output = folder / "mindstudio_profiler_output"
        for path in output.iterdir():
            path.unlink()
        for place in (folder, self.folder / "results"):
            done = self.run_tool("msprof", "--export=on", f"--output={place}", "--type=text")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(list(output.glob("op_summary_*.csv")))
            self.assertTrue(list(output.glob("msprof_2*.json")))
        done = self.run_tool("msprof", "--output=more", f"--application={KNOWN} exit 6")
        self.assertEqual(done.returncode, 6)
        done = self.run_tool("msprof", "--output", "apart", "-x=2", KNOWN, "exit", "3")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("--x is unknown and ignored", done.stderr)
        [folder] = list((self.folder / "apart").iterdir())
        done = self.run_tool("msprof", "--export", "on", "--output", folder, "--clear", "on")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((folder / "profile.canopyprof").exists())
        self.assertEqual(self.run_tool("msprof", "--export=on", "--output=nothing").returncode, 1)
        self.assertEqual(self.run_tool("msprof", "--output=nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
