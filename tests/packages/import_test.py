#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Imports the Python modules with every interpreter there is, and with damaged installations: each import works, or
ends with one line that says what to do.

    import_test.py <folder of the package acl> <libascendcl.so> <source folder> <folder to work in>
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

PACKAGE, LIBRARY, SOURCE, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
# Copies through the buffer protocol, and exceptions that name types: what differs between versions of the interpreter.
PROGRAM = """
import acl, super_kernel
assert acl.init() == 0 and acl.rt.set_device(0) == 0
memory, code = acl.rt.malloc(64, 0)
assert code == 0
data, back = bytes(range(64)), bytearray(64)
assert acl.rt.memcpy(memory, 64, data, 64, 1) == 0 and acl.rt.memcpy(back, 64, memory, 64, 2) == 0
assert back == data
try:
    acl.rt.free("memory")
except TypeError as problem:
    assert "not str" in str(problem), problem
assert acl.rt.free(memory) == 0 and acl.rt.reset_device(0) == 0 and acl.finalize() == 0
import acl.rt
print("right", acl.__name__, acl.rt.malloc.__module__, acl.get_soc_name())
"""


def interpreters():
    """Other interpreters of this machine: of pyenv, of conda, and in the system's folders."""
    home = pathlib.Path.home()
    places = [*home.glob(".pyenv/versions/*/bin/python3"), *home.glob("*conda3/bin/python3"),
              *home.glob("*conda3/envs/*/bin/python3"), *pathlib.Path("/opt").glob("*conda*/bin/python3")]
    for folder in ("/usr/bin", "/usr/local/bin"):
        places += [path for path in pathlib.Path(folder).glob("python3*") if re.fullmatch(r"python3(\.\d+)?", path.name)]
    return sorted({path.resolve() for path in places})


def run(interpreter, program, *folders):
    """The exit status and the output of a program."""
    environment = {**os.environ, "PYTHONPATH": ":".join(map(str, folders)), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("LD_LIBRARY_PATH", None)
    done = subprocess.run([str(interpreter), "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment, check=False)
    return done.returncode, done.stdout


class Import(unittest.TestCase):
    def explained(self, result, *words):
        """An import that failed, with these words in the last line."""
        status, output = result
        self.assertNotEqual(status, 0, output)
        last = output.strip().splitlines()[-1]
        self.assertRegex(last, "^ImportError: ")
        for word in words:
            self.assertIn(word, last)

    def damaged(self, name):
        """A copy of the package acl to damage, laid out as in a wheel."""
        folder = WORK / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PACKAGE, folder / "acl")
        return folder

    def test_every_interpreter_works_or_says_what_to_do(self):
        found = interpreters()
        self.assertTrue(found)
        for interpreter in found:
            with self.subTest(interpreter=str(interpreter)):
                status, output = run(interpreter, "import sys; print('%d %d' % sys.version_info[:2])")
                self.assertEqual(status, 0, output)
                result = run(interpreter, PROGRAM, PACKAGE.parent, SOURCE / "python")
                if tuple(map(int, output.split())) < (3, 9):
                    self.explained(result, "acl needs Python 3.9 or later", str(interpreter))
                else:
                    self.assertEqual((result[0], result[1].split()[:3]), (0, ["right", "acl", "acl.rt"]), result[1])

    def test_an_interpreter_that_is_too_old(self):
        program = "import sys; sys.version_info = (3, 8, 18, 'final', 0)\nimport {}"
        for module in ("acl", "canopy"):
            self.explained(run(sys.executable, program.format(module), PACKAGE.parent, SOURCE / "python"),
                           "acl needs Python 3.9 or later", "Python 3.8", sys.executable)

    def test_an_interpreter_without_the_stable_abi(self):
        # One that does not look for .abi3.so, as PyPy and free-threaded builds do not.
        program = ("import sys; from importlib.machinery import FileFinder, SourceFileLoader\n"
                   "sys.path_hooks[:] = [FileFinder.path_hook((SourceFileLoader, ['.py']))]\n"
                   "sys.path_importer_cache.clear()\nimport acl")
        self.explained(run(sys.executable, program, PACKAGE.parent), "stable ABI", "/usr/bin/python3")

    def test_a_package_without_its_extension(self):
        folder = self.damaged("no_extension")
        (folder / "acl/_acl.abi3.so").unlink()
        self.explained(run(sys.executable, "import acl", folder), "_acl.abi3.so is missing", "install the canopy package")

    def wheel_with(self, name, library="", *options):
        """The package as in a wheel, whose folder of libraries holds at most this one, compiled from one function."""
        folder = self.damaged(name)
        extension = folder / "acl/_acl.abi3.so"
        # The path to the library of the build folder becomes that of a wheel.
        data = extension.read_bytes()
        path = re.search(rb"\0(/[^\0]*/src[^\0]*)\0", data)
        self.assertTrue(path, "the extension has no path to its library")
        extension.write_bytes(data.replace(path[1], b"$ORIGIN/lib".ljust(len(path[1]), b"/")))
        (folder / "acl/lib").mkdir()
        if library:
            source = folder / "stranger.c"
            source.write_text("int aclInit(const char* path) { return path != 0; }\n", encoding="utf-8")
            subprocess.run(["cc", "-shared", "-fPIC", f"-Wl,-soname,{library}", *options, str(source), "-o",
                            str(folder / "acl/lib" / library)], check=True)
        return folder

    def test_a_missing_library(self):
        folder = self.wheel_with("no_library")
        self.explained(run(sys.executable, "import acl", folder), "libascendcl.so", "missing or damaged", "install")

    def test_the_library_of_another_toolkit(self):
        folder = self.wheel_with("other_library", "libascendcl.so")
        self.explained(run(sys.executable, "import acl", folder), "undefined symbol", "another version", "install")

    def test_an_old_cpp_library(self):
        versions = WORK / "old.map"
        versions.write_text("GLIBCXX_3.4 { global: *; };\n", encoding="utf-8")
        folder = self.wheel_with("old_library", "libstdc++.so.6", f"-Wl,--version-script={versions}")
        shutil.copy(LIBRARY, folder / "acl/lib")
        self.explained(run(sys.executable, "import acl", folder), "libstdc++.so.6: version",
                       "older than the one Canopy was built with", "/usr/bin/python3")

    def test_numpy_is_named_when_it_is_missing(self):
        program = "import sys; sys.modules['numpy'] = None\nimport canopy"
        self.explained(run(sys.executable, program, PACKAGE.parent, SOURCE / "python"), "canopy needs numpy",
                       "pip install numpy")


if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1])
