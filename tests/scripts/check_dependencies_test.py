#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/check_dependencies.py on small trees, each with one thing wrong in it."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_dependencies.py"
spec = importlib.util.spec_from_file_location("check_dependencies", SCRIPT)
rules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rules)

# Two folders of core, the first below the second, whatever they are called.
LEVELS = [sorted(level)[0] for level in rules.ORDER["src/core"]]
LOW, HIGH = LEVELS[0], LEVELS[-1]


class CheckDependencies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write(f"src/core/{LOW}/low.h")
        self.write(f"src/core/{LOW}/low.cpp", f"core/{LOW}/low.h")
        self.write(f"src/core/{HIGH}/high.h", f"core/{LOW}/low.h")
        self.write(f"src/core/{HIGH}/high.cpp", f"core/{HIGH}/high.h")

    def write(self, name, *included):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [f'#include "{one}"\n' for one in included]
        # The header that a .cpp file implements stands alone.
        path.write_text("".join(lines[:1]) + "\n" + "".join(lines[1:]))

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--root", self.root, *arguments], capture_output=True, text=True)

    def assert_names(self, *parts):
        """It fails with exactly one problem, whose line holds all these parts."""
        run = self.run_script()
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("check_dependencies: 1 problems", run.stderr)
        for part in parts:
            self.assertIn(part, run.stdout)

    def test_a_tree_in_order_passes(self):
        run = self.run_script()
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertEqual(run.stdout, "check_dependencies: 4 files keep the rule\n")

    def test_an_upward_include(self):
        self.write(f"src/core/{LOW}/other.h", f"core/{HIGH}/high.h")
        self.assert_names(f"src/core/{LOW}/other.h: upward include of src/core/{HIGH}/high.h")

    def test_a_cycle_through_cpp_files(self):
        for name, other in (("one", "two"), ("two", "one")):
            self.write(f"src/core/{LOW}/{name}.h")
            self.write(f"src/core/{LOW}/{name}.cpp", f"core/{LOW}/{name}.h", f"core/{LOW}/{other}.h")
        self.assert_names("cycle of 2 units", f"src/core/{LOW}/one -> ", f"src/core/{LOW}/two -> ")

    def test_a_cycle_through_a_third_unit(self):
        for name, other in (("one", "two"), ("two", "three"), ("three", "one")):
            self.write(f"src/core/{LOW}/{name}.h")
            self.write(f"src/core/{LOW}/{name}_more.cpp", f"core/{LOW}/{name}.h", f"core/{LOW}/{other}.h")
        self.assert_names("cycle of 3 units", f"src/core/{LOW}/one")

    def test_a_sub_folder_that_is_not_in_the_map(self):
        self.write("src/core/attic/old.h")
        self.assert_names("src/core/attic/old.h: its folder is not in the order of src/core/")

    def test_a_folder_that_is_not_in_the_map(self):
        self.write("src/attic/old.cpp")
        self.assert_names("src/attic/old.cpp: its folder is not in the map")

    def test_an_include_that_the_room_does_not_allow(self):
        self.write("src/base/leaf.h", f"core/{LOW}/low.h")
        self.assert_names(f"src/base/leaf.h: may not include src/core/{LOW}/low.h")

    def test_core_does_not_see_the_header_that_makes_pointers(self):
        for header in rules.POINTERS:
            self.write(header)
            self.write(f"src/core/{LOW}/other.cpp", header.removeprefix("src/"))
            self.assert_names(f"src/core/{LOW}/other.cpp: may not include {header}")

    def test_core_does_not_reach_the_header_that_makes_pointers(self):
        for header in rules.POINTERS:
            self.write(header)
            self.write("src/device/device.h", "device/command.h")
            self.write("src/device/command.h", header.removeprefix("src/"))
            self.write(f"src/core/{LOW}/other.cpp", "device/device.h")
            self.assert_names(f"src/core/{LOW}/other.cpp: reaches {header} through src/device/device.h -> "
                              "src/device/command.h")

    def test_core_does_not_make_pointers_from_numbers(self):
        other = self.root / f"src/core/{LOW}/other.cpp"
        for use in ("*reinterpret_cast<std::uint64_t*>(address.value())", "reinterpret_cast<void *>(\n    at.value() + 8)",
                    "std::bit_cast<const char*>(found->address.value())", "opaque_of(address.value())"):
            other.write_text(f"// first line\nauto x = {use};\n")
            self.assert_names(f"src/core/{LOW}/other.cpp:2: makes a pointer from the number of an address")
        other.write_text("auto x = reinterpret_cast<const char*>(bytes.data()); auto y = address.value();\n")
        self.assertEqual(self.run_script().returncode, 0)

    def test_drivers_and_the_interface_make_pointers(self):
        for header in rules.POINTERS:
            self.write(header)
            for name in ("src/device/soft/one.cpp", "src/device/engine/one.cpp", "src/api/one.cpp"):
                self.write(name, header.removeprefix("src/"))
        self.assertEqual(self.run_script().returncode, 0)

    def test_a_folder_for_everything(self):
        self.write("tests/utils/many.h")
        self.assert_names("tests/utils/many.h")

    def test_the_tree_is_printed(self):
        run = self.run_script("--tree")
        self.assertEqual(run.returncode, 0)
        for folder in rules.ROOMS:
            self.assertIn(f"{folder}/", run.stdout)


if __name__ == "__main__":
    unittest.main()
