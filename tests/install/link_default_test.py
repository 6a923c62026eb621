#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `canopy link-default` with its own tree and home.

    link_default_test.py <the program canopy>
"""
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv.pop(1)
NAMES = ["ascend-toolkit/latest", "ascend-toolkit/set_env.sh", "cann", "driver/lib64"]


class LinkDefault(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = pathlib.Path(folder.name).resolve() / "home"
        self.tree = self.home.parent / "tree"
        (self.tree / "bin").mkdir(parents=True)
        (self.tree / "lib64").mkdir()
        (self.tree / "set_env.sh").write_text("export FOUND=1\n")
        shutil.copy(PROGRAM, self.tree / "bin" / "canopy")
        self.home.mkdir()
        self.ascend = self.home / "Ascend"

    def run_tool(self, *arguments, home=True, program=None):
        environment = dict(os.environ, HOME=str(self.home))
        if not home:
            del environment["HOME"]
        command = [program or self.tree / "bin" / "canopy", "link-default", *arguments]
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def answer(self, text, *arguments):
        """Runs it on a terminal and answers its question."""
        ours, theirs = pty.openpty()
        os.write(ours, text.encode())
        result = subprocess.run([self.tree / "bin" / "canopy", "link-default", *arguments], stdin=theirs, capture_output=True,
                                env=dict(os.environ, HOME=str(self.home)), text=True, check=False)
        os.close(ours)
        os.close(theirs)
        return result

    def links(self, folder=None):
        return [name for name in NAMES if (folder or self.ascend).joinpath(name).is_symlink()]

    def test_makes_links_that_lead_into_the_tree(self):
        result = self.run_tool("--yes")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.links(), NAMES)
        self.assertEqual((self.ascend / "ascend-toolkit/latest").resolve(), self.tree)
        self.assertEqual((self.ascend / "ascend-toolkit/set_env.sh").read_text(), "export FOUND=1\n")
        self.assertEqual((self.ascend / "driver/lib64").resolve(), self.tree / "lib64")
        self.assertIn(f"to create   {self.ascend}/cann -> {self.tree}", result.stdout)
        again = self.run_tool()
        self.assertEqual(again.returncode, 0)
        self.assertEqual(again.stdout.count("exists  "), len(NAMES))

    def test_asks_on_a_terminal(self):
        refused = self.answer("n\n")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("Should canopy create them? [y/N] Nothing was done.", refused.stdout)
        self.assertEqual(self.answer("\n").returncode, 1)
        self.assertFalse(self.ascend.exists())
        self.assertEqual(self.answer("y\n").returncode, 0)
        self.assertEqual(self.links(), NAMES)
        self.assertEqual(self.answer("n\n", "--remove").returncode, 1)
        self.assertEqual(self.links(), NAMES)

    def test_refuses_without_a_terminal_to_ask_on(self):
        result = self.run_tool()
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no terminal to ask on; --yes creates without asking", result.stderr)
        self.assertFalse(self.ascend.exists())

    def test_only_says_what_it_would_do(self):
        result = self.run_tool("--dry-run")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.count("to create"), len(NAMES))
        self.assertFalse(self.ascend.exists())

    def test_leaves_alone_what_is_there(self):
        (self.ascend / "ascend-toolkit/latest").mkdir(parents=True)
        (self.ascend / "cann").symlink_to("/nowhere")
        (self.ascend / "driver").mkdir()
        (self.ascend / "driver/lib64").write_text("mine")
        result = self.run_tool("--yes")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"left alone  {self.ascend}/ascend-toolkit/latest: a folder already exists", result.stdout)
        self.assertIn("cann: a link to /nowhere already exists", result.stdout)
        self.assertIn("driver/lib64: a file already exists", result.stdout)
        self.assertTrue((self.ascend / "ascend-toolkit/latest").is_dir())
        self.assertEqual(os.readlink(self.ascend / "cann"), "/nowhere")
        self.assertEqual((self.ascend / "driver/lib64").read_text(), "mine")
        self.assertTrue((self.ascend / "ascend-toolkit/set_env.sh").is_symlink())

    def test_removes_only_links_into_the_tree(self):
        self.run_tool("--yes")
        (self.ascend / "cann").unlink()
        (self.ascend / "cann").symlink_to("/nowhere")
        (self.ascend / "ascend-toolkit/5.0").mkdir()
        result = self.run_tool("--remove", "--dry-run")
        self.assertEqual(result.stdout.count("to remove"), 3)
        self.assertEqual(self.links(), NAMES)
        self.assertEqual(self.run_tool("--remove").returncode, 2)
        result = self.run_tool("--remove", "--yes")
        self.assertEqual(result.returncode, 0)
        self.assertIn("cann: a link to /nowhere is not a link into", result.stdout)
        self.assertEqual(self.links(), ["cann"])
        self.assertTrue((self.ascend / "ascend-toolkit/5.0").is_dir())
        self.assertFalse((self.ascend / "driver").exists())
        self.assertTrue(self.tree.joinpath("set_env.sh").exists())

    def test_another_folder(self):
        place = self.home / "opt" / "Ascend"
        self.assertEqual(self.run_tool("--yes", "--prefix", place).returncode, 0)
        self.assertEqual(self.links(place), NAMES)
        self.assertFalse(self.ascend.exists())
        both = self.run_tool("--system", "--prefix", place, "--dry-run")
        self.assertNotEqual(both.returncode, 0)
        system = self.run_tool("--system", "--dry-run")
        self.assertIn("/usr/local/Ascend/ascend-toolkit/latest", system.stdout)

    def test_says_what_stops_it(self):
        self.ascend.write_text("a file")
        result = self.run_tool("--yes")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "cannot create .*/Ascend/ascend-toolkit/latest: ")
        self.assertIn("HOME is not set", self.run_tool("--yes", home=False).stderr)
        outside = self.home / "canopy"
        shutil.copy(PROGRAM, outside)
        result = self.run_tool("--yes", program=outside)
        self.assertEqual(result.returncode, 2)
        self.assertIn("is not in an install tree", result.stderr)


if __name__ == "__main__":
    unittest.main()
