#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs `canopy doctor` of a fresh install tree on programs.

    doctor_test.py <build folder> <folder to work in>

unsupported/ holds uses of what Canopy lacks, expected.tsv all that is to be found there: a name that has become
supported since is replaced in both. clean/ holds the same names where they mean something else.
"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

BUILD, WORK = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
TREE = WORK / "tree"
NOBODY = 65534
MISSING = [("AscendC::Blur", "func"), ("AscendC::Refold", "func"), ("AscendC::Sharpen", "func"), ("AscendC::Unfold", "func"),
           ("AscendC::Far", "namespace"), ("AscendC::Wide", "namespace"), ("asc_unbuilt", "func")]


def doctor(*arguments, **options):
    command = [str(TREE / "bin/canopy"), "doctor", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, check=False, **options)


def folder(name, files):
    """A fresh folder with these files."""
    place = WORK / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for file, text in files.items():
        (place / file).parent.mkdir(parents=True, exist_ok=True)
        (place / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def expected():
    rows = [line.split("\t") for line in (HERE / "expected.tsv").read_text().splitlines()[1:]]
    return [(file, int(line), level, text) for file, line, level, text in rows]


def found(place):
    """What is found in a folder, with paths inside of it."""
    findings = json.loads(doctor("--json", place).stdout)["findings"]
    return [(os.path.relpath(f["file"], place), f["line"], f["level"], f["text"]) for f in findings]


KERNEL = '// SPDX\n#include "kernel_operator.h"\nusing namespace AscendC;\n'


class Unsupported(unittest.TestCase):
    def test_exactly_the_expected_uses_are_found(self):
        self.maxDiff = None
        self.assertGreaterEqual(len(expected()), 20)
        self.assertEqual(sorted(found(HERE / "unsupported")), sorted(expected()))

    def test_each_finding_says_what_to_do(self):
        for finding in json.loads(doctor("--json", HERE / "unsupported").stdout)["findings"]:
            self.assertGreater(len(finding["advice"]), 10, finding)

    def test_text_names_file_line_and_level_and_counts(self):
        result = doctor("unsupported", cwd=HERE)
        self.assertEqual(result.returncode, 1)
        lines = result.stdout.splitlines()
        for file, line, level, text in expected():
            self.assertTrue(any(one.startswith(f"unsupported/{file}:{line}: {level}: {text}") for one in lines), text)
        counts = [sum(level == name for _, _, level, _ in expected()) for name in ("error", "warning", "hint")]
        self.assertEqual(lines[-1], "9 files read: {} errors, {} warnings, {} hints".format(*counts))

    def test_uses_of_one_name_in_one_file_are_one_finding(self):
        place = folder("uses", {"a.asc": KERNEL + "__aicore__ void f() { Blur(a); Blur(b);\n Blur(c); }\n",
                                "b.asc": KERNEL + "__aicore__ void g() { Blur(a); }\n"})
        findings = json.loads(doctor("--json", place).stdout)["findings"]
        self.assertEqual([(f["line"], f["uses"]) for f in findings], [(4, 3), (4, 1)])
        self.assertIn("(3 uses)\n", doctor(place).stdout)

    def test_a_condition_makes_an_error_a_warning(self):
        place = folder("condition", {"a.asc": KERNEL + "#ifdef FAST\n__aicore__ void f() { Blur(a); }\n#endif\n"})
        result = doctor(place)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"{place}/a.asc:5: warning: AscendC::Blur is not supported by Canopy yet, under #ifdef FAST\n",
                      result.stdout)

    def test_the_device_side_of_a_debugging_switch_is_no_condition(self):
        place = folder("switch", {"a.asc": KERNEL + "#ifndef ASCENDC_CPU_DEBUG\n__aicore__ void f() { Blur(a); }\n#endif\n"})
        self.assertEqual(doctor(place).returncode, 1)

    def test_names_count_only_where_the_language_is_in_sight(self):
        place = folder("sight", {"plain.cpp": "void f() { Blur(a); asc_unbuilt(b); }\n",
                                 "without_using.asc": '#include "kernel_operator.h"\n__aicore__ void f() { Blur(a); }\n',
                                 "other.asc": '#include "all.h"\n__aicore__ void g() { Sharpen(a); }\n',
                                 "all.h": KERNEL})
        self.assertEqual(found(place), [("other.asc", 2, "error", "AscendC::Sharpen is not supported by Canopy yet")])

    def test_quiet_leaves_out_warnings_and_hints(self):
        result = doctor("--quiet", HERE / "unsupported")
        self.assertNotIn(": warning: ", result.stdout)
        self.assertNotIn(": hint: ", result.stdout)
        self.assertIn(": error: ", result.stdout)
        self.assertEqual(result.returncode, 1)

    def test_single_files_are_looked_at(self):
        result = doctor(HERE / "unsupported/scripts/infer.py")
        self.assertEqual(result.returncode, 1)
        self.assertIn("1 file read: 3 errors, 1 warning\n", result.stdout)

    def test_a_file_named_twice_is_read_once(self):
        self.assertIn("5 files read:", doctor(HERE / "clean", HERE / "clean/run.sh").stdout)


class NoFalseAlarm(unittest.TestCase):
    def test_own_names_comments_and_texts_are_left_alone(self):
        result = doctor(HERE / "clean")
        self.assertEqual((result.stdout, result.stderr, result.returncode),
                         ("5 files read: no problems found\n", "", 0))

    def test_programs_that_run_have_no_errors(self):
        for name in ("examples", "tests/language", "tests/programs", "tests/toolchain", "tests/zoo", "bench"):
            if (REPOSITORY / name).exists():
                result = doctor("--quiet", REPOSITORY / name)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_script_that_asks_for_a_program_does_without_it(self):
        place = folder("asks", {"a.sh": "if command -v npu-smi > /dev/null; then true; fi\nmsopprof x\nwhich msopprof\n"})
        self.assertEqual(found(place), [("a.sh", 2, "hint", "the profiler msopprof is not part of Canopy")])


class Errors(unittest.TestCase):
    def check(self, text, *arguments):
        result = doctor(*arguments)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn(text, result.stderr)

    def test_wrong_usage(self):
        self.check("path is required")
        self.check("--unknown", "--unknown", HERE)
        self.check("No such file or directory", WORK / "nowhere")
        self.check("not a kind of source file that this command reads", HERE / "expected.tsv")

    def test_a_tree_without_its_tables(self):
        self.check("is not an install tree of Canopy", "--tree", HERE, HERE / "clean")
        broken = WORK / "broken"
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(TREE / "share", broken / "share")
        (broken / "share/canopy/functions.tsv").write_text("name\tstate\nwithout a column\n")
        self.check("is not an install tree of Canopy", "--tree", broken, HERE / "clean")

    def test_a_file_that_is_too_large_is_named(self):
        place = folder("large", {"a.cpp": b"x" * (4 << 20) + b"x", "b.cpp": "int main() {}\n"})
        result = doctor(place)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, f"not read: {place}/a.cpp is larger than 4 MiB\n"
                                        "1 file read: no problems found\n")
        self.check("is larger than 4 MiB", place / "a.cpp")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user who may not read a file")
    def test_a_file_that_cannot_be_read_is_named(self):
        place = folder("secret", {"a.cpp": "int main() {}\n", "b/c.cpp": "int x;\n"})
        (place / "a.cpp").chmod(0)
        (place / "b").chmod(0)
        if subprocess.run(["test", "-x", TREE / "bin/canopy"], user=NOBODY, check=False).returncode != 0:
            self.skipTest("others may not enter the folder of this build")
        result = doctor(place, user=NOBODY)
        self.assertEqual(result.returncode, 0)
        self.assertIn(f"not read: {place}/a.cpp cannot be read: Permission denied\n", result.stdout)
        self.assertIn(f"not read: {place}/b cannot be read: Permission denied\n", result.stdout)

    def test_help(self):
        result = doctor("--help")
        self.assertEqual(result.returncode, 0)
        for word in ("--json", "--quiet", "--tree", "Exit status"):
            self.assertIn(word, result.stdout)


class Hostile(unittest.TestCase):
    """Folders that nobody would write: the command ends, says something sensible and does not crash."""

    def check(self, place):
        for arguments in ((), ("--json",)):
            result = doctor(*arguments, place)
            self.assertIn(result.returncode, (0, 1), result.stderr)
            if arguments:
                json.loads(result.stdout)
        return result

    SUFFIXES = ("a.asc", "a.cpp", "a.h", "CMakeLists.txt", "a.cmake", "Makefile", "a.sh", "a.py", "a.json")

    def test_random_bytes(self):
        source = random.Random(20261116)
        letters = b"\n\t #\"'\\()[]{}<>$`=:;,.*/&|~-+AscendC::Blur asm R\"( #if #endif << EOF case \xff\x80"
        for round_number in range(6):
            files = {name: bytes(source.choices(letters, k=20000)) for name in self.SUFFIXES}
            files.update({f"r/{name}": source.randbytes(5000).replace(b"\0", b"x") for name in self.SUFFIXES})
            self.check(folder(f"random_{round_number}", files))

    def test_pieces_of_programs_cut_anywhere(self):
        source = random.Random(7)
        for file in sorted((HERE / "unsupported").rglob("*.*")):
            text = file.read_bytes()
            self.check(folder("cut", {f"{number}/{file.name}": text[:source.randrange(len(text))] for number in range(8)}))

    def test_long_lines_and_deep_nesting(self):
        for piece in (b"$(", b"((((", b"[[", b"{", b"`", b"R\"(", b"<<A ", b"\\", b"/*", b"#if 1\n", b"\"", b"a::", b"${"):
            text = piece * (100000 // len(piece))
            self.check(folder("deep", {name: text for name in self.SUFFIXES}))

    def test_empty_and_binary_files(self):
        result = self.check(folder("binary", {"empty.cpp": "", "empty.sh": "", "elf.cpp": b"\x7fELF\0\0", "x.om": b"\0"}))
        self.assertEqual(json.loads(result.stdout)["files"], 2)
        self.assertEqual([file["reason"] for file in json.loads(result.stdout)["skipped"]], ["is not text"])

    def test_links_are_not_followed(self):
        outside = folder("outside", {"bad.asc": KERNEL + "__aicore__ void f() { Blur(a); }\n"})
        place = folder("links", {"good.cpp": "int main() {}\n", "deep/good.cpp": "int x;\n"})
        for name, target in (("out.asc", outside / "bad.asc"), ("out", outside), ("loop", "."), ("deep/up", ".."),
                             ("self.cpp", "self.cpp"), ("broken.cpp", "nowhere.cpp"), ("twice.cpp", "good.cpp")):
            (place / name).symlink_to(target)
        self.assertEqual(doctor(place).stdout, "2 files read: no problems found\n")

    def test_things_that_are_not_files(self):
        place = folder("things", {"folder.cpp/inside.sh": "true\n"})
        os.mkfifo(place / "pipe.cpp")
        self.assertEqual(doctor(place).stdout, "1 file read: no problems found\n")
        self.assertEqual(doctor(place / "pipe.cpp").returncode, 2)

    def test_names_of_files_may_be_any_bytes(self):
        place = folder("names", {})
        path = os.fsencode(place) + b"/\xff\xfe \n.sh"
        with open(path, "w", encoding="utf-8") as file:
            file.write("msopprof ./main\n")
        result = self.check(place)
        self.assertEqual(result.returncode, 1)

    def test_generated_folders_are_skipped(self):
        bad = KERNEL + "__aicore__ void f() { Blur(a); }\n"
        place = folder("generated", {"build/CMakeCache.txt": "", "build/a.asc": bad, ".git/a.asc": bad,
                                     "b/build.ninja": "", "b/a.asc": bad, "__pycache__/a.asc": bad, "a.cpp": "int x;\n"})
        self.assertEqual(doctor(place).stdout, "1 file read: no problems found\n")


if __name__ == "__main__":
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    # A relative prefix, as people type it.
    subprocess.run(["cmake", "--install", BUILD, "--prefix", TREE.name], cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    # Hardly a name of the kernel language is missing, so the table gets some invented ones.
    with open(TREE / "share/canopy/unsupported.tsv", "a", encoding="utf-8") as table:
        table.writelines(f"{name}\t{kind}\tadv\tcompose it from others\n" for name, kind in MISSING)
    unittest.main(argv=sys.argv[:1], verbosity=0)
