#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The zoo's harness on its own zoos: what passes, what fails, and what it says then.

    harness_test.py WORK
"""
import pathlib
import shutil
import subprocess
import sys
import unittest

HARNESS = pathlib.Path(__file__).resolve().parent / "zoo_test.py"
WORK = pathlib.Path(sys.argv.pop(1)).resolve()


class HarnessTest(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        self.zoo, self.work = WORK / "zoo", WORK / "work"
        self.zoo.mkdir(parents=True)
        tree = self.work / "tree"
        (tree / "bin").mkdir(parents=True)
        (tree / "set_env.sh").write_text("export SOURCED=yes\n")
        canopy = tree / "bin" / "canopy"
        canopy.write_text('#!/bin/sh\nmkdir -p "$HOME/Ascend" && echo "$@" > "$HOME/Ascend/asked"\n')
        canopy.chmod(0o755)

    def write(self, rows, scripts):
        (self.zoo / "zoo.tsv").write_text("# comment\n" + "".join("\t".join(row) + "\n" for row in rows))
        for folder, script in scripts.items():
            (self.zoo / folder).mkdir()
            (self.zoo / folder / "run.sh").write_text(script)

    def harness(self, command, *arguments):
        done = subprocess.run([sys.executable, str(HARNESS), command, "--zoo", str(self.zoo), "--work", str(self.work),
                               *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_program_that_says_its_texts_passes_and_counts(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "test pass", "[SUCCESS]")],
                   {"one": "echo test pass; echo '[SUCCESS] all'; touch made_here\n"})
        code, output, _ = self.harness("run", "one")
        self.assertEqual(code, 0)
        self.assertIn("zoo: one builds and runs as it is", output)
        self.assertFalse((self.zoo / "one" / "made_here").exists())
        code, output, _ = self.harness("count")
        self.assertEqual(code, 0)
        self.assertIn("1 of 1 programs build and run as they are", output)

    def test_environment_is_that_of_the_tree_and_home_is_empty(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "yes 0 /usr/bin:/bin")],
                   {"one": 'echo "$SOURCED $(ls -A "$HOME" | wc -l) $PATH"\n'})
        self.assertEqual(self.harness("run", "one")[0], 0)

    def test_default_start_links_and_sources_nothing(self):
        self.write([("one", "shape", "default", "bash run.sh", "none link-default --yes")],
                   {"one": 'echo "${SOURCED:-none} $(cat "$HOME/Ascend/asked")"\n'})
        self.assertEqual(self.harness("run", "one")[0], 0)

    def test_exit_code_decides(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "test pass")], {"one": "echo test pass; exit 3\n"})
        code, _, errors = self.harness("run", "one")
        self.assertEqual(code, 1)
        self.assertIn('"bash run.sh" ended with 3', errors)

    def test_failed_step_before_the_last_one_decides(self):
        self.write([("one", "shape", "set_env", "false; echo test pass", "test pass")], {"one": ""})
        self.assertIn("ended with 1", self.harness("run", "one")[2])

    def test_missing_text_fails(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "test pass")], {"one": "echo test failed\n"})
        code, _, errors = self.harness("run", "one")
        self.assertEqual(code, 1)
        self.assertIn('did not print "test pass"', errors)

    def test_earlier_pass_does_not_count_after_a_failure(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "pass"), ("two", "shape", "set_env", "bash run.sh", "pass")],
                   {"one": "echo pass\n", "two": "echo pass\n"})
        self.assertEqual(self.harness("run", "one")[0], 0)
        self.assertEqual(self.harness("run", "two")[0], 0)
        (self.zoo / "two" / "run.sh").write_text("echo wrong\n")
        self.assertEqual(self.harness("run", "two")[0], 1)
        code, output, errors = self.harness("count")
        self.assertEqual(code, 1)
        self.assertIn("1 of 2 programs build and run as they are", output)
        self.assertIn("these do not: two", errors)

    def test_rows_and_folders_must_agree(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "pass")], {"one": "", "other": ""})
        self.assertIn("other has no row in zoo.tsv", self.harness("count")[2])
        self.assertIn("other has no row in zoo.tsv", self.harness("run", "other")[2])
        shutil.rmtree(self.zoo / "other")
        shutil.rmtree(self.zoo / "one")
        self.assertIn("one has a row in zoo.tsv and no folder", self.harness("count")[2])

    def test_wrong_rows_are_named_by_line(self):
        for row, words in ((("one", "shape", "set_env", "bash run.sh"), "zoo.tsv:2: a row is"),
                           (("one", "shape", "sourced", "bash run.sh", "pass"), 'zoo.tsv:2: start is "sourced"')):
            (self.zoo / "zoo.tsv").write_text("# comment\n" + "\t".join(row) + "\n")
            code, _, errors = self.harness("count")
            self.assertEqual(code, 1)
            self.assertIn(words, errors)
        self.write([("one", "shape", "set_env", "true", "pass")] * 2, {})
        self.assertIn("zoo.tsv:3: one has a row already", self.harness("count")[2])

    def test_missing_tree_and_failed_install_are_said(self):
        self.write([("one", "shape", "set_env", "bash run.sh", "pass")], {"one": ""})
        shutil.rmtree(self.work / "tree")
        self.assertIn("is not installed; run zoo.tree first", self.harness("run", "one")[2])
        code, _, errors = self.harness("tree", "--build", str(WORK / "nothing"))
        self.assertEqual(code, 1)
        self.assertIn("the build could not be installed", errors)


if __name__ == "__main__":
    unittest.main()
