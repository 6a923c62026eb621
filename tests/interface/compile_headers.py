#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles every public header alone, in each language and with each compiler that is installed.

CTest runs it. A header passes when it compiles without a warning as C11 and as C++11 and 20, included by its full name
and, as some programs do, by its bare name; all of them together do so as C++14 and 17, which lie between. Headers of the
lower interface are included with either of the two folders searched that programs search for them.
"""

import argparse
import glob
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
C_COMPILERS = ["gcc", "clang"]
CPP_COMPILERS = ["g++", "clang++"]
CPP_STANDARDS = ["c++11", "c++20"]
CPP_STANDARDS_BETWEEN = ["c++14", "c++17"]


def headers_below(folder, place):
    """The headers of a place in a folder, as they are included when the folder is searched."""
    pattern = os.path.join(folder, place, "**", "*.h")
    return [os.path.relpath(path, folder) for path in sorted(glob.glob(pattern, recursive=True))]


def command_lines(include):
    """Yields the compiler command and the headers of each translation unit."""
    names = headers_below(include, "acl")
    lower = os.path.join(include, "pkg_inc")
    lower_names = headers_below(lower, ".")
    languages = [(compiler, "c", "c11") for compiler in C_COMPILERS]
    languages += [(compiler, "c++", standard) for compiler in CPP_COMPILERS for standard in CPP_STANDARDS]
    for compiler, language, standard in languages:
        if shutil.which(compiler) is None:
            continue
        command = [compiler, "-x", language, f"-std={standard}", "-fsyntax-only"] + WARNINGS
        for name in names:
            yield command + ["-I", include, "-"], [name]
            if os.path.dirname(name) == "acl":
                yield command + ["-I", os.path.join(include, "acl"), "-"], [os.path.basename(name)]
        for name in lower_names:
            yield command + ["-I", lower, "-"], [name]
            if name.startswith("runtime/"):
                yield command + ["-I", os.path.join(lower, "runtime"), "-"], [os.path.relpath(name, "runtime")]
    for compiler in CPP_COMPILERS:
        if shutil.which(compiler) is None:
            continue
        for standard in CPP_STANDARDS_BETWEEN:
            command = [compiler, "-x", "c++", f"-std={standard}", "-fsyntax-only"] + WARNINGS
            yield command + ["-I", include, "-"], names
            yield command + ["-I", lower, "-"], lower_names


def compile_one(job):
    command, names = job
    # Some headers contain only macros, but C requires at least one declaration.
    text = "".join(f'#include "{name}"\n' for name in names) + "int translation_unit_is_not_empty;\n"
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else f"{names[0]}: {' '.join(command)}\n{result.stderr}"


def main():
    parser = argparse.ArgumentParser(description="Compiles every public header alone.")
    parser.add_argument("--include", required=True, help="directory that holds acl/ and pkg_inc/")
    arguments = parser.parse_args()
    jobs = list(command_lines(os.path.abspath(arguments.include)))
    if not jobs:
        sys.exit("no compiler or no header was found")
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        failures = [failure for failure in pool.map(compile_one, jobs) if failure]
    print(f"{len(jobs)} compilations, {len(failures)} failures")
    if failures:
        sys.exit("\n".join(failures[:5]))


if __name__ == "__main__":
    main()
