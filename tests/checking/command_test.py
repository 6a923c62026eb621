#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `canopy check` and CANOPY_CHECK: exit statuses, files, options, and programs that end in every way.

    command_test.py <the program canopy> <the program ends>
"""
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

ENDS = str(pathlib.Path(sys.argv.pop()).resolve())
CANOPY = str(pathlib.Path(sys.argv.pop()).resolve())
SECONDS = 60
LATE = "Potential RAW hazard detected at UB in kernel no_flag_out on device 0"
EARLY = "Potential RAW hazard detected at UB in kernel no_flag_in on device 0"


class CheckCommand(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def run_any(self, *command, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CANOPY_CHECK")}
        return subprocess.run(list(map(str, command)), cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=SECONDS, env={**environment, **variables})

    def check(self, *arguments):
        return self.run_any(CANOPY, "check", *arguments)

    def lines(self, name="found.jsonl"):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    # ---- the exit status ---------------------------------------------------------------------------------------------

    def test_a_right_program_ends_as_it_does(self):
        for status in (0, 3):
            done = self.check(ENDS, "fine", status)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr, "canopy check: 0 errors, 0 warnings, 0 notes in 1 kernel, 1 launch\n")
            self.assertEqual(done.stdout, "synchronised 0\nthe end 0\n")

    def test_errors_make_it_66(self):
        done = self.check(ENDS, "wrong")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn("ERROR: " + LATE, done.stderr)
        self.assertIn("needs V_MTE3", done.stderr)
        self.assertIn("canopy check: 1 error, 0 warnings, 0 notes in 1 kernel, 1 launch\n", done.stderr)
        self.assertEqual(done.stdout, "synchronised 0\nthe end 0\n")

    def test_the_programs_own_status_goes_first(self):
        self.assertEqual(self.check(ENDS, "wrong", 3).returncode, 3)
        self.assertEqual(self.check("--exit-code=9", ENDS, "wrong", 3).returncode, 3)

    def test_another_status_can_be_chosen(self):
        self.assertEqual(self.check("--exit-code", 9, ENDS, "wrong").returncode, 9)
        self.assertEqual(self.check("--exit-code", 0, ENDS, "wrong").returncode, 0)

    def test_every_way_to_end_counts(self):
        self.assertEqual(self.check(ENDS, "exit").returncode, 66)
        done = self.check(ENDS, "_exit")
        self.assertEqual(done.returncode, 66)
        self.assertIn("a process ended without a summary", done.stderr)
        self.assertIn("canopy check: 1 error, ", done.stderr)

    def test_a_killed_program_leaves_what_was_found(self):
        done = self.check("--json", "found.jsonl", ENDS, "kill")
        self.assertEqual(done.returncode, 128 + signal.SIGKILL)
        self.assertIn(LATE, done.stderr)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertEqual([line["id"] for line in self.lines()], ["race.pipe"])

    def test_the_processes_see_no_other_status(self):
        done = self.check("sh", "-c", f"{ENDS} wrong >/dev/null; echo status $?")
        self.assertEqual(done.stdout, "status 0\n")
        self.assertEqual(done.returncode, 66)

    def test_a_forked_child_does_not_tell_its_parents_findings(self):
        done = self.check("--json", "found.jsonl", ENDS, "fork")
        self.assertIn("child 0\n", done.stdout)
        self.assertEqual(done.returncode, 66)
        self.assertEqual(done.stderr.count(LATE), 1)
        self.assertEqual(len(self.lines()), 2)

    def test_several_processes_are_added_up(self):
        done = self.check("--json", "found.jsonl", "sh", "-c", f"{ENDS} wrong; {ENDS} both; {ENDS} fine")
        self.assertEqual(done.returncode, 66)
        self.assertIn("3 processes together:\ncanopy check: 3 errors, 0 warnings, 0 notes in 4 kernels, 4 launches\n",
                      done.stderr)
        self.assertEqual(len({line["process"] for line in self.lines()}), 3)

    # ---- CANOPY_CHECK ------------------------------------------------------------------------------------------------

    def test_the_variable_checks_a_process(self):
        done = self.run_any(ENDS, "wrong", CANOPY_CHECK="race")
        self.assertEqual(done.returncode, 66, done.stderr)
        self.assertIn(LATE, done.stderr)
        self.assertEqual(done.stdout, "synchronised 0\nthe end 0\n")  # handlers of exit all run
        self.assertEqual(self.run_any(ENDS, "exit", CANOPY_CHECK="all").returncode, 66)
        self.assertEqual(self.run_any(ENDS, "wrong", 4, CANOPY_CHECK="all").returncode, 4)
        self.assertEqual(self.run_any(ENDS, "wrong", CANOPY_CHECK="all", CANOPY_CHECK_OPTIONS="--exit-code 7").returncode,
                         7)

    def test_other_classes_find_nothing_here(self):
        done = self.run_any(ENDS, "wrong", CANOPY_CHECK="all,-race,-cache")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_one_and_zero_mean_what_they_meant(self):
        for value in ("0", "1"):
            done = self.run_any(ENDS, "wrong", CANOPY_CHECK=value)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_wrong_variable_is_named_and_the_program_runs(self):
        done = self.run_any(ENDS, "wrong", CANOPY_CHECK="rase")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn('CANOPY_CHECK="rase"', done.stderr)
        done = self.run_any(ENDS, "wrong", CANOPY_CHECK="race", CANOPY_CHECK_OPTIONS="--block one --strict")
        self.assertEqual(done.returncode, 66)
        self.assertIn("CANOPY_CHECK_OPTIONS: --block: one is not a number", done.stderr)
        done = self.run_any(ENDS, "fine", CANOPY_CHECK_OPTIONS="--strict")
        self.assertIn("CANOPY_CHECK_OPTIONS has no effect", done.stderr)

    def test_quiet_prints_nothing(self):
        done = self.run_any(ENDS, "wrong", CANOPY_CHECK="race", CANOPY_QUIET="1")
        self.assertEqual((done.returncode, done.stderr), (66, ""))

    # ---- options -----------------------------------------------------------------------------------------------------

    def test_stop_fails_the_task(self):
        done = self.check("--stop", ENDS, "wrong")
        self.assertIn("synchronised 507", done.stdout)
        self.assertEqual(done.returncode, 66)

    def test_kernels_launches_and_blocks_are_chosen(self):
        self.assertIn("in 1 kernel, 1 launch\n", self.check("--kernel", "*_in,other", ENDS, "both").stderr)
        self.assertIn("in 1 kernel, 2 launches\n", self.check("--first", 2, ENDS, "again").stderr)
        self.check("--block", 1, "--json", "found.jsonl", ENDS, "wrong")
        self.assertEqual(self.lines()[0]["blocks"], [1])

    def test_findings_are_one_with_a_count(self):
        done = self.check("--json", "found.jsonl", ENDS, "again")
        self.assertEqual(done.stderr.count(LATE), 1)
        finding, summary = self.lines()
        self.assertEqual(finding["count"], 10)
        self.assertEqual(finding["blocks"], [0, 1, 2, 3])
        self.assertEqual((summary["errors"], summary["launches"]), (1, 3))

    def test_text_and_json_agree(self):
        done = self.check("--json", "found.jsonl", ENDS, "both")
        *findings, summary = self.lines()
        self.assertEqual(len(findings), 2)
        self.assertEqual(done.stderr, "".join(finding["text"] for finding in findings) + summary["text"])
        for finding in findings:
            self.assertEqual((finding["id"], finding["level"], finding["kind"]), ("race.pipe", "error", "RAW"))
            for access in finding["accesses"]:
                self.assertTrue(access["file"].endswith("ends.asc"))
                self.assertIn(f'{access["operation"]}, ', finding["text"])
                self.assertIn(f'{access["file"]}:{access["line"]}\n', finding["text"])

    def test_a_file_is_that_of_the_last_run(self):
        self.check("--json", "found.jsonl", ENDS, "both")
        self.check("--json", "found.jsonl", ENDS, "wrong")
        self.assertEqual(len(self.lines()), 2)

    def test_sarif_has_all_processes(self):
        done = self.check("--sarif", "found.sarif", "sh", "-c", f"{ENDS} wrong; {ENDS} both")
        self.assertEqual(done.returncode, 66)
        [run] = json.loads((self.folder / "found.sarif").read_text())["runs"]
        self.assertEqual([result["ruleId"] for result in run["results"]], ["race.pipe"] * 3)
        for result in run["results"]:
            [location] = result["locations"]
            self.assertGreater(location["physicalLocation"]["region"]["startLine"], 1)

    def test_suppressions_are_written_and_used(self):
        done = self.check("--write-suppressions", "known.txt", ENDS, "wrong")
        self.assertEqual(done.returncode, 66)
        self.assertRegex((self.folder / "known.txt").read_text(),
                         r"^race\.pipe kernel=no_flag_out file=\S+ends\.asc:\d+ with=\S+ends\.asc:\d+\n$")
        done = self.check("--suppress", "known.txt", ENDS, "wrong")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; 1 suppressed\n", done.stderr)
        done = self.check("--suppress", "known.txt", ENDS, "both")
        self.assertEqual(done.returncode, 66)
        self.assertIn(EARLY, done.stderr)
        self.assertNotIn(LATE, done.stderr)
        done = self.check("--suppress", "known.txt", ENDS, "fine")
        self.assertIn("a suppression that nothing fits: ", done.stderr)

    def test_ignored_files_are_left_out(self):
        self.assertEqual(self.check("--ignore", "ends.asc", ENDS, "both").returncode, 0)
        self.assertEqual(self.check("--ignore", "*/other/*", ENDS, "both").returncode, 66)

    def test_files_are_those_of_the_folder_of_the_start(self):
        self.check("--json", "found.jsonl", "--write-suppressions", "known.txt", ENDS, "elsewhere")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["found.jsonl", "known.txt"])

    def test_twin_names(self):
        self.assertIn("(ErrorSync2)\n", self.check("--names=twin", ENDS, "wrong").stderr)

    def test_a_terminal_gets_colours(self):
        process, terminal = pty.fork()
        if process == 0:
            os.environ.pop("NO_COLOR", None)
            os.environ["TERM"] = "xterm"
            os.execv(CANOPY, [CANOPY, "check", ENDS, "wrong"])
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:  # the end of a terminal
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 66)
        self.assertIn("\033[1;31mERROR\033[0m: " + LATE, text.decode())

    # ---- wrong use ---------------------------------------------------------------------------------------------------

    def test_wrong_use_is_explained_and_nothing_runs(self):
        (self.folder / "folder").mkdir()
        for arguments, text in ((["--colour", ENDS], "--colour"), ([], "program is required"),
                                (["--classes", "rase", ENDS], "'rase' is no class of findings"),
                                (["--block", "x", ENDS], "--block: x is not a number"),
                                (["--json", "no/such/file", ENDS], "no/such/file cannot be written"),
                                (["--json", "folder", ENDS], "cannot be written"),
                                (["--dsb", "none", ENDS], "--dsb: none is not")):
            done = self.check(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""), arguments)
            self.assertIn(text, done.stderr)

    def test_programs_that_do_not_start(self):
        self.assertEqual(self.check("./none").returncode, 127)
        (self.folder / "text").write_text("no program")
        self.assertEqual(self.check("./text").returncode, 126)

    def test_a_missing_file_of_suppressions_is_named(self):
        done = self.check("--suppress", "none.txt", ENDS, "fine")
        self.assertIn("none.txt cannot be read", done.stderr)
        self.assertEqual(done.returncode, 0)

    def test_programs_without_kernels_are_told(self):
        for program in ((ENDS, "nothing"), ("true",)):
            done = self.check(*program)
            self.assertEqual(done.returncode, 0)
            self.assertIn("nothing was checked", done.stderr)

    def test_help_names_every_option(self):
        text = self.check("--help").stdout
        for option in ("--json", "--sarif", "--strict", "--notes", "--stop", "--kernel", "--block", "--first", "--ignore",
                       "--suppress", "--write-suppressions", "--exit-code", "--autosync", "--portable", "--leaks"):
            self.assertIsNotNone(re.search(rf"^  {option}\b", text, re.MULTILINE), option)


if __name__ == "__main__":
    unittest.main()
