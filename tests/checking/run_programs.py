#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of a program whose host and streams have seeded bugs under the checker, a process each.

    tests/checking/run_programs.py [--workers 1,2,8] [--times N] [--cases NAME,...] PROGRAM SOURCE

Cases named bug_N... must give the findings that EXPECTED lists, in the order of their places and at the lines with the
marks [N a] of the source, and no other errors or warnings; note_N... notes only; right_N... nothing.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Of each case: (id, kind, level, marks of its places). What is not listed must not be found.
EXPECTED = {
    "bug_51": [("host.stream", "WAW", "error", "51 a, 51 b")],
    "bug_52": [("host.stream", "RAW", "error", "52 a, 52 b")],
    "bug_53": [("host.access", "WAR", "error", "53 a, 53 b")],
    "bug_53_read": [("host.access", "RAW", "error", "53 c, 53 d")],
    "bug_53_library": [("host.access", "WAR", "error", "53 e, 53 f")],
    "bug_54": [("host.stream", "WAR", "error", "54 a, 54 b")],
    "bug_55": [("host.stream", "WAW", "error", "55 a, 55 b")],
    "bug_57_copy": [("host.free", "", "error", "57 a, 57 b")],
    "bug_57_kernel": [("host.free", "", "error", "57 c, 57 d")],
    "bug_57_reset": [("host.free", "", "error", "57 e")],
    "bug_58": [("host.leak", "", "warning", mark) for mark in ("58 a", "58 b", "58 c")],
    "note_59_pageable": [("host.pageable", "", "note", "59 a")],
    "note_59_host": [("host.stream", "RAW", "note", "59 b, 59 c")],
}
MARK = re.compile(r"\[(\d+ \w)\]")


def marks_of(source):
    marks = {}
    for number, text in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
        for mark in MARK.findall(text):
            marks[number] = mark
    return marks


def found_by(program, case, workers, report):
    environment = dict(os.environ, CANOPY_WORKERS=str(workers), CANOPY_CHECK="host", ASCEND_GLOBAL_LOG_LEVEL="4",
                       CANOPY_CHECK_OPTIONS=f"--json {report} --notes --leaks")
    result = subprocess.run([program, case], env=environment, capture_output=True, text=True, timeout=120)
    if result.returncode not in (0, 66):
        return [f"ended with {result.returncode}: {result.stderr}"]
    findings = []
    if os.path.exists(report):
        for line in pathlib.Path(report).read_text().splitlines():
            entry = json.loads(line)
            if "id" in entry:
                findings.append(entry)
    return findings


def signature(finding, marks, source):
    def mark(place):
        here = os.path.basename(place.get("file") or "") == os.path.basename(source)
        return marks.get(place.get("line"), f"line {place.get('line')}") if here else f"{place.get('file')}"
    places = ", ".join(mark(place) for place in finding["accesses"])
    return (finding["id"], finding.get("kind") or "", finding["level"], places)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,8")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--cases", default="", help="only these")
    parser.add_argument("program")
    parser.add_argument("source")
    arguments = parser.parse_args()
    marks = marks_of(arguments.source)
    cases = subprocess.run([arguments.program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    wanted = [case for case in cases if not arguments.cases or case in arguments.cases.split(",")]
    missing = [case for case in EXPECTED if case not in cases]
    problems, runs = [f"no case {case}" for case in missing], 0
    with tempfile.TemporaryDirectory(prefix="canopy-test-") as folder:
        for workers in arguments.workers.split(","):
            for _ in range(arguments.times):
                for case in wanted:
                    runs += 1
                    found = found_by(arguments.program, case, workers, os.path.join(folder, f"{runs}.json"))
                    if found and isinstance(found[0], str):
                        problems.append(f"{case}, {workers} workers: {found[0]}")
                        continue
                    seen = sorted(signature(one, marks, arguments.source) for one in found)
                    expected = sorted(EXPECTED.get(case, []))
                    if seen != expected:
                        problems.append(f"{case}, {workers} workers: {seen} instead of {expected}")
    if problems:
        print("\n".join(problems))
        sys.exit(1)
    print(f"{len(wanted)} cases, {runs} runs: as expected")


if __name__ == "__main__":
    main()
