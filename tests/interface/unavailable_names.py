#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that using a name that is no part of Canopy is an error whose first text says so, for every such name of the
headers, in C and in C++, with each compiler that is installed. CTest runs it."""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

COMPILERS = [("gcc", "c", "c11"), ("g++", "c++", "c++17"), ("clang", "c", "c11"), ("clang++", "c++", "c++17")]
# How a program would use a name, keyed by the macro that declares it.
USES = {
    "FUNCTION": "void use_{0}(void) {{ (void){0}(1, 2); }}",
    "TYPE": "{0}* use_{0};",
    "CONSTANT": "int use_{0}(void) {{ return {0}; }}",
}


def declared_names(path):
    """The kind, the name and the sentence of each declaration of a header."""
    with open(path, encoding="utf-8") as header:
        text = header.read()
    sentences = {name: "".join(re.findall(r'"(.*?)"', body))
                 for name, body in re.findall(r"#define (\w+)((?:\s*\\?\s*\".*\")+)", text)}
    rows = re.findall(r"^CANOPY_NO_(\w+)\((?:[^,()]*, )?(\w+), (\w+)\);", text, re.M)
    return [(kind, name, sentences[macro]) for kind, name, macro in rows]


def first_errors(output):
    """The first error of each line of the source."""
    errors = {}
    for line, text in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", output, re.M):
        errors.setdefault(int(line), text)
    return errors


def problems(compiler, language, standard, include, header, names):
    source = "\n".join([f'#include "{header}"'] + [USES[kind].format(name) for kind, name, _ in names]) + "\n"
    limit = "-ferror-limit=0" if compiler.startswith("clang") else "-fmax-errors=0"
    command = [compiler, "-x", language, f"-std={standard}", "-fsyntax-only", limit, "-I", include, "-"]
    result = subprocess.run(command, input=source, capture_output=True, text=True, check=False, env=dict(os.environ, LC_ALL="C"))
    errors = first_errors(result.stderr)
    for line, (_, name, sentence) in enumerate(names, start=2):
        text = errors.get(line, "no error")
        if name not in text or sentence not in text:
            yield f"{compiler}: {header}: {name}: {text}"


def main():
    parser = argparse.ArgumentParser(description="Uses every name that is no part of Canopy.")
    parser.add_argument("--include", required=True, help="directory that holds acl/")
    include = os.path.abspath(parser.parse_args().include)
    count, found = 0, []
    for path in sorted(glob.glob(os.path.join(include, "acl", "**", "*.h"), recursive=True)):
        names = declared_names(path)
        header = os.path.relpath(path, include)
        count += len(names)
        for compiler, language, standard in COMPILERS:
            if names and shutil.which(compiler):
                found += problems(compiler, language, standard, include, header, names)
    if found or count < 300:
        sys.exit("\n".join(found[:20] + [f"{count} names, {len(found)} problems"]))
    print(f"{count} names are refused with a sentence")


if __name__ == "__main__":
    main()
