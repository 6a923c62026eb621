#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the headers declare, as tools/apigen reads it, with functions.tsv: no function more and none less, each
in its header. CTest runs it."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tools", "apigen"))
import apigen  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description="Compares the declared functions with the table.")
    parser.add_argument("--include", required=True, help="directory that holds acl/ and pkg_inc/")
    arguments = parser.parse_args()
    with open(os.path.join(HERE, "functions.tsv"), encoding="utf-8") as table:
        rows = [line.split("\t") for line in table if not line.startswith("#")]
    expected = {(row[0], row[1]) for row in rows}
    declared = {(f["name"], f["header"]) for f in apigen.read_functions(os.path.abspath(arguments.include))}
    missing = [f"{name} is not declared in {header}" for name, header in sorted(expected - declared)]
    unknown = [f"{name} in {header} is in no table" for name, header in sorted(declared - expected)]
    if missing or unknown:
        sys.exit("\n".join(missing + unknown))
    print(f"{len(declared)} functions, each in its header")


if __name__ == "__main__":
    main()
