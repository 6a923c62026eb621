#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the lists of functions of the C interface (asc_*) that follow a pattern.

toolchain/language/c_interface.tsv has a row for each name and chip: the form of its parameters, the element types, and
what it equals. A form is a macro; the headers of canopy_kernel/c_interface define the macros and include the lists:

  vector_names.h    functions on pointers (2201)
  register_names.h  functions on registers (3510)

The tests include the same lists with other macros, so that no name is forgotten. Rows of the form `written` name
functions and types that a header declares itself; each must exist.

With --check nothing is written; a file that is not current is an error.
"""

import argparse
import collections
import os
import re
import subprocess
import sys

import language

TABLE = os.path.join(language.ROOT, "toolchain/language/c_interface.tsv")
HEADERS = os.path.join(language.ROOT, "toolchain/include/canopy_kernel/c_interface")
WIDTH = 120

Row = collections.namedtuple("Row", "name chips form types equals")

LISTS = {
    "2201": ("vector_names.h", "The vector functions on pointers, as invocations of the macros of vector_2201.h."),
    "3510": ("register_names.h", "The functions on registers, as invocations of the macros of register_forms.h."),
}


def read_table():
    with open(TABLE, encoding="utf-8") as table:
        rows = [Row(*line.rstrip("\n").split("\t")) for line in table][1:]
    seen = set()
    for row in rows:
        for chip in row.chips.split(","):
            if (row.name, chip, row.form) in seen:
                raise language.Failure(f"{row.name} has two rows of the form {row.form} for {chip}")
            seen.add((row.name, chip, row.form))
    return rows


def type_arguments(row):
    """The types as macro arguments: a pair is written as the template Pair, or as two arguments in a conversion."""
    types = row.types.split()
    if row.form == "conversion":
        return types[0].split("/")
    return ["Pair<" + ", ".join(each.split("/")) + ">" if "/" in each else each for each in types]


def invocation(row):
    types, equals = type_arguments(row), row.equals.split()
    arguments = [row.name] + (types + equals if row.form == "conversion" else equals + types)
    text = f"CANOPY_C_{row.form.upper()}("
    lines, line = [], text
    for number, argument in enumerate(arguments):
        piece = argument + (")" if number + 1 == len(arguments) else ",")
        space = "" if line == text or not line.strip() else " "
        if len(line) + len(space) + len(piece) > WIDTH:
            lines.append(line)
            line, space = " " * len(text), ""
        line += space + piece
    return "\n".join(lines + [line])


def list_of(rows, chip):
    _, comment = LISTS[chip]
    text = ["// SPDX-License-Identifier: Apache-2.0", f"// {comment}", "// Made by tools/apigen/c_interface.py; do not edit."]
    text += ["// No include guard: each file that includes it has its own macros.", ""]
    form = None
    for row in rows:
        if row.form == "written" or chip not in row.chips.split(","):
            continue
        if form not in (None, row.form):
            text.append("")
        form = row.form
        text.append(invocation(row))
    return "\n".join(text) + "\n"


def declared_words(chip):
    """The words of the language's headers for a chip after preprocessing, and the names of macros."""
    command = [language.find_compiler(), "-E", "-dD", "-P", "-x", "c++", "-std=c++17", f"-D__NPU_ARCH__={chip}"]
    command += ["-I" + language.KERNEL_HEADERS, "-I" + language.HOST_HEADERS, "-"]
    result = subprocess.run(command, input="#include <kernel_operator.h>\n", capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise language.Failure(f"the headers cannot be read for {chip}: {result.stderr.strip()}")
    return set(re.findall(r"\w+", result.stdout))


def check_declarations(rows):
    """Every name of the table must be in the headers of its chips."""
    for chip in LISTS:
        words = declared_words(chip)
        for row in rows:
            if chip in row.chips.split(",") and row.name not in words:
                raise language.Failure(f"{row.name}: no header declares it for {chip}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    arguments = parser.parse_args()
    rows = read_table()
    status = 0
    for chip, (name, _) in LISTS.items():
        status |= language.put(os.path.join(HEADERS, name), list_of(rows, chip), arguments.check)
    check_declarations(rows)
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except language.Failure as failure:
        print(f"c_interface.py: {failure}", file=sys.stderr)
        sys.exit(1)
