#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/apigen on its own small header and on a library built from the stubs it writes. CTest runs it."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
APIGEN = os.path.join(ROOT, "tools", "apigen", "apigen.py")

HEADER = """#pragma once
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef int aclError;
typedef enum aclMode { ACL_MODE_FAST = 0, ACL_MODE_UNDEFINED = 7 } aclMode;

/* ------------------------------------
 * Streams
 * ------------------------------------ */

/** Opens it. The second sentence is not part of the summary. */
aclError aclrtOpen(void **handle, uint32_t flag);

/** Returns its name. */
__attribute__((deprecated("old"))) const char *aclrtName(int32_t (*const callback)(const char *, int32_t));

/* ------------------------------------
 * Events
 * ------------------------------------ */

/** Forgets everything | at once. */
void aclrtForget(void);

/** Returns the mode. */
aclMode aclrtMode(const char *format, ...);
"""
END = """
#ifdef __cplusplus
}
#endif
"""

STRONG = 'extern "C" __attribute__((visibility("default"))) int aclrtOpen(void**, unsigned) { return 0; }\n'
ANSWER = "namespace canopy { int not_implemented(const char*) noexcept { return 207000; } }\n"


class ApigenTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write_header()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as output:
            output.write(text)

    def write_header(self, more=""):
        self.write("include/acl/acl.h", HEADER + more + END)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as text:
            return text.read()

    def apigen(self, *arguments):
        command = [sys.executable, APIGEN, arguments[0], "--include", self.path("include"), *arguments[1:]]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def build_library(self, strong):
        self.assertEqual(self.apigen("stubs", "--output", self.path("stubs.cpp")).returncode, 0)
        self.write("strong.cpp", ANSWER + (STRONG if strong else ""))
        command = ["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-I", self.path("include")]
        command += ["-I", os.path.join(ROOT, "src"), self.path("stubs.cpp"), self.path("strong.cpp")]
        subprocess.run(command + ["-o", self.path("lib.so")], check=True)

    def coverage(self, *arguments):
        page = self.path("coverage.md")
        return self.apigen("coverage", "--library", self.path("lib.so"), "--output", page, *arguments)

    def test_table_describes_each_function(self):
        functions = json.loads(self.apigen("table").stdout)["functions"]
        self.assertEqual([f["name"] for f in functions], ["aclrtOpen", "aclrtName", "aclrtForget", "aclrtMode"])
        first = functions[0]
        self.assertEqual((first["header"], first["group"], first["returns"]), ("acl/acl.h", "Streams", "aclError"))
        self.assertEqual(first["summary"], "Opens it.")
        self.assertEqual(first["parameters"][1], {"name": "flag", "type": "uint32_t"})
        self.assertEqual([f["deprecated"] for f in functions], [False, True, False, False])
        self.assertEqual([f["group"] for f in functions][2:], ["Events", "Events"])
        self.assertTrue(functions[3]["variadic"])

    def test_stubs_answer_by_return_type(self):
        text = self.apigen("stubs").stdout
        self.assertIn('return canopy::not_implemented("aclrtOpen");', text)
        self.assertIn("return nullptr;", text)
        self.assertIn("return ACL_MODE_UNDEFINED;", text)

    def test_strong_definition_counts_as_implemented(self):
        self.build_library(strong=True)
        self.assertEqual(self.coverage().returncode, 0)
        page = self.read("coverage.md")
        self.assertIn("**1 of 4 functions are implemented.**", page)
        self.assertIn("| Streams | 1 | 1 | 2 |", page)
        self.assertIn("| `aclrtOpen` | implemented | Opens it. |", page)
        self.assertIn("| `aclrtForget` | not yet | Forgets everything \\| at once. |", page)

    def test_states_tell_implemented_functions_from_others(self):
        self.build_library(strong=True)
        table = self.apigen("states", "--library", self.path("lib.so")).stdout
        self.assertEqual(table, "name\tstate\naclrtForget\tnot yet\naclrtMode\tnot yet\naclrtName\tnot yet\n"
                                "aclrtOpen\timplemented\n")

    def test_check_fails_when_the_page_is_stale(self):
        self.build_library(strong=False)
        self.assertNotEqual(self.coverage("--check").returncode, 0)
        self.assertEqual(self.coverage().returncode, 0)
        self.assertEqual(self.coverage("--check").returncode, 0)
        self.build_library(strong=True)
        stale = self.coverage("--check")
        self.assertNotEqual(stale.returncode, 0)
        self.assertIn("is stale", stale.stderr)
        self.assertIn("+**1 of 4 functions are implemented.**", stale.stderr)

    def test_library_without_a_function_is_refused(self):
        self.build_library(strong=False)
        self.write_header("/** Is new. */\nvoid aclrtNew(void);\n")
        refused = self.coverage()
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("aclrtNew", refused.stderr)

    def test_function_without_documentation_is_refused(self):
        self.write_header("void aclrtBare(void);\n")
        refused = self.apigen("table")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("aclrtBare has no documentation comment", refused.stderr)

    def test_function_that_is_no_part_of_canopy_is_passed_over(self):
        self.write_header('int aclrtElsewhere(int, ...) __attribute__((unavailable("not here")));\n')
        functions = json.loads(self.apigen("table").stdout)["functions"]
        self.assertNotIn("aclrtElsewhere", [f["name"] for f in functions])
        self.assertNotIn("aclrtElsewhere", self.apigen("stubs").stdout)

    def test_headers_in_folders_are_read(self):
        section = "/* ------------------------------------\n * Media\n * ------------------------------------ */\n"
        self.write("include/acl/ops/more.h", f'#pragma once\n#include "../acl.h"\n{section}/** Is more. */\naclError aclmore(void);\n')
        functions = json.loads(self.apigen("table").stdout)["functions"]
        self.assertEqual([f["header"] for f in functions if f["name"] == "aclmore"], ["acl/ops/more.h"])

    def test_broken_header_is_reported_with_its_place(self):
        self.write_header("unknown_type aclrtBroken(void);\n")
        refused = self.apigen("table")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("unknown_type", refused.stderr)


if __name__ == "__main__":
    unittest.main()
